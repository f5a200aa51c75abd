/* The reading half of codec.h. Every byte is hostile here: counts are checked before memory is taken,
 * and nothing is indexed that was not bounded first.
 */
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

struct decoder {
	ZSTD_DCtx *zstd;
	struct buf planes;
	struct buf bitmap;
	struct buf rooms[DECODER_PLACES];
};

/* A block as found: `bytes` where it lies, or NULL and the one byte that it repeats. */
struct block {
	const uint8_t *bytes;
	uint8_t byte;
};

int decoder_open(struct decoder **decoder)
{
	struct decoder *dec = calloc(1, sizeof(*dec));

	if (!dec)
		return -ENOMEM;
	dec->zstd = ZSTD_createDCtx();
	if (!dec->zstd) {
		free(dec);
		return -ENOMEM;
	}
	*decoder = dec;
	return 0;
}

void decoder_close(struct decoder *decoder)
{
	if (!decoder)
		return;
	ZSTD_freeDCtx(decoder->zstd);
	buf_free(&decoder->planes);
	buf_free(&decoder->bitmap);
	for (unsigned place = 0; place < DECODER_PLACES; place++)
		buf_free(&decoder->rooms[place]);
	free(decoder);
}

int64_t *decoder_room(struct decoder *decoder, unsigned place, uint32_t rows)
{
	return buf_reserve(&decoder->rooms[place], rows * sizeof(int64_t));
}

static int damaged(struct error *e, const char *what)
{
	return error_set(e, -EBADMSG, "%s", what);
}

static bool get_few(struct cursor *stream, size_t size, uint8_t *room)
{
	uint8_t common = cursor_u8(stream), count = cursor_u8(stream);
	uint64_t place = 0;

	memset(room, common, size);
	for (unsigned i = 0; i < count; i++) {
		uint64_t gap = cursor_varint(stream);
		uint8_t byte = cursor_u8(stream);

		if (gap >= size || place + gap >= size)
			return false;
		place += gap;
		room[place] = byte;
	}
	return true;
}

/* Reads a block of `size` bytes; a compressed one is unpacked into `room`, which has that much. */
static int get_block(struct decoder *dec, struct cursor *stream, size_t size, uint8_t *room,
		     struct block *block, struct error *e)
{
	uint8_t kind = cursor_u8(stream);
	const uint8_t *packed;
	uint64_t packed_size;

	*block = (struct block){ 0 };
	switch (kind) {
	case CODEC_RAW: block->bytes = cursor_take(stream, size); break;
	case CODEC_BYTE: block->byte = cursor_u8(stream); break;
	case CODEC_ZSTD:
		packed_size = cursor_varint(stream);
		packed = cursor_take(stream, packed_size);
		if (packed &&
		    ZSTD_decompressDCtx(dec->zstd, room, size, packed, packed_size) != size)
			return damaged(e, "a block does not unpack to its size");
		block->bytes = room;
		break;
	case CODEC_FEW:
		if (!get_few(stream, size, room))
			return damaged(e, "a block has a byte outside it");
		block->bytes = room;
		break;
	default: return damaged(e, "a block of unknown kind");
	}
	return stream->failed ? damaged(e, "a block is cut off") : 0;
}

static int get_dictionary(struct decoder *dec, struct cursor *stream, struct buf *memory,
			  struct decoder_texts *texts, struct error *e)
{
	uint64_t count = cursor_varint(stream), size = cursor_varint(stream), end = 0, start;
	uint64_t most =
		FORMAT_LEAST_DICTIONARY + cursor_left(stream) * (uint64_t)FORMAT_DICTIONARY_A_BYTE;
	struct cursor lengths;
	struct block block;
	uint32_t *ends;
	uint8_t *room;
	int err;

