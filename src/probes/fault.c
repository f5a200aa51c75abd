/* The layer fault: bpf/fault.bpf.c on the kernel's page-fault tracepoints and, on each CPU, on its count of
 * major faults. */
#include "probes/probe.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf/strata.skel.h"
#include "capture/features.h"

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
		return error_set(e, fd, "cannot count major faults with perf_event_open: %s",
				 strerror(-fd));
	close(fd);
	return 0;
}

static void fault_configure(const struct probe_setup *setup)
{
	struct strata_bpf *bpf = setup->bpf;
	bool on = setup->layers & LAYER_BIT(LAYER_fault);
	bool pages = on && features_tracepoint_arguments(setup->features, "mm_filemap_fault") &&
		     features_tracepoint_arguments(setup->features, "mm_filemap_map_pages");
	/* Each anonymous fault pays for these. */
	bool begins = on && (!pages || setup->required & LAYER_BIT(LAYER_fault));
	bool areas = features_has_helper(setup->features, "find_vma");

	bpf->rodata->fault_areas = areas;
	bpf->rodata->fault_times = !pages;
	bpf->rodata->fault_addresses = begins;
	bpf_program__set_autoload(bpf->progs.fault_user, begins);
	bpf_program__set_autoload(bpf->progs.fault_kernel, begins);
	bpf_program__set_autoload(bpf->progs.fault_major, on);
	bpf_program__set_autoload(bpf->progs.fault_process_exit, on);
	bpf_program__set_autoload(bpf->progs.fault_open, on);
	bpf_program__set_autoload(
		bpf->progs.fault_mapped,
		on && features_has_function(setup->features, "bpf_iter_task_vma"));
	bpf_program__set_autoload(bpf->progs.fault_map_pages, pages);
	bpf_program__set_autoload(bpf->progs.fault_filemap, pages);
	if (on && !pages)
		absences_add(setup->absences, "fault.minor",
			     "this kernel has no tracepoint mm_filemap_fault, so only major faults "
			     "are recorded");
	if (on && !areas)
		absences_add(setup->absences, "fault.file",
			     "this kernel has no BPF helper find_vma");
}

static int fault_attach(struct strata_bpf *bpf, uint32_t layers, struct probe_links *links,
			struct error *e)
{
	int cpus = libbpf_num_possible_cpus();

	if (!(layers & LAYER_BIT(LAYER_fault)))
		return 0;
	for (int cpu = 0; cpu < cpus; cpu++) {
		int fd = open_counter(cpu);
		struct bpf_link *link;

		if (fd == -ENODEV) /* that CPU is off */
			continue;
		if (fd < 0 || links->count == PROBE_LINKS)
			return error_set(e, fd < 0 ? fd : -E2BIG,
					 "cannot count the major faults of CPU %d", cpu);
		link = bpf_program__attach_perf_event(bpf->progs.fault_major, fd);
		if (!link) {
			close(fd);
			return error_errno(e, "cannot attach to the count of major faults");
		}
		links->items[links->count++] = link;
	}
	return 0;
}

#define SET(column, value) builder_set(row, column_fault_##column, (int64_t)(value))

static void decode_brief(struct decoder *decoder, const struct faults_record *faults,
			 const struct brief_fault *fault)
{
	struct builder *row = sink_table(&decoder->sink, TABLE_fault);

	if (!row)
		return sink_drop(&decoder->sink, TABLE_fault);
	SET(ts, fault->ts);
	SET(cpu, fault->cpu);
	SET(pid, faults->head.pid);
	SET(tid, faults->head.tid);
	if (fault->file)
		SET(file, fault->file);
	SET(pos, fault->pos);
	SET(major, false);
	if (faults->missed_known)
		SET(missed, 0);
	sink_end_row(&decoder->sink, TABLE_fault);
}

static void decode_one(struct decoder *decoder, const struct fault_record *fault)
{
	const struct record *head = &fault->head;
	struct builder *row = sink_table(&decoder->sink, TABLE_fault);

	if (!row)
		return sink_drop(&decoder->sink, TABLE_fault);
	SET(ts, head->ts);
	if (!(head->flags & RECORD_UNFINISHED))
		SET(dur, head->dur);
	SET(cpu, head->cpu);
	SET(pid, head->pid);
	SET(tid, head->tid);
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
	sink_end_row(&decoder->sink, TABLE_fault);
}

static void fault_decode(struct decoder *decoder, const struct record *head, size_t size)
{
	const struct faults_record *faults = (const void *)head;

	(void)size;
	if (head->type == RECORD_FAULT)
		return decode_one(decoder, (const void *)head);
	for (uint32_t i = 0; i < faults->count && i < BRIEF_FAULTS; i++)
		decode_brief(decoder, faults, &faults->faults[i]);
}

const struct probe fault_probe = {
	.name = "fault",
	.layers = LAYER_BIT(LAYER_fault),
	.records = 1u << RECORD_FAULT | 1u << RECORD_FAULTS,
	.supported = fault_supported,
	.configure = fault_configure,
	.attach = fault_attach,
	.decode = fault_decode,
};
