/* The models behind `strata report`, on recordings whose answers are known on paper. */
#include "report_help.h"

/* Two CPUs, one second: the main process 100, its worker 101, a kworker, 90 ms that no row covers.
 *
 *     CPU 0   100 |1000 1200) idle |1200 1400) 100 |1400 1500) kworker |1500 1510) gap |1600 2000) 100
 *     CPU 1   idle |1000 1100) 101 |1100 1300) 101 |1300 1350) idle |1350 2000)
 *
 * 100 sleeps in poll until 101 wakes it at 1380 and gets the CPU at 1400; then in read, in state D, until 1600.
 */
static void add_schedule(struct fixture *f)
{
	add_process(f, 1000, EXEC, 100, 100, 50, "python");
	add_process(f, 1000, EXISTS, 7, 7, 2, "kworker/0:1");
	add_process(f, 1000, EXISTS, 8, 8, 2, "kworker/1:0");
	add_process(f, 1100, FORK, 101, 101, 100, "python");
	add_process(f, 1350, EXIT, 101, 101, 100, "python");
	add_process(f, 2000, EXIT, 100, 100, 50, "python");
	add_stay(f, 1000, 1200, 0, 100, 100, -1, -1, STATE_S, "poll");
	add_stay(f, 1000, 1100, 1, 0, 0, 0, -1, STATE_R, NULL);
	add_stay(f, 1100, 1300, 1, 101, 101, 5, 100, STATE_R, NULL);
	add_stay(f, 1200, 1400, 0, 0, 0, 0, -1, STATE_R, NULL);
	add_stay(f, 1300, 1350, 1, 101, 101, 0, -1, STATE_S, NULL);
	add_stay(f, 1350, 2000, 1, 0, 0, 0, -1, STATE_R, NULL);
	add_stay(f, 1400, 1500, 0, 100, 100, 20, 101, STATE_D, "read");
	add_stay(f, 1500, 1510, 0, 7, 7, 3, -1, STATE_S, NULL);
	add_stay(f, 1600, 2000, 0, 100, 100, 0, -1, STATE_S, NULL);
}

static const struct task_name *find_task(const struct report *report, const char *name)
{
	for (size_t i = 0; i < report->tasks.name_count; i++)
		if (report->tasks.names[i].name_size == strlen(name) &&
		    !memcmp(report->tasks.names[i].name, name, strlen(name)))
			return &report->tasks.names[i];
	fail_msg("no task %s", name);
	return NULL;
}

static void time_on_cpus_is_told_by_name_process_and_cpu(void **state)
{
	struct fixture *f = *state;
	const struct report *report;
	const struct task_name *name;

	add_run(f, "process,sched");
	add_schedule(f);
	report = help_report(f, NULL, NULL);
	assert_true(report->tasks.known);
	assert_int_equal(report->tasks.busy_ns, 960 * MS);
	assert_int_equal(report->tasks.idle_ns, 950 * MS);
	assert_int_equal(report->tasks.stays, 6);
	assert_int_equal(report->tasks.job_cpu_ns, 950 * MS);
	assert_int_equal(report->tasks.job_wait_ns, 25 * MS);
	name = find_task(report, "python");
	assert_int_equal(name->cpu_ns, 950 * MS);
	assert_int_equal(name->stays, 5);
	assert_int_equal(name->preempted, 1);
	assert_int_equal(name->processes, 2);
	assert_int_equal(name->lives, 2);
	assert_int_equal(name->life_ns, 1250 * MS);
	assert_int_equal(name->waits.count, 4);
	assert_int_equal(name->waits.sum, 25 * MS);
	assert_int_equal(name->waits.most, 20 * MS);
	name = find_task(report, "kworker");
	assert_int_equal(name->cpu_ns, 10 * MS);
	assert_int_equal(name->processes, 2);
	assert_int_equal(name->lives, 0);
	assert_int_equal(find_task(report, "idle")->cpu_ns, 950 * MS);
	assert_int_equal(report->tasks.process_count, 3);
	assert_int_equal(report->tasks.processes[0].cpu_ns, 700 * MS);
	assert_int_equal(report->tasks.cpu_count, 2);
	assert_int_equal(report->tasks.cpus[0].busy_ns, 710 * MS);
	assert_int_equal(report->tasks.cpus[0].gaps, 1);
	assert_int_equal(report->tasks.cpus[0].gap_ns, 90 * MS);
	assert_int_equal(report->tasks.cpus[1].gap_ns, 0);
}

