/* USDT marks as functions to trace: each place by itself, since its arguments may lie elsewhere than those of the next one of
 * the same name.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "symbols/calls_find.h"
#include "symbols/usdt.h"

#define MOST_SUGGESTED 1024

static bool matches(const struct pattern *pattern, const struct usdt_probe *probe)
{
	return pattern_matches(pattern, probe->name) ||
	       pattern_matches(pattern, strchr(probe->name, ':') + 1);
}

static bool is_known(const struct calls *calls, uint32_t module, uint64_t offset)
{
	for (size_t i = 0; i < calls_count(calls); i++)
		if (calls_get(calls, i)->module == module && calls_get(calls, i)->usdt &&
		    calls_get(calls, i)->offset == offset)
			return true;
	return false;
}

static int usdt_add(struct calls_finding *finding, uint32_t module, const struct usdt_probe *probe,
		    struct error *e)
{
	struct call_function function = {
		.module = module,
		.offset = probe->offset,
		.probing = CALL_ENTRY,
		.why = "a mark in the code is a moment",
		.usdt = true,
		.semaphore = probe->semaphore,
		.arguments = strdup(probe->arguments),
	};

	memcpy(function.sources, probe->sources, sizeof(function.sources));
	if (!function.arguments)
		return error_set(e, -ENOMEM, "out of memory");
	if (!calls_add(finding, &function, probe->name, e))
		return 0;
	free(function.arguments);
	return -ENOMEM;
}

int calls_find_usdt(struct calls_finding *finding, uint32_t module, const struct pattern *pattern,
		    size_t *matched, struct error *e)
{
	struct buf probes = { 0 };
	int err = usdt_read(&probes, calls_module(finding->calls, module)->symbols.fd, e);

	for (size_t i = 0; i < probes.size / sizeof(struct usdt_probe) && !err; i++) {
		const struct usdt_probe *probe = (struct usdt_probe *)probes.data + i;

		if (!matches(pattern, probe))
			continue;
		++*matched;
		if (!is_known(finding->calls, module, probe->offset))
			err = usdt_add(finding, module, probe, e);
	}
	usdt_free(&probes);
	return err;
}

int calls_no_usdt(const struct call_module *module, const char *pattern, struct error *e)
{
	const char *names[MOST_SUGGESTED];
	struct buf probes = { 0 };
	char hint[512];
	size_t count = 0;
	int err = usdt_read(&probes, module->symbols.fd, e);

	if (err)
		return err;
	for (; count < probes.size / sizeof(struct usdt_probe) && count < MOST_SUGGESTED; count++)
		names[count] = strchr(((struct usdt_probe *)probes.data)[count].name, ':') + 1;
	if (!count)
		err = error_set(e, -ENOENT, "%s has no USDT marks", module->name);
	else
		err = error_set(e, -ENOENT, "%s has no USDT mark '%s': %s", module->name, pattern,
				suggest_names(hint, sizeof(hint), pattern, names, count));
	usdt_free(&probes);
	return err;
}
