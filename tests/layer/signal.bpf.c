/* Signals: the layer signal, the worked example of CONTRIBUTING.md. One record a signal that is sent, by whomever, to a thread
 * that is recorded.
 */
#include "bpf/task.bpf.h"

SEC("tp_btf/signal_generate")
int BPF_PROG(signal_sent, int number, struct kernel_siginfo *info, struct task_struct *task)
{
	struct record *record;

	if (!(config.process_all || job_bit(task)) || !shared.recording)
		return 0;
	record = ring_reserve(sizeof(*record), LAYER_signal);
	if (!record)
		return 0;
	record_head(record, PROBE_signal, 0, number, 0);
	record->pid = task_process(task);
	record->tid = task_number(task);
	record->ts = bpf_ktime_get_boot_ns();
	record->dur = 0;
	ring_submit(record);
	return 0;
}
