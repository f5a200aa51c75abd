/* Calls on descriptors, attributes and advice, several messages at once, copies between pipes and other processes' memory: each
 * at least once, with the truth about it.
 *
 *     morecalls DIR      works in DIR, which must be empty
 */
#include "workload.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <utime.h>

#ifndef SYS_fchmodat2
#	define SYS_fchmodat2 452
#endif

static char dir[PATH_MAX];
static char buffer[4096];

static void descriptor_calls(long fd)
{
	struct flock lock = { .l_type = F_WRLCK, .l_len = 10 };
	long copy;

	copy = RAW(dup, fd);
	truth("dup fd=%ld path=%s/file returned=%ld", fd, dir, copy);
	truth("dup2 fd=%ld returned=%ld", fd, RAW(dup2, fd, copy));
	truth("dup3 fd=%ld flags=%d returned=%ld", fd, O_CLOEXEC, RAW(dup3, fd, copy, O_CLOEXEC));
	truth("close_range fd=%ld length=%ld flags=0 returned=%ld", copy, copy + 3,
	      RAW(close_range, copy, copy + 3, 0));
	truth("fcntl fd=%ld flags=%d path=%s/file returned=%ld", fd, F_SETLK, dir,
	      RAW(fcntl, fd, F_SETLK, &lock));
	truth("flock fd=%ld flags=%d path=%s/file returned=%ld", fd, LOCK_EX, dir,
	      RAW(flock, fd, LOCK_EX));
	truth("lseek fd=%ld pos=-5 flags=%d path=%s/file returned=%ld", fd, SEEK_END, dir,
	      RAW(lseek, fd, -5L, SEEK_END));
	truth("readahead fd=%ld pos=0 length=4096 path=%s/file returned=%ld", fd, dir,
	      RAW(readahead, fd, 0L, 4096L));
	truth("fadvise64 fd=%ld pos=10 length=20 flags=%d returned=%ld", fd, POSIX_FADV_WILLNEED,
	      RAW(fadvise64, fd, 10L, 20L, POSIX_FADV_WILLNEED));
	truth("sync_file_range fd=%ld pos=0 length=100 flags=%d returned=%ld", fd,
	      SYNC_FILE_RANGE_WRITE, RAW(sync_file_range, fd, 0L, 100L, SYNC_FILE_RANGE_WRITE));
	truth("syncfs fd=%ld path=%s/file returned=%ld", fd, dir, RAW(syncfs, fd));
	truth("sync fd=- path=- returned=%ld", RAW(sync));
}

static void stat_calls(long fd)
{
	char handle[128] = { 120 };
	struct statfs about;
	int mount;

	truth("symlink arg_path=file arg_path2=link returned=%ld", RAW(symlink, "file", "link"));
	truth("readlink arg_path=link length=100 path=%s/link returned=%ld", dir,
	      RAW(readlink, "link", buffer, 100));
	truth("readlinkat arg_path=link length=100 returned=%ld",
	      RAW(readlinkat, AT_FDCWD, "link", buffer, 100));
	truth("statfs arg_path=file path=%s/file returned=%ld", dir, RAW(statfs, "file", &about));
	truth("fstatfs fd=%ld path=%s/file returned=%ld", fd, dir, RAW(fstatfs, fd, &about));
	truth("name_to_handle_at arg_path=missing flags=0 returned=%ld",
	      RAW(name_to_handle_at, AT_FDCWD, "missing", handle, &mount, 0));
	truth("open_by_handle_at fd=- flags=0 returned=%ld",
	      RAW(open_by_handle_at, fd, (void *)8, 0));
	truth("chdir arg_path=. returned=%ld", RAW(chdir, "."));
	truth("fchdir fd=%ld returned=%ld", fd, RAW(fchdir, fd));
}

static void attribute_calls(long fd)
{
	struct timeval times[2] = { { 1, 0 }, { 2, 0 } };
	struct utimbuf both = { 3, 4 };

	truth("mknod arg_path=fifo mode=%d path=%s/fifo returned=%ld", S_IFIFO | 0600, dir,
	      RAW(mknod, "fifo", S_IFIFO | 0600, 0));
	truth("mknodat arg_path=other mode=%d returned=%ld", S_IFIFO | 0600,
	      RAW(mknodat, AT_FDCWD, "other", S_IFIFO | 0600, 0));
	truth("chmod arg_path=file mode=%d path=%s/file returned=%ld", 0640, dir,
	      RAW(chmod, "file", 0640));
	truth("fchmod fd=%ld mode=%d returned=%ld", fd, 0600, RAW(fchmod, fd, 0600));
	truth("fchmodat arg_path=file mode=%d returned=%ld", 0640,
	      RAW(fchmodat, AT_FDCWD, "file", 0640));
	truth("fchmodat2 arg_path=file mode=%d flags=0 returned=%ld", 0600,
	      RAW(fchmodat2, AT_FDCWD, "file", 0600, 0));
	truth("chown arg_path=file returned=%ld", RAW(chown, "file", getuid(), getgid()));
	truth("lchown arg_path=link returned=%ld", RAW(lchown, "link", getuid(), getgid()));
	truth("fchown fd=%ld returned=%ld", fd, RAW(fchown, fd, getuid(), getgid()));
	truth("fchownat arg_path=file flags=0 returned=%ld",
	      RAW(fchownat, AT_FDCWD, "file", getuid(), getgid(), 0));
	truth("utime arg_path=file returned=%ld", RAW(utime, "file", &both));
	truth("utimes arg_path=file returned=%ld", RAW(utimes, "file", times));
	truth("futimesat arg_path=file returned=%ld", RAW(futimesat, AT_FDCWD, "file", times));
	truth("utimensat arg_path=file flags=0 returned=%ld",
	      RAW(utimensat, AT_FDCWD, "file", NULL, 0));
}

