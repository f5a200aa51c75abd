/* See reader.h. The reader owns the mapping, the list of chunks and the texts of damage found.
 *
 *     open:   index, when its checksum holds; else the chunk headers, one after another
 *     select: the checksum of each chunk asked for, once
 *     decode: columns of a chunk (chunk.c)
 *
 * Threads may select at the same time: what a chunk was found to be is one atomic, the end of the good
 * part another, and a damage text, once given out, stays until the reader is closed.
 */
#include "store/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cursor.h"
#include "store/chunk.h"
#include "store/format.h"
#include "store/index.h"
#include "store/mapping.h"

#define CUT "the file was cut while it was read"

/* Of a larger file what was checked is not kept in memory until it is asked for. */
#define RELEASE_SIZE ((size_t)32 << 20)
#define FAULT_AROUND 65536u

enum chunk_state { CHUNK_UNCHECKED, CHUNK_GOOD, CHUNK_BAD };

struct listed {
	struct chunk chunk;
	uint32_t number; /* in the file, unknown tables counted, from 1 */
	_Atomic uint8_t state;
};

struct damage {
	struct damage *next;
	char text[256];
};

struct reader {
	int fd;
	bool live; /* a writer had it open when it was opened */
	struct mapping mapping;
	const uint8_t *bytes; /* of the mapping */
	size_t size;
	struct file_header header;
	struct listed *list;
	size_t count, capacity;
	uint32_t chunks;	       /* unknown tables counted */
	uint64_t rows;		       /* of the chunks listed */
	_Atomic uint64_t end;	       /* chunks from here on are not given */
	struct damage *_Atomic damage; /* the newest; all are freed on close */
};

/* Ends the file at `offset`, where something is wrong. */
static void reader_end(struct reader *reader, uint64_t offset, uint32_t number, const char *wrong)
{
	struct damage *damage = calloc(1, sizeof(*damage));
	uint64_t end = reader->end;

	while (offset < end)
		if (atomic_compare_exchange_weak(&reader->end, &end, offset))
			break;
	if (!damage)
		return;
	if (number)
		snprintf(damage->text, sizeof(damage->text), "chunk %u at byte %llu: %s", number,
			 (unsigned long long)offset, wrong);
	else
		snprintf(damage->text, sizeof(damage->text), "index: %s", wrong);
	damage->next = reader->damage;
	while (!atomic_compare_exchange_weak(&reader->damage, &damage->next, damage))
		;
}

static int list_chunk(struct reader *reader, const struct index_entry *entry, uint64_t size)
{
	const struct schema_table *table = schema_table_by_number(entry->table);
	struct listed *listed;

	reader->chunks++;
	if (!table)
		return 0;
	reader->rows += entry->rows;
	if (reader->rows > FORMAT_LEAST_ROWS + reader->size * FORMAT_ROWS_A_BYTE &&
	    entry->offset < reader->end)
		reader_end(reader, entry->offset, reader->chunks,
			   "more rows than a file of this size can hold (file damaged)");
	if (reader->count == reader->capacity) {
		size_t capacity = reader->capacity ? reader->capacity * 2 : 64;

		listed = realloc(reader->list, capacity * sizeof(*listed));
		if (!listed)
			return -ENOMEM;
		reader->list = listed;
		reader->capacity = capacity;
	}
	listed = &reader->list[reader->count++];
	listed->chunk = (struct chunk){ .offset = entry->offset,
					.size = size,
					.first_ts = entry->first_ts,
					.last_end = entry->last_end,
					.rows = entry->rows,
					.table = (uint32_t)(table - schema_tables) };
	listed->number = reader->chunks;
	atomic_init(&listed->state, CHUNK_UNCHECKED);
	return 0;
}

/* 1 when the chunks were listed from the index, 0 when it cannot be used (*wrong says why), -ENOMEM. */
static int list_from_index(struct reader *reader, const char **wrong)
{
	struct index_entry entry, next;
	struct trailer trailer;
	const uint8_t *entries;

	*wrong = index_find(reader->bytes, reader->size, &trailer);
	if (*wrong)
		return 0;
	entries = reader->bytes + trailer.offset + FORMAT_INDEX_HEADER_SIZE;
	if (!index_fits(entries, &trailer)) {
		*wrong = "it names impossible places (file damaged)";
		return 0;
	}
	for (uint64_t i = 0; i < trailer.count; i++) {
		next.offset = trailer.offset;
		if (i + 1 < trailer.count)
			format_get_entry(entries + (i + 1) * FORMAT_INDEX_ENTRY_SIZE, &next);
		format_get_entry(entries + i * FORMAT_INDEX_ENTRY_SIZE, &entry);
		if (list_chunk(reader, &entry, next.offset - entry.offset))
			return -ENOMEM;
	}
	return 1;
}