	if (stream->failed || count > FORMAT_MAX_ROWS || size > FORMAT_MAX_DICTIONARY ||
	    size > most || count > size)
		return damaged(e, "impossible size of a dictionary");
	memory->size = 0;
	ends = buf_reserve(memory, count * sizeof(*ends) + size);
	if (!ends)
		return error_set(e, -ENOMEM, "no memory for a dictionary");
	room = (uint8_t *)(ends + count);
	err = get_block(dec, stream, size, room, &block, e);
	if (err)
		return err;
	if (!block.bytes)
		memset(room, block.byte, size);
	lengths = cursor_over(block.bytes ? block.bytes : room, size);
	for (uint64_t i = 0; i < count; i++) {
		start = end;
		end += cursor_varint(&lengths);
		if (lengths.failed || end > size || end - start > FORMAT_MAX_TEXT)
			return damaged(e, "a text ends outside its dictionary");
		ends[i] = (uint32_t)end;
	}
	if (end != cursor_left(&lengths))
		return damaged(e, "a dictionary's texts do not fill it");
	*texts = (struct decoder_texts){ .count = (uint32_t)count,
					 .ends = ends,
					 .bytes = (const char *)lengths.at };
	return 0;
}

/* Planes to values: what the guesses left over, plus `add`. */
static int get_planes(struct decoder *dec, struct cursor *stream, uint8_t mode, uint32_t rows,
		      uint64_t add, int64_t *values, struct error *e)
{
	unsigned width = mode & CODEC_WIDTH_MASK, sign = mode & CODEC_SIGN_MASK;
	const uint8_t *planes[PLANES_MAX] = { NULL };
	uint64_t flip = sign == CODEC_SIGNED ? 1ull << (8 * width - 1) : 0;
	struct block blocks[PLANES_MAX];
	uint8_t *room = buf_reserve(&dec->planes, (size_t)rows * width);
	int err;

	if (!room)
		return error_set(e, -ENOMEM, "no memory for a column");
	for (unsigned plane = 0; plane < width; plane++) {
		err = get_block(dec, stream, rows, room + (size_t)plane * rows, &blocks[plane], e);
		if (err)
			return err;
		planes[plane] = blocks[plane].bytes;
	}
	if (sign == CODEC_SIGNED)
		add -= flip;
	for (; width && !planes[width - 1]; width--)
		flip ^= (uint64_t)blocks[width - 1].byte << (8 * (width - 1));
	for (unsigned plane = 0; plane < width; plane++)
		if (!planes[plane]) {
			memset(room + (size_t)plane * rows, blocks[plane].byte, rows);
			planes[plane] = room + (size_t)plane * rows;
		}
	planes_join(planes, width, rows, flip, sign == CODEC_ZIGZAG ? 0 : add, values);
	if (sign == CODEC_ZIGZAG)
		for (uint32_t i = 0; i < rows; i++)
			values[i] = (int64_t)((uint64_t)format_unzigzag((uint64_t)values[i]) + add);
	return 0;
}

static void add_delta(int64_t *x, uint32_t rows, uint64_t base)
{
	for (uint32_t i = 0; i < rows; i++) {
		base += (uint64_t)x[i];
		x[i] = (int64_t)base;
	}
}

static void add_after(int64_t *restrict x, const int64_t *restrict lasted, uint32_t rows,
		      uint64_t base)
{
	for (uint32_t i = 0; i < rows; i++) {
		base += (uint64_t)x[i];
		x[i] = (int64_t)base;
		base += lasted[i] == CELL_NULL ? 0 : (uint64_t)lasted[i];
	}
}

static void add_follow(int64_t *restrict x, const int64_t *restrict moved,
		       const int64_t *restrict same, uint32_t rows)
{
	uint64_t guess = 0;

	for (uint32_t i = 0; i < rows; i++) {
		if (same && i)
			guess = same[i] == same[i - 1] ? guess : 0;
		guess += (uint64_t)x[i];
		x[i] = (int64_t)guess;
		if (moved)
			guess += moved[i] > 0 ? (uint64_t)moved[i] : 0;
	}
}

static void add_minus(int64_t *restrict x, const int64_t *restrict other, uint32_t rows)
{
	for (uint32_t i = 0; i < rows; i++)
		x[i] = (int64_t)((uint64_t)x[i] + (other[i] == CELL_NULL ? 0 : (uint64_t)other[i]));
}