static void xattr_calls(long fd)
{
	truth("setxattr arg_path=file length=2 flags=0 path=%s/file returned=%ld", dir,
	      RAW(setxattr, "file", "user.a", "xy", 2L, 0));
	truth("lsetxattr arg_path=file length=2 flags=0 returned=%ld",
	      RAW(lsetxattr, "file", "user.b", "xy", 2L, 0));
	truth("fsetxattr fd=%ld length=2 flags=0 returned=%ld", fd,
	      RAW(fsetxattr, fd, "user.c", "xy", 2L, 0));
	truth("getxattr arg_path=file length=50 returned=%ld",
	      RAW(getxattr, "file", "user.a", buffer, 50L));
	truth("lgetxattr arg_path=file length=50 returned=%ld",
	      RAW(lgetxattr, "file", "user.a", buffer, 50L));
	truth("fgetxattr fd=%ld length=50 returned=%ld", fd,
	      RAW(fgetxattr, fd, "user.a", buffer, 50L));
	truth("listxattr arg_path=file length=50 returned=%ld",
	      RAW(listxattr, "file", buffer, 50L));
	truth("llistxattr arg_path=file length=50 returned=%ld",
	      RAW(llistxattr, "file", buffer, 50L));
	truth("flistxattr fd=%ld length=50 returned=%ld", fd, RAW(flistxattr, fd, buffer, 50L));
	truth("removexattr arg_path=file returned=%ld", RAW(removexattr, "file", "user.a"));
	truth("lremovexattr arg_path=file returned=%ld", RAW(lremovexattr, "file", "user.b"));
	truth("fremovexattr fd=%ld returned=%ld", fd, RAW(fremovexattr, fd, "user.c"));
}

static void message_calls(void)
{
	struct iovec vector[3] = { { buffer, 10 }, { buffer, 20 }, { buffer, 30 } };
	struct mmsghdr messages[2] = { { .msg_hdr = { .msg_iov = vector, .msg_iovlen = 2 } },
				       { .msg_hdr = { .msg_iov = vector + 2, .msg_iovlen = 1 } } };
	int pair[2];

	CHECK(!socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
	/* Two messages of 30 bytes each: what is told as returned are bytes. */
	CHECK(RAW(sendmmsg, pair[0], messages, 2, 0) == 2);
	truth("sendmmsg dir=W fd=%d pos=- requested=60 returned=60", pair[0]);
	vector[2].iov_len = 25;
	CHECK(RAW(recvmmsg, pair[1], messages, 2, 0, NULL) == 2);
	truth("recvmmsg dir=R fd=%d pos=- requested=55 returned=55", pair[1]);
	CHECK(RAW(recvmmsg, pair[1], messages, 2, MSG_DONTWAIT, NULL) == -EAGAIN);
	truth("recvmmsg fd=%d requested=55 returned=-11", pair[1]);
}

static void pipe_calls(void)
{
	struct iovec vector[2] = { { buffer, 100 }, { buffer, 50 } };
	int first[2], second[2];

	CHECK(!pipe(first) && !pipe(second));
	truth("vmsplice dir=W fd=%d pos=- requested=150 returned=%ld", first[1],
	      RAW(vmsplice, first[1], vector, 2, 0));
	truth("tee dir=C fd=%d out_fd=%d pos=- out_pos=- requested=70 returned=%ld", first[0],
	      second[1], RAW(tee, first[0], second[1], 70L, 0));
	truth("vmsplice dir=R fd=%d requested=100 returned=%ld", second[0],
	      RAW(vmsplice, second[0], vector, 1, 0));
	truth("process_vm_readv dir=R fd=- file=- pos=- requested=150 returned=%ld",
	      RAW(process_vm_readv, getpid(), vector, 2, vector, 2, 0));
	truth("process_vm_writev dir=W fd=- requested=50 returned=%ld",
	      RAW(process_vm_writev, getpid(), vector + 1, 1, vector, 1, 0));
}

int main(int argc, char **argv)
{
	long fd, memory;

	CHECK(argc == 2 && !chdir(argv[1]) && getcwd(dir, sizeof(dir)));
	truth_begin();
	fd = RAW(open, "file", O_RDWR | O_CREAT, 0600);
	truth("open fd=%ld path=%s/file returned=%ld", fd, dir, fd);
	truth("write fd=%ld returned=%ld", fd, RAW(write, fd, buffer, 1000));
	descriptor_calls(fd);
	stat_calls(fd);
	attribute_calls(fd);
	xattr_calls(fd);
	message_calls();
	pipe_calls();
	memory = RAW(memfd_create, "name", MFD_CLOEXEC);
	truth("memfd_create fd=%ld flags=%d returned=%ld", memory, MFD_CLOEXEC, memory);
	truth_end();
	return 0;
}
