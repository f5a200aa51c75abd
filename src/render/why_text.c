/* The ledger for people: the verdict in a sentence, contexts, at most a few lines that add up. */
#include <string.h>

#include "analyze/cells.h"
#include "base/units.h"
#include "render/safe.h"
#include "render/table.h"
#include "render/why.h"

#define MOST_FILES 3
#define MOST_NAMES 3
#define MOST_LINES 5

static const char *duration(char *out, size_t size, uint64_t ns)
{
	return units_format_duration(out, size, ns);
}

static void print_focus(const struct why *why, FILE *out)
{
	char length[32];

	fprintf(out, "Thread %lld of ", (long long)why->focus_tid);
	if (why->summary.command)
		safe_print(out, why->summary.command);
	else
		fputs("the recording", out);
	fprintf(out, ": where its %s went\n",
		duration(length, sizeof(length), why->ledger.total_ns));
}

static void print_claim(const struct why *why, const struct why_claim *claim, FILE *out)
{
	struct buf text = { 0 };
	char bound[32];

	if (!why_say_claim(why, claim, &text))
		safe_write(out, (const char *)text.data, text.size);
	buf_free(&text);
	fputs(".\n", out);
	if (claim->cause == WHY_computing)
		return;
	fprintf(out, "Without that it could not take less than %s, all else being equal: %s.\n",
		duration(bound, sizeof(bound), claim->bound_ns), why_limit_says[claim->limit]);
}

/* The causes that come next, in a line. */
static void print_others(const struct why *why, FILE *out)
{
	const struct why_verdict *verdict = &why->verdict;
	char text[32];

	for (size_t i = 1; i < verdict->claim_count; i++)
		fprintf(out, "%s%s %s (%.1f %%; %s)", i == 1 ? "Then " : ", ",
			why_cause_names[verdict->claims[i].cause],
			duration(text, sizeof(text), verdict->claims[i].ns),
			verdict->claims[i].share * 100, why_acts[verdict->claims[i].act].says);
	if (verdict->claim_count > 1)
		fputs(".\n", out);
}

static void print_verdict(const struct why *why, FILE *out)
{
	const struct why_verdict *verdict = &why->verdict;

	if (verdict->refused) {
		fprintf(out, "\nNo verdict: %s.\n", verdict->refused);
		return;
	}
	fputc('\n', out);
	if (verdict->claim_count)
		print_claim(why, &verdict->claims[0], out);
	if (verdict->advice)
		fprintf(out, "%s\n", why_advice_says[verdict->advice]);
	print_others(why, out);
	if (why->may_spin)
		fputs("Computing may include spinning for the GPU: no row tells.\n", out);
}

static void print_contexts(const struct why *why, FILE *out)
{
	const char *comma = "";
	char text[32];

	fputc('\n', out);
	for (unsigned i = 0; i < WHY_CONTEXT_COUNT; i++)
		if (why->ledger.by_context[i]) {
			fprintf(out, "%s%s %s", comma, why_context_names[i],
				duration(text, sizeof(text), why->ledger.by_context[i]));
			comma = ", ";
		}
	fputs("\n\n", out);
}

static void print_chain(const struct why *why, const struct why_line *line, FILE *out)
{
	for (size_t i = 0; i < line->chain_count; i++) {
		size_t size;
		const char *text = strings_get(&why->context.who.names, line->chain[i].name, &size);

		safe_write(out, text, size);
		fprintf(out, "[%lld]", (long long)line->chain[i].tid);
		text = stays_syscall(&why->stays, line->chain[i].syscall, &size);
		if (size)
			fprintf(out, " in %.*s", (int)size, text);
		fputs(" <- ", out);
	}
}

