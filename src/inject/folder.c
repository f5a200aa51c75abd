#include "inject/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX_SIZE 64

const char *folder_base(unsigned which)
{
	static const char *const bases[FOLDER_BASES] = { "/dev/shm", NULL, "/tmp", "/var/tmp" };

	return bases[which] ? bases[which] : secure_getenv("XDG_RUNTIME_DIR");
}

/* What the names of this namespace's folders begin with. */
static bool folder_prefix(char prefix[PREFIX_SIZE])
{
	struct stat namespace;

	if (stat("/proc/self/ns/pid", &namespace))
		return false;
	snprintf(prefix, PREFIX_SIZE, "strata-job-%llx-", (unsigned long long)namespace.st_ino);
	return true;
}

/* Whether the path still leads to what is open. */
static bool is_there(int fd, const char *path)
{
	struct stat open_one, named;

	return !fstat(fd, &open_one) && !lstat(path, &named) && open_one.st_dev == named.st_dev &&
	       open_one.st_ino == named.st_ino;
}

static int open_folder(int base, const char *path)
{
	return openat(base, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* ---- making one ---- */

/* Between these two somebody may have taken it for a leftover. */
static int make_and_lock(char path[PATH_MAX])
{
	int lock, err;

	if (!mkdtemp(path))
		return -1;
	lock = open_folder(AT_FDCWD, path);
	if (lock >= 0 && !flock(lock, LOCK_EX) && is_there(lock, path))
		return lock;
	err = lock < 0 ? errno : EAGAIN;
	if (lock >= 0)
		close(lock);
	rmdir(path);
	errno = err;
	return -1;
}

int folder_make(unsigned which, uid_t uid, gid_t gid, char path[PATH_MAX])
{
	const char *base = folder_base(which);
	char prefix[PREFIX_SIZE];
	int lock = -1;

	errno = ENOENT;
	if (!base || !folder_prefix(prefix))
		return -1;
	for (unsigned tries = 0; lock < 0 && tries < 3; tries++) {
		if (snprintf(path, PATH_MAX, "%s/%sXXXXXX", base, prefix) >= PATH_MAX - NAME_MAX)
			return -1;
		lock = make_and_lock(path);
		if (lock < 0 && errno != EAGAIN && errno != ENOENT)
			return -1;
	}
	if (lock >= 0 && (fchmod(lock, 0711) || (geteuid() != uid && fchown(lock, uid, gid)))) {
		int err = errno;

		folder_remove(path, lock);
		errno = err;
		return -1;
	}
	return lock;
}

void folder_remove(const char *path, int lock)
{
	DIR *folder = fdopendir(lock);
	const struct dirent *entry;

	if (!folder) {
		close(lock);
		return;
	}
	while ((entry = readdir(folder)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			unlinkat(lock, entry->d_name, 0);
	if (is_there(lock, path))
		rmdir(path);
	closedir(folder);
}

/* ---- whether a process may still load what is in one ---- */

/* Whether a file of /proc/PID names it. Processes that hide from us do not count: one such is there on most machines. */
static bool file_names(const char *pid, const char *file, int delimiter, const char *name)
{
	char path[NAME_MAX + 32], *line = NULL;
	bool found = false;
	size_t room = 0;
	FILE *stream;

	snprintf(path, sizeof(path), "/proc/%s/%s", pid, file);
	stream = fopen(path, "re");
	while (stream && !found && getdelim(&line, &room, delimiter, stream) > 0)
		found = strstr(line, name) != NULL;
	free(line);
	if (stream)
		fclose(stream);
	return found;
}

static bool is_needed(const char *name)
{
	DIR *processes = opendir("/proc");
	const struct dirent *entry;
	bool needed = !processes;

	while (!needed && (entry = readdir(processes)))
		needed = *entry->d_name >= '1' && *entry->d_name <= '9' &&
			 (file_names(entry->d_name, "environ", '\0', name) ||
			  file_names(entry->d_name, "maps", '\n', name));
	if (processes)
		closedir(processes);
	return needed;
}

/* ---- what was left ---- */

static void remove_leftover(int base, const char *base_path, const char *name, uid_t uid,
			    const char *file)
{
	char path[PATH_MAX];
	struct stat status;
	int lock = open_folder(base, name);

	if (lock < 0)
		return;
	if (fstat(lock, &status) || status.st_uid != uid || flock(lock, LOCK_EX | LOCK_NB)) {
		close(lock);
		return;
	}
	unlinkat(lock, file, 0);
	snprintf(path, sizeof(path), "%s/%s", base_path, name);
	if (is_needed(name))
		close(lock);
	else
		folder_remove(path, lock);
}

void folder_remove_leftovers(uid_t uid, const char *file)
{
	char prefix[PREFIX_SIZE];

	for (unsigned i = 0; i < FOLDER_BASES && folder_prefix(prefix); i++) {
		const char *path = folder_base(i);
		DIR *base = path ? opendir(path) : NULL;
		const struct dirent *entry;

		while (base && (entry = readdir(base)))
			if (!strncmp(entry->d_name, prefix, strlen(prefix)))
				remove_leftover(dirfd(base), path, entry->d_name, uid, file);
		if (base)
			closedir(base);
	}
}
