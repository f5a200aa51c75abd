#include "base/outfile.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define RANDOM_LETTERS 6
#define ATTEMPTS       100

/* The folder of a path; the caller frees. */
static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return strdup(".");
	return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

static int parse_number(const char *text)
{
	char *end;
	long number = isdigit((unsigned char)*text) ? strtol(text, &end, 10) : -1;

	return number >= 0 && number <= INT_MAX && !*end ? (int)number : -1;
}

/* The descriptor that a path is the name of, as /dev/stdout and /dev/fd/3 are; -1: none. */
static int descriptor_of(const char *path)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	char target[PATH_MAX], folder[PATH_MAX], own[64];
	ssize_t length = readlink(path, target, sizeof(target) - 1);
	char *parent;
	int found = -1;

	if (!strcmp(path, "-"))
		return STDOUT_FILENO;
	if (length <= 0)
		return -1;
	target[length] = 0;
	if (!strncmp(target, "/proc/self/fd/", 14))
		return parse_number(target + 14);
	snprintf(own, sizeof(own), "/proc/%d/fd", (int)getpid());
	parent = folder_of(path);
	if (parent && realpath(parent, folder) && !strcmp(folder, own))
		found = parse_number(name);
	free(parent);
	return found;
}

/* Whether a name is a link that somebody else made: it may lead where only we can write. */
static bool is_foreign_link(const char *path)
{
	struct stat link;

	return !lstat(path, &link) && S_ISLNK(link.st_mode) && link.st_uid &&
	       link.st_uid != getuid();
}

enum outfile_kind outfile_look(const char *path)
{
	struct stat file;

	if (descriptor_of(path) >= 0)
		return OUTFILE_STREAM;
	if (stat(path, &file))
		return OUTFILE_NEW;
	if (S_ISREG(file.st_mode))
		return OUTFILE_REGULAR;
	if (S_ISDIR(file.st_mode))
		return OUTFILE_FOLDER;
	if (S_ISBLK(file.st_mode) || is_foreign_link(path))
		return OUTFILE_REFUSED;
	return OUTFILE_STREAM;
}

/* ---- opening ---- */

static bool is_same(const struct stat *one, const char *path)
{
	struct stat other;

	return !stat(path, &other) && one->st_dev == other.st_dev && one->st_ino == other.st_ino;
}

int outfile_check_inputs(const char *path, const struct outfile_inputs *inputs, struct error *e)
{
	struct stat file;

	if (!inputs || stat(path, &file) || !S_ISREG(file.st_mode))
		return 0;
	for (size_t i = 0; i < inputs->count; i++)
		if (inputs->paths[i] && is_same(&file, inputs->paths[i]))
			return error_set(e, -EINVAL,
					 "'%s' is read by this command: write to "
					 "another file",
					 path);
	return 0;
}

/* A file without a name, of which nothing stays behind whatever ends us; -1: there cannot be one. */
static int open_nameless(const char *path, mode_t mode)
{
	char *folder = folder_of(path);
	int fd = -1;

	if (folder)
		fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
	free(folder);
	return fd;
}

/* A name that nobody can guess and occupy. */
static int choose_name(struct outfile *file)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	char *at = file->temporary + strlen(file->temporary) - RANDOM_LETTERS;
	unsigned char bytes[RANDOM_LETTERS];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return -EIO;
	for (unsigned i = 0; i < RANDOM_LETTERS; i++)
		at[i] = letters[bytes[i] % (sizeof(letters) - 1)];
	return 0;
}

/* Not every file system has files without a name. */
static int open_named(struct outfile *file, mode_t mode)
{
	int err = -EEXIST;

	for (unsigned i = 0; i < ATTEMPTS && err == -EEXIST; i++) {
		err = choose_name(file);
		if (err)
			break;
		file->fd = open(file->temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
				mode);
		err = file->fd < 0 ? -errno : 0;
	}
	return err;
}

static int open_temporary(struct outfile *file, mode_t mode)
{
	int err;

	if (asprintf(&file->temporary, "%s.XXXXXX", file->path) < 0) {
		file->temporary = NULL;
		return -ENOMEM;
	}
	file->fd = open_nameless(file->path, mode);
	file->nameless = file->fd >= 0;
	err = file->nameless ? 0 : open_named(file, mode);
	if (err) {
		free(file->temporary);
		file->temporary = NULL;
	}
	return err;
}

static int open_stream(struct outfile *file)
{
	int descriptor = descriptor_of(file->path);

	if (descriptor >= 0)
		file->fd = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
	else
		file->fd = open(file->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	return file->fd < 0 ? -errno : 0;
}

static int refuse(const char *path, enum outfile_kind kind, struct error *e)
{
	return error_set(e, kind == OUTFILE_FOLDER ? -EISDIR : -EPERM, "cannot write '%s': %s",
			 path,
			 kind == OUTFILE_FOLDER ? "it is a folder"
						: "it is a disk, or a link of another user to a "
						  "device");
}

int outfile_open(struct outfile *file, const char *path, mode_t mode,
		 const struct outfile_inputs *inputs, struct error *e)
{
	enum outfile_kind kind = outfile_look(path);
	int err;

	*file = (struct outfile){ .fd = -1 };
	if (kind == OUTFILE_FOLDER || kind == OUTFILE_REFUSED)
		return refuse(path, kind, e);
	err = outfile_check_inputs(path, inputs, e);
	if (err)
		return err;
	file->path = strdup(path);
	if (!file->path)
		err = -ENOMEM;
	else if (kind == OUTFILE_STREAM)
		err = open_stream(file);
	else
		err = open_temporary(file, mode);
	if (err) {
		outfile_free(file);
		return error_set(e, err, "cannot write '%s': %s", path, strerror(-err));
	}
	return 0;
}

/* ---- the end ---- */

/* Gives a nameless file the temporary name: what links a file does not replace another. */
static int name_it(struct outfile *file)
{
	char self[64];
	int err = -EEXIST;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", file->fd);
	for (unsigned i = 0; i < ATTEMPTS && err == -EEXIST; i++) {
		err = choose_name(file);
		if (!err && linkat(AT_FDCWD, self, AT_FDCWD, file->temporary, AT_SYMLINK_FOLLOW))
			err = -errno;
	}
	file->nameless = err != 0;
	return err;
}

int outfile_close(struct outfile *file)
{
	int fd = file->fd;

	if (file->nameless) /* the descriptor is all that holds the file */
		return 0;
	file->fd = -1;
	return fd >= 0 && close(fd) ? -errno : 0;
}

int outfile_publish(struct outfile *file, struct error *e)
{
	int err = 0;

	if (!file->temporary)
		return 0;
	if (file->nameless)
		err = name_it(file);
	if (!err && rename(file->temporary, file->path))
		err = -errno;
	if (err)
		return error_set(e, err, "cannot write '%s': %s", file->path, strerror(-err));
	free(file->temporary);
	file->temporary = NULL;
	return 0;
}

int outfile_commit(struct outfile *file, struct error *e)
{
	int err = 0;

	/* What can still fail in writing does so before the name changes hands. */
	if (file->nameless)
		err = name_it(file);
	if (!err)
		err = outfile_close(file);
	if (err)
		return error_set(e, err, "cannot write '%s': %s", file->path, strerror(-err));
	return outfile_publish(file, e);
}

void outfile_free(struct outfile *file)
{
	if (file->fd >= 0)
		close(file->fd);
	if (file->temporary && !file->nameless)
		unlink(file->temporary);
	free(file->temporary);
	free(file->path);
	*file = (struct outfile){ .fd = -1 };
}
