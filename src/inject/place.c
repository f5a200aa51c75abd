#include "inject/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define ROOM_LEFT 4 /* times what is taken must be free: the job needs room of its own there */

void place_open(struct place *place, const struct place_users *users)
{
	*place = (struct place){ .users = *users };
	for (unsigned i = 0; i < FOLDER_BASES; i++)
		place->locks[i] = -1;
}

/* Separators of LD_PRELOAD, and what the loader would expand. */
static bool can_be_preloaded(const char *path)
{
	return *path == '/' && !strpbrk(path, ": \t\n$;");
}

/* The folder in one of the places, made when first asked for; NULL: it cannot be, and errno says why. */
static const char *place_folder(struct place *place, unsigned which)
{
	const struct place_users *users = &place->users;
	const char *base = folder_base(which);

	if (place->locks[which] >= 0)
		return place->folders[which];
	errno = ENOENT;
	if (!base || !can_be_preloaded(base))
		return NULL;
	place->locks[which] =
		folder_make(which, users->recorder_uid, users->recorder_gid, place->folders[which]);
	return place->locks[which] >= 0 ? place->folders[which] : NULL;
}

static int create_file(const struct place *place, const char *path, mode_t mode)
{
	const struct place_users *users = &place->users;
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);

	if (fd >= 0 && (fchmod(fd, mode) || (geteuid() != users->job_uid &&
					     fchown(fd, users->job_uid, users->job_gid)))) {
		int err = errno;

		close(fd);
		unlink(path);
		errno = err;
		return -1;
	}
	return fd;
}

static bool has_room(int fd, uint64_t bytes)
{
	struct statvfs room;

	errno = ENOSPC;
	return !fstatvfs(fd, &room) && (uint64_t)room.f_bavail * room.f_frsize / ROOM_LEFT >= bytes;
}

int place_make_file(struct place *place, const char *name, uint64_t bytes, int *fd,
		    char path[PATH_MAX], struct error *e)
{
	int err = ENOENT;

	for (unsigned i = 0; i < FOLDER_BASES; i++) {
		const char *folder = place_folder(place, i);

		if (!folder) {
			err = errno;
			continue;
		}
		snprintf(path, PATH_MAX, "%s/%s", folder, name);
		*fd = create_file(place, path, 0600);
		if (*fd >= 0 && has_room(*fd, bytes))
			return 0;
		err = errno;
		if (*fd >= 0) {
			close(*fd);
			unlink(path);
		}
	}
	return error_set(e, -err,
			 "there is no place for memory to share with the job, in /dev/shm, "
			 "$XDG_RUNTIME_DIR, /tmp nor /var/tmp: %s",
			 strerror(err));
}

/* Whether programs can be run from where the file is. */
static bool is_executable(int fd)
{
	void *code = mmap(NULL, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	if (code == MAP_FAILED)
		return false;
	munmap(code, 1);
	return true;
}

int place_write_library(struct place *place, const char *name, const void *bytes, size_t size,
			char path[PATH_MAX], struct error *e)
{
	int err = ENOENT;

	for (unsigned i = 0; i < FOLDER_BASES; i++) {
		const char *folder = place_folder(place, i);
		int fd = -1;

		if (folder) {
			snprintf(path, PATH_MAX, "%s/%s", folder, name);
			fd = create_file(place, path, 0555);
		}
		if (fd < 0) {
			err = errno;
			continue;
		}
		errno = ENOSPC;
		if (write(fd, bytes, size) == (ssize_t)size && is_executable(fd)) {
			close(fd);
			return 0;
		}
		err = errno;
		close(fd);
		unlink(path);
	}
	return error_set(e, -err,
			 "there is no place that the job could load '%s' from, in /dev/shm, "
			 "$XDG_RUNTIME_DIR, /tmp nor /var/tmp: %s",
			 name, strerror(err));
}

void place_remove(struct place *place)
{
	for (unsigned i = 0; i < FOLDER_BASES; i++) {
		if (place->locks[i] >= 0)
			folder_remove(place->folders[i], place->locks[i]);
		place->locks[i] = -1;
	}
}

void place_leave(struct place *place, const char *file)
{
	for (unsigned i = 0; i < FOLDER_BASES; i++) {
		if (place->locks[i] < 0)
			continue;
		unlinkat(place->locks[i], file, 0);
		rmdir(place->folders[i]); /* where it was the only one */
		close(place->locks[i]);
		place->locks[i] = -1;
	}
}
