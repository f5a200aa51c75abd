#include "capture/output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/outfile.h"
#include "capture/identity.h"

#define TRACE_MODE 0600 /* arguments and paths are nobody else's business */

static int output_error(struct error *e, int err, const char *path, const struct account *user)
{
	const char *advice = "";

	if (err == -EEXIST)
		return error_set(
			e, err,
			"'%s' exists: choose another name with -o, or replace it with --force",
			path);
	if (err == -ENOENT)
		advice = " (its directory is not there)";
	if ((err == -EACCES || err == -EPERM) && user->change)
		return error_set(e, err, "cannot create '%s' as user '%s': %s", path, user->name,
				 strerror(-err));
	return error_set(e, err, "cannot create '%s': %s%s", path, strerror(-err), advice);
}

/* Something that is no file: only what swallows everything will do, as a trace is not written in one go. */
static int open_null(const char *path, int *fd, struct error *e)
{
	struct stat file;

	*fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (*fd >= 0 && !fstat(*fd, &file) && S_ISCHR(file.st_mode) &&
	    file.st_rdev == makedev(1, 3))
		return 0;
	if (*fd >= 0)
		close(*fd);
	return error_set(e, -EINVAL,
			 "'%s' is no file: a trace goes into a regular file, or to /dev/null",
			 path);
}

/* The old file goes when the new one is there. */
static int replace_file(const char *path, const struct outfile_inputs *inputs, int *fd,
			struct error *e)
{
	struct outfile file;
	int err = outfile_open(&file, path, TRACE_MODE, inputs, e);

	if (!err)
		err = outfile_publish(&file, e);
	if (!err) {
		*fd = file.fd;
		file.fd = -1;
	}
	outfile_free(&file);
	return err;
}

static int create_file(const struct output_place *place, int *fd, struct error *e)
{
	struct outfile_inputs inputs = { &place->log, 1 };
	enum outfile_kind kind = outfile_look(place->path);

	if (kind == OUTFILE_STREAM || kind == OUTFILE_REFUSED)
		return open_null(place->path, fd, e);
	if (place->force && kind == OUTFILE_REGULAR)
		return replace_file(place->path, &inputs, fd, e);
	*fd = open(place->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, TRACE_MODE);
	return *fd < 0 ? output_error(e, -errno, place->path, place->invoker) : 0;
}

int output_create(const struct output_place *place, int *fd, struct error *e)
{
	struct identity identity;
	int err = identity_enter(&identity, place->invoker, e);

	if (err)
		return err;
	err = create_file(place, fd, e);
	identity_leave(&identity);
	return err;
}

void output_remove(const struct output_place *place)
{
	struct identity identity;
	struct stat file;
	struct error ignored;

	if (identity_enter(&identity, place->invoker, &ignored))
		return;
	if (!lstat(place->path, &file) && S_ISREG(file.st_mode))
		unlink(place->path);
	identity_leave(&identity);
}

bool output_refused(int err)
{
	return err == -EROFS || err == -EACCES || err == -EPERM || err == -ENOSPC || err == -EDQUOT;
}
