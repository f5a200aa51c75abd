/* libFuzzer target: the input is a trace file, and every format takes it, whatever its cells hold; so do dump and the scan of
 * sql. Built like fuzz_reader.
 */
#include <fcntl.h>

#include "scan.h"
#include "trace.h"

#include "render/export.h"
#include "render/rows_csv.h"
#include "schema/shown.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void export_one(struct export_run *run, const struct export_format *format)
{
	struct export_request request = { .format = format,
					  .runs = run,
					  .run_count = 1,
					  .tables = EXPORT_ALL_TABLES,
					  .output = "/dev/null",
					  .max_bytes = 64 << 20 };
	struct export_result result = { 0 };
	struct error e;

	format->write(&request, &result, &e);
}

/* What dump prints, and what the format csv writes: no folder of files is made for each input. */
static void dump_all(const struct export_run *run, enum csv_style style)
{
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	for (unsigned table = 0; table < TABLE_COUNT; table++) {
		struct shown_column columns[SHOWN_MAX_COLUMNS];
		struct rows_csv what = { .table = table,
					 .columns = columns,
					 .column_count =
						 shown_columns(&schema_tables[table], columns),
					 .to = UINT64_MAX,
					 .limit = UINT64_MAX };
		struct csv csv = { 0 };
		struct error e;

		if (!csv_open(&csv, fd)) {
			csv.style = style;
			rows_csv_write(&what, run->reader, run->dims, &csv, &e);
		}
		csv_free(&csv);
	}
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned readers = (unsigned)export_format_count + 3;
	struct export_run run = { .path = "input", .to = UINT64_MAX };
	struct fuzz_file file;
	struct error e;

	if (!fuzz_file_make(&file, data, size))
		return 0;
	if (fuzz_chosen(data, size, readers - 1, readers))
		scan_all(file.path);
	if (!reader_open(&run.reader, file.path, &e)) {
		if (!dims_open(&run.dims, run.reader, &e)) {
			if (!times_span(run.reader, run.dims, &run.span, &e)) {
				for (unsigned i = 0; i < export_format_count; i++)
					if (!export_formats[i].folder &&
					    fuzz_chosen(data, size, i, readers))
						export_one(&run, &export_formats[i]);
				for (unsigned i = 2; i < 4; i++)
					if (fuzz_chosen(data, size, readers - i, readers))
						dump_all(&run, i == 2 ? CSV_PLAIN : CSV_TERMINAL);
			}
			dims_close(run.dims);
		}
		reader_close(run.reader);
	}
	close(file.fd);
	return 0;
}
