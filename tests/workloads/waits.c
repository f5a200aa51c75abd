/* Calls that sleep, each ROUNDS times until somebody ends the sleep and, where it can, ROUNDS times until it times out. The
 * truth is told line by line: the call, its first argument, descriptor, file, timeout and result, and the clocks around it.
 *
 *     waits
 *
 * A second thread ends the sleeps. It does so once /proc shows the first one asleep in the call that was announced, so that
 * no call returns without a sleep.
 */
#include <fcntl.h>
#include <liburing.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

#include "workload.h"

#define ROUNDS	  3
#define SOON_MS	  15
#define SOON_NS	  (SOON_MS * 1000000ll)
#define WAIT_FULL 4096 /* seconds: never meant to pass */

enum wake {
	WAKE_NONE,
	WAKE_WRITE,
	WAKE_FUTEX,
	WAKE_CONNECT,
	WAKE_ACCEPT,
	WAKE_CHILD,
	WAKE_SEM,
	WAKE_MSG,
	WAKE_MQ,
	WAKE_SIGNAL,
	WAKE_SIGNAL_AND_CHILD,
};

static struct {
	enum wake wake; /* atomic: set by the sleeper, cleared by the waker */
	long number;	/* of the call to wait for */
	int tid;
	int pipe[2];  /* ready to be read when it is written to */
	int child[2]; /* a child ends when it can read from it */
	int listener; /* nobody waits to be accepted */
	int full;     /* no room for another connection */
	int sem, msg;
	int mq;
	uint32_t word;
	int handled; /* signals */
	struct sockaddr_un name, full_name;
} at;

static const struct timespec soon = { 0, SOON_NS }, never = { WAIT_FULL, 0 };
static char pipe_path[64], epoll_path[64], listener_path[64], ring_path[64];
static uint64_t clocks[2][2];

/* ---- the waker ---- */

static int asleep_in(long number)
{
	char path[64], text[256];
	ssize_t size;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", at.tid);
	fd = open(path, O_RDONLY);
	CHECK(fd >= 0);
	size = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[size > 0 ? size : 0] = 0;
	return text[0] >= '0' && text[0] <= '9' && atol(text) == number;
}

/* Interrupts a wait for a child and, when it has been begun anew, ends the child. */
static void end_again(void)
{
	const struct timespec moment = { 0, 1000000 };
	int before = at.handled;

	CHECK(!RAW(tgkill, getpid(), at.tid, SIGUSR1));
	while (__atomic_load_n(&at.handled, __ATOMIC_SEQ_CST) == before || !asleep_in(at.number))
		nanosleep(&moment, NULL);
	CHECK(write(at.child[1], "x", 1) == 1);
}

static void end_sleep(enum wake wake)
{
	struct sembuf up = { 0, 1, 0 };
	struct {
		long type;
		char text[4];
	} message = { 1, "abc" };
	int fd;

	switch (wake) {
	case WAKE_WRITE: CHECK(write(at.pipe[1], "x", 1) == 1); break;
	case WAKE_CHILD: CHECK(write(at.child[1], "x", 1) == 1); break;
	case WAKE_FUTEX: CHECK(RAW(futex, &at.word, FUTEX_WAKE, 1, NULL, NULL, 0) == 1); break;
	case WAKE_CONNECT:
		fd = socket(AF_UNIX, SOCK_STREAM, 0);
		CHECK(!connect(fd, (void *)&at.name, sizeof(at.name)));
		close(fd);
		break;
	case WAKE_ACCEPT: close(accept(at.full, NULL, NULL)); break;
	case WAKE_SEM: CHECK(!semop(at.sem, &up, 1)); break;
	case WAKE_MSG: CHECK(!msgsnd(at.msg, &message, sizeof(message.text), 0)); break;
	case WAKE_MQ: CHECK(!RAW(mq_timedsend, at.mq, "m", 1, 0, NULL)); break;
	case WAKE_SIGNAL: CHECK(!RAW(tgkill, getpid(), at.tid, SIGUSR1)); break;
	case WAKE_SIGNAL_AND_CHILD: end_again(); break;
	case WAKE_NONE: break;
	}
}

