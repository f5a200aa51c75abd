/* One column of a chunk, to and from bytes.
 *
 * A column is stored as what a guess leaves over. With x the column's values, n the row and all
 * arithmetic modulo 2^64, the guess is:
 *
 *     PLAIN    base
 *     DELTA    x[n-1]; base before the first row
 *     AFTER    x[n-1] + r[n-1]; base before the first row         r: how long the row lasted (dur)
 *     FOLLOW   x[n-1] + r[n-1] where s[n] equals s[n-1], else 0   r: bytes moved if any (returned),
 *                                                                 s: what it was done to (file)
 *     MINUS    r[n] + base                                        r: bytes asked for (requested);
 *                                                                 of a process id, the thread's
 *     BEFORE   r[n] - s[n]                                        r: when the row began (ts),
 *                                                                 s: how long before it was ready (wait)
 *
 * A reference r that is null, or in FOLLOW negative, counts as 0. The remainders are split into byte
 * planes (planes.h) and each plane is stored as a block: raw, one byte, one byte with few exceptions, or
 * zstd.
 *
 *     stream: [references][base][null bitmap][dictionary][plane 0][plane 1]...
 *
 * A null row holds the value of the row before it, so that it costs next to nothing; the bitmap, there
 * only when some rows are null, puts the nulls back. NAME and TEXT columns hold numbers of texts in
 * the dictionary, which lists the texts of this chunk alone.
 *
 * An encoder or decoder is working memory for one thread; its owner closes it.
 */
#ifndef STRATA_STORE_CODEC_H
#define STRATA_STORE_CODEC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/cursor.h"
#include "base/error.h"
#include "base/strings.h"
#include "schema/schema.h"

/* A column's mode byte: bits 0-3 are the number of planes. */
enum codec_mode {
	CODEC_WIDTH_MASK = 0x0f,
	CODEC_SIGN_MASK = 0x30,
	CODEC_UNSIGNED = 0x00,
	CODEC_SIGNED = 0x10, /* two's complement of that many bytes: few are negative */
	CODEC_ZIGZAG = 0x20, /* the sign in the lowest bit: many are */
	CODEC_NULLS = 0x40,  /* there is a null bitmap */
};

enum codec_block {
	CODEC_RAW = 0,	/* the bytes */
	CODEC_BYTE = 1, /* one byte, which they all are */
	CODEC_ZSTD = 2, /* a varint, then a zstd frame of that many bytes */
	CODEC_FEW = 3,	/* one byte, which nearly all are; then how many are not, and which */
};

#define CODEC_MAX_FEW 16 /* exceptions in a CODEC_FEW block */

#define CODEC_MAX_REFERENCES 2

/* How many references an encoding has. */
static inline unsigned codec_references(uint8_t encoding)
{
	switch (encoding) {
	case ENCODING_FOLLOW:
	case ENCODING_BEFORE: return 2;
	case ENCODING_AFTER:
	case ENCODING_MINUS: return 1;
	default: return 0;
	}
}

static inline bool codec_has_texts(uint8_t type)
{
	return type == TYPE_NAME || type == TYPE_TEXT;
}

struct encoder;

struct encoder_input {
	const int64_t *cells;
	uint32_t rows;
	uint8_t encoding;
	uint8_t reference_numbers[CODEC_MAX_REFERENCES];      /* columns; as many as it has */
	const int64_t *reference_cells[CODEC_MAX_REFERENCES]; /* NULL: all null */
	const struct strings *texts;			      /* NULL: no dictionary */
};

int encoder_open(struct encoder **encoder, uint32_t max_rows);
void encoder_close(struct encoder *encoder);
/* Appends the column's stream. 1; 0 when all rows are null and nothing was appended; -ENOMEM. */
int encoder_put(struct encoder *encoder, const struct encoder_input *input, struct buf *out,
		uint8_t *mode);

struct decoder;

struct decoder_input {
	struct cursor stream; /* behind the references */
	uint32_t rows;
	uint8_t encoding;
	uint8_t mode;
	const int64_t *reference_cells[CODEC_MAX_REFERENCES];
};

/* The dictionary as found; points into the memory given. */
struct decoder_texts {
	uint32_t count;
	const uint32_t *ends;
	const char *bytes;
};

int decoder_open(struct decoder **decoder);
void decoder_close(struct decoder *decoder);
/* Room for the cells of the reference columns: `place` is 0 to DECODER_PLACES - 1. NULL: no memory. */
#define DECODER_PLACES 4
int64_t *decoder_room(struct decoder *decoder, unsigned place, uint32_t rows);
/* Fills cells; with `texts` given, reads a dictionary into `memory` first. -EBADMSG: not what an
 * encoder writes. */
int decoder_get(struct decoder *decoder, const struct decoder_input *input, int64_t *cells,
		struct buf *memory, struct decoder_texts *texts, struct error *e);

#endif
