#include "base/real.h"

#include <stdio.h>
#include <stdlib.h>

size_t real_format(char *out, size_t size, double value)
{
	int length = 0;

	/* 17 digits always do; most numbers that were measured need fewer. */
	for (int digits = 15; digits <= 17; digits++) {
		length = snprintf(out, size, "%.*g", digits, value);
		if (strtod(out, NULL) == value)
			break;
	}
	return (size_t)length;
}
