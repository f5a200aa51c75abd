/* Makes every recorded call at least once, with results and errors, and tells the truth about each.
 *
 *     syscalls DIR      works in DIR, which must be empty, and leaves it empty but for `kept`
 */
#include "workload.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

static char dir[PATH_MAX];
static char buffer[1 << 16];
static char *const bad_pointer = (char *)8;

static void data_calls(void)
{
	struct iovec vector[3] = { { buffer, 1000 }, { buffer, 0 }, { buffer, 234 } };
	long fd = RAW(openat, AT_FDCWD, "data", O_RDWR | O_CREAT | O_TRUNC, 0640);
	long ret;

	truth("openat fd=%ld arg_path=data flags=%d mode=%d returned=%ld path=%s/data", fd,
	      O_RDWR | O_CREAT | O_TRUNC, 0640, fd, dir);
	ret = RAW(write, fd, buffer, 5000);
	truth("write dir=W fd=%ld pos=0 requested=5000 returned=%ld path=%s/data", fd, ret, dir);
	ret = RAW(pwrite64, fd, buffer, 300, 10000L);
	truth("pwrite64 dir=W fd=%ld pos=10000 requested=300 returned=%ld path=%s/data", fd, ret,
	      dir);
	ret = RAW(writev, fd, vector, 3);
	truth("writev dir=W fd=%ld pos=5000 requested=1234 returned=%ld path=%s/data", fd, ret,
	      dir);
	ret = RAW(pwritev, fd, vector, 3, 20000L, 0L);
	truth("pwritev dir=W fd=%ld pos=20000 requested=1234 returned=%ld path=%s/data", fd, ret,
	      dir);
	ret = RAW(pwritev2, fd, vector, 1, 30000L, 0L, 0);
	truth("pwritev2 dir=W fd=%ld pos=30000 requested=1000 returned=%ld path=%s/data", fd, ret,
	      dir);
	ret = RAW(read, fd, buffer, 4000);
	truth("read dir=R fd=%ld pos=6234 requested=4000 returned=%ld path=%s/data", fd, ret, dir);
	ret = RAW(pread64, fd, buffer, 500, 100L);
	truth("pread64 dir=R fd=%ld pos=100 requested=500 returned=%ld path=%s/data", fd, ret, dir);
	ret = RAW(readv, fd, vector, 3);
	truth("readv dir=R fd=%ld pos=10234 requested=1234 returned=%ld path=%s/data", fd, ret,
	      dir);
	ret = RAW(preadv, fd, vector, 2, 7L, 0L);
	truth("preadv dir=R fd=%ld pos=7 requested=1000 returned=%ld path=%s/data", fd, ret, dir);
	ret = RAW(preadv2, fd, vector, 3, 30500L, 0L, 0);
	truth("preadv2 dir=R fd=%ld pos=30500 requested=1234 returned=%ld path=%s/data", fd, ret,
	      dir);
	ret = RAW(pread64, fd, buffer, 500, 1L << 40);
	truth("pread64 fd=%ld pos=%ld requested=500 returned=0", fd, 1L << 40);
	ret = RAW(close, fd);
	truth("close fd=%ld returned=%ld path=%s/data", fd, ret, dir);
}

