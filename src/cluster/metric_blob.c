#include "cluster/metric_blob.h"

#include "base/cursor.h"
#include "store/format.h"

#define VERSION 1

int metric_blob_write(struct buf *out, const struct metric_sample *sample)
{
	const uint64_t sums[] = { VERSION, sample->sum, sample->most, sample->bytes };
	unsigned used = LIVE_SLOTS;
	int err = 0;

	while (used && !sample->slots[used - 1])
		used--;
	for (size_t i = 0; !err && i < sizeof(sums) / sizeof(*sums); i++)
		err = format_put_varint(out, sums[i]);
	for (unsigned i = 0; !err && i < used; i++)
		err = format_put_varint(out, sample->slots[i]);
	return err;
}

bool metric_blob_read(const uint8_t *bytes, size_t size, uint64_t *slots,
		      struct metric_sample *sample)
{
	struct cursor cursor = cursor_over(bytes, bytes ? size : 0);
	uint64_t version = cursor_varint(&cursor);

	sample->sum = cursor_varint(&cursor);
	sample->most = cursor_varint(&cursor);
	sample->bytes = cursor_varint(&cursor);
	sample->count = 0;
	for (unsigned i = 0; i < LIVE_SLOTS; i++) {
		slots[i] = cursor_left(&cursor) ? cursor_varint(&cursor) : 0;
		sample->count += slots[i];
	}
	return !cursor.failed && !cursor_left(&cursor) && version == VERSION;
}
