#include "query/spill.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define OPEN_FOLDERS 8

char *spill_make(void)
{
	const char *folder = secure_getenv("TMPDIR");
	char *path;

	if (asprintf(&path, "%s/strata-sql-XXXXXX", folder && *folder ? folder : "/tmp") < 0)
		return NULL;
	if (!mkdtemp(path)) {
		free(path);
		return NULL;
	}
	return path;
}

static int remove_one(const char *path, const struct stat *about, int type, struct FTW *at)
{
	(void)about;
	(void)type;
	(void)at;
	return remove(path);
}

void spill_remove(char *path)
{
	if (path)
		nftw(path, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
	free(path);
}
