/* A session and a terminal of its own for a command that runs as another user: on strata's own terminal it could type
 * into the shell behind it (TIOCSTI). What is typed and shown is passed on by a thread, as script(1) does; descriptors
 * that are no terminal stay as they are. Without a terminal at its standard input the command gets a session only.
 *
 *     terminal_open     before the command is forked
 *     terminal_enter    in the child
 *     terminal_relay    the command has begun
 *     terminal_settle   it is over: what it has shown last is passed on, the terminal is as it was
 */
#ifndef STRATA_CAPTURE_TERMINAL_H
#define STRATA_CAPTURE_TERMINAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>
#include <termios.h>

#include "base/error.h"

struct terminal {
	bool apart;	    /* the command has a session of its own */
	int master, slave;  /* its terminal; -1: none */
	int shown_on;	    /* strata's own, where output goes */
	bool replaced[3];   /* which standard descriptors of the command are the new one */
	struct termios was; /* strata's own, before */
	bool raw;	    /* ... and it is not like that now */
	bool foreground;    /* what is typed is for us */
	pid_t command;
	pthread_t thread;
	bool started;
	int stop; /* eventfd for the thread */
	_Atomic unsigned interrupts;
};

#define TERMINAL_NONE                                 \
	{                                             \
		.master = -1, .slave = -1, .stop = -1 \
	}

int terminal_open(struct terminal *terminal, uid_t user, struct error *e);
int terminal_enter(const struct terminal *terminal); /* 0 or -errno */
int terminal_relay(struct terminal *terminal, pid_t command, struct error *e);

/* strata's terminal has another size. */
void terminal_resize(const struct terminal *terminal);

/* strata has something to say while the command goes on. */
void terminal_make_room(struct terminal *terminal);

/* How often the key that interrupts was typed since the last call. */
unsigned terminal_take_interrupts(struct terminal *terminal);

void terminal_settle(struct terminal *terminal);
void terminal_close(struct terminal *terminal);

/* Takes the calling process off its terminal, which it then can no longer type into. */
void terminal_leave(void);

#endif
