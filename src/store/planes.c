/* See planes.h. The loops are written for the vectoriser, which gcc runs in earnest only from -O3. */
#if defined(__GNUC__) && !defined(__clang__)
#	pragma GCC optimize("O3")
#endif
#include "store/planes.h"

#include <string.h>

static void split_1(const int64_t *restrict values, uint32_t rows, uint64_t base, unsigned shift,
		    uint8_t *restrict out)
{
	for (uint32_t i = 0; i < rows; i++)
		out[i] = (uint8_t)(((uint64_t)values[i] - base) >> shift);
}

static void split_2(const int64_t *restrict values, uint32_t rows, uint64_t base, unsigned shift,
		    uint8_t *restrict low, uint8_t *restrict high)
{
	for (uint32_t i = 0; i < rows; i++) {
		uint64_t value = ((uint64_t)values[i] - base) >> shift;

		low[i] = (uint8_t)value;
		high[i] = (uint8_t)(value >> 8);
	}
}

void planes_split(const int64_t *values, uint32_t rows, int64_t base, unsigned width, uint8_t *out)
{
	unsigned plane = 0;

	for (; plane + 2 <= width; plane += 2)
		split_2(values, rows, (uint64_t)base, plane * 8, out + (size_t)plane * rows,
			out + (size_t)(plane + 1) * rows);
	if (plane < width)
		split_1(values, rows, (uint64_t)base, plane * 8, out + (size_t)plane * rows);
}

static void join_1(const uint8_t *restrict p0, uint32_t rows, uint64_t flip, uint64_t add,
		   int64_t *restrict values)
{
	for (uint32_t i = 0; i < rows; i++)
		values[i] = (int64_t)((p0[i] ^ flip) + add);
}

static void join_2(const uint8_t *restrict p0, const uint8_t *restrict p1, uint32_t rows,
		   uint64_t flip, uint64_t add, int64_t *restrict values)
{
	for (uint32_t i = 0; i < rows; i++) {
		uint16_t value = (uint16_t)(p0[i] | (uint16_t)(p1[i] << 8));

		values[i] = (int64_t)((value ^ flip) + add);
	}
}

static void join_4(const uint8_t *const planes[4], uint32_t rows, uint64_t flip, uint64_t add,
		   int64_t *restrict values)
{
	const uint8_t *restrict p0 = planes[0], *restrict p1 = planes[1];
	const uint8_t *restrict p2 = planes[2], *restrict p3 = planes[3];

	for (uint32_t i = 0; i < rows; i++) {
		uint32_t value = p0[i] | (uint32_t)p1[i] << 8 | (uint32_t)p2[i] << 16 |
				 (uint32_t)p3[i] << 24;

		values[i] = (int64_t)((value ^ flip) + add);
	}
}

static void join_3(const uint8_t *const planes[3], uint32_t rows, uint64_t flip, uint64_t add,
		   int64_t *restrict values)
{
	const uint8_t *restrict p0 = planes[0], *restrict p1 = planes[1];
	const uint8_t *restrict p2 = planes[2];

	for (uint32_t i = 0; i < rows; i++) {
		uint32_t value = p0[i] | (uint32_t)p1[i] << 8 | (uint32_t)p2[i] << 16;

		values[i] = (int64_t)((value ^ flip) + add);
	}
}

static void join_more(const uint8_t *const planes[PLANES_MAX], unsigned width, uint32_t rows,
		      uint64_t flip, uint64_t add, int64_t *restrict values)
{
	join_4(planes, rows, 0, 0, values);
	for (unsigned plane = 4; plane < width; plane++) {
		const uint8_t *restrict bytes = planes[plane];

		for (uint32_t i = 0; i < rows; i++)
			values[i] |= (int64_t)((uint64_t)bytes[i] << (plane * 8));
	}
	for (uint32_t i = 0; i < rows; i++)
		values[i] = (int64_t)(((uint64_t)values[i] ^ flip) + add);
}

void planes_join(const uint8_t *const planes[PLANES_MAX], unsigned width, uint32_t rows,
		 uint64_t flip, uint64_t add, int64_t *values)
{
	switch (width) {
	case 0:
		for (uint32_t i = 0; i < rows; i++)
			values[i] = (int64_t)(flip + add);
		break;
	case 1: join_1(planes[0], rows, flip, add, values); break;
	case 2: join_2(planes[0], planes[1], rows, flip, add, values); break;
	case 3: join_3(planes, rows, flip, add, values); break;
	case 4: join_4(planes, rows, flip, add, values); break;
	default: join_more(planes, width, rows, flip, add, values); break;
	}
}

bool planes_constant(const void *items, size_t count, size_t size)
{
	const uint8_t *bytes = items;

	return count < 2 || !memcmp(bytes, bytes + size, (count - 1) * size);
}
