#include "render/summary.h"

#include <stdbool.h>

#include "base/units.h"
#include "render/safe.h"

static void print_label(FILE *out, const char *label)
{
	fprintf(out, "%9s: ", label);
}

static void print_fact(FILE *out, const char *label, const char *text)
{
	if (!text)
		return;
	print_label(out, label);
	safe_print(out, text);
	putc('\n', out);
}

static void print_file(const struct summary *summary, FILE *out)
{
	static const char *const states[] = {
		[SUMMARY_COMPLETE] = "complete",
		[SUMMARY_DAMAGED] = "damaged",
		[SUMMARY_LIVE] = "still being recorded",
		[SUMMARY_KILLED] = "incomplete: the recorder was killed",
		[SUMMARY_UNWRITTEN] = "incomplete: the recorder could not write on",
	};
	char size[32];

	print_label(out, "trace");
	safe_print(out, summary->path);
	fprintf(out, ", %s, %s\n", units_format_bytes(size, sizeof(size), summary->bytes),
		states[summary->state]);
	print_fact(out, "damage", summary->damage);
}

static void print_host(const struct summary *summary, FILE *out)
{
	const char *facts[] = { summary->host, summary->kernel, summary->machine };
	bool any = false;

	print_label(out, "host");
	for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++) {
		if (!facts[i])
			continue;
		fputs(any ? ", " : "", out);
		safe_print(out, facts[i]);
		any = true;
	}
	if (summary->cpus.known) {
		fprintf(out, "%s%llu CPU%s", any ? ", " : "",
			(unsigned long long)summary->cpus.value,
			summary->cpus.value == 1 ? "" : "s");
		any = true;
	}
	fputs(any ? "\n" : "unknown\n", out);
}

static void print_times(const struct summary *summary, FILE *out)
{
	char start[40], end[40], took[32];

	if (summary->has_utc) {
		print_label(out, "start");
		fprintf(out, "%s\n", units_format_utc(start, sizeof(start), summary->start_utc));
		print_label(out, "end");
		fprintf(out, "%s\n", units_format_utc(end, sizeof(end), summary->end_utc));
	}
	print_label(out, "length");
	fprintf(out, "%s\n",
		units_format_duration(took, sizeof(took), span_length(&summary->span)));
	print_label(out, "clock");
	if (summary->clock.readings < 2)
		fprintf(out, "drift unknown (%s)\n",
			summary->clock.readings ? "only one reading" : "no reading");
	else
		fprintf(out, "drift %+lld ns (%+.3f ppm) over %llu readings",
			(long long)summary->clock.drift_ns, summary->clock.drift_ppm,
			(unsigned long long)summary->clock.readings);
	if (summary->clock.steps)
		fprintf(out, "; set %llu times, by %+.6f s in all",
			(unsigned long long)summary->clock.steps,
			(double)summary->clock.step_ns / 1e9);
	if (summary->clock.readings >= 2)
		putc('\n', out);
}

static void print_layers(const struct summary *summary, FILE *out)
{
	print_label(out, "layers");
	for (size_t i = 0; i < summary->layer_count; i++) {
		fputs(i ? "," : "", out);
		safe_write(out, summary->layers[i].bytes, summary->layers[i].size);
	}
	fputs(summary->layer_count ? "\n" : "unknown\n", out);
	for (size_t i = 0; i < summary->absent_count; i++) {
		print_label(out, "absent");
		safe_print(out, summary->absent[i].what);
		fputs(": ", out);
		safe_print(out, summary->absent[i].why);
		putc('\n', out);
	}
}

static void print_losses(const struct summary *summary, FILE *out)
{
	static const char *const none[] = {
		[SUMMARY_COMPLETE] = "none\n",
		[SUMMARY_DAMAGED] = "none before the damage\n",
		[SUMMARY_LIVE] = "none so far\n",
		[SUMMARY_KILLED] = "none so far\n",
		[SUMMARY_UNWRITTEN] = "none up to its end\n",
	};
	const struct summary_coverage *coverage = &summary->coverage;
	char number[32], longest[32];

	print_label(out, "lost");
	if (!summary->lost)
		fputs(none[summary->state], out);
	else
		fprintf(out, "%s in all\n",
			units_format_count(number, sizeof(number), summary->lost));
	for (size_t i = 0; i < summary->loss_count; i++) {
		const struct summary_loss *loss = &summary->losses[i];

		fprintf(out, "%11s%s of layer ", "",
			units_format_count(number, sizeof(number), loss->count));
		safe_print(out, loss->layer);
		fputs(": ", out);
		safe_print(out, loss->reason);
		putc('\n', out);
	}
	if (summary->off.windows) {
		print_label(out, "off");
		fprintf(out, "switched off %s time%s, %s in all: what happened then is not known\n",
			units_format_count(number, sizeof(number), summary->off.windows),
			summary->off.windows == 1 ? "" : "s",
			units_format_duration(longest, sizeof(longest), summary->off.ns));
	}
	print_label(out, "coverage");
	if (!coverage->holes)
		fputs("100 % of the time without loss\n", out);
	else
		fprintf(out, "%.2f %% of the time without loss, %s hole%s, the longest %s\n",
			coverage->percent,
			units_format_count(number, sizeof(number), coverage->holes),
			coverage->holes == 1 ? "" : "s",
			units_format_duration(longest, sizeof(longest), coverage->longest_ns));
}

