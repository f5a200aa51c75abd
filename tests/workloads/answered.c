/* Calls that a seccomp filter answers, as the filters of containers do: at once with an error, or by a supervisor that takes its
 * time. The kernel tells tracers of the end of such a call, not of its beginning.
 *
 *     answered DIR      prints when it began and ended the three calls, on the clock of ts: `mkdir BEGIN END`
 */
#include "workload.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>

static unsigned long long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_BOOTTIME, &time);
	return (unsigned long long)time.tv_sec * 1000000000u + (unsigned long long)time.tv_nsec;
}

/* mkdir fails; rmdir is for the supervisor. */
static int install_filter(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mkdir, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rmdir, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
			    &program);
}

static void *supervise(void *context)
{
	int listener = *(int *)context;
	struct seccomp_notif question;
	struct seccomp_notif_resp answer;

	for (;;) {
		memset(&question, 0, sizeof(question));
		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &question))
			return NULL;
		usleep(50000);
		answer = (struct seccomp_notif_resp){ .id = question.id, .error = -ENOTEMPTY };
		ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
	}
}

#define TIMED(name, call, error)                            \
	do {                                                \
		unsigned long long begin_ = now();          \
                                                            \
		CHECK((call) == -1 && errno == (error));    \
		printf(name " %llu %llu\n", begin_, now()); \
	} while (0)

int main(int argc, char **argv)
{
	pthread_t supervisor;
	int listener;

	CHECK(argc == 2 && !chdir(argv[1]));
	listener = install_filter();
	CHECK(listener >= 0 && !pthread_create(&supervisor, NULL, supervise, &listener));
	usleep(300000); /* long after the recording began */
	TIMED("mkdir", mkdir("refused", 0700), EPERM);
	TIMED("mkdir", mkdir("refused", 0700), EPERM);
	TIMED("rmdir", rmdir("supervised"), ENOTEMPTY);
	fflush(stdout);
	_exit(0);
}
