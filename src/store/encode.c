/* The writing half of codec.h. The encoder owns its scratch and compressor; one thread uses it. */
#if defined(__GNUC__) && !defined(__clang__)
#	pragma GCC optimize("O3")
#endif
#include "store/codec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "store/format.h"
#include "store/planes.h"

/* Below this, a zstd frame's own header eats what it saves. */
#define ENCODER_MIN_COMPRESS 32

struct encoder {
	ZSTD_CCtx *zstd;
	uint32_t max_rows;
	int64_t *filled;   /* the column with its nulls filled in */
	int64_t *residual; /* what the guesses left over */
	uint8_t *planes;
	uint8_t *bitmap;
	struct buf dictionary;
};

/* Planes are noise over few values: short matches in them are chance, and cost more than they save. */
static ZSTD_CCtx *create_compressor(void)
{
	ZSTD_CCtx *zstd = ZSTD_createCCtx();

	if (!zstd)
		return NULL;
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, 1);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_strategy, ZSTD_fast);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_minMatch, 7);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_hashLog, 10);
	return zstd;
}

int encoder_open(struct encoder **encoder, uint32_t max_rows)
{
	struct encoder *enc = calloc(1, sizeof(*enc));

	if (!enc)
		return -ENOMEM;
	enc->max_rows = max_rows;
	enc->zstd = create_compressor();
	enc->filled = malloc(max_rows * sizeof(*enc->filled));
	enc->residual = malloc(max_rows * sizeof(*enc->residual));
	enc->planes = malloc((size_t)max_rows * PLANES_MAX);
	enc->bitmap = malloc(max_rows / 8 + 1);
	if (!enc->zstd || !enc->filled || !enc->residual || !enc->planes || !enc->bitmap) {
		encoder_close(enc);
		return -ENOMEM;
	}
	*encoder = enc;
	return 0;
}

void encoder_close(struct encoder *encoder)
{
	if (!encoder)
		return;
	ZSTD_freeCCtx(encoder->zstd);
	free(encoder->filled);
	free(encoder->residual);
	free(encoder->planes);
	free(encoder->bitmap);
	buf_free(&encoder->dictionary);
	free(encoder);
}

static int put_byte(struct buf *out, uint8_t byte)
{
	return buf_append(out, &byte, 1);
}

/* Compresses straight into out, behind a size of fixed width (a varint with idle high bytes). */
static bool put_compressed(struct encoder *enc, const uint8_t *bytes, size_t size, struct buf *out)
{
	unsigned width = size < 0x80 ? 1 : size < 0x4000 ? 2 : size < 0x200000 ? 3 : 4;
	size_t packed, room = size - size / 64;
	uint8_t *at;

	if (size < ENCODER_MIN_COMPRESS || room <= width)
		return false;
	at = buf_reserve(out, room + 1);
	if (!at)
		return false;
	packed = ZSTD_compress2(enc->zstd, at + 1 + width, room - width, bytes, size);
	if (ZSTD_isError(packed))
		return false;
	*at++ = CODEC_ZSTD;
	for (unsigned i = 0; i < width; i++)
		*at++ = (uint8_t)((packed >> (7 * i) & 0x7f) | (i + 1 < width ? 0x80 : 0));
	out->size += 1 + width + packed;
	return true;
}

/* Finds the bytes that are not `common`; more than CODEC_MAX_FEW are not counted further. */
static unsigned find_few(const uint8_t *bytes, size_t size, uint8_t common,
			 uint32_t places[CODEC_MAX_FEW])
{
	const uint64_t pattern = common * 0x0101010101010101ull;
	unsigned count = 0;
	size_t i = 0;

	while (i < size) {
		uint64_t word;

		if (i + sizeof(word) <= size) {
			memcpy(&word, bytes + i, sizeof(word));
			if (word == pattern) {
				i += sizeof(word);
				continue;
			}
		}
		for (size_t end = i + sizeof(word); i < size && i < end; i++) {
			if (bytes[i] == common)
				continue;
			if (count == CODEC_MAX_FEW)
				return count + 1;
			places[count++] = (uint32_t)i;
		}
	}
	return count;
}

