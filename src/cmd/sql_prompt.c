/* The prompt of `strata sql`: libedit reads lines, with history and completion. Ctrl-C at the prompt drops what has been
 * typed; while a statement runs, it is the watcher's (sql_run.c).
 */
#include <errno.h>
#include <histedit.h>
#include <limits.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>

#include "base/log.h"
#include "cmd/sql.h"
#include "cmd/sql_complete.h"
#include "query/split.h"

#define HISTORY_LINES 1000

struct prompt {
	struct sql *sql;
	EditLine *edit;
	History *history;
	char history_path[PATH_MAX]; /* empty: none is kept */
	struct buf text;	     /* the statement so far */
	int interrupts;		     /* signalfd of Ctrl-C */
	bool dropped;		     /* by Ctrl-C */
};

static struct prompt *prompt_of(EditLine *edit)
{
	struct prompt *prompt = NULL;

	el_get(edit, EL_CLIENTDATA, &prompt);
	return prompt;
}

static char *prompt_text(EditLine *edit)
{
	static char first[] = "strata> ", more[] = "   ...> ";

	return prompt_of(edit)->text.size ? more : first;
}

/* Whether Ctrl-C came before a key. */
static bool wait_for_key(struct prompt *prompt)
{
	struct pollfd ready[] = { { .fd = STDIN_FILENO, .events = POLLIN },
				  { .fd = prompt->interrupts, .events = POLLIN } };
	struct signalfd_siginfo info;

	while (poll(ready, 2, -1) < 0 && errno == EINTR)
		;
	if (!(ready[1].revents & POLLIN))
		return false;
	return read(prompt->interrupts, &info, sizeof(info)) == sizeof(info);
}

/* One character for libedit: 1, or 0 at the end. */
static int read_character(EditLine *edit, wchar_t *out)
{
	struct prompt *prompt = prompt_of(edit);
	mbstate_t state = { 0 };
	char byte;

	for (;;) {
		size_t length;

		if (wait_for_key(prompt)) {
			prompt->dropped = true;
			return 0;
		}
		if (read(STDIN_FILENO, &byte, 1) != 1)
			return 0;
		length = mbrtowc(out, &byte, 1, &state);
		if (length == (size_t)-1) {
			memset(&state, 0, sizeof(state));
			continue;
		}
		if (length != (size_t)-2)
			return 1;
	}
}

static unsigned char complete(EditLine *edit, int key)
{
	struct prompt *prompt = prompt_of(edit);
	const LineInfo *line = el_line(edit);
	size_t typed = (size_t)(line->cursor - line->buffer);
	struct buf insert = { 0 };
	bool listed = false;

	(void)key;
	if (sql_complete(line->buffer, typed, stdout, &insert, &listed)) {
		buf_free(&insert);
		return CC_ERROR;
	}
	if (insert.size && !buf_append(&insert, "", 1))
		el_insertstr(edit, (const char *)insert.data);
	buf_free(&insert);
	(void)prompt;
	return listed ? CC_REDISPLAY : CC_REFRESH;
}

static void make_folders(const char *path)
{
	char part[PATH_MAX];

	for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
		mkdir(part, 0700); /* one that cannot be made shows when the history is saved */
	}
}

static void find_history(struct prompt *prompt)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	int length = -1;

	if (state && *state == '/')
		length = snprintf(prompt->history_path, sizeof(prompt->history_path),
				  "%s/strata/sql_history", state);
	else if (home && *home == '/')
		length = snprintf(prompt->history_path, sizeof(prompt->history_path),
				  "%s/.local/state/strata/sql_history", home);
	if (length < 0 || (size_t)length >= sizeof(prompt->history_path))
		prompt->history_path[0] = '\0';
}

