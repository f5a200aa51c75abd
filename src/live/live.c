#include "live/live.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/caps.h"
#include "base/clock.h"
#include "base/suggest.h"
#include "bpf/live_block.skel.h"
#include "bpf/live_call.skel.h"
#include "bpf/live_sched.skel.h"
#include "live/parts.h"
#include "probes/bpf_error.h"
#include "probes/features.h"

#define MOST_THREADS   131072u /* entries for threads on their way */
#define MOST_PROCESSES 16384
#define MOST_BUSY      16384
#define MOST_FILES     4096
#define CALL_OBJECT    (LIVE_BIT(LIVE_iolat) | LIVE_BIT(LIVE_sclat))
#define SCHED_OBJECT   (LIVE_BIT(LIVE_cpudist) | LIVE_BIT(LIVE_runqlat) | LIVE_BIT(LIVE_pidpersec))

#define CHOSEN true
#define ALL    false
const struct live_info live_infos[LIVE_COUNT] = {
#define LIVE(id, narrowed, text) [LIVE_##id] = { #id, text, narrowed },
#include "live/live.def"
};

int live_find(const char *name, unsigned *what, struct error *e)
{
	const char *names[LIVE_COUNT];
	char hint[256];

	for (unsigned i = 0; i < LIVE_COUNT; i++) {
		names[i] = live_infos[i].name;
		if (!strcmp(names[i], name)) {
			*what |= LIVE_BIT(i);
			return 0;
		}
	}
	return error_set(e, -EINVAL, "unknown histogram '%s', %s", name,
			 suggest_names(hint, sizeof(hint), name, names, LIVE_COUNT));
}

/* ---- memory that the programs share ---- */

/* A power of two, and no more than threads can have ids. */
static unsigned thread_entries(void)
{
	FILE *file = fopen("/proc/sys/kernel/pid_max", "re");
	unsigned most = 32768, entries = 1024;

	if (file && fscanf(file, "%u", &most) != 1)
		most = 32768;
	if (file)
		fclose(file);
	while (entries < most && entries < MOST_THREADS)
		entries *= 2;
	return entries;
}

static int table_map(struct live_table *table, struct bpf_map *map, struct error *e)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *shared;

	table->bytes = (size_t)table->cpus * table->subjects * sizeof(struct live_hist);
	table->bytes = (table->bytes + page - 1) / page * page;
	shared = mmap(NULL, table->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
	if (shared == MAP_FAILED)
		return error_errno(e, "cannot map the histograms");
	table->shared = shared;
	table->before = calloc(table->subjects, sizeof(*table->before));
	return table->before ? 0 : error_set(e, -ENOMEM, "out of memory");
}

static void table_unmap(struct live_table *table)
{
	if (table->shared)
		munmap(table->shared, table->bytes);
	free(table->before);
}

/* What all three objects are told before they are loaded. */
#define CONFIGURE(live, part, table_, subjects_)                                     \
	do {                                                                         \
		unsigned threads_ = thread_entries();                                \
                                                                                     \
		(live)->table_.cpus = (unsigned)libbpf_num_possible_cpus();          \
		(live)->table_.subjects = (subjects_);                               \
		(live)->part->rodata->live_subjects = (subjects_);                   \
		(live)->part->rodata->live_unit = (live)->config.unit;               \
		(live)->part->rodata->live_chosen = (live)->config.pid_count > 0;    \
		(live)->part->rodata->live_mask = threads_ - 1;                      \
		bpf_map__set_max_entries((live)->part->maps.live_hists,              \
					 (live)->table_.cpus *(subjects_));          \
		bpf_map__set_max_entries((live)->part->maps.live_threads, threads_); \
	} while (0)

/* ---- objects ---- */

static int refused(struct error *e, int err)
{
	return bpf_error(e, err, "the kernel refuses the live histograms");
}

static bool wants(const struct live *live, enum live_what what)
{
	return live->config.what & LIVE_BIT(what);
}

static void choose_sched_programs(struct live *live, bool tells_state)
{
	const struct live_config *config = &live->config;
	struct live_sched_bpf *bpf = live->sched;
	bool queue = wants(live, LIVE_runqlat);
	bool switches = queue || wants(live, LIVE_cpudist) || config->top;

	bpf_program__set_autoload(bpf->progs.live_wakeup, queue);
	bpf_program__set_autoload(bpf->progs.live_wakeup_new, queue);
	bpf_program__set_autoload(bpf->progs.live_switch, switches && tells_state);
	bpf_program__set_autoload(bpf->progs.live_switch_5_15, switches && !tells_state);
	bpf_program__set_autoload(bpf->progs.live_fork, wants(live, LIVE_pidpersec));
	bpf_program__set_autoload(bpf->progs.live_follow, config->follow);
	bpf_program__set_autoload(bpf->progs.live_forget, config->follow);
	bpf_map__set_max_entries(bpf->maps.live_processes,
				 config->per_process ? MOST_PROCESSES : 1);
	bpf_map__set_max_entries(bpf->maps.live_busiest, config->top ? MOST_BUSY : 1);
}

static int add_pids(const struct live_config *config, int map, struct error *e)
{
	for (size_t i = 0; i < config->pid_count; i++) {
		uint32_t pid = (uint32_t)config->pids[i];
		uint8_t yes = 1;

		if (bpf_map_update_elem(map, &pid, &yes, BPF_ANY))
			return error_errno(e, "cannot watch process %u", pid);
	}
	return 0;
}

