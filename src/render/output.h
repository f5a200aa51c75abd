/* A file that appears whole or not at all (base/outfile.h), written through a buffer and gzipped if asked.
 *
 * A failed write is kept in `error` and makes later calls do nothing; output_commit() reports it.
 * The owner ends it with output_commit() and then output_free(), which removes what was not committed.
 */
#ifndef STRATA_RENDER_OUTPUT_H
#define STRATA_RENDER_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/outfile.h"

#define OUTPUT_BUFFER ((size_t)4 << 20)

struct output {
	uint8_t *data; /* OUTPUT_BUFFER bytes */
	size_t used;
	uint64_t total; /* bytes given so far, before gzip and without what is in the buffer */
	uint64_t limit; /* of bytes given, 0: none; passing it is the error -EFBIG */
	int error;
	struct outfile file;
	bool finished;
	bool terminal; /* it goes straight to one */
	struct z_stream_s *gzip;
	uint8_t *packed;
};

/* path "-": standard output. */
int output_open(struct output *out, const char *path, bool gzip,
		const struct outfile_inputs *inputs, struct error *e);
int output_commit(struct output *out, struct error *e);
void output_free(struct output *out);

void output_flush(struct output *out);
void output_append(struct output *out, const void *bytes, size_t size);

/* Writes the rest, but does not name the file: the files of a folder are named together once all are written. output_commit() does this by itself. */
int output_finish(struct output *out, struct error *e);

static inline bool output_past_limit(const struct output *out)
{
	return out->limit && out->total + out->used > out->limit;
}

/* Room for `size` bytes, at most OUTPUT_BUFFER; the caller writes them and calls output_advance(). */
static inline uint8_t *output_room(struct output *out, size_t size)
{
	if (__builtin_expect(out->used + size > OUTPUT_BUFFER, 0))
		output_flush(out);
	return out->data + out->used;
}

static inline void output_advance(struct output *out, const uint8_t *end)
{
	out->used = (size_t)(end - out->data);
}

#endif
