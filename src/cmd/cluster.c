/* Finds strata-cluster, and becomes it. It is looked for beside strata: in the folder of the program (build/), or in
 * ../libexec/strata/ of it (make install), never by the environment.
 *
 * Where strata's file gives it rights that its caller lacks, it is not looked for beside the program, which the caller may have
 * linked to a folder of their own, but where it was installed; it gets those rights only if nobody but root can have written
 * it, and an environment of strata's own: to the loader it is a program like any other, which would load whatever the caller
 * names.
 */
#include "cmd/cluster.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/caps.h"
#include "base/program.h"
#include "capture/rights.h"
#include "cmd/cmd.h"

#define PROGRAM "strata-cluster"

extern char **environ;

/* Whether root alone can have put these bytes there. */
static bool only_root_writes(int fd)
{
	struct stat file;

	return !fstat(fd, &file) && !file.st_uid && !(file.st_mode & (S_IWGRP | S_IWOTH));
}

static int check_trusted(const char *path, int program, struct error *e)
{
	char folder[PATH_MAX];
	int fd, trusted;

	snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(path, '/') - path), path);
	fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	trusted = fd >= 0 && only_root_writes(fd) && only_root_writes(program);
	if (fd >= 0)
		close(fd);
	return trusted ? 0
		       : error_set(e, -EPERM,
				   "'%s' or its folder can be written by others than root, and "
				   "would get rights that you lack",
				   path);
}

static int open_program(char *path, size_t size, int *program, struct error *e)
{
	static const char *const places[] = { PROGRAM, "../libexec/strata/" PROGRAM };

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		if (!program_beside(path, size, places[i]))
			continue;
		*program = open(path, O_PATH | O_CLOEXEC);
		if (*program >= 0)
			return 0;
		if (errno != ENOENT && errno != ENOTDIR)
			return error_errno(e, "cannot run '%s'", path);
	}
	return error_set(e, -ENOENT,
			 "this command is in " PROGRAM ", which is not beside strata: copy it "
			 "there from where strata was built, or run 'make install' again");
}

/* For a caller with no rights of their own. */
static int open_trusted(char *path, size_t size, int *program, struct error *e)
{
	if (!rights_see_all())
		return error_set(
			e, -EPERM,
			"it shows the whole machine, and with the rights that this "
			"program's file gives you see your own processes only; use sudo, or "
			"ask to be let into a group that may see all (docs/security.md)");
	snprintf(path, size, "%s", STRATA_LIBEXEC "/" PROGRAM);
	*program = open(path, O_PATH | O_CLOEXEC | O_NOFOLLOW);
	if (*program < 0)
		return error_errno(e, "a strata with rights of its own runs '%s' alone", path);
	return check_trusted(path, *program, e);
}

int cluster_run(char **argv, bool keep_rights)
{
	static char *const plain[] = { "PATH=/usr/sbin:/usr/bin:/sbin:/bin", NULL };
	bool passes = keep_rights && caps_secure();
	char path[PATH_MAX];
	struct error e;
	int program = -1, err;

	err = passes ? open_trusted(path, sizeof(path), &program, &e)
		     : open_program(path, sizeof(path), &program, &e);
	if (!err && passes)
		err = caps_pass_on(&e);
	if (!err) {
		execve(path, argv, passes ? plain : environ);
		err = error_errno(&e, "cannot run '%s'", path);
	}
	if (program >= 0)
		close(program);
	error_add(&e, err, "cannot run 'strata %s'", argv[0]);
	return cmd_fail(&e);
}
