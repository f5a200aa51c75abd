#include "capture/signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"

#define PASS_AFTER \
	(20 * 1000000ull) /* a signal to the whole group has reached the command by then */

static const int taken[SIGNALS_TAKEN] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 };

int signals_open(struct signals *signals, struct error *e)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	sigaddset(&mask, SIGWINCH);
	sigaddset(&mask, SIGXFSZ); /* a file size limit is an error to report, not an end */
	for (size_t i = 0; i < SIGNALS_TAKEN; i++) {
		struct sigaction old;

		/* What was ignored, as under nohup, stays so. */
		if (!sigaction(taken[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaddset(&mask, taken[i]);
	}
	if (sigprocmask(SIG_BLOCK, &mask, &signals->old_mask))
		return error_errno(e, "cannot block signals");
	signals->fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	return signals->fd < 0 ? error_errno(e, "cannot watch signals") : 0;
}

void signals_close(struct signals *signals)
{
	if (signals->fd >= 0)
		close(signals->fd);
}

static void signals_take(struct signals *signals, const struct signalfd_siginfo *info,
			 pid_t command)
{
	int number = (int)info->ssi_signo;

	if (!command) {
		signals->stop |= number != SIGUSR1 && number != SIGUSR2;
		return;
	}
	signals->interrupts += number == SIGINT;
	/* The terminal sends to the whole foreground group: the command has it already. */
	if ((info->ssi_code == SI_KERNEL && !signals->apart) || (pid_t)info->ssi_pid == command)
		return;
	for (size_t i = 0; i < SIGNALS_TAKEN; i++)
		if (taken[i] == number)
			signals->pending[i] =
				(struct pending_signal){ (pid_t)info->ssi_pid, clock_boot() };
}

void signals_read(struct signals *signals, pid_t command)
{
	struct signalfd_siginfo info;

	while (read(signals->fd, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo == SIGWINCH)
			signals->resized = true;
		else if (info.ssi_signo != SIGCHLD && info.ssi_signo != SIGXFSZ)
			signals_take(signals, &info, command);
}

void signals_pass(struct signals *signals, const struct kernel *kernel, pid_t command)
{
	uint64_t now = clock_boot();

	for (size_t i = 0; i < SIGNALS_TAKEN; i++) {
		struct pending_signal *pending = &signals->pending[i];

		if (!pending->at || now < pending->at + PASS_AFTER)
			continue;
		if (command && !kernel_signalled(kernel, taken[i], pending->sender,
						 pending->at - NS_PER_SECOND))
			kill(command, taken[i]);
		pending->at = 0;
	}
}

uint64_t signals_due(const struct signals *signals)
{
	uint64_t due = UINT64_MAX;

	for (size_t i = 0; i < SIGNALS_TAKEN; i++)
		if (signals->pending[i].at && signals->pending[i].at + PASS_AFTER < due)
			due = signals->pending[i].at + PASS_AFTER;
	return due;
}
