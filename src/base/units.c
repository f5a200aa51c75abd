#include "base/units.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* A decimal number times its unit, in whole numbers throughout: 0.1 s is 100000000 ns and not a
 * nanosecond less. What lies below one is cut off. */
struct decimal {
	uint64_t whole;
	uint64_t fraction; /* of 10^18 */
	const char *rest;  /* what follows it */
};

#define DECIMAL_ONE 1000000000000000000ull

static int units_parse_decimal(const char *text, struct decimal *decimal)
{
	uint64_t place = DECIMAL_ONE;

	*decimal = (struct decimal){ .rest = text };
	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	for (; isdigit((unsigned char)*decimal->rest); decimal->rest++)
		if (__builtin_mul_overflow(decimal->whole, 10, &decimal->whole) ||
		    __builtin_add_overflow(decimal->whole, *decimal->rest - '0', &decimal->whole))
			return -EINVAL;
	if (*decimal->rest != '.')
		return 0;
	decimal->rest++;
	if (!isdigit((unsigned char)*decimal->rest))
		return -EINVAL;
	for (; isdigit((unsigned char)*decimal->rest); decimal->rest++) {
		place /= 10;
		decimal->fraction += (uint64_t)(*decimal->rest - '0') * place;
	}
	return 0;
}

static int units_scale(const struct decimal *decimal, uint64_t unit, uint64_t *value)
{
	uint64_t part = (uint64_t)((unsigned __int128)decimal->fraction * unit / DECIMAL_ONE);
	uint64_t scaled;

	if (__builtin_mul_overflow(decimal->whole, unit, &scaled) ||
	    __builtin_add_overflow(scaled, part, &scaled))
		return -EINVAL;
	*value = scaled;
	return 0;
}

struct unit {
	const char *name;
	uint64_t value;
};

static int units_parse(const char *text, const struct unit *units, size_t count, uint64_t *value)
{
	struct decimal decimal;
	int err;

	err = units_parse_decimal(text, &decimal);
	if (err)
		return err;
	while (*decimal.rest == ' ')
		decimal.rest++;
	for (size_t i = 0; i < count; i++)
		if (!strcmp(decimal.rest, units[i].name))
			return units_scale(&decimal, units[i].value, value);
	return -EINVAL;
}

int units_parse_duration(const char *text, uint64_t *ns)
{
	static const struct unit units[] = {
		{ "", NS_PER_SECOND },
		{ "ns", 1 },
		{ "us", 1000 },
		{ "ms", 1000000 },
		{ "s", NS_PER_SECOND },
		{ "m", 60 * NS_PER_SECOND },
		{ "h", 3600 * NS_PER_SECOND },
	};

	return units_parse(text, units, sizeof(units) / sizeof(*units), ns);
}

int units_parse_size(const char *text, uint64_t *bytes)
{
	static const struct unit units[] = {
		{ "", 1 },
		{ "B", 1 },
		{ "K", 1ull << 10 },
		{ "k", 1ull << 10 },
		{ "KiB", 1ull << 10 },
		{ "M", 1ull << 20 },
		{ "MiB", 1ull << 20 },
		{ "G", 1ull << 30 },
		{ "GiB", 1ull << 30 },
		{ "T", 1ull << 40 },
		{ "TiB", 1ull << 40 },
	};

	return units_parse(text, units, sizeof(units) / sizeof(*units), bytes);
}

int units_parse_count(const char *text, uint64_t *count)
{
	struct decimal decimal;
	int err;

	err = units_parse_decimal(text, &decimal);
	if (err || *decimal.rest || strchr(text, '.'))
		return -EINVAL;
	*count = decimal.whole;
	return 0;
}

