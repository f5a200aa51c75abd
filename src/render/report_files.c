/* The sections of a report about files: files, directories, operations, histograms, devices. */
#include "base/units.h"
#include "render/report_sections.h"
#include "render/safe.h"

void section_files(const struct section_print *print)
{
	const struct files *files = &print->report->files;
	struct table table;

	section_title(print, "Files",
		      "by bytes moved; reads, their time, what was read again, disk time");
	if (!files->has_io)
		section_missing(print,
				files->io_known
					? "no read or write was made"
					: "layer io not recorded: bytes and times are not known");
	table_begin(&table, "read|reads|in reads|p99|again|written|opens|disk|file", "rrrRrRRRp");
	for (size_t i = 0; i < files->regular_count && i < print->style->top; i++) {
		const struct file_use *use = &files->files[i];

		table_bytes(&table, use->read.bytes);
		table_count(&table, use->read.calls);
		table_duration(&table, use->read.time_ns);
		table_duration(&table, hist_quantile(&use->latency, 0.99));
		if (use->again_known)
			table_bytes(&table, use->again_bytes);
		else
			table_cell(&table, "?");
		table_bytes(&table, use->written.bytes);
		table_count(&table, use->opens);
		table_duration(&table, use->device_ns);
		table_text(&table, use->path.bytes, use->path.size);
	}
	section_table(print, &table);
	section_more(print, files->regular_count, print->style->top, "files");
}

void section_directories(const struct section_print *print)
{
	const struct files *files = &print->report->files;
	struct table table;

	section_title(print, "Directories", "by bytes moved, files in them directly");
	table_begin(&table, "read|reads|in reads|p99|written|opens|files|directory", "rrrRRRRp");
	for (size_t i = 0; i < files->dir_count && i < print->style->top; i++) {
		const struct dir_use *dir = &files->dirs[i];

		table_bytes(&table, dir->read.bytes);
		table_count(&table, dir->read.calls);
		table_duration(&table, dir->read.time_ns);
		table_duration(&table, hist_quantile(&dir->latency, 0.99));
		table_bytes(&table, dir->written.bytes);
		table_count(&table, dir->opens);
		table_count(&table, dir->files);
		table_text(&table, dir->path.bytes, dir->path.size);
	}
	section_table(print, &table);
	section_more(print, files->dir_count, print->style->top, "directories");
}

void section_operations(const struct section_print *print)
{
	const struct files *files = &print->report->files;
	struct table table;

	section_title(print, "Operations", "system calls by the time inside them");
	if (!files->op_count) {
		section_missing(print, "none of the layers io, fs and mem has a row");
		return;
	}
	table_begin(&table,
		    "call|calls|failed|time|off CPU|median|90 %|99 %|longest|bytes|median size",
		    "lrRrRrRrRRR");
	for (size_t i = 0; i < files->op_count && i < print->style->top; i++) {
		const struct op_use *op = &files->ops[i];

		table_text(&table, op->name, op->name_size);
		table_count(&table, op->calls);
		table_count(&table, op->errors);
		table_duration(&table, op->time_ns);
		table_duration(&table, op->blocked_ns);
		table_duration(&table, hist_quantile(&op->latency, 0.5));
		table_duration(&table, hist_quantile(&op->latency, 0.9));
		table_duration(&table, hist_quantile(&op->latency, 0.99));
		table_duration(&table, op->latency.most);
		if (op->size.count) {
			table_bytes(&table, op->bytes);
			table_bytes(&table, hist_quantile(&op->size, 0.5));
		} else {
			table_cell(&table, "%s", "");
			table_cell(&table, "%s", "");
		}
	}
	section_table(print, &table);
	section_more(print, files->op_count, print->style->top, "calls");
}

/* How one operation's calls are spread, by powers of two. */
static void print_bins(const struct section_print *print, const struct op_use *op,
		       const struct hist *hist, const char *what,
		       char *(*format)(char *, size_t, uint64_t))
{
	uint64_t bins[HIST_BINS];
	char from[32], to[32];
	struct table table;

	hist_bins(hist, bins);
	fputs("  ", print->out);
	safe_write(print->out, op->name, op->name_size);
	fprintf(print->out, ", %s:\n", what);
	table_begin(&table, NULL, "rlrrrb");
	for (unsigned i = 0; i < HIST_BINS; i++) {
		uint64_t least = i ? 1ull << (i - 1) : 0;

		if (!bins[i])
			continue;
		table_cell(&table, "%s", format(from, sizeof(from), least));
		table_cell(&table, "%s", i ? "to" : "");
		table_cell(&table, "%s", i ? format(to, sizeof(to), 2 * least - 1) : "");
		table_count(&table, bins[i]);
		table_share(&table, (double)bins[i] / (double)hist->count);
		table_bar(&table, (double)bins[i] / (double)hist->count);
	}
	section_table(print, &table);
}

void section_histograms(const struct section_print *print)
{
	const struct files *files = &print->report->files;
	unsigned shown = 0;

	section_title(print, "Histograms", "of the calls that move data and take most time");
	for (size_t i = 0; i < files->op_count && shown < 2; i++) {
		if (!files->ops[i].size.count)
			continue;
		shown++;
		print_bins(print, &files->ops[i], &files->ops[i].latency, "latency",
			   units_format_duration);
		print_bins(print, &files->ops[i], &files->ops[i].size, "bytes moved",
			   units_format_bytes);
	}
	if (!shown)
		section_missing(print, "no call that moves data");
}

static void device_row(struct table *table, const struct device *device, const struct hist *latency,
		       const char *what, uint64_t bytes)
{
	table_text(table, device->name, device->name_size);
	table_cell(table, "%s", what);
	table_count(table, latency->count);
	table_bytes(table, bytes);
	table_duration(table, hist_quantile(latency, 0.5));
	table_duration(table, hist_quantile(latency, 0.9));
	table_duration(table, hist_quantile(latency, 0.99));
	table_duration(table, latency->most);
}

void section_devices(const struct section_print *print)
{
	const struct devices *devices = &print->report->devices;
	const struct usage *usage = &print->report->usage;
	struct table table;

	section_title(print, "Devices",
		      "requests to block devices by everybody; latency with their queue");
	if (!devices->count) {
		section_missing(print, devices->known ? "no request was made"
						      : "layer block not recorded");
	} else {
		table_begin(&table, "device||requests|bytes|median|90 %|99 %|longest", "llrrrRrR");
		for (size_t i = 0; i < devices->count && i < print->style->top; i++) {
			const struct device *device = &devices->list[i];

			if (device->read.count)
				device_row(&table, device, &device->read, "read",
					   device->read_bytes);
			if (device->write.count)
				device_row(&table, device, &device->write, "write",
					   device->write_bytes);
		}
		section_table(print, &table);
	}
	for (size_t i = 0; i < usage->disk_count && i < print->style->top; i++) {
		if (!usage->disks[i].reads && !usage->disks[i].writes)
			continue;
		fputs("  ", print->out);
		safe_write(print->out, usage->disks[i].name, usage->disks[i].name_size);
		fprintf(print->out,
			" had a request outstanding for %.0f %% of the time (at most %.0f %% of a "
			"sample), %.2f at a time\n",
			usage->disks[i].util, usage->disks[i].most_util, usage->disks[i].queue);
	}
}
