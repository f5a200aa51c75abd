/* Opens, writes, syncs, reads, asks about, closes and deletes files through io_uring, and tells the truth about
 * each request.
 *
 *     uring DIR plain|poll|fixed|registered
 *                                    poll: the kernel's polling thread takes the requests from the ring;
 *                                    fixed: files are named by their place in the ring's own table;
 *                                    registered: so is the ring itself
 *     uring DIR silent|silent-poll   1,000 writes of 100 bytes that ask for no completion, and one that fails
 */
#include "workload.h"

#include <fcntl.h>
#include <liburing.h>
#include <sys/stat.h>
#include <sys/uio.h>

static struct io_uring ring;
static bool fixed;

static struct io_uring_sqe *request(void)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);

	CHECK(sqe);
	return sqe;
}

/* Submits what was prepared and waits for its result. */
static int result(void)
{
	struct io_uring_cqe *cqe;
	int value;

	CHECK(io_uring_submit(&ring) >= 0); /* a polling thread may have taken it already */
	CHECK(!io_uring_wait_cqe(&ring, &cqe));
	value = cqe->res;
	io_uring_cqe_seen(&ring, cqe);
	return value;
}

/* The same for a request on the file behind fd, which is also the first of the ring's own. */
static int result_on_file(struct io_uring_sqe *sqe)
{
	if (fixed) {
		sqe->flags |= IOSQE_FIXED_FILE;
		sqe->fd = 0;
	}
	return result();
}

static const char *shown(int fd)
{
	static char text[16];

	snprintf(text, sizeof(text), "%d", fd);
	return fixed ? "-" : text;
}

static void transfers(const char *directory, int fd)
{
	static char data[8192];
	struct iovec vector[2] = { { data, 100 }, { data, 200 } };
	struct io_uring_sqe *sqe;

	io_uring_prep_write(sqe = request(), fd, data, sizeof(data), 0);
	truth("io_uring_write dir=W fd=%s path=%s/one pos=0 requested=8192 returned=%d", shown(fd),
	      directory, result_on_file(sqe));
	io_uring_prep_writev(sqe = request(), fd, vector, 2, 5000000000);
	truth("io_uring_writev dir=W fd=%s path=%s/one pos=5000000000 requested=300 returned=%d",
	      shown(fd), directory, result_on_file(sqe));
	io_uring_prep_fsync(sqe = request(), fd, IORING_FSYNC_DATASYNC);
	truth("io_uring_fsync fd=%s path=%s/one flags=1 returned=%d", shown(fd), directory,
	      result_on_file(sqe));
	io_uring_prep_read(sqe = request(), fd, data, 4096, 4096);
	truth("io_uring_read dir=R fd=%s path=%s/one pos=4096 requested=4096 returned=%d",
	      shown(fd), directory, result_on_file(sqe));
	io_uring_prep_read(sqe = request(), fd, data, 4096, 6000000000);
	truth("io_uring_read dir=R fd=%s path=%s/one pos=6000000000 requested=4096 returned=%d",
	      shown(fd), directory, result_on_file(sqe));
	io_uring_prep_readv(sqe = request(), fd, vector, 2, 100);
	truth("io_uring_readv dir=R fd=%s path=%s/one pos=100 requested=300 returned=%d", shown(fd),
	      directory, result_on_file(sqe));
	io_uring_prep_fallocate(sqe = request(), fd, 0, 8192, 4096);
	truth("io_uring_fallocate fd=%s path=%s/one mode=0 pos=8192 length=4096 returned=%d",
	      shown(fd), directory, result_on_file(sqe));
}

/* Where an append goes is known when it is done. */
static void appends(const char *directory)
{
	int fd;

	io_uring_prep_openat(request(), AT_FDCWD, "log", O_WRONLY | O_CREAT | O_APPEND, 0600);
	fd = result();
	truth("io_uring_openat path=%s/log arg_path=log flags=%d mode=384 fd=%d returned=%d",
	      directory, O_WRONLY | O_CREAT | O_APPEND, fd, fd);
	for (int i = 0; i < 2; i++) {
		io_uring_prep_write(request(), fd, "twelve bytes", 12, 0);
		truth("io_uring_write fd=%d path=%s/log pos=%d requested=12 returned=%d", fd,
		      directory, 12 * i, result());
	}
	io_uring_prep_close(request(), fd);
	truth("io_uring_close fd=%d path=%s/log returned=%d", fd, directory, result());
}

/* Requests that tell only of their failure. */
static void silent_writes(void)
{
	int fd = open("quiet", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	struct io_uring_sqe *sqe;
	char data[100] = { 0 };

	CHECK(fd >= 0);
	for (int i = 0; i < 1000; i++) {
		io_uring_prep_write(sqe = request(), fd, data, sizeof(data), (__u64)i * 100);
		sqe->flags |= IOSQE_CQE_SKIP_SUCCESS;
		CHECK(io_uring_submit(&ring) >= 0);
		CHECK(io_uring_sqring_wait(&ring) >=
		      0); /* until the polling thread has made room */
	}
	io_uring_prep_write(sqe = request(), -1, data, sizeof(data), 0);
	sqe->flags |= IOSQE_CQE_SKIP_SUCCESS;
	CHECK(result() == -EBADF);
	while (lseek(fd, 0, SEEK_END) < 100000) /* nothing else tells that they are done */
		usleep(1000);
}

int main(int argc, char **argv)
{
	const char *directory = argv[1], *mode = argc > 2 ? argv[2] : "plain";
	struct statx about;
	int fd;

	CHECK(argc > 1 && !chdir(directory));
	CHECK(!io_uring_queue_init(8, &ring, strstr(mode, "poll") ? IORING_SETUP_SQPOLL : 0));
	if (!strcmp(mode, "registered")) /* entered by an index, not by a descriptor */
		CHECK(io_uring_register_ring_fd(&ring) == 1);
	if (!strncmp(mode, "silent", 6)) {
		silent_writes();
		return 0;
	}
	truth_begin();
	io_uring_prep_openat(request(), AT_FDCWD, "one", O_RDWR | O_CREAT, 0640);
	fd = result();
	truth("io_uring_openat path=%s/one arg_path=one flags=%d mode=416 fd=%d returned=%d",
	      directory, O_RDWR | O_CREAT, fd, fd);
	io_uring_prep_openat(request(), AT_FDCWD, "missing", O_RDONLY, 0);
	truth("io_uring_openat arg_path=missing fd=- file=- returned=%d", result());
	fixed = !strcmp(mode, "fixed");
	if (fixed)
		CHECK(!io_uring_register_files(&ring, &fd, 1));
	transfers(directory, fd);
	fixed = false;
	appends(directory);
	io_uring_prep_statx(request(), AT_FDCWD, "one", 0, STATX_SIZE, &about);
	truth("io_uring_statx path=%s/one arg_path=one flags=0 returned=%d", directory, result());
	io_uring_prep_close(request(), fd);
	truth("io_uring_close fd=%d path=%s/one returned=%d", fd, directory, result());
	io_uring_prep_unlinkat(request(), AT_FDCWD, "one", 0);
	truth("io_uring_unlinkat path=%s/one arg_path=one returned=%d", directory, result());
	truth_end();
	io_uring_queue_exit(&ring);
	return 0;
}
