#include "capture/series.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "capture/identity.h"
#include "capture/output.h"

#define SEGMENTS     8 /* into which what may be kept is divided: so much is dropped at once */
#define SETTLE_AFTER 1000000000ull
#define SUFFIX	     ".strata"
#define DIGITS	     6

struct segment {
	unsigned number;
	uint64_t rows, bytes, end;
};

struct series {
	struct series_config config;
	struct kept *kept;
	unsigned number; /* of the current file */
	char path[PATH_MAX];
	uint64_t began;	     /* when that was begun */
	struct buf segments; /* struct segment each: the files before it, the oldest first */
	struct writer *closing;
	uint64_t settle_at;
	uint64_t dropped_segments, dropped_rows;
};

/* ---- names ---- */

/* How much of the name stands before the number. */
static size_t stem_size(const char *output)
{
	size_t size = strlen(output);

	if (size > strlen(SUFFIX) && !strcmp(output + size - strlen(SUFFIX), SUFFIX))
		size -= strlen(SUFFIX);
	return size;
}

static int segment_path(const struct series *series, unsigned number, char *out, size_t size)
{
	const char *output = series->config.place.path;

	return snprintf(out, size, "%.*s.%0*u" SUFFIX, (int)stem_size(output), output, DIGITS,
			number) < (int)size
		       ? 0
		       : -ENAMETOOLONG;
}

/* Whether a file of the folder has a name of this series: stem.digits.strata */
static bool is_segment(const char *name, const char *stem, size_t size)
{
	size_t digits;

	if (strncmp(name, stem, size) || name[size] != '.')
		return false;
	digits = strspn(name + size + 1, "0123456789");
	return digits >= DIGITS && !strcmp(name + size + 1 + digits, SUFFIX);
}

/* Old files of these names would be taken for this recording's. */
static int clear_files(const struct series *series, struct error *e)
{
	const char *output = series->config.place.path, *slash = strrchr(output, '/');
	const char *stem = slash ? slash + 1 : output;
	size_t size = stem_size(output) - (size_t)(stem - output);
	const struct dirent *entry;
	char folder[PATH_MAX], path[2 * PATH_MAX];
	DIR *files;
	int err = 0;

	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - output) + 1 : 1,
		 slash ? output : ".");
	files = opendir(folder);
	while (files && !err && (entry = readdir(files))) {
		if (!is_segment(entry->d_name, stem, size))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (!series->config.place.force)
			err = error_set(e, -EEXIST,
					"'%s' exists, of a series of that name: choose another "
					"with -o, or replace it with --force",
					path);
		else if (unlink(path))
			err = error_errno(e, "cannot remove '%s'", path);
	}
	if (files)
		closedir(files);
	return err;
}

/* With the rights of whom the files belong to. */
static int clear_place(const struct series *series, struct error *e)
{
	struct identity identity;
	int err = identity_enter(&identity, series->config.place.invoker, e);

	if (err)
		return err;
	err = clear_files(series, e);
	identity_leave(&identity);
	return err;
}

/* ---- files ---- */

int series_open(struct series **out, const struct series_config *config, struct error *e)
{
	struct series *series = *out = calloc(1, sizeof(*series));
	int err;

	if (!series)
		return error_set(e, -ENOMEM, "out of memory");
	series->config = *config;
	err = clear_place(series, e);
	return err ? err : kept_open(&series->kept, e);
}

void series_close(struct series *series)
{
	struct error ignored;

	if (!series)
		return;
	if (series->closing)
		writer_close(series->closing, &ignored);
	kept_close(series->kept);
	buf_free(&series->segments);
	free(series);
}

struct kept *series_kept(const struct series *series)
{
	return series->kept;
}

const char *series_path(const struct series *series)
{
	return series->path;
}

struct series_counts series_counts(const struct series *series)
{
	const struct segment *segments = (const struct segment *)series->segments.data;
	struct series_counts counts = {
		.segment = series->number,
		.dropped_segments = series->dropped_segments,
		.dropped_rows = series->dropped_rows,
	};

	for (size_t i = 0; i < series->segments.size / sizeof(*segments); i++) {
		counts.kept_segments++;
		counts.kept_rows += segments[i].rows;
		counts.kept_bytes += segments[i].bytes;
	}
	return counts;
}

