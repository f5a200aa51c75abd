/* Exporting runs to the formats of other tools: what every format gets and what it gives back. Each format
 * is a row in the table of export.c and a file of its own.
 */
#ifndef STRATA_RENDER_EXPORT_H
#define STRATA_RENDER_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/outfile.h"
#include "store/dims.h"
#include "store/reader.h"
#include "store/times.h"

/* A run to export; the caller keeps everything in it. */
struct export_run {
	const char *path;
	struct reader *reader;
	struct dims *dims;
	struct span span;
	uint64_t from, to; /* ts, both included */
};

/* What to export; the caller keeps everything in it. */
struct export_request {
	const struct export_format *format;
	const struct export_run *runs;
	size_t run_count;
	struct outfile_inputs inputs; /* what must not be written: the runs */
	uint32_t tables;	      /* bit i: enum table_id i */
	const char *output;	      /* a file, a folder, or - */
	uint64_t max_bytes;	      /* 0: no limit */
	bool raw;		      /* classic layouts: names as they are */
	bool libc_names;	      /* pfw: calls by the names of the C library */
	uint64_t
		counter_interval; /* pfw: calls counted each so many ns, as DataCrumbs does; 0: events */
	bool csv_safe;		  /* csv: no formulas of spreadsheets */

	/* Called now and then with the rows done since the last call, with what is worth saying, and with what may
	 * mislead who does not know it. */
	void (*progress)(void *data, uint64_t rows);
	void (*note)(void *data, const char *text);
	void (*warn)(void *data, const char *text);
	void *data;
};

struct export_result {
	uint64_t rows;	  /* of tables */
	uint64_t bytes;	  /* before gzip */
	char damage[512]; /* what is wrong with the trace, when rows had to end before its end */
};

struct export_format {
	const char *name;
	const char *summary;   /* one line */
	const char *extension; /* of the default file name, as in run.pftrace */
	bool folder;	       /* -o is a folder */
	bool merges;	       /* takes several runs */
	uint64_t max_bytes;    /* unless the user says otherwise; 0: none */
	int (*write)(const struct export_request *request, struct export_result *result,
		     struct error *e);
};

extern const struct export_format export_formats[];
extern const size_t export_format_count;

const struct export_format *export_format_by_name(const char *name);

/* Rows that the tables of all runs hold within the times; for progress. */
int export_count_rows(const struct export_request *request, uint64_t *rows, struct error *e);

/* One bit for each table that a list of layers names ("io,sched"): their tables, and whatever is recorded with
 * any layer. -EINVAL names the layer nearest to an unknown one. */
int export_parse_layers(const char *list, uint32_t *tables, struct error *e);
#define EXPORT_ALL_TABLES UINT32_MAX

/* Called with what ended a walk through rows: damage ends them, as it ends every reader's, and is no failure. */
int export_settle(struct export_result *result, int err, const struct error *e);

/* Names of files without content, which a format that writes several tells of in the end. */
struct export_empty {
	const char *what; /* they have none of: "rows" */
	char names[512];
};

void export_empty_add(struct export_empty *empty, const char *name);
void export_empty_note(const struct export_empty *empty, const struct export_request *request);

/* Stands for the number of a process or thread that the trace does not have: readers take it for a number, and no kernel
 * gives it. */
#define EXPORT_NO_TASK 2147483647

#define EXPORT_PROGRESS_ROWS 32768

static inline void export_progress(const struct export_request *request, uint64_t rows)
{
	if (request->progress)
		request->progress(request->data, rows);
}

int csv_write(const struct export_request *request, struct export_result *result, struct error *e);
int parquet_write(const struct export_request *request, struct export_result *result,
		  struct error *e);
int classic_write(const struct export_request *request, struct export_result *result,
		  struct error *e);
int trace_visuals_write(const struct export_request *request, struct export_result *result,
			struct error *e);
int classic_write_one(const struct export_request *request, struct export_result *result,
		      struct error *e);
int pfw_write(const struct export_request *request, struct export_result *result, struct error *e);
int perfetto_write(const struct export_request *request, struct export_result *result,
		   struct error *e);

#endif
