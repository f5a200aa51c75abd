#include "cmd/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/log.h"

#define LEAST_WIDTH   60
#define DEFAULT_WIDTH 120

int cmd_fail(const struct error *e)
{
	log_error("%s", e->text);
	return CMD_FAILURE;
}

int cmd_usage(const char *name, const struct error *e)
{
	log_error("%s", e->text);
	log_error("see 'strata %s -h'", name);
	return CMD_USAGE;
}

int cmd_print_help(const struct options *options)
{
	char *help = options_help(options);

	if (!help)
		return cmd_fail(&(struct error){ "out of memory" });
	fputs(help, stdout);
	free(help);
	return CMD_OK;
}

int cmd_print_version(void)
{
	puts("strata " STRATA_VERSION);
	return CMD_OK;
}

unsigned cmd_terminal_width(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col)
		return DEFAULT_WIDTH;
	return size.ws_col < LEAST_WIDTH ? LEAST_WIDTH : size.ws_col;
}

bool cmd_parse(const struct options *options, int argc, char **argv, struct arguments *arguments,
	       int *status)
{
	struct error e;

	switch (options_parse(options, argc, argv, arguments, &e)) {
	case 0: return true;
	case OPTIONS_HELP: *status = cmd_print_help(options); return false;
	case OPTIONS_VERSION: *status = cmd_print_version(); return false;
	case -EINVAL: *status = cmd_usage(argv[0], &e); return false;
	default: *status = cmd_fail(&e); return false;
	}
}

int cmd_write_file(const char *path, const struct outfile_inputs *inputs,
		   int (*print)(const void *data, FILE *out), const void *data, struct error *e)
{
	struct outfile file;
	FILE *out = NULL;
	int fd, err;

	err = outfile_open(&file, path, 0666, inputs, e);
	if (err)
		return err;
	fd = fcntl(file.fd, F_DUPFD_CLOEXEC, 3);
	if (fd >= 0)
		out = fdopen(fd, "w");
	if (!out) {
		err = error_errno(e, "cannot write '%s'", path);
		if (fd >= 0)
			close(fd);
		goto out;
	}
	err = print(data, out);
	if (err)
		error_set(e, err, "no memory to write '%s'", path);
	else if (fflush(out) || ferror(out))
		err = error_errno(e, "cannot write '%s'", path);
	if (fclose(out) && !err)
		err = error_errno(e, "cannot write '%s'", path);
	if (!err)
		err = outfile_commit(&file, e);
	if (!err)
		log_info("%s written", path);
out:
	outfile_free(&file);
	return err;
}

/* Damage that leaves not a single chunk is a failure; other damage is not. */
static int cmd_require_chunks(struct reader *reader, struct error *e)
{
	const char *damage = reader_damage(reader);
	struct chunk *chunks = NULL;
	size_t count;
	int err;

	if (!damage)
		return 0;
	err = reader_select(reader, TABLE_COUNT, 0, UINT64_MAX, &chunks, &count, e);
	if (err)
		return err;
	free(chunks);
	return count ? 0 : error_set(e, -EBADMSG, "nothing in it can be read: %s", damage);
}

int cmd_open_trace(struct trace *trace, const char *path, struct error *e)
{
	int err;

	*trace = (struct trace){ 0 };
	err = reader_open(&trace->reader, path, e);
	if (!err)
		err = dims_open(&trace->dims, trace->reader, e);
	if (!err)
		err = cmd_require_chunks(trace->reader, e);
	if (err) {
		cmd_close_trace(trace);
		return error_add(e, err, "cannot open trace '%s'", path);
	}
	return 0;
}

void cmd_close_trace(struct trace *trace)
{
	dims_close(trace->dims);
	if (trace->reader)
		reader_close(trace->reader);
	*trace = (struct trace){ 0 };
}

int cmd_check_damage(const struct trace *trace, const char *path, struct error *e)
{
	const char *damage = reader_damage(trace->reader);
	int err;

	if (reader_cut(trace->reader))
		return error_set(e, -EIO,
				 "cannot read trace '%s': the file was cut while it was read",
				 path);
	if (!damage)
		return 0;
	err = cmd_require_chunks(trace->reader, e);
	if (err)
		return error_add(e, err, "cannot read trace '%s'", path);
	log_warning("trace '%s' is damaged, showing what comes before: %s", path, damage);
	return 0;
}