static bool index_begins(const uint8_t *bytes, size_t size)
{
	struct cursor cursor = cursor_over(bytes, size);

	return cursor_u32(&cursor) == FORMAT_INDEX_MAGIC;
}

/* Without an index: chunk after chunk, up to the end or the first that is not whole. */
static int list_by_scan(struct reader *reader)
{
	uint64_t offset = FORMAT_HEADER_SIZE;

	while (offset < reader->size) {
		size_t left = reader->size - offset;
		struct chunk_header header;
		struct index_entry entry;
		const char *wrong;

		if (index_begins(reader->bytes + offset, left))
			return 0;
		wrong = format_get_chunk(reader->bytes + offset, left, &header);
		if (wrong && reader->live) /* its writer is not done with it */
			return 0;
		if (wrong) {
			reader_end(reader, offset, reader->chunks + 1, wrong);
			return 0;
		}
		entry = (struct index_entry){ .offset = offset,
					      .first_ts = header.first_ts,
					      .last_end = header.last_end,
					      .rows = header.rows,
					      .table = header.table };
		if (list_chunk(reader, &entry, FORMAT_CHUNK_HEADER_SIZE + (uint64_t)header.payload))
			return -ENOMEM;
		offset += FORMAT_CHUNK_HEADER_SIZE + (uint64_t)header.payload;
	}
	return 0;
}

/* The header before the size: a file found complete then has its final size. */
static int read_header(struct reader *reader, const char *path, struct error *e)
{
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET };
	uint8_t bytes[FORMAT_HEADER_SIZE];
	struct stat stat;
	ssize_t size;

	/* O_NONBLOCK: a pipe without a writer must not hang us. */
	reader->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (reader->fd < 0)
		return error_errno(e, "cannot open the file");
	if (fstat(reader->fd, &stat))
		return error_errno(e, "cannot look at the file");
	if (!S_ISREG(stat.st_mode))
		return error_set(e, -EINVAL, "not a regular file");
	reader->live = !fcntl(reader->fd, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK;
	size = pread(reader->fd, bytes, sizeof(bytes), 0);
	if (size < 0)
		return error_errno(e, "cannot read the file");
	return format_get_header(bytes, (size_t)size, &reader->header, e);
}

static int map_file(struct reader *reader, struct error *e)
{
	struct stat stat;

	if (fstat(reader->fd, &stat))
		return error_errno(e, "cannot look at the file");
	if (stat.st_size < FORMAT_HEADER_SIZE)
		return error_set(e, -ENODATA, CUT);
	errno = -mapping_open(&reader->mapping, reader->fd, (size_t)stat.st_size);
	if (errno)
		return error_errno(e, "cannot map the file");
	reader->bytes = reader->mapping.bytes;
	reader->size = reader->mapping.size;
	return 0;
}

static int list_chunks(struct reader *reader, struct error *e)
{
	const char *wrong;
	int listed;

	reader->end = UINT64_MAX;
	listed = list_from_index(reader, &wrong);
	if (!listed) {
		reader->count = reader->chunks = 0;
		reader->rows = 0;
		listed = list_by_scan(reader);
		if (!listed && reader_complete(reader) && !reader_damage(reader))
			reader_end(reader, UINT64_MAX, 0, wrong);
	}
	return listed < 0 ? error_set(e, -ENOMEM, "no memory for the list of chunks") : 0;
}

int reader_open(struct reader **reader, const char *path, struct error *e)
{
	struct reader *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return error_set(e, -ENOMEM, "no memory for the trace's reader");
	r->fd = -1;
	err = read_header(r, path, e);
	if (!err)
		err = map_file(r, e);
	if (!err)
		err = list_chunks(r, e);
	if (!err && reader_cut(r))
		err = error_set(e, -EIO, CUT);
	if (err) {
		reader_close(r);
		return err;
	}
	*reader = r;
	return 0;
}

void reader_close(struct reader *reader)
{
	struct damage *damage, *next;

	if (!reader)
		return;
	for (damage = reader->damage; damage; damage = next) {
		next = damage->next;
		free(damage);
	}
	mapping_close(&reader->mapping);
	if (reader->fd >= 0)
		close(reader->fd);
	free(reader->list);
	free(reader);
}

bool reader_cut(const struct reader *reader)
{
	struct stat stat;

	/* A cut inside a page leaves zeros behind it without a signal. */
	return mapping_cut(&reader->mapping) ||
	       (!fstat(reader->fd, &stat) && (uint64_t)stat.st_size < reader->size);
}

bool reader_live(const struct reader *reader)
{
	return reader->live;
}