static void data_errors(void)
{
	struct iovec vector = { bad_pointer, 100 };
	int pipes[2];
	long fd, ret;

	ret = RAW(read, 777, buffer, 10);
	truth("read fd=777 file=- pos=- requested=10 returned=%ld path=-", ret); /* EBADF */
	fd = RAW(openat, AT_FDCWD, "data", O_RDONLY, 0);
	truth("openat fd=%ld mode=- returned=%ld", fd, fd);
	ret = RAW(write, fd, buffer, 10);
	truth("write fd=%ld requested=10 returned=%ld", fd,
	      ret); /* EBADF: open, but not for writing */
	ret = RAW(read, fd, bad_pointer, 10);
	truth("read fd=%ld pos=0 requested=10 returned=%ld", fd, ret); /* EFAULT */
	ret = RAW(readv, fd, &vector, 1);
	truth("readv fd=%ld pos=0 requested=100 returned=%ld", fd, ret); /* EFAULT, the bytes */
	ret = RAW(pread64, fd, buffer, 10, -1L);
	truth("pread64 fd=%ld requested=10 returned=%ld", fd, ret); /* EINVAL */
	ret = RAW(close, fd);
	truth("close fd=%ld returned=%ld", fd, ret);
	ret = RAW(close, fd);
	truth("close fd=%ld returned=%ld file=- path=-", fd, ret); /* EBADF */

	CHECK(!pipe2(pipes, O_NONBLOCK));
	ret = RAW(read, pipes[0], buffer, 64);
	truth("read fd=%d pos=- requested=64 returned=%ld", pipes[0], ret); /* EAGAIN */
	ret = RAW(write, pipes[1], buffer, 64);
	truth("write fd=%d pos=- requested=64 returned=%ld", pipes[1], ret);
	ret = RAW(read, pipes[0], buffer, 4096);
	truth("read fd=%d pos=- requested=4096 returned=%ld", pipes[0], ret);
	for (int i = 0; i < 2; i++) {
		ret = RAW(close, pipes[i]);
		truth("close fd=%d returned=%ld", pipes[i], ret);
	}
}

static void socket_calls(void)
{
	struct iovec vector[2] = { { buffer, 100 }, { buffer, 50 } };
	struct msghdr message = { .msg_iov = vector, .msg_iovlen = 2 };
	int pair[2];
	long ret;

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	ret = RAW(sendto, pair[0], buffer, 333, 0, NULL, 0);
	truth("sendto dir=W fd=%d pos=- requested=333 returned=%ld", pair[0], ret);
	ret = RAW(recvfrom, pair[1], buffer, 1000, 0, NULL, NULL);
	truth("recvfrom dir=R fd=%d pos=- requested=1000 returned=%ld", pair[1], ret);
	ret = RAW(sendmsg, pair[1], &message, 0);
	truth("sendmsg dir=W fd=%d pos=- requested=150 returned=%ld", pair[1], ret);
	message.msg_iovlen = 1;
	ret = RAW(recvmsg, pair[0], &message, 0);
	truth("recvmsg dir=R fd=%d pos=- requested=100 returned=%ld", pair[0], ret);
	ret = RAW(recvfrom, pair[1], buffer, 10, MSG_DONTWAIT, NULL, NULL);
	truth("recvfrom fd=%d requested=10 returned=%ld", pair[1], ret); /* EAGAIN */
	for (int i = 0; i < 2; i++) {
		ret = RAW(close, pair[i]);
		truth("close fd=%d returned=%ld", pair[i], ret);
	}
}

