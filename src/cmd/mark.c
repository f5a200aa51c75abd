/* strata mark: names a moment in every recording of this machine that is under way. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <fcntl.h>

#include "bpf/file.h"
#include "cmd/cmd.h"

static struct {
	const char *record;
} given;

static const struct option_row mark_rows[] = {
	{ 0, "record", OPTION_TEXT, &given.record, "on|off",
	  "switch the recordings on, or off: they take no rows until they are on again" },
	{ 0 },
};

const struct options mark_options = {
	.usage = "strata mark NAME [VALUE]\n"
		 "strata mark --record on|off",
	.summary = "Put a mark into the recordings that are under way.",
	.examples = "strata mark epoch 3\n"
		    "strata mark 'node drained'\n"
		    "strata mark --record off",
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

static int mark_given(const struct arguments *arguments, struct error *e)
{
	if (given.record && strcmp(given.record, "on") && strcmp(given.record, "off"))
		return error_set(e, -EINVAL, "--record '%s': neither on nor off", given.record);
	if (given.record && (arguments->count || arguments->command))
		return error_set(e, -EINVAL, "--record is a mark by itself: it takes no name");
	if (given.record)
		return mark_make("strata.record", given.record, e);
	if (arguments->count < 1 || arguments->count > 2 || arguments->command)
		return error_set(e, -EINVAL, "mark needs a name, and perhaps a value");
	return mark_make(arguments->items[0], arguments->count > 1 ? arguments->items[1] : NULL, e);
}

int cmd_mark(int argc, char **argv)
{
	struct arguments arguments;
	struct error e;
	int status;

	if (!cmd_parse(&mark_options, argc, argv, &arguments, &status))
		return status;
	status = mark_given(&arguments, &e) ? CMD_USAGE : CMD_OK;
	free(arguments.items);
	return status == CMD_USAGE ? cmd_usage(argv[0], &e) : status;
}
