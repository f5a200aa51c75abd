/* Tables gpu and gpu_process as `nvidia-smi pmon -s um -o DT` prints them: a line for each process on a device at
 * each sample, and one of dashes for a device without any. Older ones had fewer columns: no jpg, ofa and ccpm.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/classic.h"
#include "store/merge.h"

#define MAX_GPUS   64
#define LIST_EVERY 6000000000ull /* ns, the sampler's five seconds and some */

enum { SM, MEM, ENC, DEC, JPG, OFA, FB, CCPM, VALUES };

static const char header[] =
	"#Date        Time         gpu         pid   type     sm    mem    enc    dec    jpg    ofa"
	"     fb   ccpm    command \n"
	"#YYYYMMDD    HH:MM:SS     Idx           #    C/G      %      %      %      %      %      %"
	"     MB     MB    name \n";
static const char old_header[] = "#Date        Time         gpu         pid   type     sm    mem   "
				 " enc    dec     fb    command \n"
				 "#YYYYMMDD    HH:MM:SS     Idx           #    C/G      %      %   "
				 "   %      %     MB    name \n";

/* A share, rounded as nvidia-smi does. */
static void put_share(char out[16], int64_t cell)
{
	double share;

	memcpy(&share, &cell, sizeof(share));
	if (cell == CELL_NULL)
		strcpy(out, "-");
	else
		snprintf(out, 16, "%.0f", share);
}

static void put_number(char out[32], int64_t cell)
{
	if (cell == CELL_NULL)
		strcpy(out, "-");
	else
		snprintf(out, 32, "%" PRId64, cell);
}

static void put_when(struct classic *c, uint64_t ts, char out[64])
{
	uint64_t ns;

	if (classic_local(c, ts, &ns))
		strftime(out, 64, " %Y%m%d    %H:%M:%S", &c->local);
	else
		snprintf(out, 64, " %-8s    %-8s", "-", "-");
}

/* values: VALUES texts, each NULL where nothing is known. */
static void write_line(struct classic *c, uint64_t ts, const char *gpu, const char *pid,
		       const char *type, const char *const *values, const char *command,
		       size_t size)
{
	char line[256], when[64];
	int used;

	put_when(c, ts, when);
	used = snprintf(line, sizeof(line), "%s%8s%11s%6s", when, gpu, pid, type);
	for (unsigned i = 0; i < VALUES; i++)
		if (!c->layout->summed || (i != JPG && i != OFA && i != CCPM))
			used += snprintf(line + used, sizeof(line) - (size_t)used, "%7s",
					 values && values[i] ? values[i] : "-");
	field_printf(c, "%s   ", line);
	field_text(c, command, size);
	field_printf(c, "%*s", size < 14 ? (int)(14 - size - 1) : 0, "");
	line_queue(c, ts);
}

static void write_idle(struct classic *c, uint64_t ts, int64_t gpu)
{
	char number[32];

	put_number(number, gpu);
	write_line(c, ts, number, "-", "-", NULL, NULL, 1);
	c->rows++;
}

static void write_process(struct classic *c, const struct rows *rows, uint64_t ts)
{
	int64_t fb = rows_cell(rows, column_gpu_process_fb);
	char gpu[32], pid[32], type[16], shares[6][16], memory[32];
	const char *values[VALUES] = { shares[0], shares[1], shares[2],	   shares[3],
				       shares[4], shares[5], [FB] = memory };
	const char *text, *command;
	size_t text_size, size;

	put_number(gpu, rows_cell(rows, column_gpu_process_gpu));
	put_number(pid, rows_cell(rows, column_gpu_process_pid));
	for (unsigned i = 0; i < 4; i++)
		put_share(shares[i], rows_cell(rows, column_gpu_process_sm + i));
	put_share(shares[4], rows_cell(rows, column_gpu_process_jpg));
	put_share(shares[5], rows_cell(rows, column_gpu_process_ofa));
	put_number(memory, fb == CELL_NULL ? fb : fb >> 20);
	text = rows_text(rows, column_gpu_process_type, &text_size);
	snprintf(type, sizeof(type), "%.*s", text ? (int)text_size : 1, text ? text : "-");
	command = rows_text(rows, column_gpu_process_command, &size);
	write_line(c, ts, gpu, pid, type, values, command, size);
	c->rows++;
}

/* Processes are asked for more rarely than devices: one that was there is there until it was asked for again. */
static bool has_process(uint64_t listed, uint64_t sampled)
{
	return listed && listed + LIST_EVERY >= sampled;
}

int classic_gpu(struct classic *c, struct error *e)
{
	uint64_t wanted[TABLE_COUNT], sampled[MAX_GPUS], listed[MAX_GPUS] = { 0 };
	struct merge merge;
	int err;

	memset(wanted, 0xff, sizeof(wanted));
	memset(sampled, 0xff, sizeof(sampled));
	if (c->layout->summed)
		output_append(c->out, old_header, strlen(old_header));
	else
		output_append(c->out, header, strlen(header));
	err = merge_open(&merge, c->run->reader, 1u << TABLE_gpu | 1u << TABLE_gpu_process, wanted,
			 c->run->from, c->run->to, e);
	while (!err && (err = merge_next(&merge, e)) > 0) {
		bool process = merge.table == TABLE_gpu_process;
		int64_t gpu = rows_cell(merge.rows, process ? (unsigned)column_gpu_process_gpu
							    : (unsigned)column_gpu_gpu);

		err = 0;
		if (process)
			write_process(c, merge.rows, merge.ts);
		if (gpu < 0 || gpu >= MAX_GPUS)
			continue;
		if (process) {
			listed[gpu] = merge.ts;
			continue;
		}
		/* The sample before this one is over. */
		if (sampled[gpu] != UINT64_MAX && !has_process(listed[gpu], sampled[gpu]))
			write_idle(c, sampled[gpu], gpu);
		sampled[gpu] = merge.ts;
	}
	for (int64_t gpu = 0; gpu < MAX_GPUS && !err; gpu++)
		if (sampled[gpu] != UINT64_MAX && !has_process(listed[gpu], sampled[gpu]))
			write_idle(c, sampled[gpu], gpu);
	/* Who reads the date from this file finds it, on a machine without a device too. */
	if (!err && c->layout->summed && !c->rows)
		write_line(c, c->run->span.start, "-", "-", "-", NULL, NULL, 1);
	lines_until(c, UINT64_MAX);
	merge_close(&merge);
	return err;
}