static void the_main_thread_s_time_is_divided_by_who_woke_it(void **state)
{
	struct fixture *f = *state;
	const struct report *report;

	add_run(f, "process,sched");
	add_schedule(f);
	report = help_report(f, NULL, NULL);
	assert_int_equal(report->total.main_cpu_ns, 700 * MS);
	assert_int_equal(report->total.main_queue_ns, 20 * MS);
	assert_int_equal(report->total.main_workers_ns, 180 * MS);
	assert_int_equal(report->total.main_disk_ns, 100 * MS);
	assert_int_equal(report->total.main_own_ns, 0);
	assert_int_equal(report->total.main_others_ns, 0);
	assert_int_equal(report->total.main_events_ns, 0);
	assert_int_equal(report->waits.call_count, 2);
	assert_int_equal(report->waits.calls[0].ns, 180 * MS);
	assert_memory_equal(report->waits.calls[0].syscall, "poll", 4);
	assert_int_equal(report->waits.calls[1].reason, WAIT_DISK);
	assert_int_equal(report->waits.wakes[ROLE_WORKER][ROLE_MAIN], 1);
	assert_int_equal(report->waits.wakes[ROLE_MAIN][ROLE_WORKER], 1);
}

static void roles_follow_the_tree(void **state)
{
	struct fixture *f = *state;
	const struct report *report;
	const struct context *context;

	add_run(f, "process");
	/* A shell runs python for most of its time; python forks two workers and runs a compiler. */
	add_process(f, 1000, EXEC, 100, 100, 50, "sh");
	add_process(f, 1010, FORK, 110, 110, 100, "sh");
	add_process(f, 1011, EXEC, 110, 110, 100, "python");
	add_process(f, 1100, FORK, 111, 111, 110, "python");
	add_process(f, 1100, FORK, 112, 112, 110, "python");
	add_process(f, 1200, FORK, 113, 113, 110, "python");
	add_process(f, 1201, EXEC, 113, 113, 110, "gcc");
	add_process(f, 1250, EXIT, 113, 113, 110, "gcc");
	add_process(f, 1300, EXIT, 111, 111, 110, "python");
	add_process(f, 1310, FORK, 114, 114, 110, "python");
	add_process(f, 1000, EXISTS, 9, 9, 1, "cron");
	report = help_report(f, NULL, NULL);
	context = &report->context;
	assert_int_equal(procs_get(context->procs, context->roles.main)->pid, 110);
	assert_int_equal(context->roles.counts[ROLE_MAIN], 1);
	assert_int_equal(context->roles.counts[ROLE_LAUNCHER], 1);
	assert_int_equal(context->roles.counts[ROLE_WORKER], 3);
	assert_int_equal(context->roles.counts[ROLE_HELPER], 1);
	assert_int_equal(context->roles.counts[ROLE_OTHER], 1);
	assert_int_equal(context->roles.workers_at_once, 2);
	assert_false(report->tasks.known);
}

static void an_id_used_twice_is_two_processes(void **state)
{
	struct fixture *f = *state;
	const struct report *report;
	const struct procs *procs;

	add_run(f, "process");
	add_process(f, 1000, EXEC, 100, 100, 50, "python");
	add_process(f, 1100, FORK, 101, 101, 100, "python");
	add_process(f, 1110, FORK, 101, 102, 100,
		    "python"); /* a thread, which outlives its leader */
	add_process(f, 1200, EXIT, 101, 101, 100, "python");
	add_process(f, 1210, EXIT, 101, 102, 100, "python");
	add_process(f, 1300, FORK, 101, 101, 9, "stranger");
	report = help_report(f, NULL, NULL);
	procs = report->context.procs;
	assert_int_equal(procs_count(procs), 3);
	assert_int_equal(procs_get(procs, procs_find(procs, 101, 1150 * MS))->end, 1210 * MS);
	assert_true(procs_get(procs, procs_find(procs, 101, 1150 * MS))->in_job);
	assert_false(procs_get(procs, procs_find(procs, 101, 1400 * MS))->in_job);
	assert_int_equal(find_task(report, "python")->lives, 1);
	assert_int_equal(find_task(report, "python")->life_ns, 110 * MS);
}