static int open_sched(struct live *live, const struct live_config *config, bool tells_state,
		      struct error *e)
{
	struct live_sched_bpf *bpf = live->sched = live_sched_bpf__open();
	int err;

	if (!bpf)
		return refused(e, -errno);
	CONFIGURE(live, sched, sched_table, LIVE_SCHED_SUBJECTS);
	bpf->rodata->live_on_cpu = wants(live, LIVE_cpudist) && config->on_cpu;
	bpf->rodata->live_off_cpu = wants(live, LIVE_cpudist) && config->off_cpu;
	bpf->rodata->live_queue = wants(live, LIVE_runqlat);
	bpf->rodata->live_per_process = config->per_process;
	bpf->rodata->live_busy = config->top;
	choose_sched_programs(live, tells_state);
	err = live_sched_bpf__load(bpf);
	if (err)
		return refused(e, err);
	err = add_pids(config, bpf_map__fd(bpf->maps.live_pids), e);
	if (!err)
		err = table_map(&live->sched_table, bpf->maps.live_hists, e);
	if (err)
		return err;
	err = live_sched_bpf__attach(bpf);
	return err ? refused(e, err) : 0;
}

static int open_call(struct live *live, struct error *e)
{
	struct live_call_bpf *bpf = live->call = live_call_bpf__open();
	int err;

	if (!bpf)
		return refused(e, -errno);
	live_choose_calls(live, bpf->rodata->live_calls);
	CONFIGURE(live, call, call_table, live->call_count);
	bpf->rodata->live_by_file = live->config.top;
	bpf->rodata->live_moving_only = !wants(live, LIVE_sclat);
	bpf_map__set_max_entries(bpf->maps.live_files, live->config.top ? MOST_FILES : 1);
	err = live->sched ? bpf_map__reuse_fd(bpf->maps.live_pids,
					      bpf_map__fd(live->sched->maps.live_pids))
			  : 0;
	if (!err)
		err = live_call_bpf__load(bpf);
	if (err)
		return refused(e, err);
	err = table_map(&live->call_table, bpf->maps.live_hists, e);
	if (err)
		return err;
	err = live_call_bpf__attach(bpf);
	return err ? refused(e, err) : 0;
}

static int open_block(struct live *live, struct error *e)
{
	struct live_block_bpf *bpf = live->block = live_block_bpf__open();
	int err;

	if (!bpf)
		return refused(e, -errno);
	CONFIGURE(live, block, block_table, LIVE_DEVICES * LIVE_OPS);
	bpf_map__set_max_entries(bpf->maps.live_threads, 1);
	err = live_block_bpf__load(bpf);
	if (err)
		return refused(e, err);
	err = table_map(&live->block_table, bpf->maps.live_hists, e);
	if (err)
		return err;
	err = live_block_bpf__attach(bpf);
	return err ? refused(e, err) : 0;
}

/* The processes to watch are in the scheduler's object, whatever is asked of them. */
static int open_objects(struct live *live, const struct live_config *config, bool tells_state,
			struct error *e)
{
	int err = 0;

	if (config->what & SCHED_OBJECT || config->pid_count || config->top)
		err = open_sched(live, config, tells_state, e);
	if (!err && config->what & CALL_OBJECT)
		err = open_call(live, e);
	if (!err && wants(live, LIVE_biolat))
		err = open_block(live, e);
	return err;
}

int live_open(struct live **out, const struct live_config *config, struct error *e)
{
	struct live *live = calloc(1, sizeof(*live));
	struct features *features = NULL;
	int err;

	*out = live;
	if (!live)
		return error_set(e, -ENOMEM, "out of memory");
	live->config = *config;
	live->config.pids = NULL;
	live->alone = config->pid_count ? config->pids[0] : 0;
	bpf_error_listen();
	err = features_open(&features, e);
	if (!err)
		err = open_objects(live, config,
				   features_tracepoint_arguments(features, "sched_switch") > 3, e);
	features_close(features);
	live->read_at = clock_monotonic();
	if (err) {
		live_close(live);
		*out = NULL;
	}
	return err;
}

void live_close(struct live *live)
{
	if (!live)
		return;
	table_unmap(&live->sched_table);
	table_unmap(&live->call_table);
	table_unmap(&live->block_table);
	live_sched_bpf__destroy(live->sched);
	live_call_bpf__destroy(live->call);
	live_block_bpf__destroy(live->block);
	free(live);
}

/* What is read through descriptors needs no right on kernels from 5.18 on; older ones are asked. */
int live_give_up(struct live *live, struct live_reading *reading, uint64_t keep, struct error *e)
{
	struct error ignored;
	int err = caps_use(keep, e);

	if (err)
		return err;
	if (live_read(live, reading, &ignored) == -EPERM) {
		keep |= CAP_BIT(CAP_BPF) | CAP_BIT(CAP_PERFMON) | CAP_BIT(CAP_SYS_ADMIN);
		err = caps_use(UINT64_MAX, e);
	}
	return err ? err : caps_keep(keep, e);
}

size_t live_pids(struct live *live, pid_t *pids, size_t most)
{
	uint32_t pid, *before = NULL;
	size_t count = 0;
	int map = live->sched ? bpf_map__fd(live->sched->maps.live_pids) : -1;

	while (count < most && !bpf_map_get_next_key(map, before, &pid)) {
		pids[count++] = (pid_t)pid;
		before = &pid;
	}
	return count;
}
