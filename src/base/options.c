#include "base/options.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/suggest.h"
#include "base/units.h"

#define HELP_WIDTH  100
#define HELP_INDENT 26 /* where the help of an option starts */
#define MAX_NAMES   64
#define MAX_NAME    40 /* of an option with its dashes, for messages */

/* What every command takes beside its own table. */
struct common_options {
	const char *color;
	bool quiet, verbose, help, version;
	struct option_row rows[6];
};

static void options_common(struct common_options *common)
{
	*common = (struct common_options){
		.rows = {
			{ 'q', "quiet", OPTION_FLAG, &common->quiet, NULL, "print only errors and warnings" },
			{ 'v', "verbose", OPTION_FLAG, &common->verbose, NULL, "say more on stderr" },
			{ 0, "color", OPTION_TEXT, &common->color, "WHEN", "auto, always or never" },
			{ 'h', "help", OPTION_FLAG, &common->help, NULL, "print this help" },
			{ 'V', "version", OPTION_FLAG, &common->version, NULL, "print the version" },
			{ 0 },
		},
	};
}

static bool options_row_ends(const struct option_row *row)
{
	return !row->letter && !row->name;
}

static const struct option_row *options_find(const struct option_row *rows, char letter,
					     const char *name, size_t length)
{
	for (; !options_row_ends(rows); rows++)
		if (letter ? rows->letter == letter
			   : rows->name && strlen(rows->name) == length &&
				     !strncmp(rows->name, name, length))
			return rows;
	return NULL;
}

static int options_unknown(const struct option_row *own, const struct option_row *common,
			   const char *name, struct error *e)
{
	char names[MAX_NAMES][MAX_NAME], wrong[MAX_NAME], hint[512];
	const char *list[MAX_NAMES];
	size_t count = 0;

	for (; !options_row_ends(own) && count < MAX_NAMES; own++)
		if (own->name)
			snprintf(names[count++], MAX_NAME, "--%s", own->name);
	for (; !options_row_ends(common) && count < MAX_NAMES; common++)
		snprintf(names[count++], MAX_NAME, "--%s", common->name);
	for (size_t i = 0; i < count; i++)
		list[i] = names[i];
	snprintf(wrong, sizeof(wrong), "--%s", name);
	return error_set(e, -EINVAL, "unknown option '%s', %s", wrong,
			 suggest_names(hint, sizeof(hint), wrong, list, count));
}

static const char *options_expected(enum option_kind kind)
{
	switch (kind) {
	case OPTION_DURATION: return "a time such as 500ms, 30s, 2m or 1h";
	case OPTION_SIZE: return "a size such as 512, 64K, 8M or 1G";
	default: return "a whole number";
	}
}

static int options_store_next(const char **texts, const char *shown, const char *value,
			      struct error *e)
{
	size_t count = 0;

	while (texts[count])
		count++;
	if (count == OPTION_TEXTS_MOST)
		return error_set(e, -EINVAL, "option '%s' is given more than %d times", shown,
				 OPTION_TEXTS_MOST);
	texts[count] = value;
	return 0;
}

/* `shown` is the option as it was written, for messages. */
static int options_store(const struct option_row *row, const char *shown, const char *value,
			 struct error *e)
{
	int err = 0;

	switch (row->kind) {
	case OPTION_FLAG: *(bool *)row->value = true; break;
	case OPTION_TEXT: *(const char **)row->value = value; break;
	case OPTION_TEXTS: return options_store_next(row->value, shown, value, e);
	case OPTION_DURATION: err = units_parse_duration(value, row->value); break;
	case OPTION_SIZE: err = units_parse_size(value, row->value); break;
	case OPTION_COUNT: err = units_parse_count(value, row->value); break;
	}
	if (err)
		return error_set(e, err, "option '%s': '%s' is not %s", shown, value,
				 options_expected(row->kind));
	return 0;
}

/* An option that needs an argument finds it attached, or else in *next, which it then consumes. */
static int options_take(const struct option_row *row, const char *shown, const char *attached,
			char ***next, struct error *e)
{
	const char *value = attached;

	if (row->kind == OPTION_FLAG) {
		if (attached)
			return error_set(e, -EINVAL, "option '%s' takes no argument", shown);
	} else if (!value) {
		value = **next;
		if (!value || !strcmp(value, "--"))
			return error_set(e, -EINVAL, "option '%s' needs an argument: %s", shown,
					 row->argument);
		(*next)++;
	}
	return options_store(row, shown, value, e);
}

static int options_take_long(const struct option_row *own, const struct option_row *common,
			     char ***next, struct error *e)
{
	const char *name = *(*next)++ + 2;
	size_t length = strcspn(name, "=");
	const struct option_row *row = options_find(own, 0, name, length);
	char shown[64];

	if (!row)
		row = options_find(common, 0, name, length);
	snprintf(shown, sizeof(shown), "--%.*s", (int)length, name);
	if (!row)
		return options_unknown(own, common, shown + 2, e);
	return options_take(row, shown, name[length] ? name + length + 1 : NULL, next, e);
}

