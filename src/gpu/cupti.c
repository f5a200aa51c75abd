#include "gpu/cupti.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Newest first: of two that are loaded the process's own CUDA is more likely the newer. */
static const char *const names[] = { "libcupti.so.13",	 "libcupti.so.12",   "libcupti.so.11.8",
				     "libcupti.so.11.7", "libcupti.so.11.6", "libcupti.so" };

/* Where toolkits lie beside the loader's own places. */
static const char *const folders[] = {
	"/usr/local/cuda/extras/CUPTI/lib64",
	"/usr/local/cuda/lib64",
	"/opt/cuda/extras/CUPTI/lib64",
};

static void *find_loaded(void)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		void *library = dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD);

		if (library)
			return library;
	}
	return NULL;
}

/* The driver tells which CUDA it is for: a libcupti of a newer one would not start. */
static unsigned driver_major(void)
{
	int (*driver_version)(int *) = (int (*)(int *))dlsym(RTLD_DEFAULT, "cuDriverGetVersion");
	void *driver = driver_version ? NULL : dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	int version = 0;

	if (driver)
		driver_version = (int (*)(int *))dlsym(driver, "cuDriverGetVersion");
	if (driver_version && !driver_version(&version) && version > 0)
		return (unsigned)version / 1000;
	return 0; /* not known */
}

static void *load_one(void)
{
	unsigned most = driver_major();
	char path[256];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		unsigned major =
			(unsigned)strtoul(names[i] + strcspn(names[i], "0123456789"), NULL, 10);
		void *library = NULL;

		if (most && major > most)
			continue;
		library = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
		for (size_t k = 0; k < sizeof(folders) / sizeof(*folders) && !library; k++) {
			snprintf(path, sizeof(path), "%s/%s", folders[k], names[i]);
			library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
		}
		if (library)
			return library;
	}
	return NULL;
}

void *cupti_own_function(const char *symbol)
{
	void *library = find_loaded();

	return library ? dlsym(library, symbol) : NULL;
}

const char *cupti_load(struct cupti *cupti, char *text, size_t size)
{
	static const struct {
		const char *symbol;
		size_t member;
	} functions[] = {
#define CUPTI_ROW(name, symbol, arguments) { symbol, offsetof(struct cupti, name) },
		CUPTI_FUNCTIONS(CUPTI_ROW)
#undef CUPTI_ROW
	};
	void *library = find_loaded();
	uint32_t version = 0;

	if (!library)
		library = load_one();
	if (!library)
		return "the job has no libcupti, nor is there one below /usr/local/cuda";
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		void *address = dlsym(library, functions[i].symbol);

		if (!address) {
			snprintf(text, size, "the job's libcupti is too old: it has no %s",
				 functions[i].symbol);
			return text;
		}
		memcpy((char *)cupti + functions[i].member, &address, sizeof(address));
	}
	if (cupti->version(&version) || version < CUPTI_LEAST_VERSION) {
		snprintf(text, size, "the job's libcupti is too old: version %u, and %u is needed",
			 version, CUPTI_LEAST_VERSION);
		return text;
	}
	return NULL;
}
