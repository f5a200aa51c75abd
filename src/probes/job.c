/* The programs of bpf/job.bpf.c, which belong to the layer cpu where there is a job. They send no records:
 * sampler/job.c reads their totals. */
#include "probes/probe.h"

#include "bpf/strata.skel.h"

static void job_configure(const struct probe_setup *setup)
{
	struct strata_bpf *bpf = setup->bpf;
	bool on = setup->layers & LAYER_BIT(LAYER_cpu) && bpf->rodata->has_job;
	/* sched_probe has chosen before. */
	bool switches = bpf_program__autoload(bpf->progs.sched_switch) ||
			bpf_program__autoload(bpf->progs.sched_switch_5_15);

	bpf_program__set_autoload(bpf->progs.job_exec, on);
	bpf_program__set_autoload(bpf->progs.job_exit, on);
	bpf_program__set_autoload(bpf->progs.job_switch, on && !switches);
	bpf->rodata->switch_counts_job = on && switches;
	bpf_program__set_autoload(bpf->progs.job_begin, on);
	bpf_program__set_autoload(bpf->progs.job_update, on);
}

const struct probe job_probe = {
	.name = "job",
	.layers = LAYER_BIT(LAYER_cpu),
	.configure = job_configure,
};
