/* Signals during a recording. strata takes the common ones as events: those meant for a launched command
 * are passed on to it, those without one to take them tell strata to stop.
 *
 * A signal sent to the whole process group reaches both the command and strata; only one that was sent
 * to strata alone is passed on, so that the command gets each signal once.
 */
#ifndef STRATA_CAPTURE_SIGNALS_H
#define STRATA_CAPTURE_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "capture/kernel.h"

#define SIGNALS_TAKEN 6

/* A signal that will be passed on unless its sender reached the command as well. */
struct pending_signal {
	pid_t sender;
	uint64_t at; /* boot time of arrival; 0: none */
};

struct signals {
	int fd;		   /* readable when there is something to read */
	sigset_t old_mask; /* what the command begins with */
	struct pending_signal pending[SIGNALS_TAKEN];
	unsigned interrupts; /* SIGINTs while a command ran */
	bool apart; /* the command has a session of its own: the terminal's signals reach strata alone */
	bool resized; /* the terminal was; for the owner to clear */
	bool stop;    /* told to stop while no command ran */
};

int signals_open(struct signals *signals, struct error *e);
void signals_close(struct signals *signals);

/* Takes what has arrived. command: the running one, 0 without. */
void signals_read(struct signals *signals, pid_t command);

/* Passes on the signals that have waited long enough to know who else got them. */
void signals_pass(struct signals *signals, const struct kernel *kernel, pid_t command);

/* The boot time at which signals_pass has something to do; UINT64_MAX: none waits. */
uint64_t signals_due(const struct signals *signals);

#endif
