/* The commands of strata-cluster: entry points and options, as cmd/cmd.h has those of strata. */
#ifndef STRATA_CLUSTER_CLUSTER_H
#define STRATA_CLUSTER_CLUSTER_H

#include "base/options.h"

#define CLUSTER_COMMAND(name, rights, summary)     \
	int cluster_##name(int argc, char **argv); \
	extern const struct options name##_options;
#include "cmd/cluster.def"

#endif
