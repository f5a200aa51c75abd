#include "symbols/loader_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cursor.h"

#define CACHE_PATH  "/etc/ld.so.cache"
#define CACHE_MAGIC "glibc-ld.so.cache1.1"
#define CACHE_MOST  (64u << 20)
#define CACHE_ENTRY 24
#define X86_64_LIBC 0x0303 /* the kind of library that this machine's programs load */

static int cache_read(struct buf *bytes)
{
	int fd = open(CACHE_PATH, O_RDONLY | O_CLOEXEC), err = 0;
	ssize_t got = 1;

	bytes->limit = CACHE_MOST;
	while (fd >= 0 && !err && got > 0) {
		void *to = buf_reserve(bytes, 1 << 16);

		got = to ? read(fd, to, 1 << 16) : -1;
		if (got < 0)
			err = to ? -errno : -ENOMEM;
		else
			bytes->size += (size_t)got;
	}
	if (fd >= 0)
		close(fd);
	return err;
}

/* The text at an offset of the file; NULL: it does not end inside it. */
static const char *cache_text(const struct buf *bytes, uint32_t at)
{
	const char *text = (const char *)bytes->data + at;

	return at < bytes->size && memchr(text, 0, bytes->size - at) ? text : NULL;
}

/* Libraries as (name, path) pairs; those that the glob matches, or all. */
static int cache_walk(struct buf *out, const char *glob, bool paths)
{
	struct buf bytes = { 0 };
	struct cursor at;
	const uint8_t *magic;
	uint32_t count;
	bool name_only = glob && !strpbrk(glob, "*?[\\");
	int err = cache_read(&bytes);

	at = cursor_over(bytes.data, bytes.size);
	magic = cursor_take(&at, sizeof(CACHE_MAGIC) - 1);
	count = cursor_u32(&at);
	cursor_take(&at, 24);
	if (!magic || memcmp(magic, CACHE_MAGIC, sizeof(CACHE_MAGIC) - 1))
		count = 0;
	while (!err && count-- && cursor_left(&at) >= CACHE_ENTRY && !(name_only && out->size)) {
		uint32_t kind = cursor_u32(&at);
		const char *name = cache_text(&bytes, cursor_u32(&at));
		const char *path = cache_text(&bytes, cursor_u32(&at));

		cursor_take(&at, 12);
		if (kind != X86_64_LIBC || !name || !path || (glob && fnmatch(glob, name, 0)))
			continue;
		err = buf_append(out, paths ? path : name, strlen(paths ? path : name) + 1);
	}
	buf_free(&bytes);
	return err;
}

int loader_cache_find(struct buf *paths, const char *glob)
{
	return cache_walk(paths, glob, true);
}

int loader_cache_names(struct buf *names)
{
	return cache_walk(names, NULL, false);
}
