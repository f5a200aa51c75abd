/* The live screen of strata stat --top: four histograms over one axis, then the busiest threads, files and devices.
 *
 *     time    cpudist        runqlat        iolat          biolat
 *     4 us   ######   120   ##        40
 *     ...
 *     THREAD  PID  CPU%      FILE  READS  WRITES  BYTES      DEVICE  OPS  BYTES  MEAN
 */
#include "cmd/stat.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/log.h"
#include "base/units.h"

#define COLUMNS	     4
#define AXIS_WIDTH   8
#define COUNT_WIDTH  8
#define LEAST_COLUMN 14
#define NAME_WIDTH   28

static struct termios before;
static bool changed;

void stat_top_begin(void)
{
	struct termios quiet;

	/* Another screen, no cursor; keys come one by one and are not shown. */
	fputs("\033[?1049h\033[?25l", stdout);
	if (tcgetattr(STDIN_FILENO, &before))
		return;
	quiet = before;
	quiet.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	changed = !tcsetattr(STDIN_FILENO, TCSANOW, &quiet);
}

void stat_top_end(void)
{
	fputs("\033[?25h\033[?1049l", stdout);
	fflush(stdout);
	if (changed)
		tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

/* ---- lines ---- */

struct screen {
	int width, lines_left;
};

static struct screen screen_begin(void)
{
	struct winsize size = { .ws_col = 80, .ws_row = 24 };

	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	fputs("\033[H", stdout);
	return (struct screen){ size.ws_col ? size.ws_col : 80,
				size.ws_row ? size.ws_row - 1 : 23 };
}

/* Ends a line and takes away what an earlier screen had there. */
static bool line_end(struct screen *screen)
{
	fputs("\033[K\n", stdout);
	return --screen->lines_left > 0;
}

static void print_head(const char *text)
{
	bool color = log_color(STDOUT_FILENO);

	printf("%s%s%s", color ? "\033[1m" : "", text, color ? "\033[0m" : "");
}

/* A name cut or filled to a width. */
static void print_name(const char *name, size_t most, int width)
{
	char shown[128];
	struct escape_text text = { name, strnlen(name, most) };
	char *end = escape_some(ESCAPE_TERMINAL, &text, shown, sizeof(shown) - 1);

	*end = 0;
	printf("%-*.*s", width, width, shown);
}

/* ---- histograms ---- */

static const enum live_what columns[COLUMNS] = { LIVE_cpudist, LIVE_runqlat, LIVE_iolat,
						 LIVE_biolat };

struct picture {
	uint64_t slots[COLUMNS][LIVE_SLOTS], most[COLUMNS];
	unsigned first, end; /* slots that are used anywhere */
};

/* All series of a column together. */
static void picture_fill(struct picture *picture, const struct live_reading *reading)
{
	*picture = (struct picture){ .first = LIVE_SLOTS };
	for (size_t i = 0; i < live_series_count(reading); i++) {
		const struct live_series *series = live_series_at(reading, i);

		for (unsigned column = 0; column < COLUMNS; column++)
			for (unsigned slot = 0; slot < LIVE_SLOTS && !series->pid; slot++)
				if (series->what == columns[column])
					picture->slots[column][slot] += series->hist.slots[slot];
	}
	for (unsigned column = 0; column < COLUMNS; column++)
		for (unsigned slot = 0; slot < LIVE_SLOTS; slot++) {
			uint64_t count = picture->slots[column][slot];

			if (!count)
				continue;
			if (count > picture->most[column])
				picture->most[column] = count;
			if (slot < picture->first)
				picture->first = slot;
			if (slot >= picture->end)
				picture->end = slot + 1;
		}
}

static void print_bar(uint64_t count, uint64_t most, int width)
{
	int stars = count ? (int)((double)count / (double)most * width) : 0;

	for (int i = 0; i < width; i++)
		putchar(i < stars ? '#' : count && !i ? '.' : ' ');
	if (count)
		printf(" %*" PRIu64, COUNT_WIDTH - 2, count);
	else
		printf(" %*s", COUNT_WIDTH - 2, "");
	putchar(' ');
}

static void print_picture(struct screen *screen, const struct live_reading *reading, bool ms)
{
	struct picture picture;
	int width = (screen->width - AXIS_WIDTH) / COLUMNS - COUNT_WIDTH;
	int rows = screen->lines_left / 2;
	char text[32];

	picture_fill(&picture, reading);
	width = width < LEAST_COLUMN - COUNT_WIDTH ? LEAST_COLUMN - COUNT_WIDTH : width;
	printf("%*s", AXIS_WIDTH, "");
	for (unsigned i = 0; i < COLUMNS; i++) {
		snprintf(text, sizeof(text), "%-*s", width + COUNT_WIDTH,
			 live_infos[columns[i]].name);
		print_head(text);
	}
	if (!line_end(screen))
		return;
	for (unsigned slot = picture.first; slot < picture.end && rows-- > 0; slot++) {
		units_format_duration(text, sizeof(text),
				      live_slot_start(slot) * (ms ? 1000000 : 1000));
		printf("%*s ", AXIS_WIDTH - 1, text);
		for (unsigned i = 0; i < COLUMNS; i++)
			print_bar(picture.slots[i][slot], picture.most[i], width);
		if (!line_end(screen))
			return;
	}
}

/* ---- tables ---- */

static bool print_threads(struct screen *screen, const struct live_reading *reading, int rows)
{
	const struct live_thread_use *threads = (const void *)reading->threads.data;
	size_t count = reading->threads.size / sizeof(*threads);

	print_head("    TID     PID   CPU%  THREAD");
	if (!line_end(screen))
		return false;
	for (size_t i = 0; i < count && rows-- > 0; i++) {
		printf("%7" PRIu32 " %7" PRIu32 " %6.1f  ", threads[i].tid, threads[i].use.pid,
		       (double)threads[i].use.ns / (double)reading->length * 100);
		print_name(threads[i].use.comm, sizeof(threads[i].use.comm), NAME_WIDTH);
		if (!line_end(screen))
			return false;
	}
	return true;
}

static bool print_files(struct screen *screen, const struct live_reading *reading, int rows)
{
	const struct live_file_use *files = (const void *)reading->files.data;
	size_t count = reading->files.size / sizeof(*files);
	char read[32], written[32];

	print_head("  READS  WRITES        READ     WRITTEN     PID  FILE");
	if (!line_end(screen))
		return false;
	for (size_t i = 0; i < count && rows-- > 0; i++) {
		const struct live_file *use = &files[i].use;

		printf("%7" PRIu64 " %7" PRIu64 " %11s %11s %7" PRIu32 "  ", use->reads,
		       use->writes, units_format_bytes(read, sizeof(read), use->read_bytes),
		       units_format_bytes(written, sizeof(written), use->write_bytes), use->pid);
		print_name(use->name, sizeof(use->name), NAME_WIDTH);
		if (!line_end(screen))
			return false;
	}
	return true;
}

static void print_devices(struct screen *screen, const struct live_reading *reading)
{
	char bytes[32], mean[32], most[32];

	print_head("  COUNT        BYTES        MEAN         MAX  DEVICE");
	if (!line_end(screen))
		return;
	for (size_t i = 0; i < live_series_count(reading); i++) {
		const struct live_series *series = live_series_at(reading, i);

		if (series->what != LIVE_biolat)
			continue;
		printf("%7" PRIu64 " %12s %11s %11s  %s %s", series->count,
		       units_format_bytes(bytes, sizeof(bytes), series->hist.bytes),
		       units_format_duration(mean, sizeof(mean), series->hist.sum / series->count),
		       units_format_duration(most, sizeof(most), series->hist.most), series->label,
		       series->op);
		if (!line_end(screen))
			return;
	}
}

void stat_top_print(const struct live_reading *reading, const struct stat_style *style)
{
	struct screen screen = screen_begin();
	time_t now = time(NULL);
	struct tm local;
	char clock[16];
	int rows;

	strftime(clock, sizeof(clock), "%H:%M:%S", localtime_r(&now, &local));
	printf("strata stat  %s  %.1f s  %.0f tasks started/s  %" PRIu64 " lost  q quits", clock,
	       (double)reading->length / 1e9,
	       (double)reading->started * 1e9 / (double)reading->length, reading->lost);
	if (!line_end(&screen))
		return;
	print_picture(&screen, reading, style->milliseconds);
	rows = screen.lines_left > 12 ? (screen.lines_left - 6) / 3 : 2;
	if (screen.lines_left > 0 && print_threads(&screen, reading, rows) &&
	    print_files(&screen, reading, rows))
		print_devices(&screen, reading);
	fputs("\033[J", stdout);
}
