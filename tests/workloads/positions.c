/* Where bytes go when the call does not say it: appends, shared and moved positions, holes beyond 4 GiB,
 * pread at -1, and files without a position. Tells the truth about each call.
 *
 *     positions DIR
 */
#include "workload.h"

#include <fcntl.h>
#include <sys/uio.h>

static char buffer[8192];

static void seek(long fd, long to)
{
	long at = RAW(lseek, fd, to, SEEK_SET);

	truth("lseek fd=%ld pos=%ld returned=%ld", fd, to, at);
	CHECK(at == to);
}

static void appends(void)
{
	struct iovec vector[2] = { { buffer, 10 }, { buffer, 20 } };
	long fd = RAW(openat, AT_FDCWD, "log", O_RDWR | O_CREAT | O_APPEND, 0600);
	long other, plain;

	truth("openat fd=%ld", fd);
	truth("write fd=%ld pos=0 requested=100 returned=%ld", fd, RAW(write, fd, buffer, 100));
	seek(fd, 5);
	truth("write fd=%ld pos=100 requested=100 returned=%ld", fd, RAW(write, fd, buffer, 100));
	other = RAW(openat, AT_FDCWD, "log", O_WRONLY | O_APPEND);
	truth("openat fd=%ld", other);
	truth("write fd=%ld pos=200 requested=50 returned=%ld", other,
	      RAW(write, other, buffer, 50));
	truth("writev fd=%ld pos=250 requested=30 returned=%ld", fd, RAW(writev, fd, vector, 2));
	/* Linux appends with O_APPEND whatever position pwrite names. */
	truth("pwrite64 fd=%ld pos=280 requested=7 returned=%ld", fd,
	      RAW(pwrite64, fd, buffer, 7, 3L));
	/* A read through an appending descriptor starts where its position is: after its last write. */
	seek(fd, 20);
	truth("read fd=%ld pos=20 requested=60 returned=%ld", fd, RAW(read, fd, buffer, 60));
	plain = RAW(openat, AT_FDCWD, "log", O_WRONLY);
	truth("openat fd=%ld", plain);
	truth("pwritev2 fd=%ld pos=287 requested=30 returned=%ld", plain,
	      RAW(pwritev2, plain, vector, 2, 0L, 0L, RWF_APPEND));
	truth("write fd=%ld pos=0 requested=1 returned=%ld", plain, RAW(write, plain, buffer, 1));
	truth("close fd=%ld", (RAW(close, plain), plain));
	truth("close fd=%ld", (RAW(close, other), other));
	truth("close fd=%ld", (RAW(close, fd), fd));
}

static void moves(void)
{
	struct iovec vector[3] = { { buffer, 4096 }, { NULL, 0 }, { buffer + 4096, 4096 } };
	long fd = RAW(openat, AT_FDCWD, "moves", O_RDWR | O_CREAT, 0600);
	long twin, again;

	truth("openat fd=%ld", fd);
	truth("write fd=%ld pos=0 returned=%ld", fd, RAW(write, fd, buffer, 8192));
	twin = RAW(dup, fd); /* one position for both descriptors */
	truth("dup fd=%ld returned=%ld", fd, twin);
	again = RAW(openat, AT_FDCWD, "moves", O_RDONLY);
	truth("openat fd=%ld", again);
	seek(twin, 1000);
	truth("read fd=%ld pos=1000 requested=24 returned=%ld", fd, RAW(read, fd, buffer, 24));
	truth("read fd=%ld pos=1024 requested=24 returned=%ld", twin, RAW(read, twin, buffer, 24));
	truth("read fd=%ld pos=0 requested=24 returned=%ld", again, RAW(read, again, buffer, 24));
	truth("pread64 fd=%ld pos=4000 requested=5 returned=%ld", fd,
	      RAW(pread64, fd, buffer, 5, 4000L));
	truth("preadv2 fd=%ld pos=1048 requested=8192 returned=%ld", fd, /* -1: at the position */
	      RAW(preadv2, fd, vector, 3, -1L, -1L, 0));
	truth("read fd=%ld pos=8192 requested=9 returned=%ld", fd, RAW(read, fd, buffer, 9));
	truth("close fd=%ld", (RAW(close, fd), fd));
	truth("close fd=%ld", (RAW(close, twin), twin));
	truth("close fd=%ld", (RAW(close, again), again));
}

static void far_away(void)
{
	const long far = (5L << 30) + 17; /* needs more than 32 bits */
	struct iovec vector[2] = { { buffer, 3 }, { buffer, 4 } };
	off_t from = far;
	long fd = RAW(openat, AT_FDCWD, "sparse", O_RDWR | O_CREAT, 0600);
	long out;

	truth("openat fd=%ld", fd);
	truth("pwrite64 fd=%ld pos=%ld returned=%ld", fd, far, RAW(pwrite64, fd, buffer, 100, far));
	seek(fd, far + 4);
	truth("read fd=%ld pos=%ld requested=10 returned=%ld", fd, far + 4,
	      RAW(read, fd, buffer, 10));
	truth("write fd=%ld pos=%ld requested=10 returned=%ld", fd, far + 14,
	      RAW(write, fd, buffer, 10));
	truth("preadv fd=%ld pos=%ld requested=7 returned=%ld", fd, far + 1,
	      RAW(preadv, fd, vector, 2, far + 1, 0L));
	truth("pread64 fd=%ld pos=%ld requested=10 returned=%ld", fd, 1L << 32,
	      RAW(pread64, fd, buffer, 10, 1L << 32)); /* a hole */
	out = RAW(openat, AT_FDCWD, "out", O_RDWR | O_CREAT, 0600);
	truth("openat fd=%ld", out);
	seek(out, 6L << 30);
	truth("sendfile fd=%ld pos=%ld out_fd=%ld out_pos=%ld requested=60 returned=%ld", fd, far,
	      out, 6L << 30, RAW(sendfile, out, fd, &from, 60));
	from = far;
	truth("copy_file_range fd=%ld pos=%ld out_fd=%ld out_pos=%ld requested=40 returned=%ld", fd,
	      far, out, (6L << 30) + 60, RAW(copy_file_range, fd, &from, out, NULL, 40, 0));
	truth("close fd=%ld", (RAW(close, out), out));
	truth("close fd=%ld", (RAW(close, fd), fd));
}

int main(int argc, char **argv)
{
	CHECK(argc == 2 && !chdir(argv[1]));
	truth_begin();
	appends();
	moves();
	far_away();
	truth_end();
	return 0;
}
