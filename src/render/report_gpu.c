/* The sections of a report about GPUs: how busy they were, with what, and who waited for them. */
#include <inttypes.h>
#include <math.h>

#include "base/units.h"
#include "render/report_sections.h"

static void print_samples(const struct section_print *print, const struct usage *usage)
{
	struct table table;

	table_begin(&table, "GPU|kernels %||memory %|idle %|most memory|of|power W", "rrbRrrRR");
	for (size_t i = 0; i < usage->gpu_count; i++) {
		const struct gpu_average *gpu = &usage->gpus[i];

		table_cell(&table, "%lld", (long long)gpu->gpu);
		table_cell(&table, "%.1f", gpu->sm);
		table_bar(&table, gpu->sm / 100);
		table_cell(&table, "%.1f", gpu->mem);
		table_cell(&table, "%.1f", gpu->idle);
		table_bytes(&table, gpu->most_fb);
		table_bytes(&table, gpu->fb_total);
		table_cell(&table, "%.0f", gpu->power);
	}
	section_table(print, &table);
}

static void print_busy(const struct section_print *print, const struct gpu_work *work)
{
	struct table table;

	table_begin(&table, "GPU|busy||time|kernels|work|gaps|in them|longest gap", "rrbrRrRRR");
	for (size_t i = 0; i < work->device_count; i++) {
		const struct gpu_busy *device = &work->devices[i];

		table_cell(&table, "%lld", (long long)device->gpu);
		table_share(&table, device->share);
		table_bar(&table, device->share);
		table_duration(&table, device->busy_ns);
		table_duration(&table, device->kernel_ns);
		table_count(&table, device->count);
		table_count(&table, device->gaps.count);
		table_duration(&table, device->gaps_ns);
		table_duration(&table, device->longest_gap);
	}
	section_table(print, &table);
}

static void print_kernels(const struct section_print *print, const struct gpu_work *work)
{
	size_t shown =
		work->kernel_count < print->style->top ? work->kernel_count : print->style->top;
	struct table table;

	table_begin(&table, "kernels|time||mean|longest|name", "rrrRRp");
	for (size_t i = 0; i < shown; i++) {
		const struct gpu_name *kernel = &work->kernels[i];

		table_count(&table, kernel->count);
		table_duration(&table, kernel->ns);
		table_share(&table, kernel->share);
		table_duration(&table, kernel->ns / kernel->count);
		table_duration(&table, kernel->most_ns);
		table_text(&table, kernel->name, kernel->name_size);
	}
	section_table(print, &table);
	section_more(print, work->kernel_count, shown, "kernels");
}

static void print_copies(const struct section_print *print, const struct gpu_work *work)
{
	char rate[32];
	struct table table;

	table_begin(&table, "copies|count|time|bytes|a second|not pinned", "lrrrrR");
	for (size_t i = 0; i < work->copy_count; i++) {
		const struct gpu_name *copy = &work->copies[i];

		table_text(&table, copy->name, copy->name_size);
		table_count(&table, copy->count);
		table_duration(&table, copy->ns);
		table_bytes(&table, copy->bytes);
		table_cell(&table, "%s",
			   isnan(copy->rate)
				   ? ""
				   : units_format_bytes(rate, sizeof(rate), (uint64_t)copy->rate));
		table_bytes(&table, copy->pageable_bytes);
	}
	section_table(print, &table);
}

static void print_waiters(const struct section_print *print, const struct gpu_work *work)
{
	size_t shown =
		work->waiter_count < print->style->top ? work->waiter_count : print->style->top;
	struct table table;

	table_begin(&table, "waited for a GPU|thread|times|time|longest", "lrrrR");
	for (size_t i = 0; i < shown; i++) {
		const struct gpu_waiter *waiter = &work->waiters[i];

		table_text(&table, waiter->comm, waiter->comm_size);
		if (waiter->tid == CELL_NULL)
			table_cell(&table, "?");
		else
			table_cell(&table, "%" PRId64, waiter->tid);
		table_count(&table, waiter->count);
		table_duration(&table, waiter->ns);
		table_duration(&table, waiter->most_ns);
	}
	section_table(print, &table);
	section_more(print, work->waiter_count, shown, "threads");
}

static void print_delay(const struct section_print *print, const struct hist *delay)
{
	char middle[32], late[32], most[32];

	fprintf(print->out,
		"\n  from launch to start: half within %s, 99 %% within %s, at most %s\n",
		units_format_duration(middle, sizeof(middle), hist_quantile(delay, 0.5)),
		units_format_duration(late, sizeof(late), hist_quantile(delay, 0.99)),
		units_format_duration(most, sizeof(most), delay->most));
}

void section_gpus(const struct section_print *print)
{
	const struct usage *usage = &print->report->usage;
	const struct gpu_work *work = &print->report->gpu_work;

	section_title(print, "GPUs", "averages of samples, and what ran on them");
	if (!usage->gpu_count && !work->known) {
		section_missing(print, "not recorded");
		return;
	}
	if (usage->gpu_count)
		print_samples(print, usage);
	if (work->device_count)
		print_busy(print, work);
	if (work->kernel_count)
		print_kernels(print, work);
	if (work->delay.count)
		print_delay(print, &work->delay);
	if (work->copy_count)
		print_copies(print, work);
	if (work->waiter_count)
		print_waiters(print, work);
}
