/* A small HTTP server for questions: GET and HEAD alone, no bodies, everything bounded. libmicrohttpd behind it.
 *
 * Loopback needs no token; any other address does, and all paths but the public ones ask for it. What is refused is logged.
 * Connections that are slow to ask are ended by http_reap(), which somebody calls each second or so.
 */
#ifndef STRATA_CLUSTER_HTTP_H
#define STRATA_CLUSTER_HTTP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

#define HTTP_MOST_PATH 4096 /* bytes of a request's target */

struct http_request {
	const char *path;   /* decoded, begins with '/', holds no control character */
	const char *accept; /* the header; "" none */
	const char *query;  /* the value of q=, decoded; NULL: none */
	uint64_t deadline;  /* CLOCK_MONOTONIC ns by which an answer is due */
};

/* Filled by who answers; the body is freed by the server. */
struct http_answer {
	unsigned status;
	const char *type; /* Content-Type */
	struct buf body;
};

struct http_config {
	const char *listen;	       /* ADDR:PORT, [ADDR]:PORT */
	const char *token;	       /* NULL: none */
	const char *certificate, *key; /* PEM texts; NULL: no TLS */
	uint64_t answer_time;	       /* ns that an answer may take */
	/* Runs in one of the server's threads. */
	void (*answer)(void *context, const struct http_request *request,
		       struct http_answer *answer);
	/* Whether a path may be asked without the token. */
	bool (*is_public)(const char *path);
	/* Told of each answer, refusals too. */
	void (*answered)(void *context, unsigned status);
	void *context;
};

struct http;

int http_open(struct http **http, const struct http_config *config, struct error *e);
void http_close(struct http *http);

/* The port that it listens on. */
uint16_t http_port(const struct http *http);

/* Ends connections whose request is not whole in time. */
void http_reap(struct http *http);

/* A text as the whole answer. */
void http_say(struct http_answer *answer, unsigned status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
