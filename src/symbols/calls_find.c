#include "symbols/calls_find.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"

#define MOST_CODE \
	(64u << 20) /* of a file: more is not searched for branches, and no probe moves there */
#define MOST_FUNCTION  (1u << 20)
#define MOST_SUGGESTED 65536

/* ---- adding one ---- */

/* What is said about a function by its name. */
static void function_judge(const struct calls_finding *finding, struct call_function *function,
			   const struct call_module *module)
{
	const char *name = function->name;

	/* Of C++ and of Rust: an exception that passes a frame with a return probe ends the program. */
	if (!strncmp(name, "_Z", 2) || !strncmp(name, "_R", 2) || module->symbols.throws)
		function->why = "an exception may pass through it";
	for (size_t i = 0; i < presets_count(finding->presets); i++) {
		const struct preset_line *line = presets_get(finding->presets, i);

		if (!preset_is_about(line, module->name, name))
			continue;
		traits_take(&function->traits, &line->traits);
		if (line->kind == PRESET_CALLBACKS && !function->why)
			function->why =
				"it calls the program back, and an exception may pass through it";
		if (line->kind == PRESET_RETURNS)
			function->why = NULL;
		if (line->kind == PRESET_NEVER_RETURN) {
			function->why = "it does not return once, as others do";
			function->probing = CALL_ENTRY;
		}
	}
	if (function->probing == CALL_PAIR && function->why && !finding->returns)
		function->probing = CALL_ENTRY;
	if (function->probing == CALL_PAIR)
		function->why = NULL;
}

int calls_add(struct calls_finding *finding, struct call_function *function, const char *name,
	      struct error *e)
{
	struct calls *calls = finding->calls;

	if (calls_count(calls) >= finding->limit)
		return error_set(
			e, -E2BIG,
			"more than %llu functions match: name fewer, or raise --call-limit",
			(unsigned long long)finding->limit);
	function->name = strdup(name);
	if (!function->name)
		return error_set(e, -ENOMEM, "out of memory");
	if (function->probing == CALL_PAIR)
		function_judge(finding, function, calls_module(calls, function->module));
	if (buf_append(&calls->functions, function, sizeof(*function))) {
		free(function->name);
		return error_set(e, -ENOMEM, "out of memory");
	}
	return 0;
}

static bool is_known(const struct calls *calls, uint32_t module, uint64_t offset, const char *name)
{
	for (size_t i = calls_count(calls); i-- > 0;) {
		const struct call_function *known = calls_get(calls, i);

		if (known->module == module && !known->usdt &&
		    (name ? !strcmp(known->name, name) : known->offset == offset))
			return true;
	}
	return false;
}

/* ---- files ---- */

/* Of two names of one place the better one to show: with fewer underscores before it, then the shorter, then the first. */
static bool is_better(const char *name, const char *than)
{
	size_t one = strspn(name, "_"), other = strspn(than, "_");

	if (one != other)
		return one < other;
	one = strlen(name);
	other = strlen(than);
	return one != other ? one < other : strcmp(name, than) < 0;
}

int calls_find_user(struct calls_finding *finding, uint32_t module, const struct pattern *pattern,
		    size_t *matched, struct error *e)
{
	const struct elf_symbols *symbols = &calls_module(finding->calls, module)->symbols;
	size_t count = elf_symbols_count(symbols), first = calls_count(finding->calls);
	int err = 0;

	for (size_t i = 0, next; i < count && !err; i = next) {
		const struct symbol *place = elf_symbols_get(symbols, i), *best = NULL;
		struct call_function function = { .module = module, .offset = place->offset };

		for (next = i;
		     next < count && elf_symbols_get(symbols, next)->offset == place->offset;
		     next++) {
			const struct symbol *one = elf_symbols_get(symbols, next);
			const char *name = elf_symbols_name(symbols, one);

			if (pattern_matches(pattern, name) &&
			    (!best || is_better(name, elf_symbols_name(symbols, best))))
				best = one;
		}
		if (!best)
			continue;
		++*matched;
		if (first && is_known(finding->calls, module, place->offset, NULL))
			continue;
		if (best->flags & SYMBOL_IFUNC) {
			function.probing = CALL_NONE;
			function.why = "the program chooses its code as it starts (IFUNC)";
		}
		err = calls_add(finding, &function, elf_symbols_name(symbols, best), e);
	}
	return err;
}

int calls_no_match(const struct call_module *module, const char *pattern, struct error *e)
{
	const struct elf_symbols *symbols = &module->symbols;
	size_t count = calls_is_kernel(module) ? 0 : elf_symbols_count(symbols);
	const char **names;
	char hint[512] = "";

	if (calls_is_kernel(module))
		return error_set(e, -ENOENT, "the kernel has no function '%s' that can be traced",
				 pattern);
	if (!count)
		return error_set(
			e, -ENOENT,
			"'%s' has no names of functions: it is stripped; install its debug "
			"symbols",
			module->path);
	if (count > MOST_SUGGESTED)
		count = MOST_SUGGESTED;
	names = calloc(count, sizeof(*names));
	if (!names)
		count = 0;
	for (size_t i = 0; i < count; i++)
		names[i] = elf_symbols_name(symbols, elf_symbols_get(symbols, i));
	if (names)
		suggest_names(hint, sizeof(hint), pattern, names, count);
	free(names);
	return error_set(
		e, -ENOENT, "%s has no function '%s'%s%s%s", module->name, pattern,
		!strncmp(hint, "did", 3) ? ", " : "", !strncmp(hint, "did", 3) ? hint : "",
		symbols->has_all ? "" : " (it is stripped: only its public functions have names)");
}

