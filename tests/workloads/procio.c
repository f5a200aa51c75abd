/* Moves bytes in every way that /proc/self/io counts, and in one that it does not (splice), between two
 * readings of it; failed calls count nothing.
 *
 *     procio DIR      prints rchar and wchar of both readings: "R1 W1 R2 W2"
 */
#include "workload.h"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>

static char buffer[1 << 16];

struct counts {
	unsigned long long rchar, wchar;
};

/* The kernel takes the counts when the file is read, before it adds that read itself. */
static struct counts counts_read(void)
{
	struct counts counts;
	int fd = open("/proc/self/io", O_RDONLY);
	ssize_t length = read(fd, buffer, sizeof(buffer) - 1);

	CHECK(fd >= 0 && length > 0 && !close(fd));
	buffer[length] = 0;
	CHECK(sscanf(buffer, "rchar: %llu wchar: %llu", &counts.rchar, &counts.wchar) == 2);
	return counts;
}

static void move_bytes(void)
{
	struct iovec vector[2] = { { buffer, 1000 }, { buffer, 2000 } };
	struct msghdr message = { .msg_iov = vector, .msg_iovlen = 2 };
	off_t from = 0;
	int pipes[2], pair[2];
	int in = open("in", O_RDWR | O_CREAT | O_TRUNC, 0600);
	int out = open("out", O_RDWR | O_CREAT | O_TRUNC, 0600);

	CHECK(in >= 0 && out >= 0 && !pipe(pipes) && !socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	for (int i = 0; i < 50; i++)
		CHECK(write(in, buffer, sizeof(buffer)) == sizeof(buffer));
	for (int i = 0; i < 30; i++)
		CHECK(pread(in, buffer, 7000, i * 5000) == 7000);
	CHECK(writev(out, vector, 2) == 3000 && preadv(in, vector, 2, 10) == 3000);
	CHECK(pwritev(out, vector, 2, 100000) == 3000 && pwrite(out, buffer, 10, 3) == 10);
	CHECK(lseek(in, 0, SEEK_SET) == 0 && read(in, buffer, 999) == 999);
	CHECK(sendfile(out, in, &from, 12345) == 12345);
	from = 0;
	CHECK(copy_file_range(in, &from, out, NULL, 54321, 0) == 54321);
	from = 0;
	CHECK(splice(in, &from, pipes[1], NULL, 4096, 0) == 4096); /* counts nothing */
	CHECK(read(pipes[0], buffer, 4096) == 4096);
	CHECK(sendto(pair[0], buffer, 77, 0, NULL, 0) == 77 && recv(pair[1], buffer, 100, 0) == 77);
	CHECK(sendmsg(pair[0], &message, 0) == 3000 && recvmsg(pair[1], &message, 0) == 3000);
	CHECK(read(777, buffer, 10) == -1 && write(777, buffer, 10) == -1);
	close(in);
	close(out);
}

int main(int argc, char **argv)
{
	struct counts before, after;

	CHECK(argc == 2 && !chdir(argv[1]));
	syscall(SYS_access, "FIRST READING", 0);
	before = counts_read();
	move_bytes();
	if (!fork()) { /* a child's bytes count for its parent once it is reaped */
		move_bytes();
		_exit(0);
	}
	CHECK(wait(NULL) > 0);
	after = counts_read();
	syscall(SYS_access, "SECOND READING", 0);
	printf("%llu %llu %llu %llu\n", before.rchar, before.wchar, after.rchar, after.wchar);
	return 0;
}
