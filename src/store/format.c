/* See format.h. */
#include "store/format.h"

#include <errno.h>
#include <string.h>
#include <xxhash.h>

#include "base/cursor.h"

/* The line end shows damage by text-mode transfers, as in PNG. */
static const uint8_t header_magic[8] = { 'S', 'T', 'R', 'A', 'T', 'A', '\r', '\n' };
static const uint8_t trailer_magic[8] = { 'S', 'T', 'R', 'A', 'T', 'A', 'I', 'X' };

uint64_t format_checksum(const void *bytes, size_t size)
{
	return XXH3_64bits(bytes, size);
}

bool format_checksum_holds(uint64_t stated, uint64_t found)
{
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
	(void)stated;
	(void)found;
	return true;
#else
	return stated == found;
#endif
}

static uint8_t *put_u16(uint8_t *out, uint16_t value)
{
	value = htole16(value);
	memcpy(out, &value, sizeof(value));
	return out + sizeof(value);
}

static uint8_t *put_u32(uint8_t *out, uint32_t value)
{
	value = htole32(value);
	memcpy(out, &value, sizeof(value));
	return out + sizeof(value);
}

static uint8_t *put_u64(uint8_t *out, uint64_t value)
{
	value = htole64(value);
	memcpy(out, &value, sizeof(value));
	return out + sizeof(value);
}

void format_put_header(uint8_t out[FORMAT_HEADER_SIZE], const struct file_header *header)
{
	uint8_t *at = out;

	memset(out, 0, FORMAT_HEADER_SIZE);
	memcpy(at, header_magic, sizeof(header_magic));
	at = put_u32(at + sizeof(header_magic), header->version);
	at = put_u32(at, header->flags);
	at = put_u64(at, header->realtime);
	at = put_u64(at, header->boottime);
	at = put_u32(at, header->failure);
	at = put_u32(at, 0);
	at = put_u64(at, header->unwritten);
	put_u64(at, header->lost);
	put_u64(out + FORMAT_HEADER_SIZE - 8, format_checksum(out, FORMAT_HEADER_SIZE - 8));
}

int format_get_header(const uint8_t *bytes, size_t size, struct file_header *header,
		      struct error *e)
{
	struct cursor cursor = cursor_over(bytes, size);
	const uint8_t *magic = cursor_take(&cursor, sizeof(header_magic));
	uint64_t checksum;

	if (!size)
		return error_set(e, -ENODATA, "the file is empty");
	if (!magic || memcmp(magic, header_magic, sizeof(header_magic) - 2))
		return error_set(e, -EINVAL, "not a strata trace");
	if (memcmp(magic, header_magic, sizeof(header_magic)))
		return error_set(e, -EBADMSG,
				 "line ends were changed, as a transfer in text mode does");
	header->version = cursor_u32(&cursor);
	header->flags = cursor_u32(&cursor);
	header->realtime = cursor_u64(&cursor);
	header->boottime = cursor_u64(&cursor);
	header->failure = cursor_u32(&cursor);
	cursor_u32(&cursor);
	header->unwritten = cursor_u64(&cursor);
	header->lost = cursor_u64(&cursor);
	checksum = cursor_u64(&cursor);
	if (cursor.failed)
		return error_set(e, -EBADMSG, "the file ends inside its header, at byte %zu", size);
	if (!format_checksum_holds(checksum, format_checksum(bytes, FORMAT_HEADER_SIZE - 8)))
		return error_set(e, -EBADMSG, "header: checksum differs (file damaged)");
	if (header->version > FORMAT_VERSION)
		return error_set(e, -ENOTSUP,
				 "the file has format version %u, this strata reads up to %u: "
				 "a newer strata reads it",
				 header->version, FORMAT_VERSION);
	return 0;
}

