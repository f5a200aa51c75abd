/* strata select: questions to agents, to a coordinator, or to ClickHouse. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/suggest.h"
#include "base/units.h"
#include "cluster/cluster.h"
#include "cluster/select/ask.h"
#include "cluster/select/print.h"
#include "cluster/select/via.h"
#include "cmd/cmd.h"
#include "cmd/prompt.h"

#define DEFAULT_TIMEOUT (5 * NS_PER_SECOND)

/* The options, filled once by cmd_parse(). */
static struct {
	const char *nodes[OPTION_TEXTS_MOST + 1];
	const char *file, *coordinator, *via, *token, *format;
	uint64_t timeout;
} given = { .timeout = DEFAULT_TIMEOUT };

static const struct option_row select_rows[] = {
	{ 0, "node", OPTION_TEXTS, given.nodes, "NAME=ADDR:PORT",
	  "where the agent of a node answers; any number of these" },
	{ 0, "nodes", OPTION_TEXT, &given.file, "FILE",
	  "read such lines from FILE, a small ini file" },
	{ 0, "coordinator", OPTION_TEXT, &given.coordinator, "ADDR:PORT",
	  "ask an agent that knows the nodes (strata agent --coordinate)" },
	{ 0, "via", OPTION_TEXT, &given.via, "URL", "ask ClickHouse, where agents push to" },
	{ 0, "token", OPTION_TEXT, &given.token, "FILE", "the token that agents want is in FILE" },
	{ 'f', "format", OPTION_TEXT, &given.format, "FORMAT",
	  "table, csv, json or original (as the first client of these questions)" },
	{ 0, "timeout", OPTION_DURATION, &given.timeout, "TIME", "for an answer (default: 5s)" },
	{ 0 },
};

const struct options select_options = {
	.usage = "strata select [options] [QUESTION]\n"
		 "QUESTION: [select] METRIC,... from NODE,...|* [where pid = N [and comm = 'x']]\n"
		 "          [over 5m] [every 10s] [until TIME]",
	.summary = "Ask the agents of many nodes for their metrics; without QUESTION at a prompt.",
	.examples =
		"strata select --nodes nodes.ini 'select cpu_avg,cpu_sum from n1,n3'\n"
		"strata select --node n1=127.0.0.1:6100 'runqlat_p99 from * over 5m every 10s'\n"
		"strata select --via http://clickhouse:8123 'disk_util from * over 1h' -f csv",
	.rows = select_rows,
};

static const char *const formats[] = { [SELECT_TABLE] = "table",
				       [SELECT_CSV] = "csv",
				       [SELECT_JSON] = "json",
				       [SELECT_ORIGINAL] = "original" };

#define FORMAT_COUNT (sizeof(formats) / sizeof(*formats))

/* Whom to ask, and how to show what they say. */
struct asker {
	struct nodes nodes;
	struct node coordinator;
	struct clickhouse *clickhouse; /* NULL: agents are asked */
	enum select_format format;
};

static int set_format(struct asker *asker, struct error *e)
{
	char hint[128];

	for (size_t i = 0; i < FORMAT_COUNT; i++)
		if (!given.format || !strcmp(formats[i], given.format)) {
			asker->format = (enum select_format)i;
			return 0;
		}
	return error_set(e, -EINVAL, "unknown format '%s', %s", given.format,
			 suggest_names(hint, sizeof(hint), given.format, formats, FORMAT_COUNT));
}

static int read_token(char token[NODES_TEXT], struct error *e)
{
	FILE *file = fopen(given.token, "re");
	int err = 0;

	if (!file || !fgets(token, NODES_TEXT, file))
		err = error_errno(e, "cannot read the token in '%s'", given.token);
	if (file)
		fclose(file);
	if (!err)
		token[strcspn(token, "\r\n")] = '\0';
	return err;
}

static int open_coordinator(struct asker *asker, struct error *e)
{
	struct nodes one = { 0 };
	char text[NODES_TEXT + 16];
	int err;

	snprintf(text, sizeof(text), "coordinator=%s", given.coordinator);
	err = nodes_add(&one, text, e);
	if (!err) {
		asker->coordinator = one.items[0];
		memcpy(asker->coordinator.token, asker->nodes.token, NODES_TEXT);
	}
	nodes_free(&one);
	return err;
}