static void add_reads(struct fixture *f)
{
	add_process(f, 1000, EXEC, 100, 100, 50, "python");
	add_process(f, 1100, FORK, 101, 101, 100, "python");
	add_file(f, 1, "/data/a", FILE_KIND_FILE);
	add_file(f, 2, "/data/b<script>", FILE_KIND_FILE);
	add_file(f, 3, "pipe:[7]", FILE_KIND_PIPE);
	add_read(f, 1200, 101, 1, 0, 4096, 16384); /* missed: 12288 of it ahead */
	add_read(f, 1210, 101, 1, 4096, 4096, 0);  /* sequential */
	add_read(f, 1220, 101, 1, 0, 8192, 0);	   /* random; all of it again */
	add_read(f, 1230, 101, 1, 50000, 100, 0);  /* random, small */
	add_read(f, 1240, 101, 1, 50100, 0, 0);	   /* empty */
	add_read(f, 1250, 100, 1, 4096, 4096,
		 0); /* again, by another process: nothing to compare */
	add_read(f, 1260, 100, 2, 0, 1000000, 1000000);
	add_read(f, 1270, 100, 3, -1, 4, -1);
	add_read(f, 1280, 100, 2, 0, -5, 0); /* EIO */
}

static void reads_are_told_by_file_directory_and_process(void **state)
{
	struct fixture *f = *state;
	const struct report *report;
	const struct files *files;

	add_run(f, "process,io");
	add_reads(f);
	report = help_report(f, NULL, NULL);
	files = &report->files;
	assert_int_equal(report->total.reads, 9);
	assert_int_equal(report->total.read_bytes, 1020584);
	assert_int_equal(report->total.read_ns, 9 * MS);
	assert_int_equal(files->regular.read.calls, 8);
	assert_int_equal(files->regular.read.bytes, 1020580);
	assert_int_equal(files->regular.read_files, 2);
	assert_int_equal(files->regular.small_reads, 1);
	assert_int_equal(files->regular.empty_reads, 1);
	assert_int_equal(files->regular.compared, 3);
	assert_int_equal(files->regular.sequential, 1);
	assert_int_equal(files->regular.again_bytes, 8192 + 4096);
	assert_int_equal(files->regular.again_files, 1);
	assert_int_equal(files->regular.missed_bytes, 4096 + 1000000);
	assert_int_equal(files->regular.ahead_bytes, 12288);
	assert_int_equal(files->regular.cached_bytes, 1020580 - 1004096);
	assert_int_equal(files->other.read.bytes, 4);
	assert_int_equal(files->file_count, 3);
	assert_int_equal(files->files[0].file, 2);
	assert_int_equal(files->files[0].read.calls, 2);
	assert_int_equal(files->files[1].latency.count, 6);
	assert_int_equal(files->files[1].size.most, 8192);
	assert_int_equal(files->dir_count, 1);
	assert_memory_equal(files->dirs[0].path.bytes, "/data", files->dirs[0].path.size);
	assert_int_equal(files->dirs[0].read.bytes, 1020580);
	assert_int_equal(files->process_count, 2);
	assert_int_equal(files->role_read[ROLE_WORKER].bytes, 16484);
	assert_int_equal(files->role_read[ROLE_MAIN].bytes, 1004100);
	assert_int_equal(files->op_count, 1);
	assert_int_equal(files->ops[0].calls, 9);
	assert_int_equal(files->ops[0].errors, 1);
	assert_int_equal(files->ops[0].blocked_ns, 9 * MS / 2);
	assert_false(files->has_fs);
}

static void add_open(struct fixture *f, int64_t ms, int op, int64_t file, int64_t returned)
{
	SET(fs, ts, ms * MS);
	SET(fs, dur, 2 * MS);
	SET(fs, pid, 100);
	SET(fs, tid, 100);
	SET(fs, op, op);
	if (file)
		SET(fs, file, file);
	SET(fs, returned, returned);
	END(fs);
}

