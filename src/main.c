/* The commands of strata and their dispatch. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/caps.h"
#include "base/log.h"
#include "base/suggest.h"
#include "cmd/cluster.h"
#include "cmd/cmd.h"

struct command {
	const char *name;
	int (*run)(int argc, char **argv); /* NULL: strata-cluster does */
	const struct options *options;	   /* its summary is the command's line below */
	enum { GIVES_UP_RIGHTS, KEEPS_RIGHTS } rights;
};

/* One command a line, however many there are. */
/* clang-format off */
static const struct command commands[] = {
	{ "record", cmd_record, &record_options, KEEPS_RIGHTS },
	{ "info", cmd_info, &info_options, GIVES_UP_RIGHTS },
	{ "dump", cmd_dump, &dump_options, GIVES_UP_RIGHTS },
	{ "report", cmd_report, &report_options, GIVES_UP_RIGHTS },
	{ "diff", cmd_diff, &diff_options, GIVES_UP_RIGHTS },
	{ "why", cmd_why, &why_options, GIVES_UP_RIGHTS },
	{ "sql", cmd_sql, &sql_options, GIVES_UP_RIGHTS },
	{ "export", cmd_export, &export_options, GIVES_UP_RIGHTS },
	{ "mark", cmd_mark, &mark_options, GIVES_UP_RIGHTS },
	{ "stat", cmd_stat, &stat_options, KEEPS_RIGHTS },
	{ "doctor", cmd_doctor, &doctor_options, KEEPS_RIGHTS },
#define CLUSTER_COMMAND(name, rights, text) { #name, NULL, &(const struct options){ .summary = text }, rights },
#include "cmd/cluster.def"
};
/* clang-format on */

#define COMMAND_COUNT (sizeof(commands) / sizeof(*commands))

static int main_help(FILE *out)
{
	fputs("Usage: strata COMMAND [options] [arguments]\n\n"
	      "Where did the time of a deep-learning job go? strata records every layer under "
	      "it.\n\n"
	      "Examples:\n"
	      "  strata record -- python train.py\n"
	      "  strata info strata-python-20261115-035725.strata\n\n"
	      "Commands:\n",
	      out);
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		fprintf(out, "  %-10s%s\n", commands[i].name, commands[i].options->summary);
	fputs("\nOptions:\n"
	      "  -h, --help      print this help; 'strata help COMMAND' or 'strata COMMAND -h' "
	      "that of a command\n"
	      "  -V, --version   print the version\n",
	      out);
	return CMD_OK;
}

static const struct command *main_find(const char *name)
{
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static int main_unknown(const char *name)
{
	const char *names[COMMAND_COUNT];
	char hint[256];

	for (size_t i = 0; i < COMMAND_COUNT; i++)
		names[i] = commands[i].name;
	if (name[0] == '-')
		log_error("unknown option '%s'", name);
	else
		log_error("unknown command '%s', %s", name,
			  suggest_names(hint, sizeof(hint), name, names, COMMAND_COUNT));
	log_error("see 'strata -h'");
	return CMD_USAGE;
}

static bool main_is(const char *word, const char *letter, const char *name)
{
	return !strcmp(word, letter) || !strcmp(word, name);
}

/* A command that needs no rights has none from its first line on: whatever it is made to load or to read, by the
 * environment or by a hostile trace, acts as the caller could. */
static int main_run(const struct command *command, int argc, char **argv)
{
	struct error e;
	int err = caps_settle_ids(&e);

	if (!err && command->rights == GIVES_UP_RIGHTS)
		err = caps_give_up(&e);
	if (err)
		return cmd_fail(&e);
	return command->run ? command->run(argc, argv)
			    : cluster_run(argv, command->rights == KEEPS_RIGHTS);
}

static int main_help_of(const struct command *command)
{
	char *help[] = { (char *)command->name, (char *)"-h", NULL };

	return command->run ? cmd_print_help(command->options) : main_run(command, 2, help);
}

int main(int argc, char **argv)
{
	const struct command *command;

	if (argc < 2) {
		main_help(stderr);
		return CMD_USAGE;
	}
	if (main_is(argv[1], "-V", "--version"))
		return cmd_print_version();
	if (main_is(argv[1], "-h", "--help") || (argc == 2 && !strcmp(argv[1], "help")))
		return main_help(stdout);
	if (!strcmp(argv[1], "help")) {
		command = main_find(argv[2]);
		return command ? main_help_of(command) : main_unknown(argv[2]);
	}
	command = main_find(argv[1]);
	if (!command)
		return main_unknown(argv[1]);
	return main_run(command, argc - 1, argv + 1);
}
