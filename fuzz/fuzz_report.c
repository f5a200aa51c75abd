/* libFuzzer target: the input is a trace file, of which every report is made: text, JSON, page, figure, and the
 * difference from itself. Checksums do not turn the input away; see fuzz_reader.c.
 */
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyze/diff.h"
#include "analyze/report.h"
#include "render/diff.h"
#include "render/page.h"
#include "render/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void print_all(const struct report *report)
{
	struct report_style style = { .width = 80, .top = 5, .section = SECTION_COUNT };
	FILE *out = fopen("/dev/null", "w");
	struct diff diff;
	struct error e;

	if (!out)
		return;
	report_print_text(report, &style, out);
	report_print_json(report, 20, out);
	page_print_svg(report, out);
	if (!diff_load(&diff, report, report, &e)) {
		diff_print_text(&diff, report, report, 80, 5, out);
		diff_print_json(&diff, report, report, 20, out);
		page_print_html(report, &(struct page_changes){ &diff, report }, out);
		diff_free(&diff);
	}
	fclose(out);
}

static void read_trace(const char *path)
{
	struct report_options options = { .timeline = true };
	struct reader *reader;
	struct report report;
	struct dims *dims;
	struct error e;

	if (reader_open(&reader, path, &e))
		return;
	if (!dims_open(&dims, reader, &e)) {
		if (!report_load(&report, path, reader, dims, &options, &e)) {
			print_all(&report);
			report_free(&report);
		}
		dims_close(dims);
	}
	reader_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	char path[64];

	if (fd < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (write(fd, data, size) == (ssize_t)size)
		read_trace(path);
	close(fd);
	return 0;
}
