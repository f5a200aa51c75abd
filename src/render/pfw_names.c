/* Dictionary rows of a .pfw file: files and hosts stand in events as hashes, threads as numbers, and a row of kind M
 * tells once what each is called.
 */
#include "render/pfw.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "store/paths.h"

/* A row of a dictionary: Perfetto passes over those that it does not know. */
static void write_metadata(struct pfw *w, const char *kind, uint64_t pid, uint64_t tid,
			   const char *name, size_t size, const char *value)
{
	struct pfw_line line;

	pfw_begin_line(w, &line, kind, strlen(kind), "dftracer");
	pfw_put_thread(&line, pid, tid);
	line_literal(&line, ",\"ph\":\"M\",\"args\":{\"name\":");
	line_text(&line, name, size);
	if (value) {
		line_literal(&line, ",\"value\":\"");
		line_literal(&line, value);
		line_literal(&line, "\",\"hhash\":\"");
		line_literal(&line, w->host);
		line_literal(&line, "\"");
	}
	line_literal(&line, "}}\n");
	line_close(&line);
}

void pfw_name_host(struct pfw *w)
{
	const char *host = dims_run(w->run->dims, "host");

	if (!host)
		host = "unknown";
	snprintf(w->host, sizeof(w->host), "%016" PRIx64,
		 (uint64_t)XXH3_64bits(host, strlen(host)));
	write_metadata(w, "HH", 0, 0, host, strlen(host), w->host);
}

void pfw_name_thread(struct pfw *w, uint64_t pid, int64_t tid, uint64_t ts)
{
	const char *comm;
	size_t size;

	comm = dims_comm(w->run->dims, tid, ts, &size);
	if (!comm)
		return;
	write_metadata(w, "thread_name", pid, (uint64_t)tid, comm, size, NULL);
	if ((uint64_t)tid == pid)
		write_metadata(w, "process_name", pid, (uint64_t)tid, comm, size, NULL);
}

/* The hash of a path, told of when first met. */
static uint64_t hash_text(struct pfw *w, const char *path, size_t size)
{
	uint64_t hash = XXH3_64bits(path, size);
	char value[17];
	bool fresh;

	hash += !hash;
	if (!map_add(&w->hashes, hash, &fresh))
		w->error = -ENOMEM;
	else if (fresh) {
		snprintf(value, sizeof(value), "%016" PRIx64, hash);
		write_metadata(w, "FH", 0, 0, path, size, value);
	}
	return hash;
}

static uint64_t hash_file(struct pfw *w, int64_t file)
{
	bool fresh;
	uint64_t *hash, found;
	const char *path;
	size_t size;

	if (file == CELL_NULL)
		return 0;
	hash = map_add(&w->files, (uint64_t)file, &fresh);
	if (!hash) {
		w->error = -ENOMEM;
		return 0;
	}
	if (!fresh)
		return *hash;
	path = dims_path(w->run->dims, file, &size);
	found = path ? hash_text(w, path, size) : 0;
	*hash = found;
	return found;
}

uint64_t pfw_hash_path(struct pfw *w, const struct event_argument *argument,
		       const struct rows *rows)
{
	uint64_t hash = hash_file(w, rows_cell(rows, argument->column));
	struct dims_text path;

	if (hash || argument->kind != SHOWN_FS_PATH)
		return hash;
	if (path_of_fs_row(w->run->dims, rows, &w->scratch, &path)) {
		w->error = -ENOMEM;
		return 0;
	}
	return path.bytes ? hash_text(w, path.bytes, path.size) : 0;
}
