#include "symbols/calls.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "symbols/calls_find.h"

#define MOST_PRESETS 256

size_t calls_count(const struct calls *calls)
{
	return calls->functions.size / sizeof(struct call_function);
}

struct call_function *calls_get(const struct calls *calls, size_t i)
{
	return (struct call_function *)calls->functions.data + i;
}

size_t calls_module_count(const struct calls *calls)
{
	return calls->modules.size / sizeof(struct call_module);
}

struct call_module *calls_module(const struct calls *calls, size_t i)
{
	return (struct call_module *)calls->modules.data + i;
}

bool calls_is_kernel(const struct call_module *module)
{
	return !*module->path;
}

/* ---- modules ---- */

static int module_add(struct calls *calls, const char *path, const char *name, uint32_t *number,
		      struct error *e)
{
	struct call_module module = { .symbols = { .fd = -1 } };
	struct stat file = { 0 };
	int err = 0;

	if (*path && stat(path, &file))
		return error_errno(e, "cannot open '%s'", path);
	for (size_t i = 0; i < calls_module_count(calls); i++) {
		const struct stat *known = &calls_module(calls, i)->symbols.identity;

		*number = (uint32_t)i; /* the same file by another name */
		if (known->st_ino == file.st_ino && known->st_dev == file.st_dev)
			return 0;
	}
	if (*path)
		err = elf_symbols_open(&module.symbols, path, e);
	module.name = strdup(name);
	module.path = strdup(path);
	*number = (uint32_t)calls_module_count(calls);
	if (!err &&
	    (!module.name || !module.path || buf_append(&calls->modules, &module, sizeof(module))))
		err = error_set(e, -ENOMEM, "out of memory");
	if (err) {
		elf_symbols_close(&module.symbols);
		free(module.name);
		free(module.path);
	}
	return err;
}

/* ---- what was asked for ---- */

/* How names of a module are looked for. */
enum find_what { FIND_FUNCTIONS, FIND_USDT };

static int find_pattern(struct calls_finding *finding, uint32_t module, enum find_what what,
			const char *text, size_t *matched, struct error *e)
{
	struct pattern pattern;
	int err = pattern_open(&pattern, text, e);

	if (err)
		return err;
	if (what == FIND_USDT)
		err = calls_find_usdt(finding, module, &pattern, matched, e);
	else if (calls_is_kernel(calls_module(finding->calls, module)))
		err = calls_find_kernel(finding, module, &pattern, matched, e);
	else
		err = calls_find_user(finding, module, &pattern, matched, e);
	pattern_close(&pattern);
	return err;
}

/* Cuts the next pattern off a list; a regular expression may have separators inside. */
static char *next_pattern(char **rest, const char *separators)
{
	char *start = *rest, *end = start;

	if (!start)
		return NULL;
	if (*start == '/') {
		do
			end = strchr(end + 1, '/');
		while (end && end[1] && !strchr(separators, end[1]));
		end = end ? end + 1 : start + strlen(start);
	} else {
		end += strcspn(start, separators);
	}
	*rest = *end ? end + 1 : NULL;
	*end = 0;
	return start;
}

/* The functions of all files of a module. `all`: each pattern has to match one. */
static int find_in_modules(struct calls_finding *finding, const uint32_t *modules, size_t count,
			   enum find_what what, const char *patterns, const char *separators,
			   bool all, size_t *matched, struct error *e)
{
	char *copy = strdup(patterns), *rest = copy, *one;
	int err = copy ? 0 : error_set(e, -ENOMEM, "out of memory");

	while (!err && (one = next_pattern(&rest, separators))) {
		size_t before = *matched;

		for (size_t i = 0; i < count && !err && *one; i++)
			err = find_pattern(finding, modules[i], what, one, matched, e);
		if (err || !all || *matched != before)
			continue;
		if (what == FIND_USDT)
			err = calls_no_usdt(calls_module(finding->calls, modules[0]), one, e);
		else
			err = calls_no_match(calls_module(finding->calls, modules[0]), one, e);
	}
	free(copy);
	return err;
}

/* The modules of one name, as numbers. */
static int modules_of(struct calls *calls, const char *name, const struct module_target *target,
		      struct buf *numbers, struct error *e)
{
	struct buf files = { 0 };
	uint32_t number;
	int err = 0;

	if (!strcmp(name, "kernel")) {
		err = module_add(calls, "", "kernel", &number, e);
		if (!err && buf_append(numbers, &number, sizeof(number)))
			err = error_set(e, -ENOMEM, "out of memory");
		return err;
	}
	err = module_find(&files, name, target, e);
	for (size_t i = 0; i < files.size / sizeof(struct module_file) && !err; i++) {
		const struct module_file *file = (struct module_file *)files.data + i;

		err = module_add(calls, file->path, file->name, &number, e);
		if (!err && buf_append(numbers, &number, sizeof(number)))
			err = error_set(e, -ENOMEM, "out of memory");
	}
	module_files_free(&files);
	return err;
}