static void opens_stats_and_devices_count(void **state)
{
	struct fixture *f = *state;
	const struct report *report;

	add_run(f, "process,io,fs,block");
	add_reads(f);
	add_open(f, 1100, CALL_openat, 1, 3);
	add_open(f, 1110, CALL_openat, 0, -2);
	add_open(f, 1120, CALL_newfstatat, 0, 0);
	add_open(f, 1130, CALL_fsync, 1, 0);
	for (int i = 0; i < 2; i++) {
		SET(block, ts, (1200 + i) * MS);
		SET(block, dur, (3 + i) * MS);
		SET(block, queued, MS);
		SET(block, pid, 101);
		SET_TEXT(block, dev, "sda");
		SET(block, op, 0);
		SET(block, ahead, i);
		SET(block, bytes, 65536);
		SET(block, file, 1);
		END(block);
	}
	report = help_report(f, NULL, NULL);
	assert_int_equal(report->files.opens, 2);
	assert_int_equal(report->files.failed_opens, 1);
	assert_int_equal(report->files.stats, 1);
	assert_int_equal(report->files.syncs, 1);
	assert_int_equal(report->files.metadata_ns, 8 * MS);
	assert_int_equal(report->total.opens, 2);
	assert_int_equal(report->devices.count, 1);
	assert_int_equal(report->devices.list[0].read_bytes, 131072);
	assert_int_equal(report->devices.list[0].ahead_bytes, 65536);
	assert_int_equal(report->devices.list[0].job_bytes, 131072);
	assert_int_equal(report->devices.list[0].read.sum, 9 * MS);
	assert_int_equal(report->files.files[1].device_ns, 7 * MS);
	assert_int_equal(report->files.files[1].device_read_bytes, 131072);
	assert_int_equal(report->files.files[1].opens, 1);
}

static void marks_make_phases_and_figures_belong_to_them(void **state)
{
	struct fixture *f = *state;
	const struct report *report;
	char label[64];

	add_run(f, "process,sched,io");
	add_schedule(f);
	add_file(f, 1, "/data/a", FILE_KIND_FILE);
	add_read(f, 1200, 101, 1, 0, 4096, 0);
	add_read(f, 1600, 100, 1, 0, 1000, 0);
	add_mark(f, 1100, -1, "mark", "epoch", "0");
	add_mark(f, 1500, -1, "mark", "epoch", "1");
	add_mark(f, 1550, -1, "mark", "eval_start", NULL);
	add_mark(f, 1800, -1, "mark", "eval_stop", NULL);
	report = help_report(f, NULL, NULL);
	assert_int_equal(report->phases.source, PHASES_MARKS);
	assert_int_equal(report->phases.count, 3);
	assert_string_equal(phase_label(&report->phases.list[0], label, sizeof(label)), "epoch 0");
	assert_int_equal(report->phases.list[0].start, 1100 * MS);
	assert_int_equal(report->phases.list[0].end, 1500 * MS);
	assert_int_equal(report->phase_figures[0].main_cpu_ns, 200 * MS);
	assert_int_equal(report->phase_figures[0].cpu_ns, 450 * MS);
	assert_int_equal(report->phase_figures[0].read_bytes, 4096);
	assert_int_equal(report->phases.list[1].end, 2000 * MS);
	assert_int_equal(report->phase_figures[1].main_cpu_ns, 400 * MS);
	assert_int_equal(report->phase_figures[1].main_disk_ns, 100 * MS);
	assert_int_equal(report->phases.list[2].depth, 1);
	assert_int_equal(report->phase_figures[2].main_cpu_ns, 200 * MS);
	assert_int_equal(report->phase_figures[2].main_disk_ns, 50 * MS);
	assert_int_equal(report->phase_figures[2].read_bytes, 1000);
	/* The same of the window alone. */
	report = help_report(f, NULL, "epoch 1");
	assert_false(report->whole);
	assert_int_equal(report->total.main_cpu_ns, 400 * MS);
	assert_int_equal(report->tasks.job_cpu_ns, 400 * MS);
	assert_int_equal(report->files.regular.read.bytes, 1000);
	assert_int_equal(report->tasks.cpus[0].gap_ns, 90 * MS);
}

static void an_unknown_phase_is_refused(void **state)
{
	struct fixture *f = *state;
	struct report_options options = { .phase = "epoch 7" };
	struct error e;

	add_run(f, "process");
	add_mark(f, 1100, -1, "mark", "epoch", "0");
	add_mark(f, 1200, -1, "mark", "epoch", "1");
	help_write(f);
	assert_int_equal(report_load(&f->report, f->path, f->reader, f->dims, &options, &e),
			 -EINVAL);
	assert_non_null(strstr(e.text, "epoch 1"));
	options.phase = "epoch";
	assert_int_equal(report_load(&f->report, f->path, f->reader, f->dims, &options, &e),
			 -EINVAL);
}