static int open_asker(struct asker *asker, struct error *e)
{
	int err = set_format(asker, e), ways;

	if (!err && given.file)
		err = nodes_read(&asker->nodes, given.file, e);
	for (const char **node = given.nodes; !err && *node; node++)
		err = nodes_add(&asker->nodes, *node, e);
	if (!err && given.token)
		err = read_token(asker->nodes.token, e);
	if (!err && given.coordinator)
		err = open_coordinator(asker, e);
	if (!err && given.via)
		err = clickhouse_open(&asker->clickhouse, given.via, e);
	ways = (asker->nodes.count > 0) + !!given.coordinator + !!given.via;
	if (!err && ways != 1)
		err = error_set(e, -EINVAL,
				ways ? "give nodes, --coordinator or --via, not several of them"
				     : "select needs nodes: --node NAME=ADDR:PORT, --nodes FILE, "
				       "--coordinator ADDR:PORT or --via URL");
	if (!err && asker->clickhouse)
		clickhouse_set_timeout(asker->clickhouse, given.timeout);
	return err;
}

/* Names those that did not answer; how many. */
static unsigned say_failures(const struct select_answer *answer)
{
	unsigned failed = 0;

	for (unsigned i = 0; i < answer->count; i++)
		if (*answer->nodes[i].error) {
			log_error("node %s: %s", answer->nodes[i].name, answer->nodes[i].error);
			failed++;
		}
	return failed;
}

/* Returns the exit status. */
static int ask(const struct asker *asker, const char *text)
{
	struct select_answer answer = { 0 };
	struct select_query query;
	struct error e;
	int err = select_parse(text, &query, &e), status = CMD_OK;

	if (err) {
		cmd_fail(&e);
		return err == -EINVAL || err == -ENOENT ? CMD_USAGE : CMD_FAILURE;
	}
	if (asker->clickhouse)
		err = select_via(asker->clickhouse, &query, &answer, &e);
	else if (given.coordinator)
		err = ask_coordinator(&asker->coordinator, text, given.timeout, &answer, &e);
	else
		err = ask_nodes(&asker->nodes, text, &query, given.timeout, &answer, &e);
	if (!err)
		err = select_print(&answer, asker->format, cmd_terminal_width(), stdout, &e);
	if (!err && fflush(stdout) && errno != EPIPE)
		err = error_errno(&e, "cannot write the answer");
	if (err)
		status = cmd_fail(&e);
	else if (say_failures(&answer))
		status = CMD_FAILURE;
	select_answer_free(&answer);
	select_query_free(&query);
	return status;
}

/* ---- the prompt ---- */

static const char *prompt_text(void *data)
{
	(void)data;
	return "select> ";
}

static void drop_line(void *data)
{
	(void)data;
}

static bool take_line(void *data, struct prompt *prompt, const char *line)
{
	char *text = strdup(line);

	if (!text)
		return false;
	text[strcspn(text, "\n")] = '\0';
	if (!strcmp(text, "quit") || !strcmp(text, "exit") || !strcmp(text, ".quit")) {
		free(text);
		return false;
	}
	if (text[strspn(text, " \t")]) {
		ask(data, text);
		prompt_remember(prompt, text);
	}
	free(text);
	return true;
}

static int at_prompt(struct asker *asker)
{
	const struct prompt_user user = { .data = asker,
					  .history = "select_history",
					  .text = prompt_text,
					  .take = take_line,
					  .drop = drop_line };
	struct error e;

	return prompt_run(&user, &e) ? cmd_fail(&e) : CMD_OK;
}

/* Questions from a pipe, a line each. */
static int ask_lines(const struct asker *asker)
{
	char *line = NULL;
	size_t size = 0;
	int status = CMD_OK;

	while (status == CMD_OK && getline(&line, &size, stdin) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (line[strspn(line, " \t")])
			status = ask(asker, line);
	}
	free(line);
	return status;
}

int cluster_select(int argc, char **argv)
{
	struct asker asker = { 0 };
	struct arguments arguments;
	struct error e;
	int status, err;

	if (!cmd_parse(&select_options, argc, argv, &arguments, &status))
		return status;
	err = arguments.count > 1 ? error_set(&e, -EINVAL, "a question is one argument")
				  : open_asker(&asker, &e);
	if (err)
		status = err == -EINVAL ? cmd_usage("select", &e) : cmd_fail(&e);
	else if (arguments.count)
		status = ask(&asker, arguments.items[0]);
	else
		status = isatty(STDIN_FILENO) ? at_prompt(&asker) : ask_lines(&asker);
	clickhouse_close(asker.clickhouse);
	nodes_free(&asker.nodes);
	free(arguments.items);
	return status;
}
