#include "capture/kernel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "bpf/shared.skel.h"
#include "capture/cgroups.h"
#include "capture/hooks.h"
#include "capture/probe_set.h"
#include "capture/rings.h"
#include "probes/bpf_error.h"

#define PREFIX_FILES (1u << 24) /* file ids that can be told to match --path */

struct kernel {
	struct shared_bpf *shared; /* what all objects share */
	struct rings rings;
	struct features *features;
	struct probe_set probes;
};

/* ---- what all objects share ---- */

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

static int kernel_configure(struct kernel *kernel, const struct kernel_config *config,
			    struct error *e)
{
	struct config *to = &kernel->shared->rodata_config->config;
	bool targets = config->command || config->target_count;
	struct stat namespace;

	if (stat("/proc/self/ns/pid", &namespace))
		return error_errno(e, "cannot read /proc/self/ns/pid");
	to->self_namespace = (uint32_t) namespace.st_ino;
	to->self_pid = (uint32_t)getpid();
	to->proc_above = proc_levels_above();
	to->record_all = config->record_all;
	to->process_all = config->process_all;
	to->own_only = config->own_only;
	to->own_uid = (uint32_t)getuid();
	to->own_gid = (uint32_t)getgid();
	to->redact_args = config->redact_args;
	to->mark_uid = config->mark_uid;
	to->has_job = targets || config->selection->container;
	to->doorbell_bytes = (uint32_t)(kernel->rings.bytes / 4);
	to->typed_reads = features_has_function(kernel->features, "bpf_rdonly_cast");
#define TYPE_ID(name) to->type_##name = features_struct_id(kernel->features, #name);
	TYPED_STRUCTS(TYPE_ID)
#undef TYPE_ID
	to->container_subsystem = cgroups_v1_subsystem(kernel->features);
	selection_configure(config->selection, !targets, to);
	kernel->probes.setup = (struct probe_setup){
		.layers = config->layers,
		.required = config->required,
		.targets = config->targets,
		.target_count = config->target_count,
		.command = config->command,
		.calls = config->calls,
		.min_dur = config->min_dur,
		.aggregates = config->aggregates,
		.features = kernel->features,
		.absences = config->absences,
		.config = to,
	};
	for (unsigned i = 0; i < LAYER_COUNT; i++)
		if (schema_layers[i].when == WHEN_ALWAYS)
			kernel->probes.setup.required |= LAYER_BIT(i);
	return 0;
}

static int kernel_open_shared(struct kernel *kernel, const struct kernel_config *config,
			      struct error *e)
{
	struct shared_bpf *shared = kernel->shared = shared_bpf__open();
	int err;

	if (!shared)
		return bpf_error(e, -errno, "cannot open the BPF maps");
	err = kernel_configure(kernel, config, e);
	if (err)
		return err;
	err = bpf_map__set_max_entries(shared->maps.rings, kernel->rings.cpus);
	if (!err && config->selection->path)
		err = bpf_map__set_max_entries(shared->maps.prefix_inside, PREFIX_FILES / 64);
	if (!err)
		err = shared_bpf__load(shared);
	if (err)
		return bpf_error(e, err, "the kernel refuses the BPF maps");
	kernel->probes.setup.shared = &shared->data_shared->shared;
	kernel->probes.setup.asyncs = bpf_map__fd(shared->maps.asyncs);
	return 0;
}

int kernel_open(struct kernel **out, const struct kernel_config *config, struct error *e)
{
	struct kernel *kernel = *out = calloc(1, sizeof(*kernel));
	int err;

	bpf_error_listen();
	if (!kernel)
		return error_set(e, -ENOMEM, "out of memory");
	err = features_open(&kernel->features, e);
	if (!err)
		err = rings_open(&kernel->rings, config->ring_bytes, e);
	if (!err)
		err = kernel_open_shared(kernel, config, e);
	if (!err)
		err = probe_set_open(&kernel->probes, kernel->shared, &kernel->rings, e);
	features_close(kernel->features);
	kernel->features = NULL;
	kernel->probes.setup.features = NULL;
	return err;
}

void kernel_close(struct kernel *kernel)
{
	if (!kernel)
		return;
	probe_set_close(&kernel->probes);
	rings_close(&kernel->rings);
	shared_bpf__destroy(kernel->shared);
	free(kernel);
}

uint32_t kernel_layers(const struct kernel *kernel)
{
	return kernel->probes.setup.layers;
}

uint64_t kernel_load_cpu(const struct kernel *kernel, enum probe_id probe)
{
	return kernel->probes.load_cpu_ns[probe];
}

void kernel_list_hooks(const struct kernel *kernel,
		       void (*each)(void *context, enum probe_id probe, const char *place,
				    bool attached),
		       void *context)
{
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		if (kernel->probes.runs[i].bpf)
			hooks_list(&kernel->probes.runs[i], i, each, context);
}

