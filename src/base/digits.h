/* Whole numbers as decimal digits: the inner loop of every text format. */
#ifndef STRATA_BASE_DIGITS_H
#define STRATA_BASE_DIGITS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define DIGITS_MAX 20

/* Writes at most DIGITS_MAX bytes and returns where the next one goes. */
static inline char *digits_put(char *at, uint64_t value)
{
	static const char pairs[] = "0001020304050607080910111213141516171819"
				    "2021222324252627282930313233343536373839"
				    "4041424344454647484950515253545556575859"
				    "6061626364656667686970717273747576777879"
				    "8081828384858687888990919293949596979899";
	char digits[DIGITS_MAX];
	char *start = digits + sizeof(digits);
	size_t length;

	while (value >= 100) {
		start -= 2;
		memcpy(start, pairs + value % 100 * 2, 2);
		value /= 100;
	}
	if (value >= 10) {
		start -= 2;
		memcpy(start, pairs + value * 2, 2);
	} else {
		*--start = (char)('0' + value);
	}
	length = (size_t)(digits + sizeof(digits) - start);
	memcpy(at, start, length);
	return at + length;
}

/* One byte more, for the sign. */
static inline char *digits_put_signed(char *at, int64_t value)
{
	if (value < 0)
		*at++ = '-';
	return digits_put(at, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

#endif