/* ---- the kernel ---- */

/* The list of functions: what ftrace can trace where that is shown, else all of them. */
static FILE *kernel_functions(bool *symbols)
{
	FILE *file = fopen("/sys/kernel/tracing/available_filter_functions", "re");

	*symbols = !file;
	if (!file)
		file = fopen("/proc/kallsyms", "re");
	return file;
}

int calls_find_kernel(struct calls_finding *finding, uint32_t module, const struct pattern *pattern,
		      size_t *matched, struct error *e)
{
	bool symbols;
	FILE *file = kernel_functions(&symbols);
	char line[1024], name[512], kind;
	int err = 0;

	if (!file)
		return error_errno(e, "cannot read the kernel's functions");
	while (!err && fgets(line, sizeof(line), file)) {
		struct call_function function = { .module = module,
						  .site = { .price = PRICE_EMULATED } };

		kind = 'T';
		if (symbols ? sscanf(line, "%*s %c %511s", &kind, name) != 2
			    : sscanf(line, "%511s", name) != 1)
			continue;
		if (toupper(kind) != 'T' || strchr(name, '.') || !pattern_matches(pattern, name))
			continue;
		++*matched;
		if (!is_known(finding->calls, module, 0, name))
			err = calls_add(finding, &function, name, e);
	}
	fclose(file);
	return err;
}

/* ---- places ---- */

/* Takes back the moves of probes to which, or to before which, some branch in the file may lead. */
static void check_branches(struct calls *calls, const struct elf_symbols *symbols, uint32_t module,
			   const struct code_segment *segment)
{
	uint8_t *code = segment->size <= MOST_CODE ? malloc(segment->size) : NULL;
	uint8_t *marked = calloc(segment->size / 8 + 1, 1), *hit = calloc(segment->size / 8 + 1, 1);
	bool known = code && marked && hit &&
		     !elf_symbols_read(symbols, segment->offset, code, segment->size);

	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < calls_count(calls); i++) {
			struct call_function *function = calls_get(calls, i);
			uint64_t at = function->offset - segment->offset;
			bool found = !known;

			if (function->module != module || !function->site.loops ||
			    at >= segment->size)
				continue;
			for (uint64_t j = at + 1; known && j <= at + function->site.slide; j++) {
				if (!round && j < segment->size)
					marked[j / 8] |= (uint8_t)(1 << j % 8);
				found |= round && hit[j / 8] >> j % 8 & 1;
			}
			if (found)
				function->site = (struct site){ .price = PRICE_STEPPED };
		}
		if (!round && known)
			prologue_find_branches(code, segment->size, marked, hit);
	}
	free(code);
	free(marked);
	free(hit);
}

static uint64_t size_at(const struct elf_symbols *symbols, uint64_t offset)
{
	size_t low = 0, high = elf_symbols_count(symbols);
	uint64_t size = 0;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (elf_symbols_get(symbols, middle)->offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < elf_symbols_count(symbols) && elf_symbols_get(symbols, low)->offset == offset;
	     low++)
		if (elf_symbols_get(symbols, low)->size > size)
			size = elf_symbols_get(symbols, low)->size;
	return size;
}

static void place(struct call_function *function, const struct elf_symbols *symbols, uint8_t *code)
{
	uint64_t size = size_at(symbols, function->offset);

	if (size && size <= MOST_FUNCTION &&
	    !elf_symbols_read(symbols, function->offset, code, size))
		function->site = prologue_site(code, size);
	else if (!elf_symbols_read(symbols, function->offset, code, 16))
		function->site = prologue_first(code, 16);
	else
		function->site.price = PRICE_STEPPED;
	if (function->site.price == PRICE_REFUSED) {
		function->probing = CALL_NONE;
		function->why = "the kernel cannot probe its first instruction";
	}
}

int calls_place(struct calls *calls, uint32_t module, struct error *e)
{
	const struct elf_symbols *symbols = &calls_module(calls, module)->symbols;
	const struct code_segment *segments = (const void *)symbols->segments.data;
	uint8_t *code;
	bool loops = false;

	if (calls_is_kernel(calls_module(calls, module)))
		return 0;
	code = malloc(MOST_FUNCTION);
	if (!code)
		return error_set(e, -ENOMEM, "out of memory");
	for (size_t i = 0; i < calls_count(calls); i++) {
		struct call_function *function = calls_get(calls, i);

		if (function->module == module && function->probing != CALL_NONE)
			place(function, symbols, code);
		loops |= function->module == module && function->site.loops;
	}
	for (size_t i = 0; loops && i < symbols->segments.size / sizeof(*segments); i++)
		check_branches(calls, symbols, module, &segments[i]);
	free(code);
	return 0;
}
