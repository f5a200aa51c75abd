/* Marks that programs make by a call that fails (docs/marks.md), and among them those that switch the recording off and on. */
#ifndef STRATA_BPF_MARK_BPF_H
#define STRATA_BPF_MARK_BPF_H

#include "bpf/compat.bpf.h"
#include "bpf/task.bpf.h"

/* ---- off and on ---- */

#define WORD(a, b, c, d, e, f, g, h)                                                             \
	((__u64)(a) | (__u64)(b) << 8 | (__u64)(c) << 16 | (__u64)(d) << 24 | (__u64)(e) << 32 | \
	 (__u64)(f) << 40 | (__u64)(g) << 48 | (__u64)(h) << 56)

/* Who comes while somebody else switches does nothing: which of two at the same moment is the last is nobody's to say. */
static __always_inline void recording_switch(bool on, __u64 now)
{
	__u64 place;

	if (__sync_val_compare_and_swap(&shared.switching, 0, 1))
		return;
	if (shared.recording && rows_are_taken() != on) {
		if (on) {
			place = shared.off_count & (OFF_WINDOWS - 1);
			shared.offs[place].ts = shared.off_ts;
			shared.offs[place].end = now;
			memory_order();
			shared.off_count++;
			shared.on_ts = now;
			shared.off_ts = 0;
		} else {
			shared.off_ts = now;
			shared.async_refused =
				1; /* what completes later may have begun while it was off */
		}
		memory_order();
		shared.recording++;
	}
	memory_order();
	shared.switching = 0;
}

/* Whether the text is strata.record with the value on, or off. */
static __always_inline void mark_switch(struct mark_record *record)
{
	const __u64 *words = (const __u64 *)record->text;

	if (words[0] != WORD('s', 't', 'r', 'a', 't', 'a', '.', 'r'))
		return;
	if (words[1] == WORD('e', 'c', 'o', 'r', 'd', '\n', 'o', 'n'))
		recording_switch(true, record->head.ts);
	else if (words[1] == WORD('e', 'c', 'o', 'r', 'd', '\n', 'o', 'f'))
		recording_switch(false, record->head.ts);
}

/* ---- marks ---- */

/* Nobody else may write into a recording. */
static __always_inline bool mark_allowed(struct task_struct *task)
{
	__u32 uid = (__u32)bpf_get_current_uid_gid();

	return task_may_end(task) || !uid || uid == config.mark_uid;
}

static __noinline int mark_send(struct task_struct *task, struct pt_regs *regs)
{
	struct mark_record *record;

	if (!mark_allowed(task)) {
		__sync_fetch_and_add(&shared.marks_refused, 1);
		return 0;
	}
	record = ring_reserve(sizeof(*record), LAYER_fs);
	if (!record)
		return 0;
	record_head(&record->head, PROBE_file, FILE_MARK, 0, 0);
	record->head.pid = task_process(task);
	record->head.tid = task_number(task);
	record->head.ts = bpf_ktime_get_boot_ns();
	record->head.dur = 0;
	record->pad = 0;
	record->text[0] = 0;
	record->size = user_string_read(record->text, MARK_BYTES, regs->si);
	if (record->size > 16)
		mark_switch(record);
	ring_submit(record);
	return 0;
}

#endif
