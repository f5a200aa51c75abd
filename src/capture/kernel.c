#include "capture/kernel.h"

#include <assert.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "bpf/records.h"
#include "capture/bpf_error.h"
#include "capture/features.h"
#include "capture/iterate.h"
#include "probes/probe.h"
#include "bpf/strata.skel.h"

#define RING_TOTAL   ((uint64_t)128 << 20) /* shared by all CPUs unless told otherwise */
#define RING_MOST    ((uint64_t)16 << 20)
#define PREFIX_FILES (1u << 24) /* file ids that can be told to match --path */
#define RING_LEAST   ((uint64_t)64 << 10)

struct kernel {
	struct strata_bpf *bpf;
	int *rings;
	unsigned cpus;
	uint64_t ring_bytes;
	struct probe_links links;
};

static_assert(LAYER_COUNT <= LOSS_LAYERS && LOSS_COUNT <= LOSS_REASONS, "loss counters");

static uint64_t ring_size(uint64_t wanted, unsigned cpus)
{
	uint64_t size = RING_LEAST;

	if (!wanted)
		wanted = RING_TOTAL / cpus < RING_MOST ? RING_TOTAL / cpus : RING_MOST;
	while (size < wanted && size < (uint64_t)1 << 30)
		size *= 2;
	return size;
}

/* How many PID namespaces above strata's own /proc shows: one for each id but the last that it lists. */
static unsigned proc_levels_above(void)
{
	FILE *status = fopen("/proc/self/status", "re");
	unsigned ids = 0;
	char line[256];

	if (!status)
		return 0;
	while (fgets(line, sizeof(line), status)) {
		if (strncmp(line, "NSpid:", 6))
			continue;
		for (char *word = strtok(line + 6, " \t\n"); word; word = strtok(NULL, " \t\n"))
			ids++;
	}
	fclose(status);
	return ids ? ids - 1 : 0;
}

static int kernel_configure_filter(struct kernel *kernel, const struct kernel_config *config,
				   struct error *e)
{
	const struct filter *filter = config->filter;
	struct strata_bpf *bpf = kernel->bpf;
	bool threads = filter->comm || filter->cgroup;

	bpf->rodata->filter_on = threads;
	bpf->rodata->filter_makes_job = threads && !config->command && !config->target_count;
	bpf->rodata->filter_cgroup = filter->cgroup ? filter->cgroup_id : 0;
	bpf->rodata->filter_subsystem = filter->subsystem;
	if (filter->comm) /* names that threads have are cut likewise */
		memcpy(bpf->rodata->filter_comm, filter->comm,
		       strnlen(filter->comm, COMM_BYTES - 1));
	bpf_program__set_autoload(bpf->progs.process_moved, filter->cgroup);
	bpf_program__set_autoload(bpf->progs.process_filter, filter->cgroup);
	if (!filter->path)
		return 0;
	bpf->rodata->prefix_size = (uint32_t)strlen(filter->prefix);
	memcpy(bpf->rodata->prefix, filter->prefix, strlen(filter->prefix));
	bpf->rodata->prefix_text_size = (uint32_t)strlen(filter->prefix_text);
	memcpy(bpf->rodata->prefix_text, filter->prefix_text, strlen(filter->prefix_text));
	if (bpf_map__set_max_entries(bpf->maps.prefix_inside, PREFIX_FILES / 64))
		return bpf_error(e, -errno, "cannot size the set of files");
	return 0;
}

static int kernel_configure(struct kernel *kernel, const struct kernel_config *config,
			    struct error *e)
{
	struct strata_bpf *bpf = kernel->bpf;
	struct probe_setup setup = { bpf, config->layers, config->required, config->features,
				     config->absences };
	struct stat namespace;
	int err;

	if (stat("/proc/self/ns/pid", &namespace))
		return error_errno(e, "cannot read /proc/self/ns/pid");
	bpf->rodata->self_namespace = (uint32_t) namespace.st_ino;
	bpf->rodata->self_pid = (uint32_t)getpid();
	bpf->rodata->proc_above = proc_levels_above();
	bpf->rodata->record_all = config->record_all;
	bpf->rodata->process_all = config->process_all;
	bpf->rodata->has_job = config->command || config->target_count;
	bpf->rodata->typed_reads = features_has_function(config->features, "bpf_rdonly_cast");
	bpf_program__set_autoload(bpf->progs.process_signal, config->command);
	bpf->rodata->doorbell_bytes = (uint32_t)(kernel->ring_bytes / 4);
	for (size_t i = 0; i < probe_count; i++)
		probes[i]->configure(&setup);
	err = kernel_configure_filter(kernel, config, e);
	if (err)
		return err;
	err = bpf_map__set_max_entries(bpf->maps.rings, kernel->cpus);
	return err ? bpf_error(e, err, "cannot size the rings") : 0;
}

