/* Where strata's own mount namespace shows a file that is known by its place in its file system, as that of a container's
 * mount is.
 *
 * Read from /proc/self/mountinfo when it is first asked, and again whenever the kernel says that it changed. What was
 * unmounted since stays known, for rows that come late. One thread uses it; mounts_close() frees it.
 */
#ifndef STRATA_PROBES_MOUNTS_H
#define STRATA_PROBES_MOUNTS_H

#include <stdint.h>

#include "base/buf.h"

struct mounts {
	struct buf list; /* struct mount_line */
	int fd;		 /* plus 1; 0: not open */
};

/* The path of what lies at `place` in the file system of device `dev` (major << 20 | minor), into `out`. -ENOENT: it is
 * nowhere in sight. */
int mounts_path(struct mounts *mounts, uint32_t dev, const char *place, size_t size,
		struct buf *out);
void mounts_close(struct mounts *mounts);

/* Takes the text of a mountinfo file in place of what was read before. For mounts_path(), and tests. */
int mounts_take(struct mounts *mounts, char *text);

/* As mounts_path(), by what was taken last. */
int mounts_find(const struct mounts *mounts, uint32_t dev, const char *place, size_t size,
		struct buf *out);

#endif
