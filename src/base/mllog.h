/* Lines of an MLPerf log: `:::MLLOG {"time_ms": ..., "event_type": "INTERVAL_START", "key": "epoch_start",
 * "value": ..., "metadata": {"epoch_num": 1, ...}}`, with anything before the colons.
 */
#ifndef STRATA_BASE_MLLOG_H
#define STRATA_BASE_MLLOG_H

#include <stddef.h>
#include <stdint.h>

enum mllog_kind { MLLOG_POINT, MLLOG_START, MLLOG_STOP };

struct mllog_line {
	uint64_t realtime; /* nanoseconds since 1970 */
	enum mllog_kind kind;
	char key[64];	  /* as written, cut */
	char stem[64];	  /* without _start, _stop, _end */
	char number[32];  /* epoch_num and the like, or a short value; "" without one */
	const char *json; /* the object, inside the line */
	size_t json_size;
};

/* 1 when the line is one, 0 when it is not, -EINVAL when it claims to be one but cannot be read. */
int mllog_parse(const char *line, size_t size, struct mllog_line *out);

/* The same for the object alone, as a mark with source mllog holds it. 1 or -EINVAL. */
int mllog_parse_json(const char *json, size_t size, struct mllog_line *out);

/* Splits a name such as epoch_start into its stem and what it says. */
enum mllog_kind mllog_split(const char *name, size_t size, char *stem, size_t stem_size);

#endif