static void *waker(void *unused)
{
	const struct timespec moment = { 0, 1000000 };

	(void)unused;
	for (;;) {
		enum wake wake = __atomic_load_n(&at.wake, __ATOMIC_SEQ_CST);

		if (wake && asleep_in(at.number)) {
			__atomic_store_n(&at.wake, WAKE_NONE, __ATOMIC_SEQ_CST);
			end_sleep(wake);
		}
		nanosleep(&moment, NULL);
	}
	return NULL;
}

/* ---- the sleeper ---- */

static uint64_t now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void look_at_clocks(int which)
{
	clocks[which][0] = now(CLOCK_BOOTTIME);
	clocks[which][1] = now(CLOCK_THREAD_CPUTIME_ID);
}

/* CALL(wake, timeout, fd, path, name, arguments...): makes the call and tells of it. timeout: "-", or digits. */
#define CALL(wake_, timeout_, fd_, path_, name_, ...)                                        \
	({                                                                                   \
		long result_;                                                                \
                                                                                             \
		at.number = SYS_##name_;                                                     \
		__atomic_store_n(&at.wake, wake_, __ATOMIC_SEQ_CST);                         \
		look_at_clocks(0);                                                           \
		result_ = RAW(name_, __VA_ARGS__);                                           \
		look_at_clocks(1);                                                           \
		tell(#name_, (uint64_t)(FIRST(__VA_ARGS__)), fd_, path_, timeout_, result_); \
		result_;                                                                     \
	})
#define FIRST(...)	     FIRST_OF(__VA_ARGS__, 0)
#define FIRST_OF(first, ...) first

static void tell(const char *name, uint64_t arg0, int fd, const char *path, const char *timeout,
		 long result)
{
	const char *restarted = result == -EINTR ? "false" : "-";
	char number[16] = "-";

	if (fd >= 0)
		snprintf(number, sizeof(number), "%d", fd);
	truth("%s arg0=%llu fd=%s path=%s timeout=%s returned=%ld restarted=%s began=%llu "
	      "ended=%llu "
	      "off=%lld",
	      name, (unsigned long long)arg0, number, path, timeout, result, restarted,
	      (unsigned long long)clocks[0][0], (unsigned long long)clocks[1][0],
	      (long long)(clocks[1][0] - clocks[0][0] - (clocks[1][1] - clocks[0][1])));
}

static void emptied(int fd)
{
	char byte;

	CHECK(read(fd, &byte, 1) == 1);
}

static void path_of(char *path, size_t size, int fd)
{
	char link[64];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, size - 1);
	CHECK(length > 0);
	path[length] = 0;
}

#define SOON_TEXT "15000000"
#define FULL_TEXT "4096000000000"

