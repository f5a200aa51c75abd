#include "capture/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mllog.h"
#include "base/units.h"

#define LONGEST_LINE 65536 /* of a longer one the rest is skipped */

struct follow {
	const char *path;
	int fd; /* -1: not there yet */
	ino_t inode;
	dev_t device;
	off_t at;
	struct buf line; /* what came of a line that has no end yet */
	bool skipping;	 /* the rest of a line that is too long */
};

int follow_check(const char *path, struct error *e)
{
	struct stat file;

	if (stat(path, &file) || S_ISREG(file.st_mode))
		return 0;
	return error_set(e, -EINVAL, "--log %s: not a regular file", path);
}

struct follow *follow_open(const char *path)
{
	struct follow *follow = calloc(1, sizeof(*follow));

	if (!follow)
		return NULL;
	follow->path = path;
	follow->fd = -1;
	return follow;
}

void follow_close(struct follow *follow)
{
	if (!follow)
		return;
	if (follow->fd >= 0)
		close(follow->fd);
	buf_free(&follow->line);
	free(follow);
}

static void follow_restart(struct follow *follow)
{
	follow->at = 0;
	follow->line.size = 0;
	follow->skipping = false;
}

/* Opens the file, or the one that has taken its name since. */
static void follow_find(struct follow *follow)
{
	struct stat file;
	int fd;

	/* O_NONBLOCK: a pipe of that name must not hang us. */
	if (stat(follow->path, &file) || !S_ISREG(file.st_mode) ||
	    (follow->fd >= 0 && file.st_ino == follow->inode && file.st_dev == follow->device))
		return;
	fd = open(follow->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &file) || !S_ISREG(file.st_mode)) {
		if (fd >= 0)
			close(fd);
		return;
	}
	if (follow->fd >= 0)
		close(follow->fd);
	follow->fd = fd;
	follow->inode = file.st_ino;
	follow->device = file.st_dev;
	follow_restart(follow);
}

/* What a log that is read needs to become rows. */
struct log_times {
	uint64_t start;	 /* of the recording */
	uint64_t offset; /* of the wall clock from boot time */
};

static void take_line(const char *line, size_t size, const struct log_times *times,
		      struct sink *sink)
{
	uint64_t start = times->start;
	struct mllog_line parsed;
	struct builder *row;
	uint64_t ts;

	if (mllog_parse(line, size, &parsed) <= 0)
		return;
	ts = parsed.realtime - times->offset;
	/* The log has milliseconds, so that a line of the first one may seem older than the start. */
	if (parsed.realtime < times->offset || ts + 1000000 < start ||
	    ts > clock_boot() + NS_PER_SECOND)
		return;
	row = sink_table(sink, TABLE_mark);
	if (!row) {
		sink_drop(sink, TABLE_mark);
		return;
	}
	builder_set(row, column_mark_ts, (int64_t)(ts < start ? start : ts));
	builder_set_text(row, column_mark_source, "mllog", 5);
	builder_set_text(row, column_mark_name, parsed.key, strlen(parsed.key));
	builder_set_text(row, column_mark_value, parsed.json, parsed.json_size);
	sink_end_row(sink, TABLE_mark);
}

static void take_bytes(struct follow *follow, const char *bytes, size_t size,
		       const struct log_times *times, struct sink *sink)
{
	while (size) {
		const char *end = memchr(bytes, '\n', size);
		size_t length = end ? (size_t)(end - bytes) : size;

		if (follow->line.size + length > LONGEST_LINE ||
		    buf_append(&follow->line, bytes, length))
			follow->skipping = true;
		length += end != NULL;
		bytes += length;
		size -= length;
		if (!end)
			return;
		if (!follow->skipping)
			take_line((const char *)follow->line.data, follow->line.size, times, sink);
		follow->skipping = false;
		follow->line.size = 0;
	}
}

/* Reads to the end of the file as it is now. */
static void follow_read(struct follow *follow, const struct log_times *times, struct sink *sink)
{
	char bytes[16384];
	struct stat file;
	ssize_t size;

	if (follow->fd < 0)
		return;
	if (!fstat(follow->fd, &file) && file.st_size < follow->at)
		follow_restart(follow); /* it was cut */
	while ((size = pread(follow->fd, bytes, sizeof(bytes), follow->at)) > 0) {
		follow->at += size;
		take_bytes(follow, bytes, (size_t)size, times, sink);
	}
}

void follow_take(struct follow *follow, uint64_t start, uint64_t offset, struct sink *sink)
{
	struct log_times times = { start, offset };
	int before = follow->fd;
	ino_t inode = follow->inode;

	follow_read(follow, &times, sink); /* before another file takes its name */
	follow_find(follow);
	if (before < 0 || inode != follow->inode)
		follow_read(follow, &times, sink);
}
