/* The columns of one chunk: its directory, and the columns that others are stored against. */
#ifndef STRATA_STORE_CHUNK_H
#define STRATA_STORE_CHUNK_H

#include "store/reader.h"

/* Decodes one column of the chunk of `size` bytes, header included; one that is not there is all null. */
int chunk_decode(const uint8_t *bytes, size_t size, const struct schema_table *table,
		 unsigned column, struct column *out, struct error *e);

#endif