static void polls(int epoll)
{
	struct pollfd two[2] = { { .fd = at.child[0], .events = POLLIN },
				 { .fd = at.pipe[0], .events = POLLIN } };
	struct timespec time = soon;
	struct timeval brief = { 0, SOON_MS * 1000 };
	struct epoll_event event;
	fd_set set;

	CHECK(CALL(WAKE_WRITE, "-", at.pipe[0], pipe_path, poll, two, 2, -1) == 1);
	emptied(at.pipe[0]);
	CHECK(CALL(WAKE_NONE, SOON_TEXT, at.pipe[0], pipe_path, poll, two + 1, 1, SOON_MS) == 0);
	CHECK(CALL(WAKE_WRITE, "-", at.pipe[0], pipe_path, ppoll, two, 2, NULL, NULL, 8) == 1);
	emptied(at.pipe[0]);
	CHECK(CALL(WAKE_NONE, SOON_TEXT, -1, "-", ppoll, two, 2, &time, NULL, 8) == 0);
	FD_ZERO(&set);
	FD_SET(at.pipe[0], &set);
	CHECK(CALL(WAKE_WRITE, "-", -1, "-", select, at.pipe[0] + 1, &set, NULL, NULL, NULL) == 1);
	emptied(at.pipe[0]);
	CHECK(CALL(WAKE_NONE, SOON_TEXT, -1, "-", select, 0, NULL, NULL, NULL, &brief) == 0);
	CHECK(CALL(WAKE_WRITE, "-", -1, "-", pselect6, at.pipe[0] + 1, &set, NULL, NULL, NULL,
		   NULL) == 1);
	emptied(at.pipe[0]);
	time = soon;
	CHECK(CALL(WAKE_NONE, SOON_TEXT, -1, "-", pselect6, 0, NULL, NULL, NULL, &time, NULL) == 0);
	CHECK(CALL(WAKE_WRITE, "-", epoll, epoll_path, epoll_wait, epoll, &event, 1, -1) == 1);
	emptied(at.pipe[0]);
	CHECK(CALL(WAKE_NONE, SOON_TEXT, epoll, epoll_path, epoll_wait, epoll, &event, 1,
		   SOON_MS) == 0);
	CHECK(CALL(WAKE_WRITE, "4096000000", epoll, epoll_path, epoll_pwait, epoll, &event, 1,
		   WAIT_FULL, NULL, 8) == 1);
	emptied(at.pipe[0]);
	CHECK(CALL(WAKE_NONE, SOON_TEXT, epoll, epoll_path, epoll_pwait, epoll, &event, 1, SOON_MS,
		   NULL, 8) == 0);
	CHECK(CALL(WAKE_WRITE, FULL_TEXT, epoll, epoll_path, epoll_pwait2, epoll, &event, 1, &never,
		   NULL, 8) == 1);
	emptied(at.pipe[0]);
	CHECK(CALL(WAKE_NONE, SOON_TEXT, epoll, epoll_path, epoll_pwait2, epoll, &event, 1, &soon,
		   NULL, 8) == 0);
}

static void sleeps(void)
{
	struct timespec until;

	CHECK(CALL(WAKE_FUTEX, "-", -1, "-", futex, &at.word, FUTEX_WAIT, 0, NULL, NULL, 0) == 0);
	CHECK(CALL(WAKE_FUTEX, FULL_TEXT, -1, "-", futex, &at.word, FUTEX_WAIT, 0, &never, NULL,
		   0) == 0);
	CHECK(CALL(WAKE_NONE, SOON_TEXT, -1, "-", futex, &at.word, FUTEX_WAIT, 0, &soon, NULL, 0) ==
	      -ETIMEDOUT);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec++;
	until.tv_nsec = 0;
	CHECK(CALL(WAKE_FUTEX, "?", -1, "-", futex, &at.word, FUTEX_WAIT_BITSET, 0, &until, NULL,
		   -1) == 0);
	CHECK(CALL(WAKE_NONE, SOON_TEXT, -1, "-", nanosleep, &soon, NULL) == 0);
	CHECK(CALL(WAKE_NONE, SOON_TEXT, -1, "-", clock_nanosleep, CLOCK_MONOTONIC, 0, &soon,
		   NULL) == 0);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += SOON_NS;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	CHECK(CALL(WAKE_NONE, "?", -1, "-", clock_nanosleep, CLOCK_REALTIME, TIMER_ABSTIME, &until,
		   NULL) == 0);
}

static pid_t child_of_pipe(void)
{
	char byte;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid)
		_exit(read(at.child[0], &byte, 1) == 1 ? 0 : 1);
	return pid;
}

static void children(void)
{
	siginfo_t information;
	pid_t pid;

	pid = child_of_pipe();
	CHECK(CALL(WAKE_CHILD, "-", -1, "-", wait4, pid, NULL, 0, NULL) == pid);
	pid = child_of_pipe();
	CHECK(CALL(WAKE_CHILD, "-", -1, "-", waitid, P_PID, pid, &information, WEXITED, NULL) == 0);
}