static void copy_calls(void)
{
	long in = RAW(open, "data", O_RDONLY);
	long out, ret;
	off_t from = 40, to = 8000;
	int pipes[2];

	truth("open fd=%ld arg_path=data flags=0 returned=%ld path=%s/data", in, in, dir);
	out = RAW(creat, "copy", 0600);
	truth("creat fd=%ld arg_path=copy mode=%d returned=%ld path=%s/copy", out, 0600, out, dir);
	ret = RAW(sendfile, out, in, NULL, 700);
	truth("sendfile dir=C fd=%ld pos=0 out_fd=%ld out_pos=0 requested=700 returned=%ld "
	      "path=%s/data out_path=%s/copy",
	      in, out, ret, dir, dir);
	ret = RAW(sendfile, out, in, &from, 60);
	truth("sendfile fd=%ld pos=40 out_fd=%ld out_pos=700 requested=60 returned=%ld", in, out,
	      ret);
	ret = RAW(copy_file_range, in, NULL, out, NULL, 500, 0);
	truth("copy_file_range dir=C fd=%ld pos=700 out_fd=%ld out_pos=760 requested=500 "
	      "returned=%ld "
	      "path=%s/data out_path=%s/copy",
	      in, out, ret, dir, dir);
	from = 9;
	ret = RAW(copy_file_range, in, &from, out, &to, 100, 0);
	truth("copy_file_range fd=%ld pos=9 out_fd=%ld out_pos=8000 requested=100 returned=%ld", in,
	      out, ret);
	CHECK(!pipe(pipes));
	from = 11;
	ret = RAW(splice, in, &from, pipes[1], NULL, 2000, 0);
	truth("splice dir=C fd=%ld pos=11 out_fd=%d out_pos=- requested=2000 returned=%ld "
	      "path=%s/data",
	      in, pipes[1], ret, dir);
	to = 4096;
	ret = RAW(splice, pipes[0], NULL, out, &to, 2000, 0);
	truth("splice dir=C fd=%d pos=- out_fd=%ld out_pos=4096 requested=2000 returned=%ld "
	      "out_path=%s/copy",
	      pipes[0], out, ret, dir);
	ret = RAW(copy_file_range, in, NULL, 777, NULL, 500, 0);
	truth("copy_file_range fd=%ld out_fd=777 out_file=- requested=500 returned=%ld", in, ret);
	for (int i = 0; i < 2; i++) {
		ret = RAW(close, pipes[i]);
		truth("close fd=%d returned=%ld", pipes[i], ret);
	}
	ret = RAW(close, out);
	truth("close fd=%ld returned=%ld path=%s/copy", out, ret, dir);
	ret = RAW(close, in);
	truth("close fd=%ld returned=%ld path=%s/data", in, ret, dir);
}

static void stat_calls(void)
{
	struct stat status;
	struct statx statx_status;
	long fd = RAW(open, ".", O_RDONLY | O_DIRECTORY);
	long ret;

	truth("open fd=%ld arg_path=. returned=%ld flags=%d", fd, fd, O_RDONLY | O_DIRECTORY);
	ret = RAW(stat, "data", &status);
	truth("stat arg_path=data fd=- file=- returned=%ld path=%s/data", ret, dir);
	ret = RAW(lstat, "nowhere", &status);
	truth("lstat arg_path=nowhere returned=%ld path=%s/nowhere", ret, dir); /* ENOENT */
	ret = RAW(fstat, fd, &status);
	truth("fstat fd=%ld returned=%ld path=%s", fd, ret, dir);
	ret = RAW(newfstatat, fd, "copy", &status, AT_SYMLINK_NOFOLLOW);
	truth("newfstatat arg_path=copy flags=%d returned=%ld path=%s/copy", AT_SYMLINK_NOFOLLOW,
	      ret, dir);
	ret = RAW(statx, AT_FDCWD, "/etc", 0, STATX_SIZE, &statx_status);
	truth("statx arg_path=/etc flags=0 returned=%ld path=/etc", ret);
	ret = RAW(access, "data", R_OK);
	truth("access arg_path=data mode=%d returned=%ld", R_OK, ret);
	ret = RAW(faccessat, fd, "data/below", F_OK);
	truth("faccessat arg_path=data/below mode=0 returned=%ld", ret); /* ENOTDIR */
	ret = RAW(faccessat2, fd, "data", W_OK, AT_EACCESS);
	truth("faccessat2 arg_path=data mode=%d flags=%d returned=%ld", W_OK, AT_EACCESS, ret);
	ret = RAW(stat, bad_pointer, &status);
	truth("stat arg_path=- returned=%ld", ret); /* EFAULT */
	ret = RAW(getdents64, fd, buffer, 4096);
	truth("getdents64 fd=%ld length=4096 returned=%ld path=%s", fd, ret, dir);
	ret = RAW(getdents, fd, buffer, 1024);
	truth("getdents fd=%ld length=1024 returned=%ld path=%s", fd, ret, dir);
	ret = RAW(close, fd);
	truth("close fd=%ld returned=%ld path=%s", fd, ret, dir);
}