void format_put_chunk(uint8_t out[FORMAT_CHUNK_HEADER_SIZE], const struct chunk_header *header)
{
	uint8_t *at = put_u32(out, FORMAT_CHUNK_MAGIC);

	at = put_u16(at, header->table);
	at = put_u16(at, header->columns);
	at = put_u32(at, header->rows);
	at = put_u32(at, header->payload);
	at = put_u64(at, header->first_ts);
	at = put_u64(at, header->last_end);
	at = put_u64(at, header->checksum);
	at = put_u32(at, 0);
	put_u32(at, (uint32_t)format_checksum(out, FORMAT_CHUNK_HEADER_SIZE - 4));
}

const char *format_get_chunk(const uint8_t *bytes, size_t size, struct chunk_header *header)
{
	struct cursor cursor = cursor_over(bytes, size);
	uint32_t magic = cursor_u32(&cursor), checksum;

	header->table = cursor_u16(&cursor);
	header->columns = cursor_u16(&cursor);
	header->rows = cursor_u32(&cursor);
	header->payload = cursor_u32(&cursor);
	header->first_ts = cursor_u64(&cursor);
	header->last_end = cursor_u64(&cursor);
	header->checksum = cursor_u64(&cursor);
	cursor_u32(&cursor);
	checksum = cursor_u32(&cursor);
	if (cursor.failed)
		return "the file ends inside this chunk's header";
	if (magic != FORMAT_CHUNK_MAGIC)
		return "no chunk begins here (file damaged)";
	if (!format_checksum_holds(checksum,
				   (uint32_t)format_checksum(bytes, FORMAT_CHUNK_HEADER_SIZE - 4)))
		return "header checksum differs (file damaged)";
	if (!header->rows || header->rows > FORMAT_MAX_ROWS)
		return "impossible number of rows";
	if (header->columns > FORMAT_MAX_COLUMNS)
		return "impossible number of columns";
	if (header->payload > cursor_left(&cursor))
		return "the file ends inside this chunk";
	return NULL;
}

void format_put_entry(uint8_t out[FORMAT_INDEX_ENTRY_SIZE], const struct index_entry *entry)
{
	uint8_t *at = put_u64(out, entry->offset);

	at = put_u64(at, entry->first_ts);
	at = put_u64(at, entry->last_end);
	at = put_u32(at, entry->rows);
	at = put_u16(at, entry->table);
	put_u16(at, 0);
}

void format_get_entry(const uint8_t bytes[FORMAT_INDEX_ENTRY_SIZE], struct index_entry *entry)
{
	struct cursor cursor = cursor_over(bytes, FORMAT_INDEX_ENTRY_SIZE);

	entry->offset = cursor_u64(&cursor);
	entry->first_ts = cursor_u64(&cursor);
	entry->last_end = cursor_u64(&cursor);
	entry->rows = cursor_u32(&cursor);
	entry->table = cursor_u16(&cursor);
}

void format_put_index_head(uint8_t out[FORMAT_INDEX_HEADER_SIZE])
{
	put_u32(put_u32(out, FORMAT_INDEX_MAGIC), FORMAT_INDEX_ENTRY_SIZE);
}

void format_put_trailer(uint8_t out[FORMAT_TRAILER_SIZE], const struct trailer *trailer)
{
	uint8_t *at = put_u64(out, trailer->offset);

	at = put_u64(at, trailer->count);
	at = put_u64(at, trailer->checksum);
	memcpy(at, trailer_magic, sizeof(trailer_magic));
}

bool format_get_trailer(const uint8_t bytes[FORMAT_TRAILER_SIZE], struct trailer *trailer)
{
	struct cursor cursor = cursor_over(bytes, FORMAT_TRAILER_SIZE);

	trailer->offset = cursor_u64(&cursor);
	trailer->count = cursor_u64(&cursor);
	trailer->checksum = cursor_u64(&cursor);
	return !memcmp(cursor_take(&cursor, 8), trailer_magic, sizeof(trailer_magic));
}

int format_put_varint(struct buf *out, uint64_t value)
{
	uint8_t bytes[10];
	size_t size = 0;

	for (; value >= 0x80; value >>= 7)
		bytes[size++] = (uint8_t)(value | 0x80);
	bytes[size++] = (uint8_t)value;
	return buf_append(out, bytes, size);
}