static int options_take_letters(const struct option_row *own, const struct option_row *common,
				char ***next, struct error *e)
{
	const char *letters = *(*next)++ + 1;

	for (; *letters; letters++) {
		const struct option_row *row = options_find(own, *letters, NULL, 0);
		char shown[] = { '-', *letters, 0 };
		int err;

		if (!row)
			row = options_find(common, *letters, NULL, 0);
		if (!row)
			return error_set(e, -EINVAL, "unknown option '%s'", shown);
		if (row->kind != OPTION_FLAG)
			return options_take(row, shown, letters[1] ? letters + 1 : NULL, next, e);
		err = options_take(row, shown, NULL, next, e);
		if (err)
			return err;
	}
	return 0;
}

static int options_apply(const struct common_options *common, struct error *e)
{
	if (common->help)
		return OPTIONS_HELP;
	if (common->version)
		return OPTIONS_VERSION;
	if (common->color && log_set_color(common->color))
		return error_set(e, -EINVAL, "option '--color': '%s' is not auto, always or never",
				 common->color);
	if (common->quiet)
		log_level = LOG_QUIET;
	if (common->verbose)
		log_level = LOG_VERBOSE;
	return 0;
}

int options_parse(const struct options *options, int argc, char **argv, struct arguments *arguments,
		  struct error *e)
{
	struct common_options common;
	char **next = argv + 1;
	int err = 0;

	options_common(&common);
	*arguments = (struct arguments){ .items = calloc((size_t)argc + 1, sizeof(char *)) };
	if (!arguments->items)
		return error_set(e, -ENOMEM, "out of memory");
	while (!err && next < argv + argc) {
		if (!strcmp(*next, "--")) {
			arguments->command = next + 1;
			break;
		}
		if (!strncmp(*next, "--", 2))
			err = options_take_long(options->rows, common.rows, &next, e);
		else if (**next == '-' && (*next)[1])
			err = options_take_letters(options->rows, common.rows, &next, e);
		else
			arguments->items[arguments->count++] = *next++;
	}
	/* Whoever asks for help gets it, whatever else is wrong. */
	if (!err || common.help)
		err = options_apply(&common, e);
	if (err) {
		free(arguments->items);
		*arguments = (struct arguments){ 0 };
	}
	return err;
}

/* Words of the text from `column` on, broken before HELP_WIDTH and continued at HELP_INDENT. */
static int options_help_wrap(struct buf *out, size_t column, const char *text)
{
	int err = 0;

	while (*text && !err) {
		size_t length = strcspn(text, " ");

		if (column > HELP_INDENT && column + 1 + length > HELP_WIDTH) {
			err = buf_printf(out, "\n%*s", HELP_INDENT, "");
			column = HELP_INDENT;
		} else if (column > HELP_INDENT) {
			err = buf_append(out, " ", 1);
			column++;
		}
		if (!err)
			err = buf_append(out, text, length);
		column += length;
		text += length;
		text += strspn(text, " ");
	}
	return err ? err : buf_append(out, "\n", 1);
}

static int options_help_row(struct buf *out, const struct option_row *row)
{
	size_t start = out->size, width;
	int err;

	err = row->letter ? buf_printf(out, "  -%c%s", row->letter, row->name ? ", " : "")
			  : buf_printf(out, "      ");
	if (!err && row->name)
		err = buf_printf(out, "--%s", row->name);
	if (!err && row->argument)
		err = buf_printf(out, " %s", row->argument);
	if (err)
		return err;
	width = out->size - start;
	if (width + 2 > HELP_INDENT) {
		err = buf_printf(out, "\n%*s", HELP_INDENT, "");
	} else {
		err = buf_printf(out, "%*s", (int)(HELP_INDENT - width), "");
	}
	return err ? err : options_help_wrap(out, HELP_INDENT, row->help);
}

static int options_help_rows(struct buf *out, const struct option_row *rows)
{
	int err = 0;

	for (; !options_row_ends(rows) && !err; rows++)
		err = options_help_row(out, rows);
	return err;
}

/* Each line of the text, indented; the first one behind `label` when there is one. */
static int options_help_lines(struct buf *out, const char *label, const char *text)
{
	int indent = label ? (int)strlen(label) : 2;
	int err = 0;

	while (*text && !err) {
		size_t length = strcspn(text, "\n");

		err = buf_printf(out, "%*s%.*s\n", indent, label ? label : "", (int)length, text);
		label = label ? "" : NULL;
		text += length + (text[length] == '\n');
	}
	return err;
}

char *options_help(const struct options *options)
{
	struct common_options common;
	struct buf out = { 0 };
	int err;

	options_common(&common);
	err = options_help_lines(&out, "Usage: ", options->usage);
	if (!err)
		err = buf_printf(&out, "\n%s\n", options->summary);
	if (!err && options->examples)
		err = buf_printf(&out, "\nExamples:\n");
	if (!err && options->examples)
		err = options_help_lines(&out, NULL, options->examples);
	if (!err)
		err = buf_printf(&out, "\nOptions:\n");
	if (!err)
		err = options_help_rows(&out, options->rows);
	if (!err)
		err = options_help_rows(&out, common.rows);
	if (!err)
		err = buf_append(&out, "", 1);
	if (err) {
		buf_free(&out);
		return NULL;
	}
	return (char *)out.data;
}
