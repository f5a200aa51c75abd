/* strata mark: names a moment in every recording of this machine that is under way. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <fcntl.h>

#include "bpf/file.h"
#include "cmd/cmd.h"

static const struct option_row mark_rows[] = { { 0 } };

const struct options mark_options = {
	.usage = "strata mark NAME [VALUE]",
	.summary = "Put a mark into the recordings that are under way.",
	.examples = "strata mark epoch 3\n"
		    "strata mark 'node drained'",
	.rows = mark_rows,
};

/* The call that marks: see docs/marks.md. Nobody has such a descriptor open, so it fails, and the kernel
 * has read the text by then. */
static int mark_make(const char *name, const char *value, struct error *e)
{
	char text[MARK_BYTES];
	int length = snprintf(text, sizeof(text), value ? "%s\n%s" : "%s", name, value);

	if (length >= (int)sizeof(text))
		return error_set(e, -EINVAL, "name and value are longer than %d bytes",
				 MARK_BYTES - 2);
	if (!*name || *name == '/' || strchr(name, '\n'))
		return error_set(e, -EINVAL,
				 "a name is not empty, has no newline and does not begin with '/'");
	return faccessat(MARK_DESCRIPTOR, text, F_OK, 0)
		       ? 0
		       : error_set(e, -EINVAL, "a descriptor of that number is open");
}

int cmd_mark(int argc, char **argv)
{
	struct arguments arguments;
	struct error e;
	int status;

	if (!cmd_parse(&mark_options, argc, argv, &arguments, &status))
		return status;
	status = CMD_OK;
	if (arguments.count < 1 || arguments.count > 2 || arguments.command)
		error_set(&e, -EINVAL, "mark needs a name, and perhaps a value"),
			status = CMD_USAGE;
	else if (mark_make(arguments.items[0], arguments.count > 1 ? arguments.items[1] : NULL, &e))
		status = CMD_USAGE;
	free(arguments.items);
	return status == CMD_USAGE ? cmd_usage(argv[0], &e) : status;
}
