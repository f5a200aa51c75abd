/* Byte planes: plane j holds byte j of every value. The upper planes of small numbers are constant or
 * nearly so, and the lowest is often noise: apart, each is stored the way that suits it.
 */
#ifndef STRATA_STORE_PLANES_H
#define STRATA_STORE_PLANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLANES_MAX 8

/* Bytes needed for an unsigned value; none for 0. */
static inline unsigned planes_width(uint64_t greatest)
{
	return greatest ? (71 - (unsigned)__builtin_clzll(greatest)) / 8 : 0;
}

/* Writes `width` planes of (value - base), each of `rows` bytes, one after another. */
void planes_split(const int64_t *values, uint32_t rows, int64_t base, unsigned width, uint8_t *out);

/* values[i] = ((plane bytes) ^ flip) + add, modulo 2^64. `flip` also carries constant planes and, with
 * `add`, the extension of a sign. */
void planes_join(const uint8_t *const planes[PLANES_MAX], unsigned width, uint32_t rows,
		 uint64_t flip, uint64_t add, int64_t *values);

/* Whether all items, of `size` bytes each, are the same. */
bool planes_constant(const void *items, size_t count, size_t size);

#endif