/* The names behind an act that took most of it. */
static void names_cell(struct table *table, const struct why *why, enum why_act act)
{
	struct buf text = { 0 };
	unsigned shown = 0;
	int err = 0;

	for (size_t i = 0; i < ledger_count(&why->ledger) && shown < MOST_NAMES && !err; i++) {
		const struct why_line *line = ledger_line(&why->ledger, i);
		size_t size;
		const char *name = why_line_name(why, line, &size);

		if (line->act == act && name)
			err = buf_printf(&text, "%s%.*s", shown++ ? ", " : "", (int)size, name);
	}
	if (err)
		table->failed = true;
	table_text(table, text.size ? (const char *)text.data : "", text.size);
	buf_free(&text);
}

static void ledger_row(struct table *table, const struct why *why, const struct why_sum *sum,
		       size_t number)
{
	table_cell(table, "%zu", number);
	table_cell(table, "%s", why_cause_names[why_acts[sum->act].cause]);
	table_cell(table, "%s", why_acts[sum->act].says);
	table_duration(table, sum->ns);
	table_share(table, sum->share);
	table_bar(table, sum->share);
	names_cell(table, why, sum->act);
}

static void print_ledger(const struct why *why, const struct why_style *style, FILE *out)
{
	const struct ledger *ledger = &why->ledger;
	size_t count = ledger->sum_count;
	size_t shown = count <= style->lines + 1 ? count : style->lines;
	uint64_t rest = ledger->total_ns;
	struct table table;

	table_begin(&table, " |cause|what it did, or waited for|time|share| |", "rllrrBp");
	for (size_t i = 0; i < shown; i++) {
		ledger_row(&table, why, &ledger->sums[i], i + 1);
		rest -= ledger->sums[i].ns;
	}
	if (shown < count) {
		table_cell(&table, "%s", "");
		table_cell(&table, "%s", "");
		table_cell(&table, "%zu more", count - shown);
		table_duration(&table, rest);
		table_share(&table, share_of(rest, ledger->total_ns));
		table_bar(&table, share_of(rest, ledger->total_ns));
		table_cell(&table, "%s", "");
	}
	table_print(&table, out, style->width);
}

static void explain_line(const struct why *why, const struct why_line *line, FILE *out)
{
	char text[512], longest[32];
	size_t size;
	const char *name = why_line_name(why, line, &size);

	fprintf(out, "\n  %s in %llu pieces, the longest %s",
		duration(text, sizeof(text), line->ns), (unsigned long long)line->pieces,
		duration(longest, sizeof(longest), line->longest_ns));
	if (name) {
		fputs(": ", out);
		safe_write(out, name, size);
	}
	fputc('\n', out);
	if (line->chain_count) {
		fputs("    chain  ", out);
		print_chain(why, line, out);
		fprintf(out, "%s\n", why_acts[line->act].says);
	}
	for (size_t i = 0; i < line->file_count && i < MOST_FILES; i++) {
		const char *path = dims_path(why->context.dims, line->files[i].file, &size);

		fprintf(out, "    %10s  ", duration(text, sizeof(text), line->files[i].ns));
		safe_write(out, path ? path : "?", path ? size : 1);
		fputc('\n', out);
	}
	fprintf(out, "    rows   %s\n", why_line_sql(line, text, sizeof(text)));
}

/* One line of the ledger, opened: its parts by name. */
static void explain_sum(const struct why *why, const struct why_sum *sum, FILE *out)
{
	size_t shown = 0;
	char text[32];

	fprintf(out, "%s: %s, %s\n", why_cause_names[why_acts[sum->act].cause],
		why_acts[sum->act].says, duration(text, sizeof(text), sum->ns));
	for (size_t i = 0; i < ledger_count(&why->ledger) && shown < MOST_LINES; i++)
		if (ledger_line(&why->ledger, i)->act == sum->act) {
			explain_line(why, ledger_line(&why->ledger, i), out);
			shown++;
		}
	if (shown < sum->line_count)
		fprintf(out, "\n  and %zu more\n", sum->line_count - shown);
}

