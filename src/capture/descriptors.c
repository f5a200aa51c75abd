#include "capture/descriptors.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

void descriptors_raise(struct rlimit *before)
{
	struct rlimit wanted;

	if (getrlimit(RLIMIT_NOFILE, before))
		*before = (struct rlimit){ 0, 0 };
	wanted = *before;
	wanted.rlim_cur = wanted.rlim_max;
	if (before->rlim_cur < before->rlim_max)
		setrlimit(RLIMIT_NOFILE, &wanted);
}

void descriptors_restore(const struct rlimit *before)
{
	if (before->rlim_max)
		setrlimit(RLIMIT_NOFILE, before);
}

/* Open now, without the one that looks. */
static long descriptors_open(void)
{
	DIR *folder = opendir("/proc/self/fd");
	long count = -3; /* . and .. and the folder itself */

	if (!folder)
		return 0;
	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

long descriptors_left(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur > INT_MAX)
		return INT_MAX;
	return (long)limit.rlim_cur - descriptors_open();
}

int descriptors_explain(int err, struct error *e)
{
	struct rlimit limit = { 0, 0 };

	if (err != -EMFILE || strstr(e->text, DESCRIPTORS_ADVICE))
		return err;
	getrlimit(RLIMIT_NOFILE, &limit);
	return error_add(e, err,
			 "the limit of open files is %llu, too few to record; " DESCRIPTORS_ADVICE,
			 (unsigned long long)limit.rlim_cur);
}