static void name_calls(void)
{
	long fd, ret;

	ret = RAW(mkdir, "one", 0755);
	truth("mkdir arg_path=one mode=%d returned=%ld path=%s/one", 0755, ret, dir);
	ret = RAW(mkdir, "one", 0700);
	truth("mkdir arg_path=one mode=%d returned=%ld", 0700, ret); /* EEXIST */
	fd = RAW(openat, AT_FDCWD, "one", O_PATH);
	truth("openat fd=%ld arg_path=one flags=%d returned=%ld path=%s/one", fd, O_PATH, fd, dir);
	ret = RAW(mkdirat, fd, "two", 0711);
	truth("mkdirat arg_path=two fd=- mode=%d returned=%ld path=%s/one/two", 0711, ret, dir);
	ret = RAW(rmdir, "one");
	truth("rmdir arg_path=one returned=%ld", ret); /* ENOTEMPTY */
	ret = RAW(link, "copy", "one/link");
	truth("link arg_path=copy arg_path2=one/link returned=%ld path=%s/copy", ret, dir);
	ret = RAW(linkat, fd, "link", AT_FDCWD, "link2", 0);
	truth("linkat arg_path=link arg_path2=link2 flags=0 returned=%ld path=%s/one/link", ret,
	      dir);
	ret = RAW(symlink, "data", "one/symlink");
	truth("symlink arg_path=data arg_path2=one/symlink returned=%ld", ret);
	ret = RAW(symlinkat, "../data", fd, "symlink2");
	truth("symlinkat arg_path=../data arg_path2=symlink2 returned=%ld", ret);
	ret = RAW(rename, "link2", "link3");
	truth("rename arg_path=link2 arg_path2=link3 returned=%ld path=%s/link2", ret, dir);
	ret = RAW(renameat, AT_FDCWD, "link3", fd, "link4");
	truth("renameat arg_path=link3 arg_path2=link4 returned=%ld", ret);
	ret = RAW(renameat2, fd, "link4", AT_FDCWD, "copy", RENAME_NOREPLACE);
	truth("renameat2 arg_path=link4 arg_path2=copy flags=%d returned=%ld path=%s/one/link4",
	      RENAME_NOREPLACE, ret, dir); /* EEXIST */
	ret = RAW(unlink, "one/link");
	truth("unlink arg_path=one/link returned=%ld path=%s/one/link", ret, dir);
	ret = RAW(unlinkat, fd, "link4", 0);
	truth("unlinkat arg_path=link4 flags=0 returned=%ld path=%s/one/link4", ret, dir);
	ret = RAW(unlinkat, fd, "symlink", 0);
	truth("unlinkat arg_path=symlink returned=%ld", ret);
	ret = RAW(unlinkat, fd, "symlink2", 0);
	truth("unlinkat arg_path=symlink2 returned=%ld", ret);
	ret = RAW(unlinkat, fd, "two", AT_REMOVEDIR);
	truth("unlinkat arg_path=two flags=%d returned=%ld", AT_REMOVEDIR, ret);
	ret = RAW(unlink, "nowhere");
	truth("unlink arg_path=nowhere returned=%ld", ret); /* ENOENT */
	ret = RAW(close, fd);
	truth("close fd=%ld returned=%ld path=%s/one", fd, ret, dir);
	ret = RAW(rmdir, "one");
	truth("rmdir arg_path=one returned=%ld", ret);
}

