/* libFuzzer target: the input is one trace file or two, one behind the other. Of each every report is made (text, JSON, page,
 * figure), what `strata info` and `strata why` tell, and the difference of both, or of one from itself. Checksums do not turn the input
 * away; see fuzz_reader.c.
 */
#include <string.h>

#include "trace.h"

#include "analyze/diff.h"
#include "analyze/report.h"
#include "analyze/summary.h"
#include "analyze/why.h"
#include "render/diff.h"
#include "render/page.h"
#include "render/report.h"
#include "render/summary.h"
#include "render/why.h"
#include "store/rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { READ_TEXT, READ_JSON, READ_PAGES, READ_DIFF, READ_INFO, READ_WHY, READER_COUNT };

struct input {
	const uint8_t *data;
	size_t size;
	FILE *out;
};

static int wants(const struct input *input, unsigned reader)
{
	return fuzz_chosen(input->data, input->size, reader, READER_COUNT);
}

struct side {
	struct fuzz_file file;
	struct reader *reader;
	struct dims *dims;
	struct report report;
	int loaded;
};

static void side_open(struct side *side, const uint8_t *data, size_t size)
{
	struct report_options options = { .timeline = true, .levels = true };
	struct error e;

	*side = (struct side){ .file.fd = -1 };
	if (!fuzz_file_make(&side->file, data, size)) {
		side->file.fd = -1;
		return;
	}
	if (reader_open(&side->reader, side->file.path, &e) ||
	    dims_open(&side->dims, side->reader, &e))
		return;
	side->loaded = !report_load(&side->report, side->file.path, side->reader, side->dims,
				    &options, &e);
}

static void side_close(struct side *side)
{
	if (side->loaded)
		report_free(&side->report);
	dims_close(side->dims);
	reader_close(side->reader);
	if (side->file.fd >= 0)
		close(side->file.fd);
}

/* A thread that ran, so that there is something to judge also where nobody trains. */
static int64_t any_thread(const struct side *side)
{
	struct rows *rows = NULL;
	int64_t tid = CELL_NULL;
	struct error e;

	if (!rows_open(&rows, side->reader, TABLE_sched, 1ull << column_sched_tid, 0, UINT64_MAX,
		       &e) &&
	    rows_next(rows, &e) > 0)
		tid = rows_cell(rows, column_sched_tid);
	rows_close(rows);
	return tid;
}

static void judge(const struct side *side, FILE *out)
{
	struct why_options options = { .focus = any_thread(side) };
	struct why_style style = { .width = 80, .lines = 6 };
	struct why why;
	struct error e;

	if (!why_load(&why, side->file.path, side->reader, side->dims, &options, &e)) {
		why_print_text(&why, &style, out);
		why_print_json(&why, out);
		for (style.explain = 1; style.explain <= why.ledger.sum_count; style.explain++)
			why_print_text(&why, &style, out);
		if (side->loaded)
			page_print_html(&side->report, &why, NULL, out);
	}
	why_free(&why);
}

static void side_print(const struct side *side, const struct input *input)
{
	struct report_style style = { .width = 80, .top = 5, .section = SECTION_COUNT };
	struct summary summary;
	struct error e;

	if (side->loaded && wants(input, READ_TEXT))
		report_print_text(&side->report, &style, input->out);
	if (side->loaded && wants(input, READ_JSON))
		report_print_json(&side->report, 20, input->out);
	if (side->loaded && wants(input, READ_PAGES)) {
		page_print_svg(&side->report, input->out);
		page_print_html(&side->report, NULL, NULL, input->out);
	}
	if (side->dims && wants(input, READ_INFO) &&
	    !summary_load(&summary, side->file.path, side->reader, side->dims, &e)) {
		summary_print_text(&summary, input->out);
		summary_print_json(&summary, input->out);
		summary_free(&summary);
	}
	if (side->dims && wants(input, READ_WHY))
		judge(side, input->out);
}

static void print_difference(const struct report *a, const struct report *b, FILE *out)
{
	struct diff diff;
	struct error e;

	if (diff_load(&diff, a, b, &(struct diff_ledgers){ 0 }, &e))
		return;
	diff_print_text(&diff, a, b, 80, 5, out);
	diff_print_json(&diff, a, b, 20, out);
	page_print_html(b, NULL, &(struct page_changes){ &diff, a }, out);
	diff_free(&diff);
}

/* Where the second trace begins; the end when there is none. */
static size_t find_second(const uint8_t *data, size_t size)
{
	static const char magic[] = "STRATA\r\n";
	const uint8_t *found = NULL;

	if (size > 64)
		found = memmem(data + 64, size - 64, magic, sizeof(magic) - 1);
	return found ? (size_t)(found - data) : size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size, fopen("/dev/null", "w") };
	size_t second = find_second(data, size);
	struct side a, b = { .file.fd = -1 };

	if (!input.out)
		return 0;
	side_open(&a, data, second);
	side_print(&a, &input);
	if (second < size) {
		side_open(&b, data + second, size - second);
		side_print(&b, &input);
	}
	if (a.loaded && wants(&input, READ_DIFF)) {
		print_difference(&a.report, b.loaded ? &b.report : &a.report, input.out);
		if (b.loaded)
			print_difference(&b.report, &a.report, input.out);
	}
	side_close(&a);
	side_close(&b);
	fclose(input.out);
	return 0;
}