static bool cpu_online(unsigned cpu)
{
	char path[64], state = '1';
	FILE *file;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u", cpu);
	if (access(path, F_OK))
		return false;
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online", cpu);
	file = fopen(path, "re"); /* not there for a CPU that cannot be taken off */
	if (!file)
		return true;
	if (fread(&state, 1, 1, file) != 1)
		state = '1';
	fclose(file);
	return state != '0';
}

/* One ring for each CPU that is online, put in the map that the programs find theirs in. */
static int kernel_make_rings(struct kernel *kernel, struct error *e)
{
	for (uint32_t cpu = 0; cpu < kernel->cpus; cpu++) {
		int fd;

		if (!cpu_online(cpu))
			continue;
		fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "ring", 0, 0,
				    (uint32_t)kernel->ring_bytes, NULL);

		if (fd < 0)
			return bpf_error(e, fd, "cannot make a ring buffer");
		kernel->rings[cpu] = fd;
		if (bpf_map_update_elem(bpf_map__fd(kernel->bpf->maps.rings), &cpu, &fd, BPF_ANY))
			return bpf_error(e, -errno, "cannot place a ring buffer");
	}
	return 0;
}

static int kernel_add_targets(struct kernel *kernel, const struct kernel_config *config,
			      struct error *e)
{
	uint8_t yes = 1;

	for (size_t i = 0; i < config->target_count; i++) {
		uint32_t pid = (uint32_t)config->targets[i];

		if (bpf_map_update_elem(bpf_map__fd(kernel->bpf->maps.targets), &pid, &yes,
					BPF_ANY))
			return bpf_error(e, -errno, "cannot add a process");
	}
	return 0;
}

static bool kernel_is_iterator(const struct bpf_program *program)
{
	return !strncmp(bpf_program__section_name(program), "iter", 4);
}

static int kernel_attach(struct kernel *kernel, const struct kernel_config *config, struct error *e)
{
	struct bpf_program *program;
	int err = 0;

	bpf_object__for_each_program(program, kernel->bpf->obj)
		bpf_program__set_autoattach(program, !kernel_is_iterator(program));
	if (strata_bpf__attach(kernel->bpf))
		return bpf_error(e, -errno, "cannot attach to the kernel's tracepoints");
	for (size_t i = 0; i < probe_count && !err; i++)
		if (probes[i]->attach)
			err = probes[i]->attach(kernel->bpf, config->layers, &kernel->links, e);
	return err;
}

/* The files that the targets have mapped, by the names under which they did: a fault tells the file alone, which may
 * have others. Kernels before 6.1 go through no single task; there it is one of its names. */
static void kernel_name_mappings(struct kernel *kernel, const struct kernel_config *config)
{
	struct bpf_program *program = kernel->bpf->progs.fault_mapped;
	struct error ignored;

	if (!bpf_program__autoload(program))
		return;
	for (size_t i = 0; i < config->target_count; i++) {
		union bpf_iter_link_info task = { .task.tid = (__u32)config->targets[i] };

		iterate(program, &task, NULL, &ignored);
	}
}

int kernel_open(struct kernel **out, const struct kernel_config *config, struct error *e)
{
	struct kernel *kernel = calloc(1, sizeof(*kernel));
	int err;

	bpf_error_listen();
	if (!kernel)
		return error_set(e, -ENOMEM, "out of memory");
	kernel->cpus = (unsigned)libbpf_num_possible_cpus();
	kernel->ring_bytes = ring_size(config->ring_bytes, kernel->cpus);
	kernel->rings = malloc(kernel->cpus * sizeof(int));
	kernel->bpf = kernel->rings ? strata_bpf__open() : NULL;
	if (!kernel->bpf) {
		err = error_errno(e, "cannot open the BPF programs");
		goto out;
	}
	memset(kernel->rings, -1, kernel->cpus * sizeof(int));
	err = kernel_configure(kernel, config, e);
	if (err)
		goto out;
	err = strata_bpf__load(kernel->bpf);
	if (err) {
		bpf_error(e, err, "the kernel refuses the BPF programs");
		goto out;
	}
	err = kernel_make_rings(kernel, e);
	if (!err)
		err = kernel_add_targets(kernel, config, e);
	if (!err)
		err = iterate(kernel->bpf->progs.process_find_self, NULL, NULL, e);
	if (!err)
		err = kernel_attach(kernel, config, e);
	if (!err)
		kernel_name_mappings(kernel, config);
out:
	if (err) {
		kernel_close(kernel);
		kernel = NULL;
	}
	*out = kernel;
	return err;
}

