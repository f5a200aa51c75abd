/* Inside the model of files: how a row finds the sums that it adds to, and what takes the rows of each table. */
#ifndef STRATA_ANALYZE_FILES_LOAD_H
#define STRATA_ANALYZE_FILES_LOAD_H

#include "analyze/files.h"

/* All give NULL when out of memory; pointers hold until the next row. */
struct op_use *files_op(struct files *files, unsigned table, const struct rows *rows,
			unsigned column);
struct file_use *files_file(struct files *files, int64_t file);
struct process_use *files_process(struct files *files, int64_t pid, uint64_t ts);

int files_take_io(void *state, const struct rows *rows);
int files_take_fs(void *state, const struct rows *rows);
int files_take_mem(void *state, const struct rows *rows);
int files_take_fault(void *state, const struct rows *rows);
int files_take_block(void *state, const struct rows *rows);

#endif
