/* Running the commands of strata-cluster, which stands beside strata. */
#ifndef STRATA_CMD_CLUSTER_H
#define STRATA_CMD_CLUSTER_H

#include <stdbool.h>

/* Becomes strata-cluster with these arguments, argv[0] the command's name. Returns only when that fails: the exit status.
 * keep_rights: the program gets the capabilities of this one. */
int cluster_run(char **argv, bool keep_rights);

#endif