/* ---- recording ---- */

int kernel_add_child(struct kernel *kernel, pid_t pid, struct error *e)
{
	struct task_state state = { .mode = TASK_PENDING };
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	int err = 0;

	if (pidfd < 0)
		return error_errno(e, "cannot follow the command");
	if (bpf_map_update_elem(bpf_map__fd(kernel->shared->maps.tasks), &pidfd, &state, BPF_ANY))
		err = bpf_error(e, -errno, "cannot follow the command");
	kernel->probes.setup.shared->command_pid = (uint32_t)pid;
	close(pidfd);
	return err;
}

int kernel_start(struct kernel *kernel, bool off, uint64_t *start, struct error *e)
{
	struct shared *shared = kernel->probes.setup.shared;

	*start = clock_boot();
	shared->start_ts = shared->on_ts = *start;
	shared->off_ts = off ? *start : 0;
	__atomic_store_n(&shared->recording, off ? RECORDING_OFF : RECORDING_ON, __ATOMIC_SEQ_CST);
	return probe_set_start(&kernel->probes, e);
}

void kernel_poll(struct kernel *kernel)
{
	probe_set_poll(&kernel->probes);
}

void kernel_sample(struct kernel *kernel, struct sink *sink)
{
	probe_set_sample(&kernel->probes, sink);
}

void kernel_count(struct kernel *kernel, struct sink *sink)
{
	probe_set_count(&kernel->probes, sink);
}

const struct calls *kernel_calls(const struct kernel *kernel)
{
	return kernel->probes.setup.calls;
}

int kernel_stop(struct kernel *kernel, struct error *e)
{
	__atomic_store_n(&kernel->probes.setup.shared->recording, 0, __ATOMIC_SEQ_CST);
	usleep(1000); /* programs that had begun on other CPUs end */
	return probe_set_stop(&kernel->probes, e);
}

void kernel_finish(struct kernel *kernel, struct sink *sink)
{
	probe_set_finish(&kernel->probes, sink);
}

/* ---- asking ---- */

bool kernel_signalled(const struct kernel *kernel, int signal, pid_t sender, uint64_t since)
{
	const struct shared *shared = kernel->probes.setup.shared;

	return shared->signal_senders[signal & (SIGNALS - 1)] == (uint32_t)sender &&
	       shared->signal_times[signal & (SIGNALS - 1)] >= since;
}

struct kernel_matches kernel_matches(const struct kernel *kernel)
{
	return (struct kernel_matches){ kernel->probes.setup.shared->selection_matched,
					kernel->probes.setup.shared->prefix_matched,
					kernel->probes.setup.shared->marks_refused };
}

uint32_t kernel_live(const struct kernel *kernel)
{
	return __atomic_load_n(&kernel->probes.setup.shared->live, __ATOMIC_SEQ_CST);
}

unsigned kernel_ring_count(const struct kernel *kernel)
{
	return kernel->rings.cpus;
}

const struct shared *kernel_shared(const struct kernel *kernel)
{
	return kernel->probes.setup.shared;
}

uint64_t kernel_ring_bytes(const struct kernel *kernel)
{
	return kernel->rings.bytes;
}

int kernel_ring_fd(const struct kernel *kernel, unsigned cpu)
{
	return kernel->rings.fds[cpu];
}

/* The states of all CPUs, which the caller frees; NULL: they cannot be read. */
static struct cpu_state *read_states(const struct kernel *kernel, struct error *e)
{
	struct cpu_state *states = calloc(kernel->rings.cpus, sizeof(*states));
	uint32_t zero = 0;

	if (!states) {
		error_set(e, -ENOMEM, "out of memory");
		return NULL;
	}
	if (bpf_map_lookup_elem(bpf_map__fd(kernel->shared->maps.cpu_states), &zero, states)) {
		bpf_error(e, -errno, "cannot read the loss counters");
		free(states);
		return NULL;
	}
	return states;
}

bool kernel_reachable(const struct kernel *kernel)
{
	struct error ignored;
	struct cpu_state *states = read_states(kernel, &ignored);
	bool reachable = states;

	free(states);
	return reachable;
}

int kernel_read_loss(const struct kernel *kernel, uint64_t *loss, struct error *e)
{
	struct cpu_state *states = read_states(kernel, e);

	if (!states)
		return -EIO;
	for (unsigned cpu = 0; cpu < kernel->rings.cpus; cpu++)
		for (unsigned layer = 0; layer < LAYER_COUNT; layer++)
			memcpy(loss + (cpu * LAYER_COUNT + layer) * LOSS_COUNT,
			       states[cpu].loss[layer], LOSS_COUNT * sizeof(*loss));
	free(states);
	return 0;
}
