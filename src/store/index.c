#include "store/index.h"

const char *index_find(const uint8_t *bytes, size_t size, struct trailer *trailer)
{
	uint64_t room;

	if (size < FORMAT_HEADER_SIZE + FORMAT_INDEX_HEADER_SIZE + FORMAT_TRAILER_SIZE ||
	    !format_get_trailer(bytes + size - FORMAT_TRAILER_SIZE, trailer))
		return "the file has no trailer (file cut or damaged)";
	room = size - FORMAT_TRAILER_SIZE - FORMAT_INDEX_HEADER_SIZE;
	if (trailer->offset < FORMAT_HEADER_SIZE || trailer->offset > room ||
	    (room - trailer->offset) % FORMAT_INDEX_ENTRY_SIZE ||
	    (room - trailer->offset) / FORMAT_INDEX_ENTRY_SIZE != trailer->count)
		return "it does not fill its place (file damaged)";
	if (!format_checksum_holds(
		    trailer->checksum,
		    format_checksum(bytes + trailer->offset,
				    size - trailer->offset - FORMAT_TRAILER_CHECKSUM_END)))
		return "checksum differs (file damaged)";
	return NULL;
}

bool index_fits(const uint8_t *entries, const struct trailer *trailer)
{
	uint64_t least = FORMAT_HEADER_SIZE;
	struct index_entry entry;

	for (uint64_t i = 0; i < trailer->count; i++) {
		format_get_entry(entries + i * FORMAT_INDEX_ENTRY_SIZE, &entry);
		if (i ? entry.offset < least : entry.offset != least)
			return false;
		if (entry.offset > trailer->offset ||
		    trailer->offset - entry.offset < FORMAT_CHUNK_HEADER_SIZE || !entry.rows ||
		    entry.rows > FORMAT_MAX_ROWS)
			return false;
		least = entry.offset + FORMAT_CHUNK_HEADER_SIZE;
	}
	return trailer->count || trailer->offset == least;
}
