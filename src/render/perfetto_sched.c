/* Stays on CPUs as the kernel's own events, from which Perfetto draws CPU tracks and thread states: a
 * sched_switch where one stay follows another, a sched_waking where a thread became runnable. Events of a
 * CPU are gathered into bundles.
 *
 * Where the trace does not say what ran (another scope, a thread without a number, after the last stay) the
 * switch is to a thread "unknown" with a number that no kernel gives.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "render/perfetto.h"

enum {
	BUNDLE_CPU = 1,
	BUNDLE_EVENT = 2,

	FTRACE_TIMESTAMP = 1,
	FTRACE_PID = 2,
	FTRACE_SWITCH = 4,
	FTRACE_WAKING = 20,
	FTRACE_FREE = 240,

	SWITCH_PREV_COMM = 1,
	SWITCH_PREV_PID = 2,
	SWITCH_PREV_PRIO = 3,
	SWITCH_PREV_STATE = 4,
	SWITCH_NEXT_COMM = 5,
	SWITCH_NEXT_PID = 6,
	SWITCH_NEXT_PRIO = 7,

	WAKING_COMM = 1,
	WAKING_PID = 2,
	WAKING_PRIO = 3,
	WAKING_SUCCESS = 4,
	WAKING_CPU = 5,
};

#define BUNDLE_SIZE 8192u
#define EVENT_ROOM  512u /* more than any event takes */
#define MAX_CPU	    8191 /* Linux has no more than 8192 */

/* A thread as a switch tells of it. */
struct switched_thread {
	uint32_t tid;
	int32_t prio;
	uint8_t comm_size;
	char comm[64];
};

struct sched_cpu {
	struct switched_thread last;
	uint64_t end; /* of the last stay; UINT64_MAX: unfinished */
	uint8_t end_state;
	bool used;
	uint8_t *bundle, *at; /* BUNDLE_SIZE bytes and where the next event goes */
};

static const struct switched_thread unknown_stay = {
	.tid = EXPORT_NO_TASK, .prio = 120, .comm_size = 7, .comm = "unknown"
};

static struct sched_cpu *cpu_find(struct perfetto *p, int64_t number)
{
	struct sched_cpu *cpus, *cpu;
	uint32_t count = p->cpu_count ? p->cpu_count : 16;

	if (number < 0 || number > MAX_CPU)
		return NULL;
	while (count <= (uint32_t)number)
		count *= 2;
	if (count > p->cpu_count) {
		cpus = reallocarray(p->cpus, count, sizeof(*cpus));
		if (!cpus) {
			p->error = -ENOMEM;
			return NULL;
		}
		memset(cpus + p->cpu_count, 0, (count - p->cpu_count) * sizeof(*cpus));
		p->cpus = cpus;
		p->cpu_count = count;
	}
	cpu = &p->cpus[number];
	if (!cpu->bundle)
		cpu->at = cpu->bundle = malloc(BUNDLE_SIZE);
	if (!cpu->bundle)
		p->error = -ENOMEM;
	return cpu->bundle ? cpu : NULL;
}

static void cpu_flush(struct perfetto *p, struct sched_cpu *cpu)
{
	uint8_t *packet, *bundle, *at;
	size_t size = (size_t)(cpu->at - cpu->bundle);

	if (!size)
		return;
	at = packet_begin(p, &packet);
	bundle = proto_open(&at, PACKET_FTRACE_EVENTS);
	proto_uint(&at, BUNDLE_CPU, (uint64_t)(cpu - p->cpus));
	memcpy(at, cpu->bundle, size);
	at += size;
	proto_close(&at, bundle);
	packet_end(p, at, packet);
	cpu->at = cpu->bundle;
}

static void event_begin(struct perfetto *p, struct sched_cpu *cpu, uint64_t ts, uint32_t pid,
			uint8_t **event)
{
	if ((size_t)(cpu->at - cpu->bundle) + EVENT_ROOM > BUNDLE_SIZE)
		cpu_flush(p, cpu);
	*event = proto_open(&cpu->at, BUNDLE_EVENT);
	proto_uint(&cpu->at, FTRACE_TIMESTAMP, ts + p->shift);
	proto_uint(&cpu->at, FTRACE_PID, pid);
}

/* States as kernels since 4.14 number them; R is "was preempted". */
static uint64_t state_bits(uint8_t state)
{
	switch (state) {
	case 'S': return 1;
	case 'D': return 2;
	case 'T': return 4;
	case 't': return 8;
	case 'X': return 16;
	case 'Z': return 32;
	case 'P': return 64;
	case 'I': return 128;
	case 'R': return 256;
	default: return 0; /* Perfetto knows no "unknown": runnable */
	}
}

static void write_switch(struct perfetto *p, struct sched_cpu *cpu, uint64_t ts,
			 const struct switched_thread *next)
{
	const struct switched_thread *prev = cpu->used ? &cpu->last : &unknown_stay;
	uint8_t *event, *body;

	event_begin(p, cpu, ts, prev->tid, &event);
	body = proto_open(&cpu->at, FTRACE_SWITCH);
	proto_bytes(&cpu->at, SWITCH_PREV_COMM, prev->comm, prev->comm_size);
	proto_uint(&cpu->at, SWITCH_PREV_PID, prev->tid);
	proto_int(&cpu->at, SWITCH_PREV_PRIO, prev->prio);
	proto_uint(&cpu->at, SWITCH_PREV_STATE, state_bits(cpu->used ? cpu->end_state : 'R'));
	proto_bytes(&cpu->at, SWITCH_NEXT_COMM, next->comm, next->comm_size);
	proto_uint(&cpu->at, SWITCH_NEXT_PID, next->tid);
	proto_int(&cpu->at, SWITCH_NEXT_PRIO, next->prio);
	proto_close(&cpu->at, body);
	proto_close(&cpu->at, event);
	if (next != &cpu->last)
		cpu->last = *next;
	cpu->used = true;
}

