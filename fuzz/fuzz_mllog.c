/* libFuzzer target: the input is a line of a job's log. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mllog.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mllog_line line;
	char *copy = malloc(size ? size : 1); /* of its very size: what reads past it is caught */

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	mllog_parse(copy, size, &line);
	mllog_parse_json(copy, size, &line);
	free(copy);
	return 0;
}
