/* strata sql: SQL over one or many recordings. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/log.h"
#include "base/suggest.h"
#include "cmd/cluster.h"
#include "cmd/cmd.h"
#include "cmd/sql.h"

#define TABLE_ROWS  1000
#define INTERRUPTED 130
#define INPUT_LIMIT (64u << 20)

/* The options, filled once by cmd_parse(). */
static struct {
	const char *format, *output, *input, *via;
	bool timing, allow_files, csv_safe;
} given;

static const struct option_row sql_rows[] = {
	{ 'f', "format", OPTION_TEXT, &given.format, "FORMAT",
	  "table, csv, json, jsonl, markdown or parquet; by default as FILE ends, or table" },
	{ 'o', "output", OPTION_TEXT, &given.output, "FILE", "write to FILE instead of stdout" },
	{ 'i', "input", OPTION_TEXT, &given.input, "FILE",
	  "run the queries in FILE; - is stdin, as is a query that is -" },
	{ 0, "via", OPTION_TEXT, &given.via, "URL",
	  "ask ClickHouse, where recordings were pushed to, in its own SQL; no RUN then" },
	{ 0, "timing", OPTION_FLAG, &given.timing, NULL, "say how long each statement took" },
	{ 0, "allow-files", OPTION_FLAG, &given.allow_files, NULL,
	  "let queries read and write other files" },
	{ 0, "csv-safe", OPTION_FLAG, &given.csv_safe, NULL,
	  "csv: put ' before texts that a spreadsheet would take for a formula" },
	{ 0 },
};

const struct options sql_options = {
	.usage = "strata sql [options] RUN... [QUERY]",
	.summary =
		"Ask recordings in SQL; without QUERY at a prompt. RUN: trace, folder or pattern.",
	.examples = "strata sql run.strata 'from file_io limit 10'\n"
		    "strata sql run.strata 'select op, count(*), sum(dur) / 1e6 as ms from io "
		    "group by op'\n"
		    "strata sql run.strata '.tables'\n"
		    "strata sql runs/ 'select run, node, count(*) from io group by all' -f csv",
	.rows = sql_rows,
};

static const char *const formats[] = {
	[RESULT_TABLE] = "table", [RESULT_CSV] = "csv",		  [RESULT_JSON] = "json",
	[RESULT_JSONL] = "jsonl", [RESULT_MARKDOWN] = "markdown", "parquet",
};

#define FORMAT_COUNT (sizeof(formats) / sizeof(*formats))

int sql_set_format(struct sql *sql, const char *name, struct error *e)
{
	char hint[256];

	for (size_t i = 0; i < FORMAT_COUNT; i++)
		if (!strcmp(formats[i], name)) {
			sql->parquet = !strcmp(name, "parquet");
			sql->style.format = sql->parquet ? RESULT_TABLE : (enum result_format)i;
			return 0;
		}
	return error_set(e, -EINVAL, "unknown format '%s', %s", name,
			 suggest_names(hint, sizeof(hint), name, formats, FORMAT_COUNT));
}

/* What the output's name says about its format; NULL: nothing. */
static const char *format_of_name(const char *name)
{
	const char *dot = strrchr(name, '.');

	if (!dot || strchr(dot, '/'))
		return NULL;
	if (!strcmp(dot, ".md"))
		return "markdown";
	for (size_t i = 0; i < FORMAT_COUNT; i++)
		if (!strcmp(dot + 1, formats[i]))
			return formats[i];
	return NULL;
}

/* DuckDB writes by name; what names the open file is its descriptor. */
static int open_output(struct sql *sql, const struct sql_paths *paths, struct error *e)
{
	const char **inputs;
	int err, fd;

	sql->out = stdout;
	if (!sql->output)
		return 0;
	inputs = calloc(paths->count + 1, sizeof(*inputs));
	if (!inputs)
		return error_set(e, -ENOMEM, "out of memory");
	for (size_t i = 0; i < paths->count; i++)
		inputs[i] = paths->items[i];
	inputs[paths->count] = given.input;
	err = outfile_open(&sql->file, sql->output, 0666,
			   &(struct outfile_inputs){ inputs, paths->count + 1 }, e);
	free(inputs);
	if (err)
		return err;
	snprintf(sql->parquet_path, sizeof(sql->parquet_path), "/proc/self/fd/%d", sql->file.fd);
	fd = fcntl(sql->file.fd, F_DUPFD_CLOEXEC, 3);
	sql->out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!sql->out) {
		err = error_errno(e, "cannot write '%s'", sql->output);
		if (fd >= 0)
			close(fd);
	}
	return err;
}

/* keep: every statement has succeeded. */
static int close_output(struct sql *sql, bool keep, struct error *e)
{
	int err = 0;

	if (sql->out && sql->out != stdout && fclose(sql->out))
		err = error_errno(e, "cannot write '%s'", sql->output);
	sql->out = NULL;
	if (!err && keep && sql->output)
		err = outfile_commit(&sql->file, e);
	outfile_free(&sql->file);
	return err;
}

static void set_style(struct sql *sql)
{
	struct winsize size;

	sql->style.limit = TABLE_ROWS;
	if (sql->output || !isatty(STDOUT_FILENO))
		return;
	sql->style.color = log_color(STDOUT_FILENO);
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		sql->style.width = size.ws_col;
}

