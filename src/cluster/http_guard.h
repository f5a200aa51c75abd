/* Who is let in, and how often. Decides by what a request says before anything of it is answered, without a system call. */
#ifndef STRATA_CLUSTER_HTTP_GUARD_H
#define STRATA_CLUSTER_HTTP_GUARD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "cluster/http.h"

#define GUARD_BUCKETS 256

/* How many requests an address may make now; those whose addresses fall together share it. */
struct guard_bucket {
	double left;
	uint64_t ts; /* CLOCK_MONOTONIC ns of `left` */
};

struct http_guard {
	pthread_mutex_t lock;
	struct guard_bucket buckets[GUARD_BUCKETS];
	struct guard_bucket lines; /* of the log */
	uint64_t unlogged;
	char *token;   /* NULL: none is asked for */
	bool loopback; /* it listens to this machine alone */
};

/* What a request says; texts are "" where it does not. */
struct http_asked {
	const char *method, *path;
	const char *host, *authorization, *content_length, *transfer_encoding;
	bool bad_target; /* http_target_is_plain() says no */
	bool is_public;
};

void http_guard_init(struct http_guard *guard, const char *token);
void http_guard_free(struct http_guard *guard);

/* Whether the target as it came holds only what a question may hold: no control characters, encoded or not, and no more than
 * HTTP_MOST_PATH bytes. */
bool http_target_is_plain(const char *target);

/* True, or false with the answer made. */
bool http_guard_admit(struct http_guard *guard, const struct http_asked *asked,
		      const struct sockaddr *from, uint64_t now, struct http_answer *answer);

/* Whether the header carries the token. The time that it takes tells nothing about the token. */
bool http_guard_knows(const char *token, const char *authorization);

/* A line about a refusal, unless there were too many of late. */
void http_guard_log(struct http_guard *guard, const struct sockaddr *from, const char *method,
		    const char *path, unsigned status);

#endif