/* waker 0: an interrupt. It is told on the CPU that the thread was woken for, so that it comes before a switch at
 * the same time. */
static void write_waking(struct perfetto *p, struct sched_cpu *cpu, uint64_t ts,
			 const struct switched_thread *stay, uint32_t waker)
{
	uint8_t *event, *body;

	event_begin(p, cpu, ts, waker, &event);
	body = proto_open(&cpu->at, FTRACE_WAKING);
	proto_bytes(&cpu->at, WAKING_COMM, stay->comm, stay->comm_size);
	proto_uint(&cpu->at, WAKING_PID, stay->tid);
	proto_int(&cpu->at, WAKING_PRIO, stay->prio);
	proto_uint(&cpu->at, WAKING_SUCCESS, 1);
	proto_uint(&cpu->at, WAKING_CPU, (uint64_t)(cpu - p->cpus));
	proto_close(&cpu->at, body);
	proto_close(&cpu->at, event);
}

static void stay_of_row(struct perfetto *p, const struct rows *rows,
			const struct perfetto_thread *thread, struct switched_thread *stay)
{
	int64_t prio = rows_cell(rows, column_sched_prio);
	const char *comm;
	size_t size;

	stay->tid = (uint32_t)thread->tid;
	stay->prio = prio == CELL_NULL ? 120 : (int32_t)prio;
	stay->comm_size = 0;
	if (!thread->row)
		return;
	size = thread->row->comm_size;
	comm = text_escape(p, thread->row->comm, &size);
	stay->comm_size = (uint8_t)(size < sizeof(stay->comm) ? size : sizeof(stay->comm));
	memcpy(stay->comm, comm, stay->comm_size);
}

/* A thread that was preempted stayed runnable: nobody woke it; recordings of version 0.1 do not say so. One that was woken
 * before it was off its CPU is told to be when it was: Perfetto passes over the waking of a thread that runs. */
static void wake(struct perfetto *p, struct sched_cpu *cpu, const struct rows *rows,
		 const struct perfetto_thread *thread, const struct switched_thread *stay,
		 uint64_t ts)
{
	int64_t wait = rows_cell(rows, column_sched_wait);
	int64_t waker = rows_cell(rows, column_sched_waker_tid);

	if (wait == CELL_NULL || (uint64_t)wait > ts)
		return;
	if (rows_cell(rows, column_sched_wake_ts) == CELL_NULL && waker == CELL_NULL &&
	    (!thread->stayed || thread->end_state == 'R'))
		return;
	write_waking(p, cpu, ts - (uint64_t)wait, stay, waker == CELL_NULL ? 0 : (uint32_t)waker);
}

static uint8_t end_state_of(const struct rows *rows)
{
	size_t size;
	const char *state = rows_text(rows, column_sched_end_state, &size);

	return state && size ? (uint8_t)*state : 0;
}

void sched_take(struct perfetto *p, const struct rows *rows, uint64_t ts)
{
	int64_t number = rows_cell(rows, column_sched_cpu), tid = rows_cell(rows, column_sched_tid);
	int64_t dur = rows_cell(rows, column_sched_dur);
	struct sched_cpu *cpu = cpu_find(p, number);
	struct perfetto_thread *thread = NULL;
	struct switched_thread stay = unknown_stay;

	if (!cpu)
		return;
	if (tid != CELL_NULL) {
		thread = thread_at(p, tid, ts);
		if (!thread)
			return;
		stay_of_row(p, rows, thread, &stay);
		if (tid)
			wake(p, cpu, rows, thread, &stay, ts);
	}
	if (cpu->used && cpu->end < ts)
		write_switch(p, cpu, cpu->end, &unknown_stay);
	write_switch(p, cpu, ts, &stay);
	cpu->end = dur == CELL_NULL ? UINT64_MAX : ts + (uint64_t)dur;
	cpu->end_state = end_state_of(rows);
	if (thread) {
		thread->cpu = (uint32_t)number;
		thread->end_state = cpu->end_state;
		thread->stay_end = cpu->end == UINT64_MAX ? ts : cpu->end;
		thread->stayed = true;
	}
}

/* Its number was given to another thread: without this Perfetto takes both for one. */
void sched_thread_ended(struct perfetto *p, const struct perfetto_thread *thread)
{
	struct sched_cpu *cpu = cpu_find(p, thread->cpu);
	uint8_t *event, *body;
	uint64_t ended;

	if (!cpu || !thread->row || thread->row->last_ts == CELL_NULL)
		return;
	ended = (uint64_t)thread->row->last_ts;
	if (thread->stayed && ended < thread->stay_end)
		ended = thread->stay_end;
	event_begin(p, cpu, ended, (uint32_t)thread->tid, &event);
	body = proto_open(&cpu->at, FTRACE_FREE);
	proto_uint(&cpu->at, WAKING_PID, (uint64_t)thread->tid);
	proto_close(&cpu->at, body);
	proto_close(&cpu->at, event);
}

void sched_end(struct perfetto *p)
{
	for (uint32_t i = 0; i < p->cpu_count; i++) {
		struct sched_cpu *cpu = &p->cpus[i];

		if (cpu->bundle && cpu->used && cpu->end != UINT64_MAX &&
		    cpu->last.tid != EXPORT_NO_TASK)
			write_switch(p, cpu, cpu->end, &unknown_stay);
		if (cpu->bundle)
			cpu_flush(p, cpu);
		free(cpu->bundle);
	}
	free(p->cpus);
	p->cpus = NULL;
	p->cpu_count = 0;
}
