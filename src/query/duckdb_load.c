/* Finds libduckdb. It is looked for in this order, and the first that can be used is taken:
 *
 *     1. $STRATA_DUCKDB, a file: then nowhere else; not where strata has rights that its caller lacks
 *     2. the system's own, as the dynamic loader finds it
 *     3. beside strata: in the folder of the program (build/), or ../lib/strata/ of it (make install)
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/program.h"
#include "query/duckdb_api.h"

#define LIBRARY "libduckdb.so"

/* 1.4 is the first with all that duckdb_api.h lists; the major version is the API's. */
#define LEAST_MAJOR 1
#define LEAST_MINOR 4

struct duckdb duckdb;

static const char advice[] = "run 'make deps' where strata was built and 'make install' again, or "
			     "name the library with STRATA_DUCKDB=/path/to/" LIBRARY;

static int check_version(const char *version, struct error *e)
{
	unsigned major, minor;

	if (sscanf(version, "v%u.%u", &major, &minor) != 2 || major != LEAST_MAJOR ||
	    minor < LEAST_MINOR)
		return error_set(e, -ENOTSUP,
				 "it is DuckDB %s, and strata needs %d.%d or a newer %d.x", version,
				 LEAST_MAJOR, LEAST_MINOR, LEAST_MAJOR);
	return 0;
}

/* One name and where its address goes. */
static const struct {
	const char *name;
	void **place;
} symbols[] = {
#define DUCKDB_SYMBOL(result, name, arguments) { "duckdb_" #name, (void **)&duckdb.name },
	DUCKDB_FUNCTIONS(DUCKDB_SYMBOL)
#undef DUCKDB_SYMBOL
};

static int bind_symbols(void *library, struct error *e)
{
	for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols); i++) {
		*symbols[i].place = dlsym(library, symbols[i].name);
		/* The version comes first: it explains best what else is missing. */
		if (!*symbols[i].place)
			return error_set(e, -ENOTSUP, "it has no %s", symbols[i].name);
		if (i == 0) {
			int err = check_version(duckdb.library_version(), e);

			if (err)
				return err;
		}
	}
	return 0;
}

/* 0; -ENOENT: no such library; otherwise it is there and cannot be used. */
static int try_library(const char *path, struct error *e)
{
	void *library;
	int err;

	if (strchr(path, '/') && access(path, F_OK))
		return error_errno(e, "cannot load '%s'", path);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		err = strchr(path, '/') ? -ENOTSUP : -ENOENT;
		return error_set(e, err, "cannot load %s", dlerror());
	}
	err = bind_symbols(library, e);
	if (err) {
		dlclose(library);
		return error_add(e, err, "cannot use '%s'", path);
	}
	return 0;
}

int duckdb_load(struct error *e)
{
	static const char *const beside[] = { LIBRARY, "../lib/strata/" LIBRARY };
	const char *named = secure_getenv("STRATA_DUCKDB");
	struct error unusable = { "" };
	char path[PATH_MAX];

	if (duckdb.library_version)
		return 0;
	if (named && *named)
		return try_library(named, e) ? error_add(e, -ENOENT, "STRATA_DUCKDB") : 0;
	for (size_t i = 0; i < 1 + sizeof(beside) / sizeof(*beside); i++) {
		int err = -ENOENT;

		if (i == 0)
			err = try_library(LIBRARY, e);
		else if (program_beside(path, sizeof(path), beside[i - 1]))
			err = try_library(path, e);
		if (!err)
			return 0;
		if (err == -ENOTSUP)
			unusable = *e;
	}
	duckdb = (struct duckdb){ 0 };
	if (*unusable.text)
		return error_set(e, -ENOTSUP, "%s: %s", unusable.text, advice);
	return error_set(e, -ENOENT,
			 "SQL needs DuckDB, and there is no " LIBRARY
			 " in the system or beside strata: %s",
			 advice);
}
