#include "probes/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_MOUNTS 65536 /* that are remembered, with those that are gone */

struct mount_line {
	uint32_t dev;
	bool gone;
	char *root;  /* of the mount within its file system; "" for "/" */
	char *point; /* where it is mounted; "" for "/" */
};

static struct mount_line *line_at(const struct mounts *mounts, size_t i)
{
	return (struct mount_line *)mounts->list.data + i;
}

static size_t line_count(const struct mounts *mounts)
{
	return mounts->list.size / sizeof(struct mount_line);
}

/* Octal escapes back to bytes; "/" becomes nothing, so that a path can follow. */
static char *unescaped(const char *text)
{
	char *copy = strdup(strcmp(text, "/") ? text : ""), *to = copy;

	for (const char *at = copy; at && *at; at++) {
		bool octal = at[0] == '\\' && at[1] >= '0' && at[1] <= '3' && at[2] && at[3];

		*to++ = octal ? (char)((at[1] - '0') << 6 | (at[2] - '0') << 3 | (at[3] - '0'))
			      : *at;
		at += octal ? 3 : 0;
	}
	if (copy)
		*to = 0;
	return copy;
}

static int take_line(struct mounts *mounts, char *line)
{
	unsigned major, minor;
	struct mount_line new = { 0 };
	char *words[5], *rest = line;

	for (int i = 0; i < 5; i++)
		if (!(words[i] = strsep(&rest, " ")))
			return 0;
	if (sscanf(words[2], "%u:%u", &major, &minor) != 2)
		return 0;
	new.dev = major << 20 | minor;
	new.root = unescaped(words[3]);
	new.point = unescaped(words[4]);
	if (!new.root || !new.point || buf_append(&mounts->list, &new, sizeof(new))) {
		free(new.root);
		free(new.point);
		return -ENOMEM;
	}
	return 0;
}

static bool same_mount(const struct mount_line *a, const struct mount_line *b)
{
	return a->dev == b->dev && !strcmp(a->root, b->root) && !strcmp(a->point, b->point);
}

/* Of the lines before `fresh`, those that are not there any more are kept as gone, the others dropped. */
static void drop_known(struct mounts *mounts, size_t fresh)
{
	size_t count = line_count(mounts), kept = 0;

	for (size_t i = 0; i < count; i++) {
		struct mount_line line = *line_at(mounts, i);
		bool drop = i < fresh && count > MOST_MOUNTS;

		for (size_t j = fresh; i < fresh && j < count && !drop; j++)
			drop = same_mount(&line, line_at(mounts, j));
		if (drop) {
			free(line.root);
			free(line.point);
			continue;
		}
		line.gone = i < fresh;
		*line_at(mounts, kept++) = line;
	}
	mounts->list.size = kept * sizeof(struct mount_line);
}

int mounts_take(struct mounts *mounts, char *text)
{
	size_t fresh = line_count(mounts);
	int err = 0;

	for (char *rest = text, *line; !err && (line = strsep(&rest, "\n"));)
		err = take_line(mounts, line);
	drop_known(mounts, fresh);
	return err;
}

/* Whether a path is below, or at, another. */
static bool is_below(const char *path, size_t size, const char *above)
{
	size_t length = strlen(above);

	return size >= length && !memcmp(path, above, length) &&
	       (size == length || path[length] == '/');
}

/* Whether a path leads into this mount, and not into one that covers it on the way. */
static bool leads_to(const struct mounts *mounts, const struct mount_line *mount, const char *path,
		     size_t size)
{
	const struct mount_line *last = mount;

	for (size_t i = 0; i < line_count(mounts) && !mount->gone; i++) {
		const struct mount_line *other = line_at(mounts, i);

		if (!other->gone && is_below(path, size, other->point) &&
		    strlen(other->point) >= strlen(last->point))
			last = other;
	}
	return last == mount;
}

int mounts_find(const struct mounts *mounts, uint32_t dev, const char *place, size_t size,
		struct buf *out)
{
	const struct mount_line *best = NULL;

	if (size == 1) /* the root, written as those of mounts are */
		size = 0;
	for (size_t i = 0; i < line_count(mounts); i++) {
		const struct mount_line *mount = line_at(mounts, i);

		if (mount->dev != dev || !is_below(place, size, mount->root) ||
		    (best && !best->gone && mount->gone) ||
		    (best && best->gone == mount->gone &&
		     strlen(best->root) <= strlen(mount->root)))
			continue;
		out->size = 0;
		if (buf_append(out, mount->point, strlen(mount->point)) ||
		    buf_append(out, place + strlen(mount->root), size - strlen(mount->root)))
			return -ENOMEM;
		if (leads_to(mounts, mount, (const char *)out->data, out->size))
			best = mount;
	}
	if (!best)
		return -ENOENT;
	out->size = 0;
	if (buf_append(out, best->point, strlen(best->point)) ||
	    buf_append(out, place + strlen(best->root), size - strlen(best->root)))
		return -ENOMEM;
	return out->size ? 0 : buf_append(out, "/", 1);
}

/* Reads the list anew if it has changed. */
static void mounts_refresh(struct mounts *mounts)
{
	struct pollfd change = { .fd = mounts->fd - 1, .events = POLLPRI };
	struct buf text = { .limit = 64 << 20 };
	bool first = !mounts->fd;
	ssize_t size = 0;
	void *room;

	if (first)
		mounts->fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC) + 1;
	if (!mounts->fd || (!first && poll(&change, 1, 0) <= 0) ||
	    lseek(mounts->fd - 1, 0, SEEK_SET))
		return;
	while ((room = buf_reserve(&text, 65536)) && (size = read(mounts->fd - 1, room, 65536)) > 0)
		text.size += (size_t)size;
	if (!size && !buf_append(&text, "", 1))
		mounts_take(mounts, (char *)text.data);
	buf_free(&text);
}

int mounts_path(struct mounts *mounts, uint32_t dev, const char *place, size_t size,
		struct buf *out)
{
	mounts_refresh(mounts);
	return mounts_find(mounts, dev, place, size, out);
}

void mounts_close(struct mounts *mounts)
{
	for (size_t i = 0; i < line_count(mounts); i++) {
		free(line_at(mounts, i)->root);
		free(line_at(mounts, i)->point);
	}
	buf_free(&mounts->list);
	if (mounts->fd)
		close(mounts->fd - 1);
	mounts->fd = 0;
}