static void kernel_drop_links(struct kernel *kernel)
{
	while (kernel->links.count)
		bpf_link__destroy(kernel->links.items[--kernel->links.count]);
}

void kernel_close(struct kernel *kernel)
{
	if (!kernel)
		return;
	for (unsigned cpu = 0; kernel->rings && cpu < kernel->cpus; cpu++)
		if (kernel->rings[cpu] >= 0)
			close(kernel->rings[cpu]);
	free(kernel->rings);
	kernel_drop_links(kernel);
	strata_bpf__destroy(kernel->bpf);
	free(kernel);
}

int kernel_add_child(struct kernel *kernel, pid_t pid, struct error *e)
{
	struct task_state state = { .mode = TASK_PENDING };
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	int err = 0;

	if (pidfd < 0)
		return error_errno(e, "cannot follow the command");
	if (bpf_map_update_elem(bpf_map__fd(kernel->bpf->maps.tasks), &pidfd, &state, BPF_ANY))
		err = bpf_error(e, -errno, "cannot follow the command");
	kernel->bpf->bss->command_pid = (uint32_t)pid;
	close(pidfd);
	return err;
}

bool kernel_signalled(const struct kernel *kernel, int signal, pid_t sender, uint64_t since)
{
	return kernel->bpf->bss->signal_senders[signal & (SIGNALS - 1)] == (uint32_t)sender &&
	       kernel->bpf->bss->signal_times[signal & (SIGNALS - 1)] >= since;
}

/* Runs on each CPU for a moment, so that each has had a switch and the stay that it is in is known. */
static void kernel_visit_cpus(const struct kernel *kernel)
{
	cpu_set_t *all = CPU_ALLOC(kernel->cpus), *one = CPU_ALLOC(kernel->cpus);
	size_t size = CPU_ALLOC_SIZE(kernel->cpus);

	if (all && one && !sched_getaffinity(0, size, all)) {
		for (unsigned cpu = 0; cpu < kernel->cpus; cpu++) {
			CPU_ZERO_S(size, one);
			CPU_SET_S(cpu, size, one);
			sched_setaffinity(0, size, one);
		}
		sched_setaffinity(0, size, all);
	}
	CPU_FREE(all);
	CPU_FREE(one);
}

int kernel_start(struct kernel *kernel, uint64_t *start, struct error *e)
{
	*start = clock_boot();
	kernel->bpf->bss->start_ts = *start;
	__atomic_store_n(&kernel->bpf->bss->recording, 1, __ATOMIC_SEQ_CST);
	if (kernel->bpf->rodata->sched_rows)
		kernel_visit_cpus(kernel);
	return iterate(kernel->bpf->progs.process_existing, NULL, NULL, e);
}

int kernel_read_stays(const struct kernel *kernel, struct stay *stays, struct error *e)
{
	uint32_t zero = 0;

	if (!kernel->bpf->rodata->sched_rows || !kernel->bpf->rodata->sched_all)
		return -ENODATA;
	if (bpf_map_lookup_elem(bpf_map__fd(kernel->bpf->maps.stays), &zero, stays))
		return bpf_error(e, -errno, "cannot read the last stays");
	return 0;
}

void kernel_refresh_filter(struct kernel *kernel)
{
	struct error ignored;

	if (__atomic_exchange_n(&kernel->bpf->bss->filter_stale, 0, __ATOMIC_SEQ_CST))
		iterate(kernel->bpf->progs.process_filter, NULL, NULL, &ignored);
}

struct kernel_matches kernel_matches(const struct kernel *kernel)
{
	return (struct kernel_matches){ kernel->bpf->bss->filter_matched,
					kernel->bpf->bss->prefix_matched };
}

void kernel_each_async(const struct kernel *kernel,
		       void (*take)(struct sink *sink, const struct async_state *state),
		       struct sink *sink)
{
	int map = bpf_map__fd(kernel->bpf->maps.asyncs);
	struct async_key key, *before = NULL;
	struct async_state state;