static void add_before(int64_t *restrict x, const int64_t *restrict began,
		       const int64_t *restrict ready, uint32_t rows)
{
	for (uint32_t i = 0; i < rows; i++) {
		uint64_t guess = began && began[i] != CELL_NULL ? (uint64_t)began[i] : 0;

		guess -= ready && ready[i] != CELL_NULL ? (uint64_t)ready[i] : 0;
		x[i] = (int64_t)((uint64_t)x[i] + guess);
	}
}

static void add_guess(const struct decoder_input *in, uint64_t base, int64_t *x)
{
	const int64_t *r = in->reference_cells[0], *s = in->reference_cells[1];

	switch (in->encoding) {
	case ENCODING_FOLLOW: add_follow(x, r, s, in->rows); break;
	case ENCODING_AFTER:
		if (r) {
			add_after(x, r, in->rows, base);
			break;
		}
		/* fall through */
	case ENCODING_DELTA: add_delta(x, in->rows, base); break;
	case ENCODING_MINUS:
		if (r)
			add_minus(x, r, in->rows);
		break;
	case ENCODING_BEFORE: add_before(x, r, s, in->rows); break;
	default: break;
	}
}

static void put_nulls(const struct block *bitmap, uint32_t rows, int64_t *cells)
{
	for (uint32_t i = 0; i < rows; i++) {
		uint8_t bits = bitmap->bytes ? bitmap->bytes[i / 8] : bitmap->byte;
		uint64_t null = -(uint64_t)(bits >> (i % 8) & 1);

		cells[i] = (int64_t)(((uint64_t)cells[i] & ~null) | ((uint64_t)CELL_NULL & null));
	}
}

static bool texts_reach(const int64_t *cells, uint32_t rows, uint32_t count)
{
	unsigned outside = 0;

	for (uint32_t i = 0; i < rows; i++)
		outside |=
			(unsigned)(cells[i] != CELL_NULL) & (unsigned)((uint64_t)cells[i] >= count);
	return !outside;
}

static bool mode_known(const struct decoder_input *in)
{
	unsigned width = in->mode & CODEC_WIDTH_MASK, sign = in->mode & CODEC_SIGN_MASK;

	if (in->mode & ~(CODEC_WIDTH_MASK | CODEC_SIGN_MASK | CODEC_NULLS))
		return false;
	if (sign == CODEC_SIGN_MASK || (sign == CODEC_SIGNED && !width))
		return false;
	return width <= PLANES_MAX && in->encoding <= ENCODING_BEFORE;
}

int decoder_get(struct decoder *decoder, const struct decoder_input *input, int64_t *cells,
		struct buf *memory, struct decoder_texts *texts, struct error *e)
{
	bool shifts = input->encoding == ENCODING_PLAIN || input->encoding == ENCODING_MINUS;
	struct cursor stream = input->stream;
	uint32_t rows = input->rows;
	size_t bitmap_size = (rows + 7) / 8;
	struct block nulls = { 0 };
	uint8_t *room;
	uint64_t base;
	int err = 0;

	if (!mode_known(input))
		return error_set(e, -ENOTSUP, "stored in a way that this version does not know");
	base = (uint64_t)format_unzigzag(cursor_varint(&stream));
	if (stream.failed)
		return damaged(e, "a column is cut off");
	if (input->mode & CODEC_NULLS) {
		room = buf_reserve(&decoder->bitmap, bitmap_size);
		if (!room)
			return error_set(e, -ENOMEM, "no memory for a column");
		err = get_block(decoder, &stream, bitmap_size, room, &nulls, e);
	}
	if (!err && texts)
		err = get_dictionary(decoder, &stream, memory, texts, e);
	if (!err)
		err = get_planes(decoder, &stream, input->mode, rows, shifts ? base : 0, cells, e);
	if (err)
		return err;
	add_guess(input, base, cells);
	if (input->mode & CODEC_NULLS)
		put_nulls(&nulls, rows, cells);
	if (texts && !texts_reach(cells, rows, texts->count))
		return damaged(e, "a cell names no text");
	return 0;
}
