#include "cluster/push/spool_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "cluster/push/spool_record.h"

int folder_write(const struct spool_folder *folder, const char *name, const void *bytes,
		 size_t size, struct error *e)
{
	char temporary[SPOOL_NAME + 8];
	int fd, err = 0;

	snprintf(temporary, sizeof(temporary), "%s.new", name);
	fd = openat(folder->fd, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_errno(e, "cannot write '%s/%s'", folder->path, temporary);
	if (write(fd, bytes, size) != (ssize_t)size || fsync(fd))
		err = error_errno(e, "cannot write '%s/%s'", folder->path, temporary);
	close(fd);
	if (!err && renameat(folder->fd, temporary, folder->fd, name))
		err = error_errno(e, "cannot write '%s/%s'", folder->path, name);
	if (!err && fsync(folder->fd))
		err = error_errno(e, "cannot write '%s'", folder->path);
	if (err)
		unlinkat(folder->fd, temporary, 0);
	return err;
}

int folder_write_number(const struct spool_folder *folder, const char *name, uint64_t number,
			struct error *e)
{
	char text[32];
	int size = snprintf(text, sizeof(text), "%" PRIu64 "\n", number);

	return folder_write(folder, name, text, (size_t)size, e);
}

ssize_t folder_read(const struct spool_folder *folder, const char *name, char *out)
{
	int fd = openat(folder->fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t size;

	if (fd < 0)
		return -errno;
	size = read(fd, out, SPOOL_RECORD - 1);
	if (size < 0)
		size = -errno;
	else
		out[size] = '\0';
	close(fd);
	return size;
}

int folder_find_number(const struct spool_folder *folder, const char *name, uint64_t first,
		       uint64_t *number, struct error *e)
{
	char text[SPOOL_RECORD];
	ssize_t size = folder_read(folder, name, text);

	if (size >= 0 && sscanf(text, "%" SCNu64, number) == 1)
		return 0;
	if (size >= 0 || size != -ENOENT)
		return error_set(e, size < 0 ? (int)size : -EBADMSG, "cannot read '%s/%s'",
				 folder->path, name);
	*number = first;
	return folder_write_number(folder, name, first, e);
}
