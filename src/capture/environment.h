/* What the environment of a launched command is to have beside what strata's own has. */
#ifndef STRATA_CAPTURE_ENVIRONMENT_H
#define STRATA_CAPTURE_ENVIRONMENT_H

#include "base/buf.h"
#include "base/error.h"

enum environment_way {
	ENVIRONMENT_SET,
	ENVIRONMENT_APPEND, /* behind what the variable has already, after a colon */
	ENVIRONMENT_KEEP,   /* only where the variable has nothing yet */
};

struct environment {
	struct buf variables; /* struct environment_variable each */
};

int environment_add(struct environment *environment, const char *name, const char *value,
		    enum environment_way way, struct error *e);
void environment_free(struct environment *environment);

/* Changes that of this process. NULL: nothing to change. */
int environment_enter(const struct environment *environment);

#endif
