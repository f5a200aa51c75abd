/* A session from its beginning to its end, and what strata says of it: progress, warnings, the closing words. */
#ifndef STRATA_CMD_RECORD_RUN_H
#define STRATA_CMD_RECORD_RUN_H

#include "capture/session.h"

enum { RECORD_FAILED = 125, RECORD_NOT_EXECUTABLE = 126, RECORD_NOT_FOUND = 127 };

/* The exit status: the command's own, or one of the above. Ends by the signal that ended the command. */
int record_run(struct session_config *config);

#endif
