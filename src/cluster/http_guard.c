#include "cluster/http_guard.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/log.h"

#define REQUESTS_A_SECOND 50
#define REQUESTS_AT_ONCE  200
#define LINES_A_SECOND	  5
#define LINES_AT_ONCE	  50
#define SHOWN_PATH	  80

void http_guard_init(struct http_guard *guard, const char *token)
{
	*guard = (struct http_guard){ .token = token ? strdup(token) : NULL,
				      .lines.left = LINES_AT_ONCE };
	pthread_mutex_init(&guard->lock, NULL);
	for (size_t i = 0; i < GUARD_BUCKETS; i++)
		guard->buckets[i].left = REQUESTS_AT_ONCE;
}

void http_guard_free(struct http_guard *guard)
{
	pthread_mutex_destroy(&guard->lock);
	free(guard->token);
}

/* ---- how often ---- */

static bool bucket_take(struct guard_bucket *bucket, uint64_t now, double a_second, double most)
{
	double left = bucket->left + (double)(now - bucket->ts) / 1e9 * a_second;

	bucket->left = left > most ? most : left;
	bucket->ts = now;
	if (bucket->left < 1)
		return false;
	bucket->left--;
	return true;
}

/* FNV-1a over the bytes of the address. Of IPv6 the network alone counts: one client has all of it. */
static unsigned bucket_of(const struct sockaddr *from)
{
	const struct sockaddr_in *v4 = (const void *)from;
	const struct sockaddr_in6 *v6 = (const void *)from;
	const uint8_t *bytes = from && from->sa_family == AF_INET6
				       ? v6->sin6_addr.s6_addr
				       : (const uint8_t *)(from ? &v4->sin_addr : NULL);
	size_t size = !from ? 0 : from->sa_family == AF_INET6 ? 8 : 4;
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ bytes[i]) * 16777619u;
	return (hash ^ hash >> 16) % GUARD_BUCKETS;
}

static bool is_too_often(struct http_guard *guard, const struct sockaddr *from, uint64_t now)
{
	bool taken;

	pthread_mutex_lock(&guard->lock);
	taken = bucket_take(&guard->buckets[bucket_of(from)], now, REQUESTS_A_SECOND,
			    REQUESTS_AT_ONCE);
	pthread_mutex_unlock(&guard->lock);
	return !taken;
}

/* ---- who ---- */

bool http_guard_knows(const char *token, const char *authorization)
{
	static const char scheme[] = "Bearer ";
	size_t length = strlen(token), given;
	unsigned char differs;

	if (strncasecmp(authorization, scheme, strlen(scheme)))
		return false;
	authorization += strlen(scheme);
	given = strlen(authorization);
	differs = given != length;
	for (size_t i = 0; i < length; i++)
		differs |= (unsigned char)(token[i] ^ (i < given ? authorization[i] : 0));
	return !differs;
}

/* A page elsewhere can make a browser of this machine ask here under a name of its own, and read the answer (DNS rebinding): who
 * listens to this machine alone answers to its own names alone. */
static bool is_own_name(const char *host)
{
	static const char *const names[] = { "localhost", "127.0.0.1", "[::1]" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size_t length = strlen(names[i]);

		if (!strncasecmp(host, names[i], length) && (!host[length] || host[length] == ':'))
			return true;
	}
	return !strncmp(host, "127.", 4) && host[strspn(host, "0123456789.:")] == 0;
}

/* ---- what ---- */

bool http_target_is_plain(const char *target)
{
	size_t length = 0;

	for (; *target; target++, length++) {
		unsigned char byte = (unsigned char)*target;

		if (byte < 0x20 || byte == 0x7f || length == HTTP_MOST_PATH)
			return false;
		if (byte != '%')
			continue;
		if (!isxdigit((unsigned char)target[1]) || !isxdigit((unsigned char)target[2]))
			return false;
		if (target[1] < '2' || (target[1] == '7' && (target[2] | 0x20) == 'f'))
			return false;
	}
	return true;
}

static bool has_body(const struct http_asked *asked)
{
	return *asked->transfer_encoding ||
	       (*asked->content_length && strcmp(asked->content_length, "0"));
}

bool http_guard_admit(struct http_guard *guard, const struct http_asked *asked,
		      const struct sockaddr *from, uint64_t now, struct http_answer *answer)
{
	if (is_too_often(guard, from, now))
		http_say(answer, 429, "too many requests");
	else if (asked->bad_target)
		http_say(answer, 400, "the request's target is malformed or too long");
	else if (*asked->transfer_encoding && *asked->content_length)
		http_say(answer, 400, "a length and an encoding exclude each other");
	else if (strcmp(asked->method, "GET") && strcmp(asked->method, "HEAD"))
		http_say(answer, 405, "GET and HEAD are answered");
	else if (has_body(asked))
		http_say(answer, 413, "a question has no body");
	else if (guard->loopback && !guard->token && !is_own_name(asked->host))
		http_say(answer, 421, "this is not the host that is asked for");
	else if (guard->token && !asked->is_public &&
		 !http_guard_knows(guard->token, asked->authorization))
		http_say(answer, 401, "a token is needed: Authorization: Bearer TOKEN");
	else
		return true;
	return false;
}

/* ---- the log ---- */

static const char *name_of(const struct sockaddr *from, char *out, size_t size)
{
	const struct sockaddr_in *v4 = (const void *)from;
	const struct sockaddr_in6 *v6 = (const void *)from;
	const void *address = from && from->sa_family == AF_INET6 ? (const void *)&v6->sin6_addr
								  : (const void *)&v4->sin_addr;

	return from && inet_ntop(from->sa_family, address, out, (socklen_t)size) ? out : "?";
}

void http_guard_log(struct http_guard *guard, const struct sockaddr *from, const char *method,
		    const char *path, unsigned status)
{
	char address[INET6_ADDRSTRLEN], shown[SHOWN_PATH * ESCAPE_MOST + 1];
	struct escape_text text = { path, strnlen(path, SHOWN_PATH) };
	uint64_t unlogged;
	bool logged;

	pthread_mutex_lock(&guard->lock);
	logged = bucket_take(&guard->lines, clock_monotonic(), LINES_A_SECOND, LINES_AT_ONCE);
	unlogged = guard->unlogged;
	guard->unlogged = logged ? 0 : unlogged + 1;
	pthread_mutex_unlock(&guard->lock);
	if (!logged)
		return;
	*escape_some(ESCAPE_TERMINAL, &text, shown, sizeof(shown) - 1) = 0;
	if (unlogged)
		log_warning("%llu refusals more are not shown", (unsigned long long)unlogged);
	log_warning("%u to %s: %.16s %s", status, name_of(from, address, sizeof(address)), method,
		    shown);
}
