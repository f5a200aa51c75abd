/* What strata stat shows, for its files: stat.c takes the options and reads, stat_print.c and stat_top.c show. */
#ifndef STRATA_CMD_STAT_H
#define STRATA_CMD_STAT_H

#include <stdbool.h>
#include <stdint.h>

#include "live/live.h"

struct stat_style {
	unsigned what;	   /* LIVE_BITs that were asked for */
	bool milliseconds; /* the slots' unit; else microseconds */
	bool extended;	   /* average and total under each histogram */
	bool timestamp;
	bool per_process; /* processes, and not the whole */
	bool off_cpu;
};

/* One interval as bcc's tools print it. */
void stat_print_text(const struct live_reading *reading, const struct stat_style *style);

/* One JSON object. */
void stat_print_json(const struct live_reading *reading, const struct stat_style *style);

/* A screen of the terminal behind stdout. */
void stat_top_begin(void);
void stat_top_print(const struct live_reading *reading, const struct stat_style *style);
void stat_top_end(void);

#endif
