/* The prompt of `strata sql`. While a statement runs, Ctrl-C is the watcher's (sql_run.c). */
#include <string.h>

#include "base/log.h"
#include "cmd/prompt.h"
#include "cmd/sql.h"
#include "cmd/sql_complete.h"
#include "query/split.h"

struct typed {
	struct sql *sql;
	struct buf text; /* the statement so far */
};

static const char *prompt_text(void *data)
{
	const struct typed *typed = data;

	return typed->text.size ? "   ...> " : "strata> ";
}

/* A statement of many lines comes back as one, unless a comment ends with its line. */
static void remember(struct prompt *prompt, char *text)
{
	size_t size = strlen(text);

	while (size && text[size - 1] == '\n')
		text[--size] = '\0';
	for (size_t i = 0; i < size && !strstr(text, "--"); i++)
		if (text[i] == '\n')
			text[i] = ' ';
	if (size)
		prompt_remember(prompt, text);
}

/* Runs what has been typed once it is whole: up to a semicolon, or a dot command's line. */
static bool take_line(void *data, struct prompt *prompt, const char *line)
{
	struct typed *typed = data;
	struct split split;

	if (buf_append(&typed->text, line, strlen(line)) || buf_append(&typed->text, "", 1)) {
		log_error("the statement is too long");
		typed->text.size = 0;
		return true;
	}
	typed->text.size--;
	split = split_statement((const char *)typed->text.data);
	if (split.size && *split.start != '.' && !split.ended)
		return true;
	if (split.size) {
		sql_run_text(typed->sql, (const char *)typed->text.data);
		remember(prompt, (char *)typed->text.data);
	}
	typed->text.size = 0;
	return !typed->sql->quit;
}

static void drop_typed(void *data)
{
	struct typed *typed = data;

	typed->text.size = 0;
}

int sql_prompt(struct sql *sql, struct error *e)
{
	struct typed typed = { .sql = sql };
	const struct prompt_user user = { .data = &typed,
					  .history = "sql_history",
					  .text = prompt_text,
					  .take = take_line,
					  .drop = drop_typed,
					  .complete = sql_complete };
	int err;

	sql->at_prompt = true;
	log_info("%zu run%s open; .tables lists what can be asked, .help the rest",
		 database_runs(sql->database)->count,
		 database_runs(sql->database)->count == 1 ? "" : "s");
	err = prompt_run(&user, e);
	buf_free(&typed.text);
	return err;
}
