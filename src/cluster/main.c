/* strata-cluster: the commands of many machines. strata runs it with the command's name as argv[0]; called by its own name, it takes
 * that as its first argument. */
#include <curl/curl.h>
#include <libgen.h>
#include <stddef.h>
#include <string.h>

#include "base/caps.h"
#include "base/log.h"
#include "cluster/cluster.h"
#include "cluster/sql_via.h"
#include "cmd/cmd.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	enum { GIVES_UP_RIGHTS, KEEPS_RIGHTS } rights;
} commands[] = {
#define CLUSTER_COMMAND(name, rights, summary) { #name, cluster_##name, rights },
#include "cmd/cluster.def"
	{ "sql", cluster_sql, GIVES_UP_RIGHTS }, /* with --via */
};

int main(int argc, char **argv)
{
	struct error e;
	int err = caps_settle_ids(&e);

	if (argc > 1 && !strcmp(basename(argv[0]), "strata-cluster")) {
		argc--;
		argv++;
	}
	curl_global_init(CURL_GLOBAL_DEFAULT); /* before there is a second thread */
	for (size_t i = 0; !err && argc && i < sizeof(commands) / sizeof(*commands); i++) {
		if (strcmp(commands[i].name, argv[0]))
			continue;
		if (commands[i].rights == GIVES_UP_RIGHTS)
			err = caps_give_up(&e);
		if (!err)
			return commands[i].run(argc, argv);
	}
	if (err)
		return cmd_fail(&e);
	log_error("strata-cluster is run by strata: see 'strata -h'");
	return CMD_USAGE;
}
