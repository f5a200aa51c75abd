#include "capture/caches.h"

#include <fcntl.h>
#include <unistd.h>

int caches_drop(struct error *e)
{
	int fd, err = 0;

	sync();
	fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "3", 1) != 1)
		err = error_errno(e, "cannot drop caches (--drop-caches needs root)");
	if (fd >= 0)
		close(fd);
	return err;
}
