/* What libstrata_calls.so and the recorder agree on, beside inject/shared.h: which functions there are, settings, records, and
 * the area of a ring. Sizes and numbers are those of one build.
 */
#ifndef STRATA_INPROCESS_CALLS_H
#define STRATA_INPROCESS_CALLS_H

#include "inject/shared.h"
#include "schema/functions.h"

#define INPROCESS_FRAMES  16 /* calls of a thread in each other that are told of if they never end */
#define INPROCESS_BUCKETS 40 /* powers of two of nanoseconds, as struct call_counter has them */
#define INPROCESS_MOST	  256
#define INPROCESS_SHIFT	  32 /* of struct inject_pool */

/* In the number of a record: the function, and above it the depth. */
#define INPROCESS_DEPTH_AT   10
#define INPROCESS_MOST_DEPTH 63u

enum inprocess_function {
#define CALL_AS(type, name, as, parameters, arguments, shown) INPROCESS_##name,
#define PROCEDURE(name, parameters, arguments)		      INPROCESS_##name,
#define SPECIAL(name, as, count)			      INPROCESS_##name,
#include "inprocess/functions.def"
	INPROCESS_COUNT,
	/* Functions that are only called. */
	INPROCESS_BEFORE_NEXT = INPROCESS_COUNT - 1,
#define NEXT(name) INPROCESS_##name,
#include "inprocess/functions.def"
	INPROCESS_ALL
};

struct inprocess_settings {
	uint64_t min_ticks;  /* calls that take less are counted only */
	uint32_t aggregates; /* all are */
	uint8_t wanted[INPROCESS_MOST];
	uint8_t bytes[INPROCESS_MOST]
		     [2]; /* enum function_from: their product is a number of bytes */
};

struct inprocess_record {
	struct inject_head head; /* INJECT_CALL, or INJECT_LOADED with nothing but ts */
	uint64_t ts, ticks;	 /* by the clock of the pool */
	int64_t args[4];
	int64_t returned;
};

/* A call that has not returned. */
struct inprocess_frame {
	uint64_t ts;
	int64_t args[4];
	uint32_t function; /* plus 1; 0: none. Written last */
	uint32_t pad;
};

/* From the first call on, whoever had the ring; the recorder takes differences. */
struct inprocess_counter {
	uint64_t count, time, bytes; /* time in ns */
	uint64_t buckets[INPROCESS_BUCKETS];
};

struct inprocess_area {
	struct inprocess_frame frames[INPROCESS_FRAMES];
	struct inprocess_counter counters[INPROCESS_COUNT];
};

static_assert(sizeof(struct inprocess_settings) <= INJECT_PAGE, "struct inprocess_settings");
static_assert(sizeof(struct inprocess_record) == INJECT_SLOT, "struct inprocess_record");
static_assert(INPROCESS_COUNT <= INPROCESS_MOST && INPROCESS_COUNT <= 1 << INPROCESS_DEPTH_AT,
	      "numbers of functions");

#define INPROCESS_AREA_BYTES \
	((uint32_t)(sizeof(struct inprocess_area) + INJECT_PAGE - 1) & ~(INJECT_PAGE - 1))

#endif