static int read_all(const char *path, char **text, struct error *e)
{
	bool opened = strcmp(path, "-") != 0;
	FILE *file = opened ? fopen(path, "re") : stdin;
	struct buf buf = { .limit = INPUT_LIMIT };
	size_t got = 1;
	int err = 0;

	if (!file)
		return error_errno(e, "cannot read '%s'", path);
	while (!err && got) {
		char *room = buf_reserve(&buf, 65536);

		got = room ? fread(room, 1, 65535, file) : 0;
		buf.size += got;
		if (!room)
			err = error_set(e, -ENOMEM, "'%s' is larger than %u MiB", path,
					INPUT_LIMIT >> 20);
		else if (ferror(file))
			err = error_errno(e, "cannot read '%s'", path);
	}
	if (!err && memchr(buf.data, 0, buf.size))
		err = error_set(e, -EINVAL, "'%s' is not a text of SQL", path);
	if (opened)
		fclose(file);
	if (err) {
		buf_free(&buf);
		return err;
	}
	buf.data[buf.size] = '\0';
	*text = (char *)buf.data;
	return 0;
}

/* What to run: NULL for the prompt. */
static int find_text(const char *query, char **text, struct error *e)
{
	*text = NULL;
	if (query && given.input)
		return error_set(e, -EINVAL, "give a query or -i, not both");
	if (given.input)
		return read_all(given.input, text, e);
	if (query && strcmp(query, "-")) {
		*text = strdup(query);
		return *text ? 0 : error_set(e, -ENOMEM, "out of memory");
	}
	if (!query && isatty(STDIN_FILENO))
		return 0;
	return read_all("-", text, e);
}

/* Sorts the arguments into traces and at most one query, which comes last. */
static int find_arguments(const struct arguments *arguments, struct sql_paths *paths,
			  const char **query, struct error *e)
{
	int found;

	*query = NULL;
	for (int i = 0; i < arguments->count; i++) {
		const char *word = arguments->items[i];

		if (*query)
			return error_set(
				e, -EINVAL,
				"'%s' comes after the query: traces come first, and a query is one "
				"argument",
				word);
		found = strcmp(word, "-") ? sql_add_paths(paths, word, e) : 0;
		if (found < 0)
			return found;
		if (!found)
			*query = word;
	}
	if (!paths->count)
		return error_set(e, -EINVAL, "sql needs a trace%s%.60s%s",
				 *query ? ": there is no file '" : "", *query ? *query : "",
				 *query ? "'" : "");
	return 0;
}

static int choose_format(struct sql *sql, struct error *e)
{
	const char *name = given.format;

	if (given.output && strcmp(given.output, "-")) {
		sql->output = given.output;
		if (!name)
			name = format_of_name(given.output);
	}
	if (name && sql_set_format(sql, name, e))
		return -EINVAL;
	if (sql->parquet && !sql->output)
		return error_set(e, -EINVAL, "parquet is no text: name a file with -o");
	return 0;
}

/* Says what is known of the traces before a row is read. */
static int check_runs(const struct sql *sql, struct error *e)
{
	const struct runs *runs = database_runs(sql->database);

	for (size_t i = 0; i < runs->count; i++) {
		const struct run *run = &runs->items[i];
		struct trace trace = { run->reader, run->dims };
		int err = cmd_check_damage(&trace, run->path, e);

		if (err)
			return err;
		if (!reader_complete(run->reader) && !reader_damage(run->reader))
			log_info("trace '%s' %s", run->path,
				 reader_live(run->reader)
					 ? "is still being recorded: these are its rows so far"
					 : "is incomplete: its recorder was killed");
	}
	return 0;
}

/* Returns the exit status. */
static int sql_ask(struct sql *sql, const struct sql_paths *paths, const char *text)
{
	struct database_options options = { .allow_files = given.allow_files,
					    .make_ledger = sql_make_ledger };
	struct error e;
	int status = CMD_OK;
	int err;

	err = sql_watch(sql, &e);
	if (!err)
		err = open_output(sql, paths, &e);
	options.output = sql->parquet ? sql->parquet_path : NULL;
	if (!err)
		err = database_open(&sql->database, paths->items, paths->count, &options, &e);
	if (!err)
		err = check_runs(sql, &e);
	if (!err && !text)
		err = sql_prompt(sql, &e);
	else if (!err && sql_run_text(sql, text))
		status = sql->interrupted ? INTERRUPTED : CMD_FAILURE;
	if (err)
		status = cmd_fail(&e);
	if (close_output(sql, status == CMD_OK, &e))
		status = cmd_fail(&e);
	sql_unwatch(sql);
	database_close(sql->database);
	return status;
}

int cmd_sql(int argc, char **argv)
{
	struct sql_paths paths = { 0 };
	struct arguments arguments;
	struct sql sql = { .file.fd = -1 };
	const char *query = NULL;
	char *text = NULL;
	struct error e;
	int status, err;

	if (!cmd_parse(&sql_options, argc, argv, &arguments, &status))
		return status;
	if (given.via) {
		free(arguments.items);
		return cluster_run(argv, false);
	}
	err = find_arguments(&arguments, &paths, &query, &e);
	if (!err)
		err = choose_format(&sql, &e);
	if (!err)
		err = find_text(query, &text, &e);
	if (!err) {
		sql.timing = given.timing;
		sql.style.no_formulas = given.csv_safe;
		set_style(&sql);
		status = sql_ask(&sql, &paths, text);
	} else {
		status = err == -EINVAL ? cmd_usage("sql", &e) : cmd_fail(&e);
	}
	free(text);
	sql_free_paths(&paths);
	free(arguments.items);
	return status;
}