static void sockets(void)
{
	const struct timeval brief = { 0, SOON_MS * 1000 }, none = { 0, 0 };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	CHECK(!setsockopt(at.listener, SOL_SOCKET, SO_RCVTIMEO, &none, sizeof(none)));
	close((int)CALL(WAKE_CONNECT, "-", at.listener, listener_path, accept, at.listener, NULL,
			NULL));
	close((int)CALL(WAKE_CONNECT, "-", at.listener, listener_path, accept4, at.listener, NULL,
			NULL, 0));
	CHECK(!setsockopt(at.listener, SOL_SOCKET, SO_RCVTIMEO, &brief, sizeof(brief)));
	CHECK(CALL(WAKE_NONE, "-", at.listener, listener_path, accept, at.listener, NULL, NULL) ==
	      -EAGAIN);
	CHECK(CALL(WAKE_NONE, "-", at.listener, listener_path, accept4, at.listener, NULL, NULL,
		   0) == -EAGAIN);
	path_of(ring_path, sizeof(ring_path), fd);
	CHECK(CALL(WAKE_ACCEPT, "-", fd, ring_path, connect, fd, &at.full_name,
		   sizeof(at.full_name)) == 0);
	close(fd);
}

static void system_five(void)
{
	struct sembuf down = { 0, -1, 0 };
	char message[32];

	CHECK(CALL(WAKE_SEM, "-", -1, "-", semop, at.sem, &down, 1) == 0);
	CHECK(CALL(WAKE_SEM, FULL_TEXT, -1, "-", semtimedop, at.sem, &down, 1, &never) == 0);
	CHECK(CALL(WAKE_NONE, SOON_TEXT, -1, "-", semtimedop, at.sem, &down, 1, &soon) == -EAGAIN);
	CHECK(CALL(WAKE_MSG, "-", -1, "-", msgrcv, at.msg, message, 4, 0, 0) == 4);
}

static void queues(const char *mq_path)
{
	struct timespec until;
	char text[8192];

	CHECK(CALL(WAKE_MQ, "-", at.mq, mq_path, mq_timedreceive, at.mq, text, sizeof(text), NULL,
		   NULL) == 1);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec++;
	CHECK(CALL(WAKE_MQ, "?", at.mq, mq_path, mq_timedreceive, at.mq, text, sizeof(text), NULL,
		   &until) == 1);
}

static void operations(aio_context_t context, struct io_uring *ring, const char *path)
{
	struct iocb poll = { .aio_lio_opcode = IOCB_CMD_POLL,
			     .aio_fildes = (uint32_t)at.pipe[0],
			     .aio_buf = POLLIN },
		    *list = &poll;
	struct __kernel_timespec brief = { 0, SOON_NS };
	struct io_uring_getevents_arg argument = { .ts = (uintptr_t)&brief };
	struct io_uring_cqe *cqe;
	struct io_event event;
	int fd = ring->ring_fd;

	CHECK(RAW(io_submit, context, 1, &list) == 1);
	CHECK(CALL(WAKE_WRITE, "-", -1, "-", io_getevents, context, 1, 1, &event, NULL) == 1);
	emptied(at.pipe[0]);
	CHECK(CALL(WAKE_NONE, SOON_TEXT, -1, "-", io_getevents, context, 1, 1, &event, &soon) == 0);
	io_uring_prep_poll_add(io_uring_get_sqe(ring), at.pipe[0], POLLIN);
	CHECK(io_uring_submit(ring) == 1);
	CHECK(CALL(WAKE_WRITE, "-", fd, path, io_uring_enter, fd, 0, 1, IORING_ENTER_GETEVENTS,
		   NULL, 0) == 0);
	CHECK(!io_uring_peek_cqe(ring, &cqe));
	io_uring_cqe_seen(ring, cqe);
	emptied(at.pipe[0]);
	CHECK(CALL(WAKE_NONE, SOON_TEXT, fd, path, io_uring_enter, fd, 0, 1,
		   IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG, &argument,
		   sizeof(argument)) == -ETIME);
}

static void handler(int signal)
{
	(void)signal;
	__atomic_add_fetch(&at.handled, 1, __ATOMIC_SEQ_CST);
}

