/* Times, sizes and counts as people write and read them. Formatters write into the caller's buffer
 * and return it. Parsers return 0 or -EINVAL and leave the value alone on failure.
 */
#ifndef STRATA_BASE_UNITS_H
#define STRATA_BASE_UNITS_H

#include <stddef.h>
#include <stdint.h>

#define NS_PER_SECOND 1000000000ull

int units_parse_duration(const char *text, uint64_t *ns); /* 500ms, 1.5s, 2m, 1h; bare: seconds */
int units_parse_size(const char *text, uint64_t *bytes);  /* 512, 64K, 8M, 1G, KiB and so on */
int units_parse_count(const char *text, uint64_t *count);
int units_parse_utc(const char *text, uint64_t *realtime); /* 2026-11-15T03:57:25.5Z */

char *units_format_duration(char *out, size_t size, uint64_t ns); /* 1.23 s, 45.6 ms, 789 ns */
char *units_format_bytes(char *out, size_t size, uint64_t bytes); /* 1.2 MiB, 512 B */
char *units_format_count(char *out, size_t size, uint64_t count); /* 1,234,567 */
char *units_format_utc(char *out, size_t size,
		       uint64_t realtime); /* 2026-11-15T03:57:25.123456789Z */

#endif
