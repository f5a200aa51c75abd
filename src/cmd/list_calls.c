#include "cmd/list_calls.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"

static void describe(char *out, size_t size, const struct call_function *function, bool kernel)
{
	const struct site *site = &function->site;

	if (function->probing == CALL_NONE)
		snprintf(out, size, "cannot be probed: %s", function->why);
	else if (kernel)
		snprintf(out, size, "kernel");
	else if (site->price == PRICE_STEPPED)
		snprintf(out, size, "single-stepped");
	else if (site->slide)
		snprintf(out, size, "emulated, slid by %u", site->slide);
	else
		snprintf(out, size, "emulated");
	if (function->usdt)
		snprintf(out + strlen(out), size - strlen(out), ", USDT%s%s%s",
			 function->semaphore ? " with a semaphore" : "",
			 *function->arguments ? ", arguments " : "", function->arguments);
	else if (function->probing == CALL_ENTRY)
		snprintf(out + strlen(out), size - strlen(out), ", entry only: %s", function->why);
}

static void print_functions(const struct calls *calls)
{
	char price[256];

	for (size_t i = 0; i < calls_count(calls); i++) {
		const struct call_function *function = calls_get(calls, i);
		const struct call_module *module = calls_module(calls, function->module);

		describe(price, sizeof(price), function, calls_is_kernel(module));
		printf("%s:%-32s %s\n", module->name, function->name, price);
	}
}

int list_calls(const struct calls_request *request)
{
	struct calls calls = { 0 };
	struct error e;
	int err = calls_open(&calls, request, &e);

	if (!err)
		print_functions(&calls);
	calls_close(&calls);
	if (err)
		log_error("%s", e.text);
	return err == -EINVAL ? 2 : err ? 1 : 0;
}
