/* Sleeps in a read on a FIFO until bytes or its end come, then reads 10 bytes of FILE, which it has open
 * from its start, and exits with 6.
 *
 *     blockedread FIFO FILE      prints "ready" before the read
 */
#include "workload.h"

#include <fcntl.h>

int main(int argc, char **argv)
{
	char buffer[32];
	int file = argc == 3 ? open(argv[2], O_RDONLY) : -1;
	int fifo = file >= 0 ? open(argv[1], O_RDWR)
			     : -1; /* O_RDWR: opening does not wait for a peer */

	CHECK(fifo >= 0 && write(1, "ready\n", 6) == 6);
	CHECK(read(fifo, buffer, sizeof(buffer)) >= 0);
	CHECK(read(file, buffer, 10) == 10);
	return 6;
}
