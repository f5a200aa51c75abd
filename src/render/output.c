#include "render/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/units.h"

#define PACKED_BUFFER ((size_t)1 << 18)
#define GZIP_WINDOW   (15 + 16) /* zlib: the largest window, with gzip's frame */
#define GZIP_LEVEL    3		/* .pfw packs a sixth worse than at 6, in two thirds of the time */

/* A file without a name, of which nothing stays behind whatever ends us; -1: there cannot be one. */
static int output_open_nameless(const struct output *out)
{
	const char *slash = strrchr(out->path, '/');
	char *folder;
	int fd;

	if (!slash)
		folder = strdup(".");
	else
		folder = strndup(out->path, slash == out->path ? 1 : (size_t)(slash - out->path));
	if (!folder)
		return -1;
	fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
	free(folder);
	return fd;
}

/* Not every file system has files without a name. */
static int output_open_temporary(struct output *out, struct error *e)
{
	mode_t mask = umask(0);

	umask(mask);
	out->fd = output_open_nameless(out);
	out->nameless = out->fd >= 0;
	if (asprintf(&out->temporary, "%s.XXXXXX", out->path) < 0) {
		out->temporary = NULL;
		return error_set(e, -ENOMEM, "out of memory");
	}
	if (!out->nameless)
		out->fd = mkostemp(out->temporary, O_CLOEXEC);
	if (out->fd < 0) {
		int err = error_errno(e, "cannot write '%s'", out->path);

		free(out->temporary);
		out->temporary = NULL;
		return err;
	}
	if (!out->nameless && fchmod(out->fd, 0666 & ~mask))
		return error_errno(e, "cannot write '%s'", out->path);
	return 0;
}

static int output_open_file(struct output *out, struct error *e)
{
	struct stat stat_;

	if (!strcmp(out->path, "-")) {
		out->fd = STDOUT_FILENO;
		return 0;
	}
	if (stat(out->path, &stat_) || S_ISREG(stat_.st_mode))
		return output_open_temporary(out, e);
	if (S_ISDIR(stat_.st_mode))
		return error_set(e, -EISDIR, "cannot write '%s': it is a folder", out->path);
	out->fd = open(out->path, O_WRONLY | O_CLOEXEC);
	return out->fd < 0 ? error_errno(e, "cannot write '%s'", out->path) : 0;
}

static int output_open_gzip(struct output *out, struct error *e)
{
	out->gzip = calloc(1, sizeof(*out->gzip));
	out->packed = malloc(PACKED_BUFFER);
	if (!out->gzip || !out->packed ||
	    deflateInit2(out->gzip, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) !=
		    Z_OK)
		return error_set(e, -ENOMEM, "no memory to compress '%s'", out->path);
	return 0;
}

int output_open(struct output *out, const char *path, bool gzip, struct error *e)
{
	int err;

	*out = (struct output){ .fd = -1, .path = strdup(path), .data = malloc(OUTPUT_BUFFER) };
	if (!out->path || !out->data)
		err = error_set(e, -ENOMEM, "out of memory");
	else
		err = output_open_file(out, e);
	if (!err)
		out->terminal = isatty(out->fd);
	if (!err && gzip)
		err = output_open_gzip(out, e);
	if (err)
		output_free(out);
	return err;
}

static void output_write(struct output *out, const uint8_t *bytes, size_t size)
{
	size_t done = 0;

	while (done < size && !out->error) {
		ssize_t wrote = write(out->fd, bytes + done, size - done);

		if (wrote >= 0)
			done += (size_t)wrote;
		else if (errno != EINTR)
			out->error = -errno;
	}
}

static void output_pack(struct output *out, int flush)
{
	out->gzip->next_in = out->data;
	out->gzip->avail_in = (uInt)out->used;
	do {
		out->gzip->next_out = out->packed;
		out->gzip->avail_out = (uInt)PACKED_BUFFER;
		deflate(out->gzip, flush);
		output_write(out, out->packed, PACKED_BUFFER - out->gzip->avail_out);
	} while (!out->gzip->avail_out && !out->error);
}

void output_flush(struct output *out)
{
	if (!out->error && out->limit && out->total + out->used > out->limit)
		out->error = -EFBIG;
	if (!out->error) {
		if (out->gzip)
			output_pack(out, Z_NO_FLUSH);
		else
			output_write(out, out->data, out->used);
	}
	out->total += out->used;
	out->used = 0;
}

void output_append(struct output *out, const void *bytes, size_t size)
{
	const uint8_t *from = bytes;

	while (size) {
		size_t part = OUTPUT_BUFFER - out->used < size ? OUTPUT_BUFFER - out->used : size;

		memcpy(out->data + out->used, from, part);
		out->used += part;
		from += part;
		size -= part;
		if (out->used == OUTPUT_BUFFER)
			output_flush(out);
	}
}

static int output_fail(const struct output *out, int err, struct error *e)
{
	char limit[32];

	if (err == -EFBIG && out->limit)
		return error_set(e, err,
				 "the export passes the limit of %s (--max-size): choose a window "
				 "(--from, --to), fewer layers (-e), or a larger --max-size",
				 units_format_bytes(limit, sizeof(limit), out->limit));
	errno = -err;
	return error_errno(e, "cannot write '%s'", strcmp(out->path, "-") ? out->path : "stdout");
}

static void output_close(struct output *out)
{
	int fd = out->fd;

	out->fd = -1;
	if (fd > STDERR_FILENO && close(fd) && !out->error)
		out->error = -errno;
}

int output_finish(struct output *out, struct error *e)
{
	output_flush(out);
	if (!out->error && out->gzip)
		output_pack(out, Z_FINISH);
	/* Without a name the descriptor is all that holds the file. */
	if (!out->nameless)
		output_close(out);
	out->finished = true;
	/* A reader that has seen enough, such as head, is no failure. */
	if (out->error && !(out->error == -EPIPE && !out->temporary))
		return output_fail(out, out->error, e);
	return 0;
}

/* Gives a nameless file the temporary name: what links a file does not replace another. */
static int output_name(struct output *out)
{
	char self[64];
	size_t length = strlen(out->temporary);

	snprintf(self, sizeof(self), "/proc/self/fd/%d", out->fd);
	for (unsigned i = 0; i < 1000000; i++) {
		snprintf(out->temporary + length - 6, 7, "%06u", i);
		if (!linkat(AT_FDCWD, self, AT_FDCWD, out->temporary, AT_SYMLINK_FOLLOW))
			return 0;
		if (errno != EEXIST)
			break;
	}
	return -errno;
}

int output_commit(struct output *out, struct error *e)
{
	int err = out->finished ? 0 : output_finish(out, e);

	if (err || !out->temporary)
		return err;
	if (out->nameless) {
		err = output_name(out);
		if (err)
			return output_fail(out, err, e);
		out->nameless = false;
		output_close(out);
		if (out->error)
			return output_fail(out, out->error, e);
	}
	if (rename(out->temporary, out->path))
		return error_errno(e, "cannot write '%s'", out->path);
	free(out->temporary);
	out->temporary = NULL;
	return 0;
}

void output_free(struct output *out)
{
	if (out->fd > STDERR_FILENO)
		close(out->fd);
	if (out->temporary && !out->nameless)
		unlink(out->temporary);
	if (out->gzip)
		deflateEnd(out->gzip);
	free(out->gzip);
	free(out->packed);
	free(out->temporary);
	free(out->path);
	free(out->data);
	*out = (struct output){ .fd = -1 };
}
