/* The command that strata launches: forked early, held at a gate until every probe is armed, run as if
 * strata were not there.
 */
#ifndef STRATA_CAPTURE_LAUNCH_H
#define STRATA_CAPTURE_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "capture/environment.h"
#include "capture/terminal.h"

/* Who the command runs as. */
struct account {
	bool change; /* false: as strata itself */
	uid_t uid;
	gid_t gid;
	char name[64];
	char home[256];
	char shell[128];
};

/* Whom strata works for: the user who called sudo, else strata's own. */
int account_find_invoker(struct account *account, struct error *e);

/* Who the command runs as: the user named, else the invoker. */
int account_find(struct account *account, const struct account *invoker, const char *user,
		 struct error *e);

/* Becomes the command, with no recording. Returns only when that fails. */
int launch_directly(char **command, const struct account *account, struct error *e);

#define LAUNCH_NONE                                                \
	{                                                          \
		.gate = -1, .fault = -1, .terminal = TERMINAL_NONE \
	}

struct launch {
	pid_t pid;		  /* 0: none */
	int gate;		  /* writing a byte lets the command go */
	struct terminal terminal; /* the command's own, where it runs as another user */
	int fault; /* reads the errno of a failed execve; ends empty after a good one */
};

/* What the command is, and what it begins with. */
struct launch_command {
	char **arguments;
	const struct account *account;
	const struct environment *environment; /* NULL: strata's own */
	const sigset_t *mask;		       /* of signals */
};

/* Forks the child and leaves it waiting. */
int launch_fork(struct launch *launch, const struct launch_command *command, struct error *e);

/* Lets the command go and waits for its execve. Returns 0, or the -errno of the execve. */
int launch_go(struct launch *launch);

/* strata will say something now; over: the command has ended. */
void launch_make_room(struct launch *launch, bool over);

void launch_close(struct launch *launch); /* ends a child that was never let go */

#endif
