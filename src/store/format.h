/* The fixed parts of a trace file, as docs/format.md draws them: file header, chunk header, index and
 * trailer, to and from bytes. Nothing here allocates.
 */
#ifndef STRATA_STORE_FORMAT_H
#define STRATA_STORE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "schema/schema.h"

#define FORMAT_VERSION 1u

#define FORMAT_HEADER_SIZE	 64
#define FORMAT_CHUNK_HEADER_SIZE 48
#define FORMAT_INDEX_HEADER_SIZE 8
#define FORMAT_INDEX_ENTRY_SIZE	 32
#define FORMAT_TRAILER_SIZE	 32

#define FORMAT_CHUNK_MAGIC 0x4b4e4843u /* "CHNK" */
#define FORMAT_INDEX_MAGIC 0x58444e49u /* "INDX" */

/* What a reader accepts, so that hostile counts cannot make it allocate without bound. */
#define FORMAT_MAX_ROWS	      (1u << 20)
#define FORMAT_MAX_COLUMNS    64
#define FORMAT_MAX_DICTIONARY (64u << 20)
#define FORMAT_MAX_TEXT	      (1u << 20)

/* And so that a small file costs little: what a reader takes from each byte of it. Recordings have three bytes a row and more,
 * and texts that are a tenth of their size when packed. */
#define FORMAT_LEAST_ROWS	 65536u /* of the file, however small */
#define FORMAT_ROWS_A_BYTE	 32u
#define FORMAT_LEAST_DICTIONARY	 (1u << 20) /* of a column */
#define FORMAT_DICTIONARY_A_BYTE 1024u
#define FORMAT_LEAST_HELD	 (64u << 20) /* bytes of decoded chunks whose times overlap */
#define FORMAT_HELD_A_BYTE	 128u

enum format_flag {
	FORMAT_INCOMPLETE = 1 << 0, /* being written, or its writer died */
};

struct file_header {
	uint32_t version;
	uint32_t flags;
	uint64_t realtime; /* both clocks when the file was begun */
	uint64_t boottime;
	uint32_t failure;   /* errno of the write that ended the file; 0: none failed */
	uint64_t unwritten; /* rows that were made after that, or could not be kept */
	uint64_t lost;	    /* events that the recording lost; only with a failure */
};

struct chunk_header {
	uint16_t table; /* the schema's number */
	uint16_t columns;
	uint32_t rows;
	uint32_t payload; /* bytes after this header */
	uint64_t first_ts;
	uint64_t last_end;
	uint64_t checksum; /* of the payload */
};

struct index_entry {
	uint64_t offset;
	uint64_t first_ts;
	uint64_t last_end;
	uint32_t rows;
	uint16_t table;
};

struct trailer {
	uint64_t offset; /* of the index */
	uint64_t count;	 /* entries in it */
	uint64_t checksum;
};

void format_put_header(uint8_t out[FORMAT_HEADER_SIZE], const struct file_header *header);
int format_get_header(const uint8_t *bytes, size_t size, struct file_header *header,
		      struct error *e);

void format_put_chunk(uint8_t out[FORMAT_CHUNK_HEADER_SIZE], const struct chunk_header *header);
/* NULL, or what is wrong with the header; `size` is what is left of the file. */
const char *format_get_chunk(const uint8_t *bytes, size_t size, struct chunk_header *header);

void format_put_entry(uint8_t out[FORMAT_INDEX_ENTRY_SIZE], const struct index_entry *entry);
void format_get_entry(const uint8_t bytes[FORMAT_INDEX_ENTRY_SIZE], struct index_entry *entry);

void format_put_index_head(uint8_t out[FORMAT_INDEX_HEADER_SIZE]);
/* The trailer's checksum runs over the index and the trailer's fields before it. */
#define FORMAT_TRAILER_CHECKSUM_END 16 /* bytes from the checksum to the file's end */
void format_put_trailer(uint8_t out[FORMAT_TRAILER_SIZE], const struct trailer *trailer);
bool format_get_trailer(const uint8_t bytes[FORMAT_TRAILER_SIZE], struct trailer *trailer);

uint64_t format_checksum(const void *bytes, size_t size);
/* Always true in a fuzzing build: what lies behind the checksums is what wants fuzzing. */
bool format_checksum_holds(uint64_t stated, uint64_t found);

int format_put_varint(struct buf *out, uint64_t value) __attribute__((warn_unused_result));

static inline uint64_t format_zigzag(int64_t value)
{
	return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
}

static inline int64_t format_unzigzag(uint64_t value)
{
	return (int64_t)((value >> 1) ^ -(value & 1));
}

#endif
