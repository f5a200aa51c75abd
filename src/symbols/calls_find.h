/* The functions of one module that patterns match, for calls.c. */
#ifndef STRATA_SYMBOLS_CALLS_FIND_H
#define STRATA_SYMBOLS_CALLS_FIND_H

#include "symbols/calls.h"
#include "symbols/pattern.h"

struct calls_finding {
	struct calls *calls;
	const struct presets *presets;
	bool returns;
	uint64_t limit;
};

/* Adds one by that name, judged by it, unless there are too many. */
int calls_add(struct calls_finding *finding, struct call_function *function, const char *name,
	      struct error *e);

/* Adds those of the module's functions that the pattern matches, each place once; *matched counts them, new or not. */
int calls_find_user(struct calls_finding *finding, uint32_t module, const struct pattern *pattern,
		    size_t *matched, struct error *e);
int calls_find_kernel(struct calls_finding *finding, uint32_t module, const struct pattern *pattern,
		      size_t *matched, struct error *e);

/* Likewise its USDT marks, by NAME or PROVIDER:NAME. */
int calls_find_usdt(struct calls_finding *finding, uint32_t module, const struct pattern *pattern,
		    size_t *matched, struct error *e);

/* Says that the module has no such function, with the nearest that it has. */
int calls_no_match(const struct call_module *module, const char *pattern, struct error *e);
int calls_no_usdt(const struct call_module *module, const char *pattern, struct error *e);

/* Decides where in each function of the module the probe goes. */
int calls_place(struct calls *calls, uint32_t module, struct error *e);

#endif
