/* What was done with files, as JSON. */
#include "render/report_json.h"

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* What everything that calls are counted by has. */
static void print_spread(struct json *json, const struct hist *latency, const struct hist *size)
{
	report_json_hist(json, "latency", latency);
	report_json_hist(json, "size", size);
}

static void print_total(struct json *json, const char *key, const struct files_total *total)
{
	json_open(json, key, '{');
	report_json_traffic(json, &total->read, &total->written);
	JSON_FIELDS(json, total, read_files, written_files, small_reads, empty_reads);
	json_uint(json, "sequential_reads", total->sequential);
	json_uint(json, "compared_reads", total->compared);
	JSON_FIELDS(json, total, again_bytes, again_files);
	json_uint(json, "again_unknown_files", total->again_unknown);
	JSON_FIELDS(json, total, missed_bytes, ahead_bytes, direct_bytes, cached_bytes, told_bytes,
		    cached_share, small_share, empty_share, sequential_share);
	json_close(json);
}

static void print_file(struct json *json, const struct file_use *use)
{
	json_int(json, "file", use->file);
	report_json_name(json, "path", &use->path);
	json_bool(json, "regular", use->regular);
	report_json_traffic(json, &use->read, &use->written);
	JSON_FIELDS(json, use, blocked_ns, opens, stats, maps, faults, major_faults, small_reads,
		    empty_reads);
	json_uint(json, "sequential_reads", use->sequential);
	json_uint(json, "compared_reads", use->compared);
	report_json_cell(json, "again_bytes",
			 use->again_known ? (int64_t)use->again_bytes : CELL_NULL);
	JSON_FIELDS(json, use, missed_bytes, ahead_bytes, direct_bytes, device_read_bytes,
		    device_write_bytes, device_ns, device_requests);
	print_spread(json, &use->latency, &use->size);
}

static void print_dir(struct json *json, const struct dir_use *dir)
{
	report_json_name(json, "path", &dir->path);
	json_uint(json, "files", dir->files);
	report_json_traffic(json, &dir->read, &dir->written);
	JSON_FIELDS(json, dir, opens, device_ns);
	print_spread(json, &dir->latency, &dir->size);
}

static void print_op(struct json *json, const struct op_use *op)
{
	json_string(json, "table", op->table);
	json_text(json, "op", op->name, op->name_size);
	JSON_FIELDS(json, op, calls, errors, unfinished, bytes, time_ns, blocked_ns);
	print_spread(json, &op->latency, &op->size);
}

static void print_process_uses(struct json *json, const struct report *report, size_t top)
{
	const struct files *files = &report->files;

	json_open(json, "processes", '[');
	for (size_t i = 0; i < files->process_count && i < top; i++) {
		const struct process_use *use = &files->processes[i];

		json_open(json, NULL, '{');
		report_json_process(json, report, use->proc);
		report_json_traffic(json, &use->read, &use->written);
		JSON_FIELDS(json, use, small_reads, blocked_ns, opens, stats, metadata_calls,
			    metadata_ns);
		print_spread(json, &use->latency, &use->size);
		json_close(json);
	}
	json_close(json);
}

void report_json_files(struct json *json, const struct report *report, size_t top)
{
	const struct files *files = &report->files;
	static const struct dims_text none;

	json_open(json, "files", '{');
	JSON_FIELDS(json, files, has_io, has_fs, has_block, io_known, fs_known);
	print_total(json, "regular", &files->regular);
	print_total(json, "other", &files->other);
	JSON_FIELDS(json, files, opens, failed_opens, stats, failed_stats, closes, syncs, sync_ns,
		    metadata_calls, metadata_ns);
	JSON_FIELDS(json, files, failed_open_share, failed_stat_share, opens_a_read, stats_a_read);
	report_json_name(json, "top_directory", files->top_dir ? &files->top_dir->path : &none);
	JSON_FIELDS(json, files, file_count, regular_count);
	JSON_LIST(json, "operations", files->ops, files->op_count, print_op);
	JSON_LIST(json, "list", files->files, least(files->file_count, top), print_file);
	JSON_LIST(json, "directories", files->dirs, least(files->dir_count, top), print_dir);
	print_process_uses(json, report, top);
	json_close(json);
}