/* A plane of nearly one value: in a small chunk, where zstd's tables would outweigh it, and cheaper to
 * write and read in any. 1, or 0 when there are too many exceptions. */
static int put_few(const uint8_t *bytes, size_t size, struct buf *out)
{
	uint8_t common = bytes[size / 2] == bytes[size - 1] ? bytes[size - 1] : 0;
	uint8_t head[3] = { CODEC_FEW, common };
	uint32_t places[CODEC_MAX_FEW], last = 0;
	unsigned count = find_few(bytes, size, common, places);
	int err;

	if (count > CODEC_MAX_FEW || count * 3 + sizeof(head) > size)
		return 0;
	head[2] = (uint8_t)count;
	err = buf_append(out, head, sizeof(head));
	for (unsigned i = 0; i < count && !err; i++) {
		err = format_put_varint(out, places[i] - last);
		last = places[i];
		if (!err)
			err = put_byte(out, bytes[last]);
	}
	return err ? err : 1;
}

static int put_block(struct encoder *enc, const uint8_t *bytes, size_t size, struct buf *out)
{
	int err;

	if (planes_constant(bytes, size, 1)) {
		err = put_byte(out, CODEC_BYTE);
		return err ? err : put_byte(out, size ? bytes[0] : 0);
	}
	err = put_few(bytes, size, out);
	if (err)
		return err < 0 ? err : 0;
	if (put_compressed(enc, bytes, size, out))
		return 0;
	err = put_byte(out, CODEC_RAW);
	return err ? err : buf_append(out, bytes, size);
}

/* A null row takes the value before it; those before the first value take that. */
static void fill_nulls(const int64_t *cells, uint32_t rows, int64_t *filled)
{
	uint32_t first = 0;
	int64_t value;

	while (cells[first] == CELL_NULL)
		first++;
	value = cells[first];
	for (uint32_t i = 0; i < rows; i++) {
		value = cells[i] == CELL_NULL ? value : cells[i];
		filled[i] = value;
	}
}

static int put_bitmap(struct encoder *enc, const int64_t *cells, uint32_t rows, struct buf *out)
{
	size_t size = (rows + 7) / 8;

	memset(enc->bitmap, 0, size);
	for (uint32_t i = 0; i < rows; i++)
		enc->bitmap[i / 8] |= (uint8_t)((cells[i] == CELL_NULL) << (i % 8));
	return put_block(enc, enc->bitmap, size, out);
}

static int put_dictionary(struct encoder *enc, const struct strings *texts, struct buf *out)
{
	struct buf *raw = &enc->dictionary;
	int err = 0;

	raw->size = 0;
	for (uint32_t i = 0; i < texts->count && !err; i++) {
		size_t size;

		strings_get(texts, i, &size);
		err = format_put_varint(raw, size);
	}
	if (!err)
		err = buf_append(raw, texts->bytes.data, texts->bytes.size);
	if (!err)
		err = format_put_varint(out, texts->count);
	if (!err)
		err = format_put_varint(out, raw->size);
	return err ? err : put_block(enc, raw->data, raw->size, out);
}

static void subtract_delta(const int64_t *restrict x, uint32_t rows, int64_t *restrict out)
{
	out[0] = 0;
	for (uint32_t i = 1; i < rows; i++)
		out[i] = (int64_t)((uint64_t)x[i] - (uint64_t)x[i - 1]);
}

static void subtract_after(const int64_t *restrict x, const int64_t *restrict lasted, uint32_t rows,
			   int64_t *restrict out)
{
	out[0] = 0;
	for (uint32_t i = 1; i < rows; i++) {
		uint64_t r = lasted[i - 1] == CELL_NULL ? 0 : (uint64_t)lasted[i - 1];

		out[i] = (int64_t)((uint64_t)x[i] - (uint64_t)x[i - 1] - r);
	}
}

