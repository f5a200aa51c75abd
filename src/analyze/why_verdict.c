#include "analyze/why_verdict.h"

#include <string.h>

#include "analyze/cells.h"
#include "analyze/why.h"
#include "analyze/why_bound.h"

#define MUCH	   0.2 /* of the wait, or of the workers' time: worth a word */
#define NEARLY_ALL 0.8

const char *const why_limit_says[WHY_LIMIT_COUNT] = {
#define WHY_LIMIT_SAYS(id, says) says,
	WHY_LIMITS(WHY_LIMIT_SAYS)
#undef WHY_LIMIT_SAYS
};

const char *const why_advice_names[WHY_ADVICE_COUNT] = {
#define WHY_ADVICE_NAME(id, name, says) name,
	WHY_ADVICES(WHY_ADVICE_NAME)
#undef WHY_ADVICE_NAME
};

const char *const why_advice_says[WHY_ADVICE_COUNT] = {
#define WHY_ADVICE_SAYS(id, name, says) says,
	WHY_ADVICES(WHY_ADVICE_SAYS)
#undef WHY_ADVICE_SAYS
};

static const char *refuse(const struct why *why)
{
	for (size_t i = 0; i < why->summary.loss_count; i++)
		if (!strcmp(why->summary.losses[i].layer, schema_layers[LAYER_sched].name))
			return "rows of table sched were lost: a larger --buffer keeps them";
	if (why->summary.off.windows)
		return "the recording was switched off for a part of the time, and nothing tells "
		       "what was then";
	return why->ledger.total_ns ? NULL : "the thread had no time in the recording";
}

uint64_t verdict_in_loop(const struct why_verdict *verdict, const uint64_t *by_context)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < WHY_CONTEXT_COUNT; i++)
		if (!verdict->loop || (i != WHY_CONTEXT_START && i != WHY_CONTEXT_END))
			sum += by_context[i];
	return sum;
}

void verdict_find_loop(struct why *why)
{
	struct why_verdict *verdict = &why->verdict;
	const struct steps *steps = &why->steps;
	uint64_t last = 0;

	verdict->start = why->ledger.start;
	verdict->end = why->ledger.end;
	if (!steps->count || steps->list[0].start >= verdict->end)
		return;
	verdict->loop = true;
	if (steps->list[0].start > verdict->start)
		verdict->start = steps->list[0].start;
	for (size_t i = 0; i < steps->count; i++)
		last = steps->list[i].end > last ? steps->list[i].end : last;
	if (last < verdict->end)
		verdict->end = last;
	if (verdict->end < verdict->start)
		verdict->end = verdict->start;
}

/* ---- causes ---- */

static void insert_claim(struct why_verdict *verdict, const struct why_claim *claim)
{
	size_t at = verdict->claim_count;

	while (at && verdict->claims[at - 1].ns < claim->ns)
		at--;
	if (at == WHY_MOST_CLAIMS)
		return;
	if (verdict->claim_count < WHY_MOST_CLAIMS)
		verdict->claim_count++;
	for (size_t i = verdict->claim_count - 1; i > at; i--)
		verdict->claims[i] = verdict->claims[i - 1];
	verdict->claims[at] = *claim;
}

static void find_causes(const struct ledger *ledger, struct why_verdict *verdict)
{
	for (unsigned i = 0; i < WHY_CAUSE_COUNT; i++) {
		struct why_claim claim = { .cause = (enum why_cause)i,
					   .name = UINT32_MAX,
					   .file = CELL_NULL };
		uint64_t by_context[WHY_CONTEXT_COUNT];

		for (unsigned k = 0; k < WHY_CONTEXT_COUNT; k++)
			by_context[k] = ledger->context_causes[k][i];
		claim.ns = verdict_in_loop(verdict, by_context);
		claim.share = share_of(claim.ns, verdict->of_ns);
		if (claim.ns)
			insert_claim(verdict, &claim);
	}
}

/* ---- what lies at the end ---- */

static void find_act(const struct ledger *ledger, const struct why_verdict *verdict,
		     struct why_claim *claim)
{
	for (size_t i = 0; i < ledger->sum_count; i++) {
		uint64_t ns = verdict_in_loop(verdict, ledger->sums[i].by_context);

		if (why_acts[ledger->sums[i].act].cause == claim->cause && ns > claim->act_ns) {
			claim->act_ns = ns;
			claim->act = ledger->sums[i].act;
		}
	}
}

/* Of the acts of a cause the one that took most, with the name and the file that took most of it. */
static void find_end(const struct ledger *ledger, const struct why_verdict *verdict,
		     struct why_claim *claim)
{
	uint64_t most = 0;

	find_act(ledger, verdict, claim);
	for (size_t i = 0; i < ledger_count(ledger); i++) {
		const struct why_line *line = ledger_line(ledger, i);
		uint64_t ns = verdict_in_loop(verdict, line->by_context);

		if (line->act != claim->act || ns <= most)
			continue;
		most = ns;
		claim->name = line->name;
		claim->file = line->file_count ? line->files[0].file : CELL_NULL;
	}
}

/* The same of the awaited batches. What is outside of their making stays with the walk, where it is more. */
static void find_end_in_mix(const struct why_mix *mix, struct why_claim *claim)
{
	const struct why_part *most = NULL;
	uint64_t ns = 0;

	if (mix->charged_ns < mix->outside_ns)
		return;
	for (size_t i = 0; i < mix_count(mix); i++) {
		const struct why_part *part = mix_part(mix, i);
		uint64_t charged = mix_charged(mix, part->act);

		if (charged > ns) {
			ns = charged;
			most = part; /* the first of its act: the most charged */
		}
	}
	if (!most)
		return;
	claim->act = most->act;
	claim->act_ns = ns;
	claim->name = most->name;
	claim->file = most->act == WHY_WORKER_STORAGE && mix->files.size
			      ? ((const struct why_file *)mix->files.data)->file
			      : CELL_NULL;
}

static enum why_advice advise(const struct why_mix *mix)
{
	double waited = (double)mix->waited_ns;

	/* Where batches were there and only handed over slowly, no worker could do better. */
	if (!mix->workers || mix->charged_ns <= mix->outside_ns)
		return WHY_ADVICE_NONE;
	if ((double)mix->missed_ns > MUCH * waited)
		return WHY_ADVICE_PREFETCH;
	if ((double)mix_charged(mix, WHY_WORKER_READY) > MUCH * waited)
		return WHY_ADVICE_CPUS;
	if ((double)mix->busy_ns > NEARLY_ALL * (double)mix->workers_ns)
		return WHY_ADVICE_WORKERS;
	return WHY_ADVICE_NONE;
}

int verdict_reach(struct why *why)
{
	struct why_verdict *verdict = &why->verdict;

	verdict->refused = refuse(why);
	if (verdict->refused)
		return 0;
	verdict->of_ns = verdict_in_loop(verdict, why->ledger.by_context);
	find_causes(&why->ledger, verdict);
	for (size_t i = 0; i < verdict->claim_count; i++) {
		struct why_claim *claim = &verdict->claims[i];

		find_end(&why->ledger, verdict, claim);
		if (claim->cause == WHY_input)
			find_end_in_mix(&why->mix, claim);
		if (why_bound(why, claim))
			return -1;
	}
	if (verdict->claim_count && verdict->claims[0].cause == WHY_input)
		verdict->advice = advise(&why->mix);
	return 0;
}