static void steps_come_from_marks_or_are_guessed_from_handoffs(void **state)
{
	struct fixture *f = *state;
	const struct report *report;

	add_run(f, "process,io");
	add_process(f, 1000, EXEC, 100, 100, 50, "python");
	add_process(f, 1100, FORK, 101, 101, 100, "python");
	add_file(f, 3, "pipe:[7]", FILE_KIND_PIPE);
	SET(io, ts, 1150 * MS);
	SET(io, pid, 101);
	SET(io, tid, 102);
	SET(io, dir, DIRECTION_W);
	SET(io, op, CALL_write);
	SET(io, file, 3);
	SET(io, returned, 442);
	END(io);
	for (int i = 0; i < 8; i++) { /* a length, then the message; 50 ms apart, the last 400 */
		int64_t at = 1200 + i * 50 + (i == 7 ? 350 : 0);

		add_read(f, at, 100, 3, -1, 4, -1);
		add_read(f, at + 1, 100, 3, -1, 438, -1);
	}
	report = help_report(f, NULL, NULL);
	assert_int_equal(report->steps.source, STEPS_HANDOFFS);
	assert_int_equal(report->steps.count, 7);
	assert_int_equal(report->steps.loops, 1);
	assert_int_equal(report->steps.durations.most, 400 * MS);
	assert_true(report->steps.confidence > 6.0 / 7 - 1e-9 && report->steps.confidence < 0.9);
}

static void marked_steps_are_certain(void **state)
{
	struct fixture *f = *state;
	const struct report *report;

	add_run(f, "process,io");
	for (int i = 0; i < 3; i++)
		add_mark(f, 1100 + 100 * i, 80, "nvtx", "step", NULL);
	report = help_report(f, NULL, NULL);
	assert_int_equal(report->steps.source, STEPS_NVTX);
	assert_int_equal(report->steps.count, 3);
	assert_true(report->steps.confidence == 1);
	assert_int_equal(report->steps.durations.sum, 240 * MS);
	assert_int_equal(report->phases.source, PHASES_NONE);
}

static void without_rhythm_there_are_no_steps(void **state)
{
	struct fixture *f = *state;

	add_run(f, "process,io");
	add_reads(f);
	assert_int_equal(help_report(f, NULL, NULL)->steps.source, STEPS_NONE);
}

static void an_empty_recording_has_a_report(void **state)
{
	struct fixture *f = *state;
	const struct report *report = help_report(f, NULL, NULL);

	assert_int_equal(report->summary.rows, 0);
	assert_int_equal(report->tasks.name_count, 0);
	assert_int_equal(report->files.file_count, 0);
	assert_int_equal(report->phases.count, 1);
	assert_false(report_has_layer(report, LAYER_io));
}

static void layers_and_costs_are_told(void **state)
{
	struct fixture *f = *state;
	const struct report *report;

	add_run(f, "process,io");
	add_fact(f, "absent.gpu", "no driver");
	add_fact(f, "cpu_ns", "50000000");
	report = help_report(f, NULL, NULL);
	assert_true(report_has_layer(report, LAYER_io));
	assert_false(report_has_layer(report, LAYER_sched));
	assert_false(report_has_layer(report, LAYER_gpu));
	assert_true(report->cost.cpu_known);
	assert_true(report->cost.core_share > 0.0499 && report->cost.core_share < 0.0501);
}

/* Samples of 500 ms: CPU 0 busy for 60 and 20 %, a GPU for 90 and 0. */
static void samples_are_averaged_over_time(void **state)
{
	static const double usr[] = { 60, 20 }, sm[] = { 90, 0 };
	struct fixture *f = *state;
	const struct report *report;

	add_run(f, "process,cpu,gpu");
	for (int i = 0; i < 2; i++) {
		for (int cpu = -1; cpu < 1; cpu++) {
			SET(cpu, ts, (1000 + 500 * i) * MS);
			SET(cpu, dur, 500 * MS);
			SET(cpu, cpu, cpu);
			builder_set_real(f->builders[TABLE_cpu], column_cpu_usr, usr[i]);
			builder_set_real(f->builders[TABLE_cpu], column_cpu_idle, 100 - usr[i]);
			END(cpu);
		}
		SET(gpu, ts, (1000 + 500 * i) * MS);
		SET(gpu, dur, 500 * MS);
		SET(gpu, gpu, 0);
		SET(gpu, fb_used, 1000 + i);
		builder_set_real(f->builders[TABLE_gpu], column_gpu_sm, sm[i]);
		END(gpu);
	}
	report = help_report(f, NULL, NULL);
	assert_true(report->usage.all.usr == 40);
	assert_true(report->usage.cpus[0].idle == 60);
	assert_int_equal(report->usage.gpu_count, 1);
	assert_true(report->usage.gpus[0].sm == 45);
	assert_true(report->usage.gpus[0].idle == 50);
	assert_int_equal(report->usage.gpus[0].most_fb, 1001);
}