static void handle(int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	CHECK(!sigaction(SIGUSR1, &action, NULL));
}

static void signals(void)
{
	uint64_t set = 1ull << (SIGUSR1 - 1), empty = 0;

	pid_t pid = child_of_pipe();

	handle(SA_RESTART);
	truth("wait4 arg0=%d returned=-4 restarted=true", pid);
	CHECK(CALL(WAKE_SIGNAL_AND_CHILD, "-", -1, "-", wait4, pid, NULL, 0, NULL) == pid);
	handle(0);
	CHECK(CALL(WAKE_SIGNAL, "-", -1, "-", pause, 0) == -EINTR);
	CHECK(CALL(WAKE_SIGNAL, FULL_TEXT, -1, "-", nanosleep, &never, NULL) == -EINTR);
	CHECK(!RAW(rt_sigprocmask, SIG_BLOCK, &set, NULL, 8));
	CHECK(CALL(WAKE_SIGNAL, "-", -1, "-", rt_sigtimedwait, &set, NULL, NULL, 8) == SIGUSR1);
	CHECK(CALL(WAKE_NONE, SOON_TEXT, -1, "-", rt_sigtimedwait, &set, NULL, &soon, 8) ==
	      -EAGAIN);
	CHECK(CALL(WAKE_SIGNAL, "-", -1, "-", rt_sigsuspend, &empty, 8) == -EINTR);
	CHECK(!RAW(rt_sigprocmask, SIG_UNBLOCK, &set, NULL, 8));
}

static struct sockaddr_un address(const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "strata-waits-%d-%s", getpid(),
		 name);
	return address;
}

static int listening(const struct sockaddr_un *name)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	CHECK(!bind(fd, (const void *)name, sizeof(*name)) && !listen(fd, 0));
	return fd;
}

static void prepare(void)
{
	int fd;

	at.tid = (int)syscall(SYS_gettid);
	CHECK(!pipe(at.pipe) && !pipe(at.child));
	at.name = address("free");
	at.full_name = address("full");
	at.listener = listening(&at.name);
	at.full = listening(&at.full_name);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	CHECK(!connect(fd, (void *)&at.full_name, sizeof(at.full_name)));
	at.sem = semget(IPC_PRIVATE, 1, 0600);
	at.msg = msgget(IPC_PRIVATE, 0600);
	CHECK(at.sem >= 0 && at.msg >= 0);
	path_of(pipe_path, sizeof(pipe_path), at.pipe[0]);
	path_of(listener_path, sizeof(listener_path), at.listener);
}

int main(void)
{
	char name[64], mq_path[64], path[64];
	struct epoll_event event = { .events = EPOLLIN };
	aio_context_t context = 0;
	struct io_uring ring;
	pthread_t thread;
	int epoll = epoll_create1(0);

	prepare();
	CHECK(!epoll_ctl(epoll, EPOLL_CTL_ADD, at.pipe[0], &event));
	path_of(epoll_path, sizeof(epoll_path), epoll);
	snprintf(name, sizeof(name), "/strata-waits-%d", getpid());
	at.mq = mq_open(name, O_RDWR | O_CREAT, 0600, NULL);
	CHECK(at.mq >= 0 && !mq_unlink(name));
	path_of(mq_path, sizeof(mq_path), at.mq);
	*strchrnul(mq_path, ' ') = 0;
	CHECK(!RAW(io_setup, 8, &context) && !io_uring_queue_init(8, &ring, 0));
	path_of(path, sizeof(path), ring.ring_fd);
	CHECK(!pthread_create(&thread, NULL, waker, NULL));
	truth_begin();
	for (int i = 0; i < ROUNDS; i++) {
		polls(epoll);
		sleeps();
		children();
		sockets();
		system_five();
		queues(mq_path);
		operations(context, &ring, path);
		signals();
	}
	truth_end();
	semctl(at.sem, 0, IPC_RMID);
	msgctl(at.msg, IPC_RMID, NULL);
	return 0;
}