int units_parse_utc(const char *text, uint64_t *realtime)
{
	struct tm given = { 0 }, real;
	struct decimal second;
	uint64_t fraction;
	time_t seconds;
	int read = 0;

	if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:%n", &given.tm_year, &given.tm_mon, &given.tm_mday,
		   &given.tm_hour, &given.tm_min, &read) != 5 ||
	    !read || units_parse_decimal(text + read, &second) || strcmp(second.rest, "Z") ||
	    second.whole > 59)
		return -EINVAL;
	given.tm_year -= 1900;
	given.tm_mon -= 1;
	given.tm_sec = (int)second.whole;
	real = given;
	seconds = timegm(&real);
	/* timegm turns the 31st of April into the 1st of May: that is no date. */
	if (seconds < 0 || real.tm_mon != given.tm_mon || real.tm_mday != given.tm_mday ||
	    real.tm_hour != given.tm_hour || real.tm_min != given.tm_min)
		return -EINVAL;
	second.whole = (uint64_t)seconds;
	if (units_scale(&second, NS_PER_SECOND, &fraction))
		return -EINVAL;
	*realtime = fraction;
	return 0;
}

/* Three digits of value/unit, such as 1.23, 45.6 or 789, when they stay below 1000. */
static bool units_format_three(char *out, size_t size, uint64_t value, uint64_t unit,
			       const char *name)
{
	for (unsigned digits = 2, scale = 100;; digits--, scale /= 10) {
		uint64_t rounded = (uint64_t)(((unsigned __int128)value * scale + unit / 2) / unit);

		if (rounded >= 1000 && digits > 0)
			continue;
		if (rounded >= 1000)
			return false;
		if (digits == 0)
			snprintf(out, size, "%u %s", (unsigned)rounded, name);
		else
			snprintf(out, size, "%u.%0*u %s", (unsigned)rounded / scale, (int)digits,
				 (unsigned)rounded % scale, name);
		return true;
	}
}

char *units_format_duration(char *out, size_t size, uint64_t ns)
{
	uint64_t seconds = (ns + NS_PER_SECOND / 2) / NS_PER_SECOND;
	uint64_t minutes = (seconds + 30) / 60;

	if (ns < 1000)
		snprintf(out, size, "%u ns", (unsigned)ns);
	else if (units_format_three(out, size, ns, 1000, "us") ||
		 units_format_three(out, size, ns, 1000000, "ms"))
		return out;
	else if (seconds < 60)
		units_format_three(out, size, ns, NS_PER_SECOND, "s");
	else if (seconds < 3600)
		snprintf(out, size, "%u min %u s", (unsigned)(seconds / 60),
			 (unsigned)(seconds % 60));
	else
		snprintf(out, size, "%llu h %u min", (unsigned long long)(minutes / 60),
			 (unsigned)(minutes % 60));
	return out;
}

char *units_format_bytes(char *out, size_t size, uint64_t bytes)
{
	static const char *const names[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	uint64_t tenths, whole;
	unsigned i = 0;

	if (bytes < 1024) {
		snprintf(out, size, "%u B", (unsigned)bytes);
		return out;
	}
	for (;; i++) {
		unsigned shift = 10 * (i + 1);
		unsigned __int128 half = (unsigned __int128)1 << (shift - 1);

		tenths = (uint64_t)(((unsigned __int128)bytes * 10 + half) >> shift);
		whole = (uint64_t)((bytes + half) >> shift);
		if (whole < 1024 || i + 1 == sizeof(names) / sizeof(*names))
			break;
	}
	if (tenths < 1000)
		snprintf(out, size, "%u.%u %s", (unsigned)tenths / 10, (unsigned)tenths % 10,
			 names[i]);
	else
		snprintf(out, size, "%u %s", (unsigned)whole, names[i]);
	return out;
}

char *units_format_count(char *out, size_t size, uint64_t count)
{
	char digits[24], grouped[32];
	size_t length, used = 0;

	length = (size_t)snprintf(digits, sizeof(digits), "%llu", (unsigned long long)count);
	for (size_t i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			grouped[used++] = ',';
		grouped[used++] = digits[i];
	}
	grouped[used] = 0;
	snprintf(out, size, "%s", grouped);
	return out;
}

char *units_format_utc(char *out, size_t size, uint64_t realtime)
{
	time_t seconds = (time_t)(realtime / NS_PER_SECOND);
	struct tm tm;

	gmtime_r(&seconds, &tm);
	snprintf(out, size, "%04d-%02d-%02dT%02d:%02d:%02d.%09uZ", tm.tm_year + 1900, tm.tm_mon + 1,
		 tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
		 (unsigned)(realtime % NS_PER_SECOND));
	return out;
}
