#include "capture/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- making it ---- */

static bool same_terminal(int fd, const struct stat *terminal)
{
	struct stat file;

	return isatty(fd) && !fstat(fd, &file) && file.st_rdev == terminal->st_rdev;
}

void terminal_resize(const struct terminal *terminal)
{
	struct winsize size;

	if (terminal->master >= 0 && !ioctl(STDIN_FILENO, TIOCGWINSZ, &size))
		ioctl(terminal->master, TIOCSWINSZ, &size);
}

int terminal_open(struct terminal *terminal, uid_t user, struct error *e)
{
	struct stat own;

	*terminal = (struct terminal)TERMINAL_NONE;
	terminal->apart = true;
	if (!isatty(STDIN_FILENO) || fstat(STDIN_FILENO, &own) ||
	    tcgetattr(STDIN_FILENO, &terminal->was))
		return 0;
	terminal->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (terminal->master < 0 || unlockpt(terminal->master))
		return error_errno(e, "cannot make a terminal for the command");
	terminal->slave = ioctl(terminal->master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (terminal->slave < 0 || fchown(terminal->slave, user, (gid_t)-1) ||
	    tcsetattr(terminal->slave, TCSANOW, &terminal->was) ||
	    fcntl(terminal->master, F_SETFL, O_NONBLOCK))
		return error_errno(e, "cannot make a terminal for the command");
	terminal->shown_on = STDIN_FILENO;
	for (int fd = 2; fd >= 0; fd--) {
		terminal->replaced[fd] = same_terminal(fd, &own);
		if (terminal->replaced[fd] && fd)
			terminal->shown_on = fd;
	}
	terminal_resize(terminal);
	return 0;
}

int terminal_enter(const struct terminal *terminal)
{
	if (!terminal->apart)
		return 0;
	if (setsid() < 0)
		return -errno;
	if (terminal->slave < 0)
		return 0;
	if (ioctl(terminal->slave, TIOCSCTTY, 0))
		return -errno;
	for (int fd = 0; fd < 3; fd++)
		if (terminal->replaced[fd] && dup2(terminal->slave, fd) < 0)
			return -errno;
	return 0;
}

void terminal_leave(void)
{
	int fd = open("/dev/tty", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return;
	if (getsid(0) != getpid()) /* else there is no shell behind us */
		ioctl(fd, TIOCNOTTY);
	close(fd);
}

/* ---- passing on ---- */

struct input {
	char bytes[1024];
	size_t from, to;
};

/* Keys become characters on the command's terminal, which decides what they mean. */
static void set_raw(struct terminal *terminal)
{
	struct termios raw = terminal->was;

	cfmakeraw(&raw);
	terminal->raw = !tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
}

static void set_back(struct terminal *terminal)
{
	if (terminal->raw)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &terminal->was);
	terminal->raw = false;
}

/* The key that stops: the kernel stops no group that has nobody to continue it, as the command's own group here. So
 * strata stops it, and itself, for the shell to go on. The signal must be this thread's own: one that is the process's may be
 * another thread's to take, and this one has continued the command before it is stopped, too. */
static void suspend(struct terminal *terminal, pid_t group)
{
	killpg(group, SIGSTOP);
	set_back(terminal);
	raise(SIGSTOP);
	set_raw(terminal);
	terminal_resize(terminal);
	killpg(group, SIGCONT);
}

/* Notes the keys that matter to strata too. Returns whether one is to be kept from the command. */
static bool take_key(struct terminal *terminal, unsigned char key)
{
	struct termios now;
	pid_t group;

	if (tcgetattr(terminal->master, &now) || !(now.c_lflag & ISIG))
		return false;
	if (key == now.c_cc[VINTR])
		terminal->interrupts++;
	if (key != now.c_cc[VSUSP] || ioctl(terminal->master, TIOCGPGRP, &group) ||
	    group != terminal->command)
		return false;
	suspend(terminal, group);
	return true;
}

/* Returns false when nobody types any more. */
static bool read_keys(struct terminal *terminal, struct input *input)
{
	ssize_t got = read(STDIN_FILENO, input->bytes, sizeof(input->bytes));

	input->from = input->to = 0;
	if (got < 0)
		return errno == EINTR || errno == EAGAIN;
	for (ssize_t i = 0; i < got; i++)
		if (!take_key(terminal, (unsigned char)input->bytes[i]))
			input->bytes[input->to++] = input->bytes[i];
	return got > 0;
}

static void pass_keys(struct terminal *terminal, struct input *input)
{
	ssize_t put = write(terminal->master, input->bytes + input->from, input->to - input->from);

	if (put > 0)
		input->from += (size_t)put;
	else if (errno != EAGAIN && errno != EINTR)
		input->from = input->to; /* nobody is there to read them */
}

/* Passes on what there is to show. Returns false when there will be no more. */
static bool pass_output(struct terminal *terminal)
{
	char bytes[4096];
	ssize_t got = read(terminal->master, bytes, sizeof(bytes));

	if (got < 0 && errno == EINTR)
		return true;
	if (got <= 0)
		return false;
	for (ssize_t done = 0; done < got;) {
		ssize_t put = write(terminal->shown_on, bytes + done, (size_t)(got - done));

		if (put > 0)
			done += put;
		else if (errno == EAGAIN)
			poll(&(struct pollfd){ .fd = terminal->shown_on, .events = POLLOUT }, 1,
			     -1);
		else if (errno != EINTR)
			break; /* what cannot be shown is lost, as on a terminal that is gone */
	}
	return true;
}

static void *relay(void *data)
{
	struct terminal *terminal = data;
	struct input input = { .to = 0 };
	bool typing = terminal->foreground, shows = true;

	for (;;) {
		bool pending = input.from < input.to;
		struct pollfd watched[] = {
			{ .fd = typing && !pending ? STDIN_FILENO : -1, .events = POLLIN },
			{ .fd = shows ? terminal->master : -1,
			  .events = (short)(POLLIN | (pending ? POLLOUT : 0)) },
			{ .fd = terminal->stop, .events = POLLIN },
		};

		if (poll(watched, 3, -1) < 0 && errno != EINTR)
			break;
		if (watched[0].revents)
			typing = read_keys(terminal, &input);
		if (watched[1].revents & POLLOUT)
			pass_keys(terminal, &input);
		if (watched[1].revents & (POLLIN | POLLHUP | POLLERR))
			shows = pass_output(terminal) || errno == EAGAIN;
		if (watched[2].revents)
			break;
	}
	while (shows && pass_output(terminal))
		;
	return NULL;
}

int terminal_relay(struct terminal *terminal, pid_t command, struct error *e)
{
	int err;

	if (terminal->master < 0)
		return 0;
	close(terminal->slave); /* so that its last user's end is seen */
	terminal->slave = -1;
	terminal->command = command;
	terminal->foreground = tcgetpgrp(STDIN_FILENO) == getpgrp();
	terminal->stop = eventfd(0, EFD_CLOEXEC);
	if (terminal->stop < 0)
		return error_errno(e, "cannot make an eventfd");
	if (terminal->foreground)
		set_raw(terminal);
	err = -pthread_create(&terminal->thread, NULL, relay, terminal);
	terminal->started = !err;
	if (err) {
		set_back(terminal);
		return error_set(e, err, "cannot start a thread: %s", strerror(-err));
	}
	return 0;
}

void terminal_make_room(struct terminal *terminal)
{
	struct termios now;

	if (!terminal->raw || tcgetattr(STDIN_FILENO, &now))
		return;
	now.c_oflag = terminal->was.c_oflag; /* lines begin at the left again */
	tcsetattr(STDIN_FILENO, TCSADRAIN, &now);
}

unsigned terminal_take_interrupts(struct terminal *terminal)
{
	return atomic_exchange(&terminal->interrupts, 0);
}

void terminal_settle(struct terminal *terminal)
{
	if (terminal->started) {
		eventfd_write(terminal->stop, 1);
		pthread_join(terminal->thread, NULL);
	}
	terminal->started = false;
	set_back(terminal);
}

void terminal_close(struct terminal *terminal)
{
	terminal_settle(terminal);
	if (terminal->master >= 0)
		close(terminal->master);
	if (terminal->slave >= 0)
		close(terminal->slave);
	if (terminal->stop >= 0)
		close(terminal->stop);
	*terminal = (struct terminal)TERMINAL_NONE;
}