bool reader_complete(const struct reader *reader)
{
	return !(reader->header.flags & FORMAT_INCOMPLETE);
}

const char *reader_damage(const struct reader *reader)
{
	const struct damage *damage = reader->damage;

	return damage ? damage->text : NULL;
}

uint64_t reader_file_size(const struct reader *reader)
{
	return reader->size;
}

uint32_t reader_version(const struct reader *reader)
{
	return reader->header.version;
}

const struct file_header *reader_header(const struct reader *reader)
{
	return &reader->header;
}

/* NULL, or what is wrong with the chunk: its header must say what the list says. */
static const char *check_chunk(const struct reader *reader, const struct chunk *chunk)
{
	const uint8_t *bytes = reader->bytes + chunk->offset;
	struct chunk_header header;
	const char *wrong = format_get_chunk(bytes, chunk->size, &header);

	if (wrong)
		return wrong;
	if (header.payload != chunk->size - FORMAT_CHUNK_HEADER_SIZE ||
	    header.rows != chunk->rows || header.table != schema_tables[chunk->table].number ||
	    header.first_ts != chunk->first_ts || header.last_end != chunk->last_end)
		return "header and index disagree (file damaged)";
	if (!format_checksum_holds(
		    header.checksum,
		    format_checksum(bytes + FORMAT_CHUNK_HEADER_SIZE, header.payload)))
		return "checksum differs (file cut or damaged)";
	return NULL;
}

/* With the pages around it, which the kernel maps along; what another thread reads there is mapped again. */
void reader_release(const struct reader *reader, const struct chunk *chunk)
{
	uint64_t first = chunk->offset / FAULT_AROUND * FAULT_AROUND;
	uint64_t end = chunk->offset + chunk->size;

	first = first > FAULT_AROUND ? first - FAULT_AROUND : 0;
	end = (end + FAULT_AROUND) / FAULT_AROUND * FAULT_AROUND;
	if (end > reader->size)
		end = reader->size;
	madvise((void *)(reader->bytes + first), (size_t)(end - first), MADV_DONTNEED);
}

/* Whether the chunk may be given; finds out once. */
static bool chunk_good(struct reader *reader, struct listed *listed, uint64_t file_size)
{
	const char *wrong;

	if (listed->state == CHUNK_UNCHECKED) {
		wrong = listed->chunk.offset + listed->chunk.size > file_size
				? CUT
				: check_chunk(reader, &listed->chunk);
		if (wrong)
			reader_end(reader, listed->chunk.offset, listed->number, wrong);
		listed->state = wrong ? CHUNK_BAD : CHUNK_GOOD;
		if (reader->size > RELEASE_SIZE)
			reader_release(reader, &listed->chunk);
	}
	return listed->state == CHUNK_GOOD;
}

int reader_select(struct reader *reader, unsigned table, uint64_t from, uint64_t to,
		  struct chunk **chunks, size_t *count, struct error *e)
{
	struct chunk *found = malloc((reader->count + 1) * sizeof(*found));
	struct stat stat;

	*chunks = NULL;
	*count = 0;
	if (!found)
		return error_set(e, -ENOMEM, "no memory for the list of chunks");
	if (fstat(reader->fd, &stat)) {
		free(found);
		return error_errno(e, "cannot look at the file");
	}
	for (size_t i = 0; i < reader->count; i++) {
		struct listed *listed = &reader->list[i];
		const struct chunk *chunk = &listed->chunk;
		bool timed = schema_is_timed(&schema_tables[chunk->table]);

		if (chunk->offset >= reader->end)
			break;
		if (table != TABLE_COUNT && chunk->table != table)
			continue;
		if (timed && (chunk->first_ts > to || chunk->last_end < from))
			continue;
		if (!chunk_good(reader, listed, (uint64_t)stat.st_size))
			break;
		found[(*count)++] = *chunk;
	}
	*chunks = found;
	return 0;
}

static uint32_t chunk_number(const struct reader *reader, const struct chunk *chunk)
{
	size_t low = 0, high = reader->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (reader->list[middle].chunk.offset < chunk->offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low < reader->count ? reader->list[low].number : 0;
}

int reader_decode(const struct reader *reader, const struct chunk *chunk, unsigned column,
		  struct column *out, struct error *e)
{
	const struct schema_table *table = &schema_tables[chunk->table];
	int err = chunk_decode(reader->bytes + chunk->offset, chunk->size, table, column, out, e);

	if (reader_cut(reader))
		err = error_set(e, -EIO, CUT);
	if (err)
		return error_add(e, err, "chunk %u at byte %llu: column '%s' of table '%s'",
				 chunk_number(reader, chunk), (unsigned long long)chunk->offset,
				 table->columns[column].name, table->name);
	return 0;
}
