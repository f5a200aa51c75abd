/* What is known about functions by their names: the presets of --call, which of them must not get a return probe, and what their
 * arguments and results say. Shipped as presets.txt, inside the program; a file of the same form adds to it.
 */
#ifndef STRATA_SYMBOLS_PRESETS_H
#define STRATA_SYMBOLS_PRESETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "symbols/traits.h"

enum preset_kind {
	PRESET_CALLS,
	PRESET_TRAITS,
	PRESET_CALLBACKS,
	PRESET_NEVER_RETURN,
	PRESET_RETURNS
};

struct preset_line {
	enum preset_kind kind;
	char *name;	/* of a preset, without @ */
	char *modules;	/* globs, separated by commas */
	char *patterns; /* separated by blanks */
	struct function_traits traits;
};

struct presets {
	struct buf lines; /* struct preset_line each */
};

/* The shipped ones, and those of `path` unless it is NULL. */
int presets_open(struct presets *presets, const char *path, struct error *e);
void presets_close(struct presets *presets);

size_t presets_count(const struct presets *presets);
const struct preset_line *presets_get(const struct presets *presets, size_t i);

/* Whether a line speaks of this function of this module. */
bool preset_is_about(const struct preset_line *line, const char *module, const char *function);

/* Reads one text of this form; `from` names it in messages. For tests too. */
int presets_parse(struct presets *presets, const char *text, size_t size, const char *from,
		  struct error *e);

#endif
