#include "sampler/proc_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"

#define TRIES  3
#define PROMPT 1000000u /* ns: a reading that takes longer was interrupted, and its time is vague */

int proc_file_open(struct proc_file *file, const char *path, size_t capacity, struct error *e)
{
	int err;

	*file = (struct proc_file){ .fd = open(path, O_RDONLY | O_CLOEXEC), .capacity = capacity };
	if (file->fd < 0)
		return error_errno(e, "cannot open %s", path);
	file->text = malloc(capacity);
	err = file->text ? proc_file_read(file) : -ENOMEM;
	if (!err)
		return 0;
	proc_file_close(file);
	errno = -err;
	return error_errno(e, "cannot read %s", path);
}

void proc_file_close(struct proc_file *file)
{
	close(file->fd);
	free(file->text);
	*file = (struct proc_file){ .fd = -1 };
}

/* Some files come a page at a time. */
static int read_all(struct proc_file *file)
{
	file->size = 0;
	while (file->size < file->capacity) {
		ssize_t got = pread(file->fd, file->text + file->size, file->capacity - file->size,
				    (off_t)file->size);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		file->size += (size_t)got;
	}
	return 0;
}

/* The kernel does not say when it made the numbers: between the clock before and the clock after. */
int proc_file_read(struct proc_file *file)
{
	for (int i = 1;; i++) {
		uint64_t before = clock_boot(), after;
		int err = read_all(file);

		if (err)
			return err;
		after = clock_boot();
		file->ts = before + (after - before) / 2;
		if (after - before <= PROMPT || i == TRIES)
			return 0;
	}
}