static void subtract_follow(const int64_t *restrict x, const int64_t *restrict moved,
			    const int64_t *restrict same, uint32_t rows, int64_t *restrict out)
{
	out[0] = x[0];
	for (uint32_t i = 1; i < rows; i++) {
		uint64_t guess = (uint64_t)x[i - 1];

		if (moved)
			guess += moved[i - 1] > 0 ? (uint64_t)moved[i - 1] : 0;
		if (same)
			guess = same[i] == same[i - 1] ? guess : 0;
		out[i] = (int64_t)((uint64_t)x[i] - guess);
	}
}

static void subtract_minus(const int64_t *restrict x, const int64_t *restrict other, uint32_t rows,
			   int64_t *restrict out)
{
	for (uint32_t i = 0; i < rows; i++) {
		uint64_t r = other[i] == CELL_NULL ? 0 : (uint64_t)other[i];

		out[i] = (int64_t)((uint64_t)x[i] - r);
	}
}

static uint64_t reference_at(const int64_t *cells, uint32_t row)
{
	return !cells || cells[row] == CELL_NULL ? 0 : (uint64_t)cells[row];
}

/* Most values are the guess; so is what stands for a null, which then leaves nothing over. */
static void subtract_before(const int64_t *restrict x, const int64_t *restrict began,
			    const int64_t *restrict ready, uint32_t rows, int64_t *restrict out)
{
	for (uint32_t i = 0; i < rows; i++) {
		uint64_t guess = reference_at(began, i) - reference_at(ready, i);

		out[i] = x[i] == CELL_NULL ? 0 : (int64_t)((uint64_t)x[i] - guess);
	}
}

/* What the guesses leave over: x itself, or enc->residual. */
static const int64_t *subtract_guess(struct encoder *enc, const struct encoder_input *in,
				     const int64_t *x)
{
	const int64_t *r = in->reference_cells[0], *s = in->reference_cells[1];

	switch (in->encoding) {
	case ENCODING_FOLLOW: subtract_follow(x, r, s, in->rows, enc->residual); break;
	case ENCODING_AFTER:
		if (r) {
			subtract_after(x, r, in->rows, enc->residual);
			break;
		}
		/* fall through */
	case ENCODING_DELTA: subtract_delta(x, in->rows, enc->residual); break;
	case ENCODING_MINUS:
		if (!r)
			return x;
		subtract_minus(x, r, in->rows, enc->residual);
		break;
	case ENCODING_BEFORE: subtract_before(in->cells, r, s, in->rows, enc->residual); break;
	default: return x;
	}
	return enc->residual;
}

struct range {
	int64_t least, greatest;
};

/* Four at a time, because each comparison waits for the one before it. */
static struct range find_range(const int64_t *values, uint32_t rows)
{
	struct range range = { values[0], values[0] };
	int64_t least[4], greatest[4];
	uint32_t i = 0;

	if (planes_constant(values, rows, sizeof(*values)))
		return range;
	for (unsigned lane = 0; lane < 4; lane++)
		least[lane] = greatest[lane] = values[0];
	for (; i + 4 <= rows; i += 4)
		for (unsigned lane = 0; lane < 4; lane++) {
			int64_t value = values[i + lane];

			least[lane] = value < least[lane] ? value : least[lane];
			greatest[lane] = value > greatest[lane] ? value : greatest[lane];
		}
	for (; i < rows; i++) {
		least[0] = values[i] < least[0] ? values[i] : least[0];
		greatest[0] = values[i] > greatest[0] ? values[i] : greatest[0];
	}
	for (unsigned lane = 0; lane < 4; lane++) {
		range.least = least[lane] < range.least ? least[lane] : range.least;
		range.greatest = greatest[lane] > range.greatest ? greatest[lane] : range.greatest;
	}
	return range;
}