static int prompt_open(struct prompt *prompt, struct error *e)
{
	sigset_t interrupt;
	HistEvent event;

	setlocale(LC_CTYPE, "");
	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	prompt->interrupts = signalfd(-1, &interrupt, SFD_CLOEXEC);
	if (prompt->interrupts < 0)
		return error_errno(e, "cannot wait for Ctrl-C");
	prompt->edit = el_init("strata", stdin, stdout, stderr);
	prompt->history = history_init();
	if (!prompt->edit || !prompt->history)
		return error_set(e, -ENOMEM, "cannot edit lines on this terminal: give a query");
	history(prompt->history, &event, H_SETSIZE, HISTORY_LINES);
	history(prompt->history, &event, H_SETUNIQUE, 1);
	find_history(prompt);
	if (*prompt->history_path)
		history(prompt->history, &event, H_LOAD, prompt->history_path);
	el_set(prompt->edit, EL_CLIENTDATA, prompt);
	el_set(prompt->edit, EL_PROMPT, prompt_text);
	el_set(prompt->edit, EL_EDITOR, "emacs");
	el_set(prompt->edit, EL_HIST, history, prompt->history);
	el_set(prompt->edit, EL_GETCFN, read_character);
	el_set(prompt->edit, EL_ADDFN, "strata-complete", "Complete a name", complete);
	el_set(prompt->edit, EL_BIND, "^I", "strata-complete", NULL);
	el_set(prompt->edit, EL_BIND, "^R", "em-inc-search-prev", NULL);
	el_source(prompt->edit, NULL);
	return 0;
}

static void prompt_close(struct prompt *prompt)
{
	HistEvent event;

	if (prompt->history && *prompt->history_path) {
		make_folders(prompt->history_path);
		if (history(prompt->history, &event, H_SAVE, prompt->history_path) < 0)
			log_verbose("the history cannot be kept in '%s'", prompt->history_path);
	}
	if (prompt->history)
		history_end(prompt->history);
	if (prompt->edit)
		el_end(prompt->edit);
	if (prompt->interrupts >= 0)
		close(prompt->interrupts);
	buf_free(&prompt->text);
}

/* A statement of many lines comes back as one, unless a comment ends with its line. */
static void remember(struct prompt *prompt)
{
	char *text = (char *)prompt->text.data;
	size_t size = strlen(text);
	HistEvent event;

	while (size && text[size - 1] == '\n')
		text[--size] = '\0';
	for (size_t i = 0; i < size && !strstr(text, "--"); i++)
		if (text[i] == '\n')
			text[i] = ' ';
	if (size)
		history(prompt->history, &event, H_ENTER, text);
}

/* Runs what has been typed once it is whole: up to a semicolon, or a dot command's line. */
static void take_line(struct prompt *prompt, const char *line)
{
	struct split split;

	if (buf_append(&prompt->text, line, strlen(line)) || buf_append(&prompt->text, "", 1)) {
		log_error("the statement is too long");
		prompt->text.size = 0;
		return;
	}
	prompt->text.size--;
	split = split_statement((const char *)prompt->text.data);
	if (split.size && *split.start != '.' && !split.ended)
		return;
	if (split.size) {
		sql_run_text(prompt->sql, (const char *)prompt->text.data);
		remember(prompt);
	}
	prompt->text.size = 0;
}

int sql_prompt(struct sql *sql, struct error *e)
{
	struct prompt prompt = { .sql = sql, .interrupts = -1 };
	int err = prompt_open(&prompt, e);

	sql->at_prompt = true;
	if (!err)
		log_info("%zu run%s open; .tables lists what can be asked, .help the rest",
			 database_runs(sql->database)->count,
			 database_runs(sql->database)->count == 1 ? "" : "s");
	while (!err && !sql->quit) {
		int count;
		const char *line;

		prompt.dropped = false;
		line = el_gets(prompt.edit, &count);
		if (prompt.dropped) {
			fputs("^C\n", stdout);
			prompt.text.size = 0;
		} else if (!line || count <= 0) {
			fputs("\n", stdout);
			break;
		} else {
			take_line(&prompt, line);
		}
	}
	prompt_close(&prompt);
	return err;
}