static void size_calls(void)
{
	struct open_how how = { .flags = O_RDWR | O_CREAT, .mode = 0600 };
	long fd = RAW(openat2, AT_FDCWD, "kept", &how, sizeof(how));
	long ret;

	truth("openat2 fd=%ld arg_path=kept returned=%ld path=%s/kept", fd, fd, dir);
	ret = RAW(ftruncate, fd, 5L << 30);
	truth("ftruncate fd=%ld length=%ld returned=%ld path=%s/kept", fd, 5L << 30, ret, dir);
	ret = RAW(truncate, "kept", 6L << 30);
	truth("truncate arg_path=kept fd=- length=%ld returned=%ld path=%s/kept", 6L << 30, ret,
	      dir);
	ret = RAW(fallocate, fd, FALLOC_FL_KEEP_SIZE, 5L << 30, 8192L);
	truth("fallocate fd=%ld mode=%d pos=%ld length=8192 returned=%ld", fd, FALLOC_FL_KEEP_SIZE,
	      5L << 30, ret);
	ret = RAW(fsync, fd);
	truth("fsync fd=%ld returned=%ld path=%s/kept", fd, ret, dir);
	ret = RAW(fdatasync, fd);
	truth("fdatasync fd=%ld returned=%ld path=%s/kept", fd, ret, dir);
	ret = RAW(fsync, 777);
	truth("fsync fd=777 returned=%ld file=-", ret); /* EBADF */
	ret = RAW(close, fd);
	truth("close fd=%ld returned=%ld", fd, ret);
}

static void memory_calls(void)
{
	long fd = RAW(openat, AT_FDCWD, "data", O_RDWR);
	long map, anonymous, ret;

	truth("openat fd=%ld returned=%ld", fd, fd);
	map = RAW(mmap, 0L, 8192L, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 4096L);
	truth("mmap addr=0 length=8192 prot=%d flags=%d fd=%ld pos=4096 returned=%ld path=%s/data",
	      PROT_READ | PROT_WRITE, MAP_SHARED, fd, map, dir);
	anonymous = RAW(mmap, 0L, 65536L, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L);
	truth("mmap length=65536 prot=0 flags=%d fd=- file=- pos=- returned=%ld path=-",
	      MAP_PRIVATE | MAP_ANONYMOUS, anonymous);
	ret = RAW(mmap, 0L, 4096L, PROT_READ, MAP_SHARED, 777, 0L);
	truth("mmap fd=777 file=- returned=%ld", ret); /* EBADF */
	ret = RAW(madvise, anonymous, 4096L, MADV_DONTNEED);
	truth("madvise addr=%ld length=4096 flags=%d returned=%ld", anonymous, MADV_DONTNEED, ret);
	ret = RAW(msync, map, 8192L, MS_ASYNC);
	truth("msync addr=%ld length=8192 flags=%d returned=%ld", map, MS_ASYNC, ret);
	ret = RAW(mremap, anonymous, 65536L, 131072L, MREMAP_MAYMOVE);
	truth("mremap addr=%ld old_length=65536 length=131072 flags=%d returned=%ld", anonymous,
	      MREMAP_MAYMOVE, ret);
	anonymous = ret;
	ret = RAW(munmap, anonymous, 131072L);
	truth("munmap addr=%ld length=131072 returned=%ld", anonymous, ret);
	ret = RAW(munmap, 1L, 4096L);
	truth("munmap addr=1 length=4096 returned=%ld", ret); /* EINVAL */
	ret = RAW(munmap, map, 8192L);
	truth("munmap addr=%ld length=8192 returned=%ld", map, ret);
	ret = RAW(close, fd);
	truth("close fd=%ld returned=%ld", fd, ret);
}

int main(int argc, char **argv)
{
	CHECK(argc == 2 && !chdir(argv[1]) && getcwd(dir, sizeof(dir)));
	umask(0);
	truth_begin();
	data_calls();
	data_errors();
	socket_calls();
	copy_calls();
	stat_calls();
	name_calls();
	size_calls();
	memory_calls();
	truth("unlink arg_path=data returned=%ld", RAW(unlink, "data"));
	truth("unlink arg_path=copy returned=%ld", RAW(unlink, "copy"));
	truth_end();
	return 0;
}