	while (!bpf_map_get_next_key(map, before, &key)) {
		if (!bpf_map_lookup_elem(map, &key, &state))
			take(sink, &state);
		before = &key;
	}
}

/* A job may go on for long after its recording: it must not pay for programs that do nothing. */
static void kernel_detach(struct kernel *kernel)
{
	struct bpf_object_skeleton *skeleton = kernel->bpf->skeleton;

	kernel_drop_links(kernel);
	for (int i = 0; i < skeleton->prog_cnt; i++) {
		struct bpf_prog_skeleton *program = &skeleton->progs[i];

		if (*program->prog == kernel->bpf->progs.process_signal)
			continue;
		bpf_link__destroy(*program->link);
		*program->link = NULL;
	}
}

int kernel_stop(struct kernel *kernel, struct error *e)
{
	union bpf_iter_link_info requests = {
		.map.map_fd = (__u32)bpf_map__fd(kernel->bpf->maps.requests),
	};
	int err = 0;

	__atomic_store_n(&kernel->bpf->bss->recording, 0, __ATOMIC_SEQ_CST);
	usleep(1000); /* programs that had begun on other CPUs end */
	if (bpf_program__autoload(kernel->bpf->progs.file_in_flight))
		err = iterate(kernel->bpf->progs.file_in_flight, NULL, NULL, e);
	if (!err && bpf_program__autoload(kernel->bpf->progs.fault_open))
		err = iterate(kernel->bpf->progs.fault_open, NULL, NULL, e);
	if (!err && bpf_program__autoload(kernel->bpf->progs.block_in_flight))
		err = iterate(kernel->bpf->progs.block_in_flight, &requests, NULL, e);
	kernel_detach(kernel);
	return err;
}

uint32_t kernel_live(const struct kernel *kernel)
{
	return __atomic_load_n(&kernel->bpf->bss->live, __ATOMIC_SEQ_CST);
}

int kernel_begin_job(struct kernel *kernel, struct error *e)
{
	int err = 0;

	if (!bpf_program__autoload(kernel->bpf->progs.job_begin))
		return -ENODATA;
	err = iterate(kernel->bpf->progs.job_begin, NULL, NULL, e);
	__atomic_store_n(&kernel->bpf->bss->job_counting, 1, __ATOMIC_SEQ_CST);
	return err;
}

int kernel_read_job(struct kernel *kernel, uint64_t *totals, uint32_t *missing, struct buf *pids,
		    struct error *e)
{
	int err = iterate(kernel->bpf->progs.job_update, NULL, pids, e);

	/* Of a job that has ended, what its last threads use on their way out. */
	for (int i = 0; i < 1000 && !kernel_live(kernel); i++) {
		if (!__atomic_load_n(&kernel->bpf->bss->job_leaving, __ATOMIC_SEQ_CST))
			break;
		usleep(100);
	}
	for (unsigned i = 0; i < JOB_COUNTERS; i++)
		totals[i] = __atomic_load_n(&kernel->bpf->bss->job_totals[i], __ATOMIC_RELAXED);
	*missing = kernel->bpf->bss->job_missing;
	return err;
}

unsigned kernel_ring_count(const struct kernel *kernel)
{
	return kernel->cpus;
}

uint64_t kernel_ring_bytes(const struct kernel *kernel)
{
	return kernel->ring_bytes;
}

int kernel_ring_fd(const struct kernel *kernel, unsigned cpu)
{
	return kernel->rings[cpu];
}

int kernel_read_loss(const struct kernel *kernel, uint64_t *loss, struct error *e)
{
	struct cpu_state *states = calloc(kernel->cpus, sizeof(*states));
	uint32_t zero = 0;
	int err = 0;

	if (!states)
		return error_set(e, -ENOMEM, "out of memory");
	if (bpf_map_lookup_elem(bpf_map__fd(kernel->bpf->maps.cpu_states), &zero, states))
		err = bpf_error(e, -errno, "cannot read the loss counters");
	for (unsigned cpu = 0; !err && cpu < kernel->cpus; cpu++)
		for (unsigned layer = 0; layer < LAYER_COUNT; layer++)
			memcpy(loss + (cpu * LAYER_COUNT + layer) * LOSS_COUNT,
			       states[cpu].loss[layer], LOSS_COUNT * sizeof(*loss));
	free(states);
	return err;
}
