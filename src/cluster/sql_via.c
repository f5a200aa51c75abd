/* strata sql --via: SQL in ClickHouse, over what was pushed there. Statements are ClickHouse's, and only read. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/log.h"
#include "base/suggest.h"
#include "base/units.h"
#include "cluster/push/clickhouse.h"
#include "cluster/sql_via.h"
#include "cmd/cmd.h"
#include "cmd/prompt.h"
#include "query/split.h"

/* The options, filled once by cmd_parse(). */
static struct {
	const char *via, *format, *output;
	uint64_t timeout;
	bool timing;
} given = { .timeout = 300 * NS_PER_SECOND };

static const struct option_row via_rows[] = {
	{ 0, "via", OPTION_TEXT, &given.via, "URL",
	  "ask ClickHouse, where recordings were pushed to" },
	{ 'f', "format", OPTION_TEXT, &given.format, "FORMAT", "table, csv, json or jsonl" },
	{ 'o', "output", OPTION_TEXT, &given.output, "FILE", "write to FILE instead of stdout" },
	{ 0, "timing", OPTION_FLAG, &given.timing, NULL, "say how long each statement took" },
	{ 0, "timeout", OPTION_DURATION, &given.timeout, "TIME", "of a statement (default: 300s)" },
	{ 0 },
};

static const struct options via_options = {
	.usage = "strata sql --via URL [options] [QUERY]",
	.summary = "Ask ClickHouse in its SQL about what was pushed there.",
	.rows = via_rows,
};

/* What each format is called there. */
static const struct {
	const char *name, *theirs;
} formats[] = {
	{ "table", "PrettyCompactNoEscapes" },
	{ "csv", "CSVWithNames" },
	{ "json", "JSONEachRow" },
	{ "jsonl", "JSONEachRow" },
};

#define FORMAT_COUNT (sizeof(formats) / sizeof(*formats))

struct via {
	struct clickhouse *clickhouse;
	unsigned format;
	struct buf text; /* the statement so far, at the prompt */
};

static int find_format(struct via *via, struct error *e)
{
	const char *names[FORMAT_COUNT];
	char hint[128];

	for (unsigned i = 0; i < FORMAT_COUNT; i++) {
		names[i] = formats[i].name;
		if (!strcmp(given.format ? given.format : "table", formats[i].name)) {
			via->format = i;
			return 0;
		}
	}
	return error_set(e, -EINVAL, "format '%s' is none that ClickHouse is asked for, %s",
			 given.format,
			 suggest_names(hint, sizeof(hint), given.format, names, FORMAT_COUNT));
}

/* Lines of objects become one array. Names in a database may hold anything: a terminal sees what is safe. */
static void print_body(const struct via *via, const struct buf *body, FILE *out)
{
	const char *text = (const char *)body->data;
	size_t size = body->size;

	if (!strcmp(formats[via->format].name, "json")) {
		while (size && text[size - 1] == '\n')
			size--;
		fputs("[", out);
		for (size_t i = 0; i < size; i++) {
			if (text[i] == '\n')
				putc(',', out);
			putc(text[i], out);
		}
		fputs("]\n", out);
	} else if (isatty(fileno(out))) {
		escape_print(out, ESCAPE_MESSAGE, text, size);
	} else {
		fwrite(text, 1, size, out);
	}
}

static int add_settings(const struct via *via, struct sql_text *settings, struct error *e)
{
	const struct clickhouse_server *server;
	int err = clickhouse_probe(via->clickhouse, &server, e);

	sql_add(settings,
		"&readonly=2&default_format=%s&database=%s&output_format_json_quote_64bit_integers="
		"0",
		formats[via->format].theirs, clickhouse_database(via->clickhouse));
	if (!err && clickhouse_knows(&server->settings, "max_result_bytes"))
		sql_add(settings, "&max_result_bytes=1000000000");
	if (!err && !sql_get(settings))
		err = error_set(e, -ENOMEM, "out of memory");
	return err;
}

static int run_statement(struct via *via, const char *statement, struct buf *body, struct error *e)
{
	uint64_t start = clock_monotonic();
	struct sql_text settings = { 0 };
	char time[32];
	int err = add_settings(via, &settings, e);

	if (!err)
		err = clickhouse_run(via->clickhouse, sql_get(&settings), statement, body, e);
	if (!err && given.timing)
		log_info("%s",
			 units_format_duration(time, sizeof(time), clock_monotonic() - start));
	sql_free(&settings);
	return err;
}

struct printing {
	const struct via *via;
	const struct buf *body;
};

static int print_file(const void *data, FILE *out)
{
	const struct printing *printing = data;

	print_body(printing->via, printing->body, out);
	return 0;
}

static int run_and_print(struct via *via, const char *statement, struct error *e)
{
	struct buf body = { 0 };
	struct printing printing = { via, &body };
	int err = run_statement(via, statement, &body, e);

	if (!err && given.output)
		err = cmd_write_file(given.output, &(struct outfile_inputs){ 0 }, print_file,
				     &printing, e);
	else if (!err)
		print_body(via, &body, stdout);
	if (!err && fflush(stdout) && errno != EPIPE)
		err = error_errno(e, "cannot write the answer");
	buf_free(&body);
	return err;
}

/* ---- the prompt ---- */

static const char *prompt_text(void *data)
{
	const struct via *via = data;

	return via->text.size ? "   ...> " : "strata> ";
}

static void drop_typed(void *data)
{
	struct via *via = data;

	via->text.size = 0;
}

static bool take_line(void *data, struct prompt *prompt, const char *line)
{
	struct via *via = data;
	struct split split;
	struct error e;
	char *statement;

	if (!strncmp(line, ".quit", 5))
		return false;
	if (!strncmp(line, ".tables", 7))
		line = "SHOW TABLES;\n";
	if (buf_append(&via->text, line, strlen(line)) || buf_append(&via->text, "", 1))
		return false;
	via->text.size--;
	split = split_statement((const char *)via->text.data);
	if (split.size && !split.ended)
		return true;
	statement = strndup(split.start, split.size);
	if (statement && split.size) {
		if (run_and_print(via, statement, &e))
			log_error("%s", e.text);
		prompt_remember(prompt, statement);
	}
	free(statement);
	via->text.size = 0;
	return true;
}

static int at_prompt(struct via *via, struct error *e)
{
	const struct prompt_user user = { .data = via,
					  .history = "sql_history",
					  .text = prompt_text,
					  .take = take_line,
					  .drop = drop_typed };
	int err = prompt_run(&user, e);

	buf_free(&via->text);
	return err;
}

int cluster_sql(int argc, char **argv)
{
	struct arguments arguments;
	struct via via = { 0 };
	struct error e;
	int status, err;

	if (!cmd_parse(&via_options, argc, argv, &arguments, &status))
		return status;
	err = arguments.count > 1 ? error_set(&e, -EINVAL,
					      "with --via there are no traces, and a query is one "
					      "argument")
				  : find_format(&via, &e);
	if (!err)
		err = clickhouse_open(&via.clickhouse, given.via, &e);
	if (!err)
		clickhouse_set_timeout(via.clickhouse, given.timeout);
	if (!err)
		err = arguments.count ? run_and_print(&via, arguments.items[0], &e)
				      : at_prompt(&via, &e);
	clickhouse_close(via.clickhouse);
	free(arguments.items);
	if (!err)
		return CMD_OK;
	return err == -EINVAL ? cmd_usage("sql", &e) : cmd_fail(&e);
}
