/* The layer fault: bpf/fault.bpf.c on the kernel's page-fault tracepoints and, on each CPU, on its count of
 * major faults. */
#include "bpf/fault.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf/fault.skel.h"
#include "probes/iterate.h"
#include "probes/probe.h"

PROBE_OPEN(fault)

/* The kernel's count of major faults on one CPU, by whichever thread; -errno. */
static int open_counter(int cpu)
{
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attributes),
		.config = PERF_COUNT_SW_PAGE_FAULTS_MAJ,
		.sample_period = 1,
	};
	long fd = syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static int fault_supported(const struct features *features, struct error *e)
{
	int fd;

	if (!features_tracepoint_arguments(features, "page_fault_user"))
		return error_set(e, -ENOTSUP, "this kernel has no tracepoint page_fault_user");
	fd = open_counter(0);
	if (fd < 0)
		return error_set(e, fd, "cannot count major faults with perf_event_open: %s%s",
				 strerror(-fd),
				 fd == -EACCES ? " ('sudo sysctl kernel.perf_event_paranoid=2' "
						 "lets CAP_PERFMON do it)"
					       : "");
	close(fd);
	return 0;
}

static void fault_configure(struct probe_run *run)
{
	const struct probe_setup *setup = run->setup;
	const struct features *features = setup->features;
	bool pages = features_tracepoint_arguments(features, "mm_filemap_fault") &&
		     features_tracepoint_arguments(features, "mm_filemap_map_pages");
	/* Each anonymous fault pays for these. */
	bool begins = !pages || setup->required & LAYER_BIT(LAYER_fault);
	bool areas = features_has_helper(features, "find_vma");
	struct fault_bpf *bpf = run->bpf;

	bpf->rodata->fault_areas = areas;
	bpf->rodata->fault_times = !pages;
	bpf->rodata->fault_addresses = begins;
	bpf_program__set_autoload(bpf->progs.fault_user, begins);
	bpf_program__set_autoload(bpf->progs.fault_kernel, begins);
	bpf_program__set_autoload(bpf->progs.fault_mapped,
				  features_has_function(features, "bpf_iter_task_vma"));
	bpf_program__set_autoload(bpf->progs.fault_map_pages, pages);
	bpf_program__set_autoload(bpf->progs.fault_filemap, pages);
	if (!pages)
		absences_add(setup->absences, "fault.minor",
			     "this kernel has no tracepoint mm_filemap_fault, so only major faults "
			     "are recorded");
	if (!areas)
		absences_add(setup->absences, "fault.file",
			     "this kernel has no BPF helper find_vma");
}

/* Hangs the program on the count of major faults of each CPU. */
static int attach_counters(struct probe_run *run, struct error *e)
{
	struct fault_bpf *bpf = run->bpf;
	int cpus = libbpf_num_possible_cpus();

	for (int cpu = 0; cpu < cpus; cpu++) {
		int fd = open_counter(cpu), err;

		if (fd == -ENODEV) /* that CPU is off */
			continue;
		if (fd < 0)
			return error_set(e, fd, "cannot count the major faults of CPU %d: %s", cpu,
					 strerror(-fd));
		err = probe_keep_link(run,
				      bpf_program__attach_perf_event(bpf->progs.fault_major, fd));
		if (err) {
			close(fd);
			return error_set(e, err, "cannot attach to the count of major faults: %s",
					 strerror(-err));
		}
	}
	return 0;
}

/* The files that the targets have mapped, by the names under which they did: a fault tells the file alone, which may
 * have others. Kernels before 6.1 go through no single task; there it is one of its names. */
static void name_mappings(struct probe_run *run)
{
	struct fault_bpf *bpf = run->bpf;
	struct error ignored;

	if (!bpf_program__autoload(bpf->progs.fault_mapped))
		return;
	for (size_t i = 0; i < run->setup->target_count; i++) {
		union bpf_iter_link_info task = { .task.tid = (__u32)run->setup->targets[i] };

		iterate(bpf->progs.fault_mapped, &task, NULL, &ignored);
	}
}

static int fault_attach(struct probe_run *run, struct error *e)
{
	int err = attach_counters(run, e);

	if (!err)
		name_mappings(run);
	return err;
}

static int fault_stop(struct probe_run *run, struct error *e)
{
	struct fault_bpf *bpf = run->bpf;

	return iterate(bpf->progs.fault_unsent, NULL, NULL, e);
}

#define SET(column, value) builder_set(row, column_fault_##column, (int64_t)(value))

static void decode_brief(struct row_maker *maker, const struct faults_record *faults,
			 const struct brief_fault *fault)
{
	struct builder *row = sink_table(&maker->sink, TABLE_fault);

	if (!row)
		return sink_drop(&maker->sink, TABLE_fault);
	SET(ts, fault->ts);
	SET(cpu, fault->cpu);
	SET_IDS(row, fault, faults->head.pid, faults->head.tid);
	if (fault->file)
		SET(file, fault->file);
	SET(pos, fault->pos);
	SET(major, false);
	if (faults->missed_known)
		SET(missed, 0);
	sink_end_row(&maker->sink, TABLE_fault);
}

static void decode_one(struct row_maker *maker, const struct fault_record *fault)
{
	const struct record *head = &fault->head;
	struct builder *row = sink_table(&maker->sink, TABLE_fault);

	if (!row)
		return sink_drop(&maker->sink, TABLE_fault);
	SET_HEAD(row, fault, head);
	if (!(fault->flags & FAULT_NO_ADDRESS))
		SET(addr, fault->addr);
	if (fault->file)
		SET(file, fault->file);
	if (fault->pos != RECORD_NULL)
		SET(pos, fault->pos);
	if (fault->flags & (FAULT_MAJOR | FAULT_MINOR))
		SET(major, !!(fault->flags & FAULT_MAJOR));
	if (fault->missed != RECORD_NULL)
		SET(missed, fault->missed);
	sink_end_row(&maker->sink, TABLE_fault);
}

static void fault_decode(struct row_maker *maker, const struct record *head, size_t size)
{
	const struct faults_record *faults = (const void *)head;

	(void)size;
	if (head->kind == FAULT_ONE)
		return decode_one(maker, (const void *)head);
	for (uint32_t i = 0; i < faults->count && i < BRIEF_FAULTS; i++)
		decode_brief(maker, faults, &faults->faults[i]);
}

const struct probe fault_probe = {
	.name = "fault",
	.layers = LAYER_BIT(LAYER_fault),
	.supported = fault_supported,
	.open = fault_open,
	.configure = fault_configure,
	.attach = fault_attach,
	.stop = fault_stop,
	.decode = fault_decode,
};
