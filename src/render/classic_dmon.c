/* Table gpu as `nvidia-smi dmon -s pucmt -o DT` prints it: a line for each device at each sample. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "render/classic.h"
#include "store/merge.h"

static const char header[] =
	"#Date       Time        gpu    pwr  gtemp  mtemp     sm    mem    enc    dec    jpg    ofa"
	"   mclk   pclk     fb   bar1   ccpm  rxpci  txpci \n"
	"#YYYYMMDD   HH:MM:SS    Idx      W      C      C      %      %      %      %      %      %"
	"    MHz    MHz     MB     MB     MB   MB/s   MB/s \n";

/* The columns, each by how its cell is told. */
static const struct {
	enum { NOT_TOLD, REAL, NUMBER, MEBIBYTES, MEGABYTES } how;
	unsigned column;
} columns[] = {
	{ NUMBER, column_gpu_gpu },
	{ REAL, column_gpu_power },
	{ REAL, column_gpu_temperature },
	{ NOT_TOLD, 0 },
	{ REAL, column_gpu_sm },
	{ REAL, column_gpu_mem },
	{ REAL, column_gpu_enc },
	{ REAL, column_gpu_dec },
	{ REAL, column_gpu_jpg },
	{ REAL, column_gpu_ofa },
	{ NUMBER, column_gpu_mem_clock },
	{ NUMBER, column_gpu_sm_clock },
	{ MEBIBYTES, column_gpu_fb_used },
	{ NOT_TOLD, 0 },
	{ NOT_TOLD, 0 },
	{ MEGABYTES, column_gpu_pcie_rx },
	{ MEGABYTES, column_gpu_pcie_tx },
};

static void put_cell(char out[32], const struct rows *rows, size_t i)
{
	int64_t cell = columns[i].how == NOT_TOLD ? CELL_NULL : rows_cell(rows, columns[i].column);
	double real;

	memcpy(&real, &cell, sizeof(real));
	if (cell == CELL_NULL)
		strcpy(out, "-");
	else if (columns[i].how == REAL)
		snprintf(out, 32, "%.0f", real);
	else
		snprintf(out, 32, "%" PRId64,
			 columns[i].how == MEBIBYTES   ? cell >> 20
			 : columns[i].how == MEGABYTES ? cell / 1000000
						       : cell);
}

static void write_sample(struct classic *c, const struct rows *rows, uint64_t ts)
{
	char line[1024], cell[32];
	size_t used;
	uint64_t ns;

	if (classic_local(c, ts, &ns))
		used = strftime(line, sizeof(line), " %Y%m%d   %H:%M:%S", &c->local);
	else
		used = (size_t)snprintf(line, sizeof(line), " %-8s   %-8s", "-", "-");
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++) {
		put_cell(cell, rows, i);
		used += (size_t)snprintf(line + used, sizeof(line) - used, "%7s", cell);
	}
	field_printf(c, "%s ", line);
	line_queue(c, ts);
	c->rows++;
}

int classic_dmon(struct classic *c, struct error *e)
{
	uint64_t wanted[TABLE_COUNT];
	struct merge merge;
	int err;

	memset(wanted, 0xff, sizeof(wanted));
	output_append(c->out, header, strlen(header));
	err = merge_open(&merge, c->run->reader, 1ull << TABLE_gpu, wanted, c->run->from,
			 c->run->to, e);
	while (!err && (err = merge_next(&merge, e)) > 0) {
		err = 0;
		/* dmon knows devices, not the slices of one. */
		if (rows_cell(merge.rows, column_gpu_mig) == CELL_NULL)
			write_sample(c, merge.rows, merge.ts);
	}
	lines_until(c, UINT64_MAX);
	merge_close(&merge);
	return err;
}
