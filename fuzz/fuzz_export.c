/* libFuzzer target: the input is a trace file, and every format takes it, whatever its cells hold. Built like
 * fuzz_reader.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "render/export.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void export_all(struct export_run *run)
{
	struct export_request request = { .runs = run,
					  .run_count = 1,
					  .tables = EXPORT_ALL_TABLES,
					  .output = "/dev/null",
					  .max_bytes = 64 << 20 };

	for (size_t i = 0; i < export_format_count; i++) {
		struct export_result result = { 0 };
		struct error e;

		request.format = &export_formats[i];
		if (!request.format->folder)
			request.format->write(&request, &result, &e);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct export_run run = { .path = "input", .to = UINT64_MAX };
	struct error e;
	char path[64];
	int fd = memfd_create("trace", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!reader_open(&run.reader, path, &e)) {
		if (!dims_open(&run.dims, run.reader, &e)) {
			if (!times_span(run.reader, run.dims, &run.span, &e))
				export_all(&run);
			dims_close(run.dims);
		}
		reader_close(run.reader);
	}
	close(fd);
	return 0;
}