static int find_wanted(struct calls_finding *finding, const char *wanted,
		       const struct module_target *target, struct error *e)
{
	bool usdt = !strncmp(wanted, "usdt:", 5);
	const char *what = usdt ? wanted + 5 : wanted;
	size_t size = strcspn(what, ":"), matched = 0;
	struct buf modules = { 0 };
	char *name;
	int err;

	if (!size || !what[size] || !what[size + 1])
		return error_set(
			e, -EINVAL,
			"--call '%s': give MODULE:FUNCTION,... such as libc.so.6:read,write, "
			"usdt:MODULE:MARK, or @PRESET",
			wanted);
	name = strndup(what, size);
	err = name ? modules_of(finding->calls, name, target, &modules, e)
		   : error_set(e, -ENOMEM, "out of memory");
	if (!err)
		err = find_in_modules(
			finding, (uint32_t *)modules.data, modules.size / sizeof(uint32_t),
			usdt ? FIND_USDT : FIND_FUNCTIONS, what + size + 1, ",", true, &matched, e);
	buf_free(&modules);
	free(name);
	return err;
}

/* ---- presets ---- */

static int no_preset(const struct presets *presets, const char *name, struct error *e)
{
	const char *names[MOST_PRESETS];
	char hint[512];
	size_t count = 0;

	for (size_t i = 0; i < presets_count(presets) && count < MOST_PRESETS; i++) {
		const char *one = presets_get(presets, i)->name;

		if (one && (!count || strcmp(names[count - 1], one)))
			names[count++] = one;
	}
	return error_set(e, -EINVAL, "no preset '@%s': %s", name,
			 suggest_names(hint, sizeof(hint), name, names, count));
}

/* The functions of one line of a preset, in those of its modules that are here. */
static int find_line(struct calls_finding *finding, const struct preset_line *line,
		     const struct module_target *target, size_t *matched, struct error *e)
{
	char *copy = strdup(line->modules), *rest = copy, *name;
	struct buf modules = { 0 };
	int err = copy ? 0 : error_set(e, -ENOMEM, "out of memory");

	while (!err && (name = strsep(&rest, ","))) {
		err = modules_of(finding->calls, name, target, &modules, e);
		if (err == -ENOENT || err == -ENOEXEC || !strcmp(name, "exe"))
			err = err == -ENOMEM ? err : 0;
	}
	if (!err)
		err = find_in_modules(finding, (uint32_t *)modules.data,
				      modules.size / sizeof(uint32_t), FIND_FUNCTIONS,
				      line->patterns, " \t", false, matched, e);
	buf_free(&modules);
	free(copy);
	return err;
}

static int find_preset(struct calls_finding *finding, const char *name,
		       const struct module_target *target, struct error *e)
{
	const struct preset_line *last = NULL;
	size_t matched = 0;
	int err = 0;

	for (size_t i = 0; i < presets_count(finding->presets) && !err; i++) {
		const struct preset_line *line = presets_get(finding->presets, i);

		if (line->kind != PRESET_CALLS || strcmp(line->name, name))
			continue;
		last = line;
		err = find_line(finding, line, target, &matched, e);
	}
	if (!err && !last)
		return no_preset(finding->presets, name, e);
	if (!err && !matched)
		return error_set(e, -ENOENT,
				 "preset '@%s' finds nothing here: it is about functions of %s",
				 name, last->modules);
	return err;
}

/* ---- all ---- */

int calls_open(struct calls *calls, const struct calls_request *request, struct error *e)
{
	struct presets presets;
	struct calls_finding finding = {
		.calls = calls,
		.presets = &presets,
		.returns = request->returns,
		.limit = request->limit,
	};
	int err = presets_open(&presets, request->presets, e);

	*calls = (struct calls){ 0 };
	for (size_t i = 0; i < request->count && !err; i++) {
		const char *wanted = request->wanted[i];

		if (*wanted == '@')
			err = find_preset(&finding, wanted + 1, &request->target, e);
		else
			err = find_wanted(&finding, wanted, &request->target, e);
	}
	for (uint32_t i = 0; i < calls_module_count(calls) && !err; i++)
		err = calls_place(calls, i, e);
	presets_close(&presets);
	return err;
}

void calls_close(struct calls *calls)
{
	for (size_t i = 0; i < calls_count(calls); i++) {
		free(calls_get(calls, i)->name);
		free(calls_get(calls, i)->arguments);
	}
	for (size_t i = 0; i < calls_module_count(calls); i++) {
		struct call_module *module = calls_module(calls, i);

		elf_symbols_close(&module->symbols);
		free(module->name);
		free(module->path);
	}
	buf_free(&calls->functions);
	buf_free(&calls->modules);
}

bool calls_probed(const struct calls *calls)
{
	for (size_t i = 0; i < calls_count(calls); i++)
		if (calls_get(calls, i)->probing != CALL_INPROCESS)
			return true;
	return false;
}

size_t calls_name_some(const struct calls *calls, enum call_probing probing, char *out, size_t size)
{
	size_t count = 0, named = 0, used = 0;

	*out = 0;
	for (size_t i = 0; i < calls_count(calls); i++) {
		const struct call_function *function = calls_get(calls, i);

		if (function->probing != probing || function->usdt)
			continue;
		count++;
		if (named < 5 && used + strlen(function->name) + 24 < size) {
			used += (size_t)snprintf(out + used, size - used, "%s%s", named ? ", " : "",
						 function->name);
			named++;
		}
	}
	if (count > named)
		snprintf(out + used, size - used, " and %zu more", count - named);
	return count;
}