static void print_segment(const struct summary *summary, FILE *out)
{
	char segments[32], rows[32];

	if (!summary->segment.known)
		return;
	print_label(out, "segment");
	fprintf(out,
		"%llu of a recording in many files; before it, %s files with %s rows were "
		"dropped\n",
		(unsigned long long)summary->segment.value,
		units_format_count(segments, sizeof(segments), summary->dropped_segments.value),
		units_format_count(rows, sizeof(rows), summary->dropped_rows.value));
}

static void print_block(const struct summary *summary, FILE *out)
{
	const struct summary_block *block = &summary->block;
	char bytes[32];

	if (!block->bytes)
		return;
	print_label(out, "block");
	fprintf(out, "%s read and written, the file known for %.2f %% of it\n",
		units_format_bytes(bytes, sizeof(bytes), block->bytes), block->percent);
}

static void print_recorder(const struct summary *summary, FILE *out)
{
	char text[32];

	print_label(out, "recorder");
	fputs("strata ", out);
	safe_print(out, summary->version ? summary->version : "of unknown version");
	if (summary->cpu_ns.known)
		fprintf(out, ", %s of CPU time",
			units_format_duration(text, sizeof(text), summary->cpu_ns.value));
	if (summary->start_cpu_ns.known)
		fprintf(out, " (%s of it to start)",
			units_format_duration(text, sizeof(text), summary->start_cpu_ns.value));
	if (summary->buffer_bytes.known)
		fprintf(out, ", buffers of %s",
			units_format_bytes(text, sizeof(text), summary->buffer_bytes.value));
	putc('\n', out);
}

static void print_since(FILE *out, const struct summary *summary, uint64_t ts)
{
	int64_t ns = (int64_t)(ts - summary->span.start);

	fprintf(out, " %12.6f", (double)ns / NS_PER_SECOND);
}

static void print_table(const struct summary *summary, unsigned id, FILE *out)
{
	const struct summary_table *table = &summary->tables[id];
	char rows[32], bytes[32];

	fprintf(out, "%-12s %14s %10s %10.2f", schema_tables[id].name,
		units_format_count(rows, sizeof(rows), table->rows),
		units_format_bytes(bytes, sizeof(bytes), table->bytes), table->bytes_a_row);
	if (table->timed) {
		print_since(out, summary, table->first_ts);
		print_since(out, summary, table->last_end);
	}
	putc('\n', out);
}

void summary_print_text(const struct summary *summary, FILE *out)
{
	print_file(summary, out);
	print_fact(out, "command", summary->command);
	print_fact(out, "target", summary->target);
	print_fact(out, "pids", summary->pids);
	print_fact(out, "only comm", summary->only_comm);
	print_fact(out, "in cgroup", summary->only_cgroup);
	print_fact(out, "below", summary->only_path);
	print_fact(out, "exit", summary->exit_status);
	print_fact(out, "stopped", summary->stop_reason);
	print_segment(summary, out);
	print_host(summary, out);
	print_fact(out, "user", summary->user);
	print_fact(out, "directory", summary->cwd);
	print_times(summary, out);
	print_layers(summary, out);
	print_losses(summary, out);
	print_block(summary, out);
	print_recorder(summary, out);
	fprintf(out, "\n%-12s %14s %10s %10s %12s %12s\n", "table", "rows", "size", "bytes/row",
		"first (s)", "last (s)");
	for (unsigned i = 0; i < TABLE_COUNT; i++)
		if (summary->tables[i].rows)
			print_table(summary, i, out);
	if (!summary->rows)
		fputs("(no rows yet)\n", out);
}
