#include "render/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/units.h"

#define PACKED_BUFFER ((size_t)1 << 18)
#define GZIP_WINDOW   (15 + 16) /* zlib: the largest window, with gzip's frame */
#define GZIP_LEVEL    3		/* .pfw packs a sixth worse than at 6, in two thirds of the time */

static int output_open_gzip(struct output *out, struct error *e)
{
	out->gzip = calloc(1, sizeof(*out->gzip));
	out->packed = malloc(PACKED_BUFFER);
	if (!out->gzip || !out->packed ||
	    deflateInit2(out->gzip, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) !=
		    Z_OK)
		return error_set(e, -ENOMEM, "no memory to compress '%s'", out->file.path);
	return 0;
}

int output_open(struct output *out, const char *path, bool gzip,
		const struct outfile_inputs *inputs, struct error *e)
{
	int err;

	*out = (struct output){ .data = malloc(OUTPUT_BUFFER) };
	err = outfile_open(&out->file, path, 0666, inputs, e);
	if (!err && !out->data)
		err = error_set(e, -ENOMEM, "out of memory");
	if (!err)
		out->terminal = isatty(out->file.fd);
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
		ssize_t wrote = write(out->file.fd, bytes + done, size - done);

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
	return error_errno(e, "cannot write '%s'",
			   strcmp(out->file.path, "-") ? out->file.path : "stdout");
}

int output_finish(struct output *out, struct error *e)
{
	output_flush(out);
	if (!out->error && out->gzip)
		output_pack(out, Z_FINISH);
	if (!out->finished) {
		int err = outfile_close(&out->file);

		if (!out->error)
			out->error = err;
	}
	out->finished = true;
	/* A reader that has seen enough, such as head, is no failure. */
	if (out->error && !(out->error == -EPIPE && !out->file.temporary))
		return output_fail(out, out->error, e);
	return 0;
}

int output_commit(struct output *out, struct error *e)
{
	int err = out->finished ? 0 : output_finish(out, e);

	return err ? err : outfile_commit(&out->file, e);
}

void output_free(struct output *out)
{
	outfile_free(&out->file);
	if (out->gzip)
		deflateEnd(out->gzip);
	free(out->gzip);
	free(out->packed);
	free(out->data);
	*out = (struct output){ .file.fd = -1 };
}
