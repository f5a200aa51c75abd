#include "analyze/main_thread.h"

#include "analyze/cells.h"

#define SLIGHT 1000 /* of it, one part */

static uint64_t life_of(const struct context *context, uint32_t place)
{
	const struct proc *proc = procs_get(context->procs, place);
	uint64_t start = context_clip(context, proc->start);
	uint64_t end = context_clip(context, proc->end);

	return end > start ? end - start : 0;
}

/* Few parts, and those alike stay in their order. */
static void sort_parts(struct main_part *parts)
{
	for (size_t i = 1; i < MAIN_PART_COUNT; i++)
		for (size_t j = i; j && parts[j].ns > parts[j - 1].ns; j--) {
			struct main_part kept = parts[j];

			parts[j] = parts[j - 1];
			parts[j - 1] = kept;
		}
}

void main_thread_load(struct main_thread *main, const struct context *context, bool seen,
		      const struct figures *total)
{
	uint64_t known = 0;

	*main = (struct main_thread){
		.proc = context->roles.main,
		.parts = {
#define PART(part, text) \
	[MAIN_##part] = { "main_" #part "_ns", text, total->main_##part##_ns, 0, 0 },
			MAIN_PARTS(PART)
#undef PART
			[MAIN_UNKNOWN] = { .says = "not known" },
		},
	};
	main->known = main->proc != PROC_NONE && seen;
	if (main->known)
		main->life_ns = life_of(context, main->proc);
	for (size_t i = 0; i < MAIN_UNKNOWN; i++)
		known += main->parts[i].ns;
	if (known > main->life_ns) /* on its way out it is still on a CPU */
		main->life_ns = known;
	main->parts[MAIN_UNKNOWN].ns = main->life_ns - known;
	for (size_t i = 0; i < MAIN_PART_COUNT; i++) {
		struct main_part *part = &main->parts[i];

		part->share = share_of(part->ns, main->life_ns);
		part->slight = !part->ns || part->ns < main->life_ns / SLIGHT;
	}
	sort_parts(main->parts);
}