static double lane_sum(const struct timeline *timeline, size_t lane, enum timeline_kind kind)
{
	double sum = 0;

	for (size_t i = 0; i < TIMELINE_SLICES && timeline->lanes[lane].busy[kind]; i++)
		sum += timeline->lanes[lane].busy[kind][i];
	return sum;
}

static bool near(double found, double expected)
{
	return found > expected * 0.9999 - 1 && found < expected * 1.0001 + 1;
}

static void the_timeline_keeps_the_time_of_each_lane(void **state)
{
	struct fixture *f = *state;
	const struct timeline *timeline;

	f->timeline = true;
	add_run(f, "process,sched,io");
	add_schedule(f);
	add_file(f, 1, "/data/a", FILE_KIND_FILE);
	add_read(f, 1200, 101, 1, 0, 4096, 4096);
	add_read(f, 1600, 100, 1, 0, 1000, 0);
	timeline = help_report(f, NULL, NULL)->timeline;
	assert_int_equal(timeline->lane_count, 2);
	assert_int_equal(procs_get(f->report.context.procs, timeline->lanes[0].proc)->pid, 100);
	assert_true(near(lane_sum(timeline, 0, TIMELINE_cpu), 700.0 * MS));
	assert_true(near(lane_sum(timeline, 1, TIMELINE_cpu), 250.0 * MS));
	assert_true(near(lane_sum(timeline, 1, TIMELINE_read), 1.0 * MS));
	assert_true(near(lane_sum(timeline, 0, TIMELINE_write), 0));
	assert_int_equal(timeline->event_count, 7); /* five stays of the job, two reads */
	assert_int_equal(timeline->seen, 7);
	assert_int_equal(timeline->events[6].ts, 1600 * MS);
	assert_true(near(timeline->missed_bytes[409], 4096)); /* 1200 ms is in slice 0.2 * 2048 */
}

/* Of more events than are kept, the longest stay, and of the others the largest. */
static void a_long_timeline_keeps_the_longest_and_largest(void **state)
{
	struct fixture *f = *state;
	const struct timeline *timeline;
	bool longest = false, largest = false;

	f->timeline = true;
	add_run(f, "process,io");
	add_process(f, 1000, EXEC, 100, 100, 50, "python");
	add_file(f, 1, "/data/a", FILE_KIND_FILE);
	for (int i = 0; i < 60000; i++) /* a chunk holds 65,536 rows */
		add_read(f, 1000 + i % 900, 100, 1, 0, i == 77 ? 1000000 : 100, 0);
	help_write_more(f);
	for (int i = 0; i < 60000; i++)
		add_read(f, 1000 + i % 900, 100, 1, 0, 100, 0);
	help_write_more(f);
	for (int i = 0; i < 60000; i++) {
		SET(io, ts, 1500 * MS);
		SET(io, dur, i == 99 ? 400 * MS : 2 * MS);
		SET(io, pid, 100);
		SET(io, tid, 100);
		SET(io, dir, DIRECTION_R);
		SET(io, file, 1);
		SET(io, returned, 100);
		END(io);
	}
	timeline = help_report(f, NULL, NULL)->timeline;
	assert_int_equal(timeline->seen, 180000);
	assert_true(timeline->event_count <= TIMELINE_EVENTS + TIMELINE_LARGEST);
	for (size_t i = 0; i < timeline->event_count; i++) {
		longest |= timeline->events[i].dur == 400 * MS;
		largest |= timeline->events[i].bytes == 1000000;
	}
	assert_true(longest);
	assert_true(largest);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(time_on_cpus_is_told_by_name_process_and_cpu),
		TEST(the_main_thread_s_time_is_divided_by_who_woke_it),
		TEST(roles_follow_the_tree),
		TEST(an_id_used_twice_is_two_processes),
		TEST(reads_are_told_by_file_directory_and_process),
		TEST(opens_stats_and_devices_count),
		TEST(marks_make_phases_and_figures_belong_to_them),
		TEST(an_unknown_phase_is_refused),
		TEST(steps_come_from_marks_or_are_guessed_from_handoffs),
		TEST(marked_steps_are_certain),
		TEST(without_rhythm_there_are_no_steps),
		TEST(an_empty_recording_has_a_report),
		TEST(layers_and_costs_are_told),
		TEST(samples_are_averaged_over_time),
		TEST(the_timeline_keeps_the_time_of_each_lane),
		TEST(a_long_timeline_keeps_the_longest_and_largest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
