#include "render/log2_text.h"

#include <inttypes.h>
#include <stdbool.h>

/* Beyond 32 bits bcc makes room for wider numbers and halves the stars. */
#define WIDE_FROM 32

static int star_count(uint64_t value, uint64_t most, int stars)
{
	return (int)((double)value / (double)most * stars);
}

void log2_print(FILE *out, const char *unit, const uint64_t *slots, unsigned count)
{
	uint64_t most = 0;
	bool wide;

	while (count && !slots[count - 1])
		count--;
	for (unsigned i = 0; i < count; i++)
		most = slots[i] > most ? slots[i] : most;
	if (!count)
		return;
	wide = count > WIDE_FROM;
	fprintf(out,
		wide ? "               %-29s : count     distribution\n"
		     : "     %-19s : count     distribution\n",
		unit);
	for (unsigned i = 0; i < count; i++) {
		uint64_t low = i ? 1ull << i : 0, high = (2ull << i) - 1;
		int stars = wide ? LOG2_STARS / 2 : LOG2_STARS;

		fprintf(out,
			wide ? "%20" PRIu64 " -> %-20" PRIu64 " : %-8" PRIu64 " |"
			     : "%10" PRIu64 " -> %-10" PRIu64 " : %-8" PRIu64 " |",
			low, high, slots[i]);
		for (int star = 0; star < stars; star++)
			fputc(star < star_count(slots[i], most, stars) ? '*' : ' ', out);
		fputs("|\n", out);
	}
}
