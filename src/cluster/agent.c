/* strata agent: options in, a running agent out. */
#include <errno.h>
#include <stdlib.h>

#include "cluster/cluster.h"
#include "cmd/cmd.h"

/* The options, filled once by cmd_parse(). */
static struct {
	const char *node, *listen, *store;
} given;

static const struct option_row agent_rows[] = {
	{ 0, "node", OPTION_TEXT, &given.node, "NAME", "this node's name (default: the host's)" },
	{ 0, "listen", OPTION_TEXT, &given.listen, "ADDR:PORT",
	  "where to serve (default: 127.0.0.1:6100)" },
	{ 0, "store", OPTION_TEXT, &given.store, "FILE", "where to keep what was measured" },
	{ 0 },
};

const struct options agent_options = {
	.usage = "strata agent [options]",
	.summary = "Keep this node's histograms and figures, and serve them over HTTP.",
	.examples = "strata agent --node n1 --store /var/lib/strata/agent.db",
	.rows = agent_rows,
};

int cluster_agent(int argc, char **argv)
{
	struct arguments arguments;
	struct error e;
	int status;

	if (!cmd_parse(&agent_options, argc, argv, &arguments, &status))
		return status;
	free(arguments.items);
	error_set(&e, -ENOSYS, "the agent's measuring is not built yet");
	return cmd_fail(&e);
}
