/* Which functions a recording traces, and where in each the probe goes: what --call, presets and the symbols of
 * files come to. Made before anything is attached; the probes only read it.
 */
#ifndef STRATA_SYMBOLS_CALLS_H
#define STRATA_SYMBOLS_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "symbols/elf_symbols.h"
#include "symbols/module.h"
#include "symbols/presets.h"
#include "symbols/prologue.h"

#define CALLS_LIMIT 5000 /* functions, unless it is raised */

struct calls_request {
	const char *const *wanted; /* MODULE:PATTERN,... or @PRESET each */
	size_t count;
	const char *presets; /* a file of more of them; NULL: none */
	struct module_target target;
	bool returns; /* return probes also where an exception may pass */
	uint64_t limit;
};

enum call_probing {
	CALL_PAIR,	/* entry and return */
	CALL_ENTRY,	/* entry only: no length, no result */
	CALL_NONE,	/* cannot be probed */
	CALL_INPROCESS, /* needs no probe: a library inside of the job's processes records it */
};

struct call_function {
	char *name;
	const char *why; /* not a pair: the reason */
	uint64_t offset; /* in the file */
	uint32_t module;
	struct site site;
	uint8_t probing; /* enum call_probing */
	struct function_traits traits;
	bool usdt; /* no function, but a mark that its authors put into the code; then: */
	uint64_t semaphore;
	struct usdt_source sources[USDT_ARGUMENTS];
	char *arguments; /* where they are, as the file says it */
};

struct call_module {
	char *name; /* as rows show it */
	char *path; /* "" : the kernel */
	struct elf_symbols symbols;
};

struct calls {
	struct buf functions; /* struct call_function each */
	struct buf modules;   /* struct call_module each */
	const char
		*kernel_way; /* how the kernel's functions are probed, once they are; NULL: not */
};

/* Finds all that was asked for. -EINVAL: what was asked is not understood; -ENOENT: there is no such thing. */
int calls_open(struct calls *calls, const struct calls_request *request, struct error *e);
void calls_close(struct calls *calls);

size_t calls_count(const struct calls *calls);
struct call_function *calls_get(const struct calls *calls, size_t i);
size_t calls_module_count(const struct calls *calls);
struct call_module *calls_module(const struct calls *calls, size_t i);
bool calls_is_kernel(const struct call_module *module);

/* Whether any of them is left to probes. */
bool calls_probed(const struct calls *calls);

/* How many there are of one kind of probing, and some of their names, for messages: "qsort, bsearch and 3 more". */
size_t calls_name_some(const struct calls *calls, enum call_probing probing, char *out,
		       size_t size);

#endif
