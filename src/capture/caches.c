#include "capture/caches.h"

#include <fcntl.h>
#include <unistd.h>

int caches_open(int *fd, struct error *e)
{
	*fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);
	return *fd < 0 ? error_errno(e, "cannot drop caches (--drop-caches needs root)") : 0;
}

int caches_drop(int fd, struct error *e)
{
	sync();
	return write(fd, "3", 1) == 1 ? 0 : error_errno(e, "cannot drop caches");
}
