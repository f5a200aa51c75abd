#include "capture/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int output_error(struct error *e, int err, const char *path)
{
	const char *advice = "";

	if (err == -EEXIST)
		return error_set(
			e, err,
			"'%s' exists: choose another name with -o, or replace it with --force",
			path);
	if (err == -ENOENT)
		advice = " (its directory is not there)";
	return error_set(e, err, "cannot create '%s': %s%s", path, strerror(-err), advice);
}

int output_create(const char *path, bool force, const struct account *account, int *out,
		  struct error *e)
{
	char temporary[PATH_MAX];
	const char *name = path;
	int fd, err;

	if (force) {
		if (snprintf(temporary, sizeof(temporary), "%s.%d", path, (int)getpid()) >=
		    (int)sizeof(temporary))
			return output_error(e, -ENAMETOOLONG, path);
		name = temporary;
	}
	fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return output_error(e, -errno, path);
	if ((account->change && fchown(fd, account->uid, account->gid)) ||
	    (force && rename(temporary, path))) {
		err = output_error(e, -errno, path);
		unlink(name);
		close(fd);
		return err;
	}
	*out = fd;
	return 0;
}

bool output_refused(int err)
{
	return err == -EROFS || err == -EACCES || err == -EPERM || err == -ENOSPC || err == -EDQUOT;
}
