/* What the files of `strata sql` share. All of it runs on the main thread, but for the watcher of sql_run.c. */
#ifndef STRATA_CMD_SQL_H
#define STRATA_CMD_SQL_H

#include <stdbool.h>
#include <stdio.h>

#include "base/outfile.h"
#include "query/database.h"
#include "render/result.h"

struct sql {
	struct database *database;
	struct result_style style;
	bool parquet;
	bool timing;
	bool at_prompt;
	const char *output;    /* name for messages; NULL: stdout */
	struct outfile file;   /* behind the output */
	char parquet_path[32]; /* the same, for DuckDB */
	FILE *out;
	bool quit;	  /* .quit was given */
	bool interrupted; /* the last statement was, by Ctrl-C */
	struct watcher *watcher;
};

/* Runs all statements and dot commands of a text. 0, or -errno after the first that failed; its message is printed. */
int sql_run_text(struct sql *sql, const char *text);

/* Keeps Ctrl-C for the statement that runs, and shows how far it is; before the database is opened. */
int sql_watch(struct sql *sql, struct error *e);
void sql_unwatch(struct sql *sql);

/* A line that begins with a dot. 0, or -EINVAL; its message is printed. */
int sql_dot(struct sql *sql, const char *line);

/* Sets the format by its name; -EINVAL. */
int sql_set_format(struct sql *sql, const char *name, struct error *e);

/* The pieces of the ledger that `strata why` makes of the run, for view ledger. */
int sql_make_ledger(const struct run *run, struct pieces *out, struct error *e);

/* Reads statements from the terminal until the end. */
int sql_prompt(struct sql *sql, struct error *e);

/* Files that the arguments name: traces, folders of them and patterns. Frees with sql_free_paths(). */
struct sql_paths {
	char **items;
	size_t count;
};

/* Adds the traces that the word names: 1; 0 when it names none, and may be a query; -errno. */
int sql_add_paths(struct sql_paths *paths, const char *word, struct error *e);
void sql_free_paths(struct sql_paths *paths);

#endif