int series_next(struct series *series, struct writer **writer, struct error *e)
{
	struct output_place place = series->config.place;
	char path[PATH_MAX];
	int fd, err;

	if (segment_path(series, series->number + 1, path, sizeof(path)))
		return error_set(e, -ENAMETOOLONG, "the name '%s' is too long",
				 series->config.place.path);
	place.path = path;
	err = output_create(&place, &fd, e);
	if (err)
		return err;
	err = writer_open(writer, fd, e);
	if (err) {
		unlink(path);
		return error_add(e, err, "cannot begin trace '%s'", path);
	}
	series->number++;
	memcpy(series->path, path, sizeof(path));
	series->began = clock_boot();
	return 0;
}

uint64_t series_segment_bytes(const struct series *series)
{
	return series->config.most_bytes ? series->config.most_bytes / SEGMENTS : UINT64_MAX;
}

uint64_t series_segment_end(const struct series *series)
{
	return series->config.most_time ? series->began + series->config.most_time / SEGMENTS
					: UINT64_MAX;
}

/* ---- what has ended ---- */

static uint64_t writer_all_rows(const struct writer *writer)
{
	uint64_t rows = 0;

	for (unsigned table = 0; table < TABLE_COUNT; table++)
		rows += writer_rows(writer, table);
	return rows;
}

void series_retire(struct series *series, struct writer *writer, uint64_t now)
{
	struct segment segment = { .number = series->number - 1,
				   .rows = writer_all_rows(writer),
				   .bytes = writer_size(writer),
				   .end = now };

	series->closing = writer;
	series->settle_at = now + SETTLE_AFTER;
	if (!buf_append(&series->segments, &segment, sizeof(segment)))
		return;
	writer_close(writer, &(struct error){ "" }); /* out of memory: that file is never dropped */
	series->closing = NULL;
}

/* Tells the file that has ended what came late, and closes it. */
static int series_settle(struct series *series, struct error *e)
{
	struct segment *segments = (struct segment *)series->segments.data, *last;
	struct writer *writer = series->closing;
	struct buf chunks = { 0 };
	struct stat file;
	char path[PATH_MAX];
	int err, close_err;

	last = &segments[series->segments.size / sizeof(*segments) - 1];
	err = kept_settle(series->kept, &chunks, e);
	if (!err && chunks.size)
		err = writer_append(writer, &chunks, e);
	last->rows = writer_all_rows(writer);
	series->closing = NULL;
	close_err = writer_close(writer, e);
	buf_free(&chunks);
	if (!segment_path(series, last->number, path, sizeof(path)) && !stat(path, &file))
		last->bytes = (uint64_t)file.st_size;
	return err ? err : close_err;
}

static void drop_oldest(struct series *series)
{
	struct segment *segments = (struct segment *)series->segments.data;
	char path[PATH_MAX];

	if (!segment_path(series, segments[0].number, path, sizeof(path)))
		unlink(path);
	series->dropped_segments++;
	series->dropped_rows += segments[0].rows;
	series->segments.size -= sizeof(*segments);
	memmove(segments, segments + 1, series->segments.size);
}

/* Whether the oldest file is more than may be kept. Room is left for the current one to grow to its end, and half as much
 * again for what is then on its way. */
static bool is_too_much(const struct series *series, uint64_t now, uint64_t size)
{
	const struct segment *segments = (const struct segment *)series->segments.data;
	uint64_t part = series_segment_bytes(series), room = part + part / 2;

	if (!series->segments.size ||
	    (series->closing && series->segments.size == sizeof(*segments)))
		return false;
	if (series->config.most_time && segments[0].end + series->config.most_time < now)
		return true;
	return series->config.most_bytes &&
	       series_counts(series).kept_bytes + (size > room ? size : room) >
		       series->config.most_bytes;
}

int series_tidy(struct series *series, uint64_t now, uint64_t size, bool at_once, struct error *e)
{
	int err = 0;

	if (series->closing && (at_once || now >= series->settle_at))
		err = series_settle(series, e);
	while (is_too_much(series, now, size))
		drop_oldest(series);
	return err;
}
