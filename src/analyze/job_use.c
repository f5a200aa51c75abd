#include "analyze/job_use.h"

#include "analyze/cells.h"

void job_use_open(struct job_use *use, struct context *context)
{
	*use = (struct job_use){ .context = context,
				 .cpu_ns = CELL_NULL,
				 .cpus = NAN,
				 .usr_share = NAN,
				 .most_rss = CELL_NULL,
				 .most_processes = CELL_NULL,
				 .most_threads = CELL_NULL,
#define SUM_NULL(field, column) .field = CELL_NULL,
				 JOB_SUMS(SUM_NULL)
#undef SUM_NULL
	};
}

static int job_use_take(void *state, const struct rows *rows)
{
	struct job_use *use = state;

	if (!context_inside(use->context, (uint64_t)rows_cell(rows, column_job_ts)))
		return 0;
	use->known = true;
	use->sampled_ns += cell_known(rows_cell(rows, column_job_dur));
#define SUM_ADD(field, column) cell_add(&use->field, rows_cell(rows, column_job_##column));
	JOB_SUMS(SUM_ADD)
#undef SUM_ADD
	cell_raise(&use->most_rss, rows_cell(rows, column_job_rss));
	cell_raise(&use->most_processes, rows_cell(rows, column_job_processes));
	cell_raise(&use->most_threads, rows_cell(rows, column_job_threads));
	return 0;
}

struct scan_sink job_use_sink(struct job_use *use)
{
	return (struct scan_sink){ TABLE_job, ~0ull, job_use_take, use };
}

void job_use_finish(struct job_use *use)
{
	cell_add(&use->cpu_ns, use->usr_ns);
	cell_add(&use->cpu_ns, use->sys_ns);
	use->cpus = share_of(cell_known(use->cpu_ns), use->sampled_ns);
	use->usr_share = share_of(cell_known(use->usr_ns), cell_known(use->cpu_ns));
}
