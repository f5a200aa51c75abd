/* A running agent, for its files: agent.c takes the options, agent_run.c measures and writes, agent_http.c answers. */
#ifndef STRATA_CLUSTER_AGENT_H
#define STRATA_CLUSTER_AGENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "cluster/http.h"
#include "cluster/metric_store.h"
#include "cluster/push/agent_push.h"
#include "cluster/select/coordinate.h"
#include "cluster/totals.h"

struct agent_config {
	const char *node, *listen, *store;
	const char *token_file, *certificate, *key; /* files; NULL: none */
	const char *coordinate;			    /* nodes.ini; NULL: it answers for itself */
	struct push_options push;		    /* to NULL: nothing is pushed */
	uint64_t interval;			    /* ns */
	struct metric_retention retention;
	unsigned live; /* LIVE_BITs of what is kept */
	const pid_t *job;
	size_t job_count;
	uint64_t processes;
};

/* What the threads that answer look at. */
struct agent {
	const struct agent_config *config;
	struct totals *totals;
	struct coordinator coordinator; /* with --coordinate */
	atomic_uint_fast64_t measured;	/* CLOCK_MONOTONIC ns of the last interval's end */
};

/* Measures until somebody wants the end. */
int agent_run(const struct agent_config *config, struct error *e);

/* For struct http_config; the context is the agent. */
void agent_answer(void *context, const struct http_request *request, struct http_answer *answer);
bool agent_is_public(const char *path);
void agent_answered(void *context, unsigned status);

#endif