/* What the batches were made of, by act: what of it was waited for, and what was hidden. */
static void print_mix(const struct why *why, const struct why_style *style, FILE *out)
{
	const struct why_mix *mix = &why->mix;
	struct table table;
	char made[32], waited[32];

	if (!mix->batches)
		return;
	fprintf(out,
		"\n%zu batches took %s to make; the loop waited for %zu of them. Of its wait of "
		"%s:\n",
		mix->batches, duration(made, sizeof(made), mix->made_ns), mix->awaited,
		duration(waited, sizeof(waited), mix->waited_ns));
	table_begin(&table, "made of|waited for|hidden|", "lrrp");
	for (size_t i = 0; i < mix_count(mix) && i < MOST_LINES; i++) {
		const struct why_part *part = mix_part(mix, i);
		size_t size = 0;
		const char *name = part->name == UINT32_MAX
					   ? ""
					   : strings_get(&why->calls.names, part->name, &size);

		table_cell(&table, "%s", why_acts[part->act].says);
		table_duration(&table, part->charged_ns);
		table_duration(&table, part->made_ns - part->charged_ns);
		table_text(&table, name, size);
	}
	table_cell(&table, "%s", "before and after: start, hand-over");
	table_duration(&table, mix->outside_ns);
	table_cell(&table, "%s", "");
	table_cell(&table, "%s", "");
	table_print(&table, out, style->width);
}

/* Each device in a line: what of its time it was idle for, the greatest causes first. */
static void print_gpus(const struct why *why, FILE *out)
{
	char busy[32], idle[32], text[32];

	for (size_t i = 0; i < gpus_count(&why->gpus); i++) {
		const struct why_gpu *gpu = gpus_get(&why->gpus, i);
		uint64_t below = UINT64_MAX;

		fprintf(out, "\nGPU %lld was busy for %s and idle for %s", (long long)gpu->gpu,
			duration(busy, sizeof(busy), gpu->busy_ns),
			duration(idle, sizeof(idle), gpu->idle_ns));
		for (unsigned shown = 0; shown < MOST_NAMES; shown++) {
			unsigned most = WHY_CAUSE_COUNT;

			for (unsigned k = 0; k < WHY_CAUSE_COUNT; k++)
				if (gpu->causes[k] && gpu->causes[k] < below &&
				    (most == WHY_CAUSE_COUNT || gpu->causes[k] > gpu->causes[most]))
					most = k;
			if (most == WHY_CAUSE_COUNT)
				break;
			below = gpu->causes[most];
			fprintf(out, "%s%s %s", shown ? ", " : ": ", why_cause_names[most],
				duration(text, sizeof(text), below));
		}
		fputs("\n", out);
	}
}

/* What checkpoints took of the thread, in a line. */
static void print_saves(const struct why *why, FILE *out)
{
	const struct saves *saves = &why->saves;
	const char *comma = ": ";
	char text[32], bytes[32];

	if (!saves_count(saves))
		return;
	fprintf(out, "\n%zu checkpoint%s of %s took %s of the thread", saves_count(saves),
		saves_count(saves) == 1 ? "" : "s",
		units_format_bytes(bytes, sizeof(bytes), saves->bytes),
		duration(text, sizeof(text), saves->ns));
	for (unsigned i = 0; i < WHY_SAVE_PART_COUNT; i++)
		if (saves->parts[i]) {
			fprintf(out, "%s%s %s", comma, why_save_says[i],
				duration(text, sizeof(text), saves->parts[i]));
			comma = ", ";
		}
	fputs("\n", out);
}

void why_print_text(const struct why *why, const struct why_style *style, FILE *out)
{
	print_focus(why, out);
	print_verdict(why, out);
	print_contexts(why, out);
	if (style->explain)
		explain_sum(why, &why->ledger.sums[style->explain - 1], out);
	else {
		print_ledger(why, style, out);
		print_mix(why, style, out);
		print_saves(why, out);
		print_gpus(why, out);
	}
}
