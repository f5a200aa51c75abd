/* See prompt.h. libedit reads the lines. */
#include "cmd/prompt.h"

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

#define HISTORY_LINES 1000

struct prompt {
	const struct prompt_user *user;
	EditLine *edit;
	History *history;
	char history_path[PATH_MAX]; /* empty: none is kept */
	sigset_t before;	     /* signals that were blocked */
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
	const struct prompt_user *user = prompt_of(edit)->user;

	return (char *)user->text(user->data);
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
	const struct prompt_user *user = prompt_of(edit)->user;
	const LineInfo *line = el_line(edit);
	size_t typed = (size_t)(line->cursor - line->buffer);
	struct buf insert = { 0 };
	bool listed = false;

	(void)key;
	if (user->complete(line->buffer, typed, stdout, &insert, &listed)) {
		buf_free(&insert);
		return CC_ERROR;
	}
	if (insert.size && !buf_append(&insert, "", 1))
		el_insertstr(edit, (const char *)insert.data);
	buf_free(&insert);
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
				  "%s/strata/%s", state, prompt->user->history);
	else if (home && *home == '/')
		length = snprintf(prompt->history_path, sizeof(prompt->history_path),
				  "%s/.local/state/strata/%s", home, prompt->user->history);
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
	sigprocmask(SIG_BLOCK, &interrupt, &prompt->before);
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
	if (prompt->user->complete) {
		el_set(prompt->edit, EL_ADDFN, "strata-complete", "Complete a name", complete);
		el_set(prompt->edit, EL_BIND, "^I", "strata-complete", NULL);
	}
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
	sigprocmask(SIG_SETMASK, &prompt->before, NULL);
}

void prompt_remember(struct prompt *prompt, const char *text)
{
	HistEvent event;

	history(prompt->history, &event, H_ENTER, text);
}

int prompt_run(const struct prompt_user *user, struct error *e)
{
	struct prompt prompt = { .user = user, .interrupts = -1 };
	int err = prompt_open(&prompt, e);

	while (!err) {
		int count;
		const char *line;

		prompt.dropped = false;
		line = el_gets(prompt.edit, &count);
		if (prompt.dropped) {
			fputs("^C\n", stdout);
			user->drop(user->data);
		} else if (!line || count <= 0) {
			fputs("\n", stdout);
			break;
		} else if (!user->take(user->data, &prompt, line)) {
			break;
		}
	}
	prompt_close(&prompt);
	return err;
}
