/* Somebody who cuts a trace while it is read, for tests: preloaded into strata, it cuts the file that is called as $CUT_FILE says to
 * half its size when that has been mapped, or, with $CUT_AFTER, when its state has been asked for so many times since.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int asked = -1; /* how often since it was mapped; -1: it is not */

static bool is_cut_file(const struct stat *file)
{
	struct stat named;

	return !stat(getenv("CUT_FILE"), &named) && file->st_dev == named.st_dev &&
	       file->st_ino == named.st_ino;
}

static void look(const struct stat *file)
{
	const char *after = getenv("CUT_AFTER");

	if (asked++ == (after ? atoi(after) : 0) && truncate(getenv("CUT_FILE"), file->st_size / 2))
		abort();
}

int fstat(int fd, struct stat *file)
{
	int (*next)(int, struct stat *) = (int (*)(int, struct stat *))dlsym(RTLD_NEXT, "fstat");
	int err = next(fd, file);

	if (!err && asked >= 0 && is_cut_file(file))
		look(file);
	return err;
}

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t at)
{
	void *(*next)(void *, size_t, int, int, int, off_t) =
		(void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap");
	void *mapped = next(address, size, protection, flags, fd, at);
	struct stat file;

	if (fd >= 0 && asked < 0 && !fstat(fd, &file) && is_cut_file(&file)) {
		asked = 0;
		look(&file);
	}
	return mapped;
}
