/* Loading NVML. Its code runs in the recorder, so this happens after the rights over the machine are given up. */
#include "sampler/nvml.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY "libnvidia-ml.so.1"

/* Where the address of each function goes. */
static const struct {
	const char *symbol;
	size_t member;
	int needed;
} functions[] = {
#define NVML_ROW(name, symbol, arguments) { symbol, offsetof(struct nvml, name), 1 },
	NVML_NEEDED(NVML_ROW)
#undef NVML_ROW
#define NVML_ROW(name, symbol, arguments) { symbol, offsetof(struct nvml, name), 0 },
		NVML_OPTIONAL(NVML_ROW)
#undef NVML_ROW
			{ "nvmlErrorString", offsetof(struct nvml, error_string), 0 },
};

const char *nvml_text(const struct nvml *nvml, int result)
{
	return nvml->error_string ? nvml->error_string(result) : "NVML gives no reason";
}

static int bind_functions(struct nvml *nvml, struct error *e)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		void *address = dlsym(nvml->library, functions[i].symbol);

		if (!address && functions[i].needed)
			return error_set(e, -ENOTSUP, "the driver's " LIBRARY " has no %s: too old",
					 functions[i].symbol);
		memcpy((char *)nvml + functions[i].member, &address, sizeof(address));
	}
	return 0;
}

/* A machine without a driver has neither the library nor the driver's folder in /proc; one with half of it is worth a word. */
static int explain_missing(const char *named, struct error *e)
{
	const char *why = dlerror();

	if (named)
		return error_set(e, -ENOENT, "STRATA_NVML: cannot load %s", why);
	if (access("/proc/driver/nvidia/version", F_OK))
		return error_set(e, -ENODEV, "there is no NVIDIA driver on this machine");
	return error_set(e, -ENOENT,
			 "the NVIDIA driver is loaded, but its library is missing (%s): install "
			 "libnvidia-ml1, or start the container with --gpus all",
			 why);
}

static int start(struct nvml *nvml, struct error *e)
{
	int result = nvml->init();

	if (result == NVML_SUCCESS)
		return 0;
	if (result == NVML_ERROR_DRIVER_NOT_LOADED)
		return error_set(e, -ENODEV,
				 LIBRARY " is here, but the NVIDIA driver is not loaded");
	return error_set(
		e, result == NVML_ERROR_NO_PERMISSION ? -EACCES : -EIO, "NVML does not start: %s%s",
		nvml_text(nvml, result),
		result == NVML_ERROR_NO_PERMISSION ? " (look at the rights of /dev/nvidia*)" : "");
}

int nvml_open(struct nvml *nvml, struct error *e)
{
	const char *named = secure_getenv("STRATA_NVML");
	int err;

	*nvml = (struct nvml){ 0 };
	if (named && !*named)
		named = NULL;
	nvml->library = dlopen(named ? named : LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!nvml->library)
		return explain_missing(named, e);
	err = bind_functions(nvml, e);
	if (!err)
		err = start(nvml, e);
	if (err) {
		dlclose(nvml->library);
		nvml->library = NULL;
	}
	return err;
}

void nvml_close(struct nvml *nvml)
{
	if (!nvml->library)
		return;
	nvml->shutdown();
	dlclose(nvml->library);
	nvml->library = NULL;
}
