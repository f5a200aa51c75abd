/* Counters of a .pfw file in the dialect that DataCrumbs' notebooks read: one for each function, thread, file and interval, with freq,
 * time in seconds and size_sum; ts counts from the start of the recording. Calls that were recorded one by one are
 * counted here, those that were counted are passed on.
 */
#include <errno.h>
#include <string.h>

#include "render/pfw.h"

/* What is counted apart. Compared as bytes: all of them are set. */
struct counted_key {
	int64_t pid, tid, file;
	uint32_t name;	   /* in counted->names */
	uint32_t category; /* likewise */
};

struct counted_sum {
	uint64_t freq, time;
	uint64_t size;
	bool sized; /* one of them says how many bytes */
};

/* ---- categories ---- */

static bool begins(const char *text, size_t size, const char *with)
{
	return size >= strlen(with) && !memcmp(text, with, strlen(with));
}

/* The layer of a function, as DataCrumbs names them. */
static const char *category_of(const char *module, size_t module_size, const char *name,
			       size_t name_size)
{
	static const char *const modules[][2] = { { "syscall", "sys" },	  { "libc.so", "c" },
						  { "libmpi", "mpi" },	  { "libhdf5", "hdf5" },
						  { "python", "python" }, { "libpython", "python" },
						  { "libcuda", "cuda" },  { "libnccl", "nccl" } };
	static const char *const functions[][2] = { { "vfs_", "vfs" },
						    { "ext4_", "ext4" },
						    { "xfs_", "xfs" } };

	for (unsigned i = 0; i < sizeof(modules) / sizeof(*modules); i++)
		if (begins(module, module_size, modules[i][0]))
			return modules[i][1];
	if (!begins(module, module_size, "kernel"))
		return "app";
	for (unsigned i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		if (begins(name, name_size, functions[i][0]))
			return functions[i][1];
	return "kernel";
}

/* ---- lines ---- */

struct counted_line {
	uint64_t ts;
	int64_t pid, tid;
	const char *name, *category;
	size_t name_size;
	struct dims_text file;
	struct counted_sum sum;
	bool timed;
};

static void write_counter(struct pfw *w, const struct counted_line *counter)
{
	struct pfw_line line;

	pfw_begin_line(w, &line, counter->name, counter->name_size, counter->category);
	pfw_put_thread(&line, counter->pid == CELL_NULL ? 0 : (uint64_t)counter->pid,
		       counter->tid == CELL_NULL ? 0 : (uint64_t)counter->tid);
	line_literal(&line, ",\"ts\":");
	line_uint(&line, (counter->ts - w->run->span.start) / 1000);
	line_literal(&line, ",\"ph\":\"C\",\"args\":{\"hhash\":\"");
	line_literal(&line, w->host);
	line_literal(&line, "\"");
	if (counter->file.bytes) {
		line_literal(&line, ",\"fname\":");
		line_text(&line, counter->file.bytes, counter->file.size);
	}
	line_literal(&line, ",\"freq\":");
	line_uint(&line, counter->sum.freq);
	if (counter->timed) {
		line_literal(&line, ",\"time\":");
		line_seconds(&line, counter->sum.time);
	}
	if (counter->sum.sized) {
		line_literal(&line, ",\"size_sum\":");
		line_uint(&line, counter->sum.size);
	}
	line_literal(&line, "}}\n");
	line_close(&line);
}

/* Writes what the interval had, and begins another one. */
void pfw_counters_flush(struct pfw *w)
{
	struct pfw_counters *counted = &w->counters;
	const struct counted_sum *sums = (const void *)counted->sums.data;

	for (uint32_t i = 0; i < counted->keys.count; i++) {
		struct counted_line line = { .ts = counted->since, .sum = sums[i], .timed = true };
		struct counted_key key;
		size_t size;

		memcpy(&key, strings_get(&counted->keys, i, &size), sizeof(key));
		line.pid = key.pid;
		line.tid = key.tid;
		line.name = strings_get(&counted->names, key.name, &line.name_size);
		line.category = strings_get(&counted->names, key.category, &size);
		if (key.file != CELL_NULL)
			line.file.bytes = dims_path(w->run->dims, key.file, &line.file.size);
		write_counter(w, &line);
	}
	strings_clear(&counted->keys);
	counted->sums.size = 0;
}

/* ---- rows ---- */

static void count(struct pfw *w, const struct counted_key *key, int64_t dur, int64_t bytes)
{
	struct pfw_counters *counted = &w->counters;
	struct counted_sum *sum;
	uint32_t number;

	if (strings_add(&counted->keys, key, sizeof(*key), &number) ||
	    !(sum = buf_element(&counted->sums, number, sizeof(*sum)))) {
		w->error = -ENOMEM;
		return;
	}
	sum->freq++;
	sum->time += dur == CELL_NULL || dur < 0 ? 0 : (uint64_t)dur;
	sum->sized |= bytes != CELL_NULL;
	sum->size += bytes == CELL_NULL || bytes < 0 ? 0 : (uint64_t)bytes;
}

/* Numbers of a name and its category; categories keep the NUL behind them. */
static bool name_call(struct pfw *w, const char *name, size_t size, const char *category,
		      struct counted_key *key)
{
	struct strings *names = &w->counters.names;

	if (!strings_add(names, name, size, &key->name) &&
	    !strings_add(names, category, strlen(category) + 1, &key->category))
		return true;
	w->error = -ENOMEM;
	return false;
}

static void take_call(struct pfw *w, const struct rows *rows)
{
	struct counted_key key = { .pid = rows_cell(rows, column_call_pid),
				   .tid = rows_cell(rows, column_call_tid),
				   .file = dims_file(w->run->dims,
						     rows_cell(rows, column_call_file)) };
	size_t size, module_size;
	const char *name = rows_text(rows, column_call_func, &size);
	const char *module = rows_text(rows, column_call_module, &module_size);

	if (name && module &&
	    name_call(w, name, size, category_of(module, module_size, name, size), &key))
		count(w, &key, rows_cell(rows, column_call_dur),
		      rows_cell(rows, column_call_bytes));
}

static void take_syscall(struct pfw *w, const struct event_row *row)
{
	const struct event_plan *plan = row->plan;
	int64_t file = plan->file < 0 ? CELL_NULL : rows_cell(row->rows, (unsigned)plan->file);
	struct counted_key key = { .pid = row->pid,
				   .tid = row->tid,
				   .file = dims_file(w->run->dims, file) };
	int64_t bytes = plan->schema == &schema_tables[TABLE_io]
				? rows_cell(row->rows, column_io_returned)
				: CELL_NULL;

	if (name_call(w, row->name, row->name_size, "sys", &key))
		count(w, &key, row->end == EVENT_NO_END ? CELL_NULL : (int64_t)(row->end - row->ts),
		      bytes);
}

static void take_counter(struct pfw *w, const struct rows *rows, uint64_t ts)
{
	int64_t time = rows_cell(rows, column_counter_time),
		bytes = rows_cell(rows, column_counter_bytes);
	struct counted_line line = {
		.ts = ts,
		.pid = rows_cell(rows, column_counter_pid),
		.tid = rows_cell(rows, column_counter_tid),
		.timed = time != CELL_NULL,
		.sum = { .freq = (uint64_t)rows_cell(rows, column_counter_count),
			 .time = (uint64_t)time,
			 .size = (uint64_t)bytes,
			 .sized = bytes != CELL_NULL },
	};
	size_t size;
	const char *module = rows_text(rows, column_counter_module, &size);

	line.name = rows_text(rows, column_counter_func, &line.name_size);
	if (!line.name || !module)
		return;
	line.category = category_of(module, size, line.name, line.name_size);
	write_counter(w, &line);
}

void pfw_counters_take(struct pfw *w, const struct event_row *row)
{
	uint64_t step = w->request->counter_interval, start = w->run->span.start;
	uint64_t since = row->ts < start ? start : row->ts - (row->ts - start) % step;
	unsigned table = (unsigned)(row->plan->schema - schema_tables);

	if (since != w->counters.since)
		pfw_counters_flush(w);
	w->counters.since = since;
	if (table == TABLE_counter)
		take_counter(w, row->rows, row->ts < start ? start : row->ts);
	else if (table == TABLE_call)
		take_call(w, row->rows);
	else
		take_syscall(w, row);
}

void pfw_counters_free(struct pfw_counters *counters)
{
	strings_free(&counters->keys);
	strings_free(&counters->names);
	buf_free(&counters->sums);
}