static uint32_t count_negative(const int64_t *values, uint32_t rows)
{
	uint32_t negative = 0;

	for (uint32_t i = 0; i < rows; i++)
		negative += (uint32_t)((uint64_t)values[i] >> 63);
	return negative;
}

/* The sign bit counts. */
static unsigned signed_width(const struct range *range)
{
	uint64_t low = ~(uint64_t)range->least, high = (uint64_t)range->greatest;

	if (range->greatest < 0)
		high = 0;
	return planes_width((low | high) << 1 | 1);
}

/* Settles sign and width; *base is what every row is lessened by. */
static uint8_t choose_mode(const int64_t *values, uint32_t rows, const struct range *range,
			   bool may_shift, int64_t *base)
{
	uint32_t negative = range->least < 0 ? count_negative(values, rows) : 0;
	unsigned shifted = planes_width((uint64_t)range->greatest - (uint64_t)range->least);
	unsigned width = planes_width((uint64_t)range->greatest);
	uint8_t sign = CODEC_UNSIGNED;

	if (negative && negative < rows / 8) {
		sign = CODEC_SIGNED;
		width = signed_width(range);
	} else if (negative) {
		sign = CODEC_ZIGZAG;
		width = planes_width(format_zigzag(range->least) | format_zigzag(range->greatest));
	}
	*base = 0;
	if (may_shift && (shifted < width || sign == CODEC_ZIGZAG)) {
		*base = range->least;
		return (uint8_t)(CODEC_UNSIGNED | shifted);
	}
	return (uint8_t)(sign | width);
}

static int put_planes(struct encoder *enc, const int64_t *values, uint32_t rows, int64_t base,
		      uint8_t mode, struct buf *out)
{
	unsigned width = mode & CODEC_WIDTH_MASK;
	int err = 0;

	if ((mode & CODEC_SIGN_MASK) == CODEC_ZIGZAG) {
		for (uint32_t i = 0; i < rows; i++)
			enc->residual[i] = (int64_t)format_zigzag(values[i]);
		values = enc->residual;
	}
	planes_split(values, rows, base, width, enc->planes);
	for (unsigned plane = 0; plane < width && !err; plane++)
		err = put_block(enc, enc->planes + (size_t)plane * rows, rows, out);
	return err;
}

int encoder_put(struct encoder *encoder, const struct encoder_input *input, struct buf *out,
		uint8_t *mode)
{
	bool shifts = input->encoding == ENCODING_PLAIN || input->encoding == ENCODING_MINUS;
	bool carries = input->encoding == ENCODING_DELTA || input->encoding == ENCODING_AFTER;
	struct range range = find_range(input->cells, input->rows);
	bool nulls = range.least <= CELL_NULL; /* maybe: hardly any value is as small */
	const int64_t *x = input->cells, *values;
	int64_t base;
	int err;

	if (range.least == CELL_NULL && range.greatest == CELL_NULL)
		return 0;
	if (nulls) {
		fill_nulls(input->cells, input->rows, encoder->filled);
		x = encoder->filled;
	}
	values = subtract_guess(encoder, input, x);
	if (values != input->cells)
		range = find_range(values, input->rows);
	*mode = choose_mode(values, input->rows, &range, shifts, &base);
	err = buf_append(out, input->reference_numbers, codec_references(input->encoding));
	if (!err)
		err = format_put_varint(out, format_zigzag(carries ? x[0] : base));
	if (!err && nulls) {
		*mode |= CODEC_NULLS;
		err = put_bitmap(encoder, input->cells, input->rows, out);
	}
	if (!err && input->texts)
		err = put_dictionary(encoder, input->texts, out);
	if (!err)
		err = put_planes(encoder, values, input->rows, base, *mode, out);
	return err ? err : 1;
}
