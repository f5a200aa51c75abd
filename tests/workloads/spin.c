/* Reads 64 bytes of FILE, which it has open from its start, every PAUSE microseconds until it is killed.
 *
 *     spin FILE PAUSE      prints "ready" when FILE is open
 */
#include "workload.h"

#include <fcntl.h>

int main(int argc, char **argv)
{
	char buffer[64];
	int fd = argc == 3 ? open(argv[1], O_RDONLY) : -1;
	useconds_t pause_us = fd >= 0 ? (useconds_t)atol(argv[2]) : 0;

	CHECK(fd >= 0 && write(1, "ready\n", 6) == 6);
	for (;;) {
		CHECK(pread(fd, buffer, sizeof(buffer), 0) >= 0);
		if (pause_us)
			usleep(pause_us);
	}
}
