#include "cluster/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/units.h"
#include "cluster/http_guard.h"

#define THREADS		 4
#define MOST_CONNECTIONS 128
#define MOST_OF_ADDRESS	 64
#define IDLE_SECONDS	 20
#define SLOW_NS		 (10 * NS_PER_SECOND) /* from a connection's beginning to its whole request */
#define HEADER_BYTES	 (16u << 10) /* target and headers; what is longer gets 431 or 414 */

/* A connection, while it is open. */
struct client {
	struct client *next, *previous;
	int fd;
	uint64_t waiting_since; /* for a request; 0: one is being answered */
};

/* A request, from its first line to its answer. */
struct asked {
	bool bad_target;
	bool admitted; /* it is answered when all of it is there */
};

struct http {
	struct http_config config;
	struct http_guard guard;
	struct MHD_Daemon *daemon;
	pthread_mutex_t lock; /* of clients */
	struct client *clients;
	bool tls;
};

void http_say(struct http_answer *answer, unsigned status, const char *format, ...)
{
	char text[2048];
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(text, sizeof(text) - 1, format, args);
	va_end(args);
	if (length >= (int)sizeof(text) - 1)
		length = sizeof(text) - 2;
	text[length] = '\n';
	answer->status = status;
	answer->type = "text/plain; charset=utf-8";
	answer->body.size = 0;
	if (buf_append(&answer->body, text, (size_t)length + 1))
		answer->status = MHD_HTTP_INTERNAL_SERVER_ERROR;
}

/* ---- connections ---- */

static void client_open(struct http *http, struct MHD_Connection *connection, void **place)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct client *client = calloc(1, sizeof(*client));

	*place = client;
	if (!client || !info)
		return; /* it is watched by libmicrohttpd's own timeout alone */
	client->fd = info->connect_fd;
	client->waiting_since = clock_monotonic();
	pthread_mutex_lock(&http->lock);
	client->next = http->clients;
	if (client->next)
		client->next->previous = client;
	http->clients = client;
	pthread_mutex_unlock(&http->lock);
}

static void client_close(struct http *http, struct client *client)
{
	if (!client)
		return;
	pthread_mutex_lock(&http->lock);
	if (client->next)
		client->next->previous = client->previous;
	if (client->previous)
		client->previous->next = client->next;
	else if (http->clients == client)
		http->clients = client->next;
	pthread_mutex_unlock(&http->lock);
	free(client);
}

static void on_connection(void *opaque, struct MHD_Connection *connection, void **place,
			  enum MHD_ConnectionNotificationCode code)
{
	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		client_open(opaque, connection, place);
	else
		client_close(opaque, *place);
}

static void client_mark(struct http *http, struct MHD_Connection *connection, uint64_t since)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct client *client = info ? info->socket_context : NULL;

	if (!client)
		return;
	pthread_mutex_lock(&http->lock);
	client->waiting_since = since;
	pthread_mutex_unlock(&http->lock);
}

/* libmicrohttpd only knows how long nothing came at all. */
void http_reap(struct http *http)
{
	static const char late[] = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n"
				   "Content-Length: 0\r\n\r\n";
	uint64_t now = clock_monotonic();
	unsigned count = 0;

	pthread_mutex_lock(&http->lock);
	for (struct client *client = http->clients; client; client = client->next) {
		if (!client->waiting_since || now - client->waiting_since < SLOW_NS)
			continue;
		if (!http->tls)
			send(client->fd, late, sizeof(late) - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
		shutdown(client->fd, SHUT_RDWR);
		client->waiting_since = now; /* it closes by and by */
		count++;
	}
	pthread_mutex_unlock(&http->lock);
	for (unsigned i = 0; i < count; i++)
		http->config.answered(http->config.context, MHD_HTTP_REQUEST_TIMEOUT);
	if (count)
		log_verbose("%u connections ended: no request in time", count);
}

/* ---- requests ---- */

/* Called with the target as it came, before it is decoded. */
static void *on_target(void *opaque, const char *target, struct MHD_Connection *connection)
{
	struct asked *asked = calloc(1, sizeof(*asked));

	(void)opaque;
	(void)connection;
	if (asked)
		asked->bad_target = !http_target_is_plain(target);
	return asked;
}

static void on_end(void *opaque, struct MHD_Connection *connection, void **place,
		   enum MHD_RequestTerminationCode code)
{
	(void)code;
	client_mark(opaque, connection, clock_monotonic());
	free(*place);
	*place = NULL;
}

static const char *header(struct MHD_Connection *connection, const char *name)
{
	const char *value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);

	return value ? value : "";
}

static const struct sockaddr *address_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);

	return info ? info->client_addr : NULL;
}

/* Whether the request is one that is answered at all; else the answer says why not. */
static bool is_admitted(struct http *http, struct MHD_Connection *connection, struct asked *asked,
			const char *path, const char *method, struct http_answer *answer)
{
	const struct http_asked what = {
		.method = method,
		.path = path,
		.bad_target = !asked || asked->bad_target,
		.host = header(connection, "Host"),
		.authorization = header(connection, "Authorization"),
		.content_length = header(connection, "Content-Length"),
		.transfer_encoding = header(connection, "Transfer-Encoding"),
		.is_public = http->config.is_public(path),
	};

	return http_guard_admit(&http->guard, &what, address_of(connection), clock_monotonic(),
				answer);
}

static enum MHD_Result send_answer(struct MHD_Connection *connection, struct http_answer *answer)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(
		answer->body.size, answer->body.data, MHD_RESPMEM_MUST_COPY);
	enum MHD_Result result;

	buf_free(&answer->body);
	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, "Content-Type", answer->type);
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	MHD_add_response_header(response, "Cache-Control", "no-store");
	MHD_add_response_header(response, "Content-Security-Policy",
				"default-src 'none'; connect-src 'self'; script-src "
				"'unsafe-inline'; style-src 'unsafe-inline'");
	if (answer->status == MHD_HTTP_UNAUTHORIZED)
		MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
	if (answer->status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, "Allow", "GET, HEAD");
	if (answer->status == MHD_HTTP_TOO_MANY_REQUESTS)
		MHD_add_response_header(response, "Retry-After", "1");
	result = MHD_queue_response(connection, answer->status, response);
	MHD_destroy_response(response);
	return result;
}

static void answer_request(struct http *http, struct MHD_Connection *connection, const char *path,
			   struct http_answer *answer)
{
	struct http_request request = {
		.path = path,
		.accept = header(connection, "Accept"),
		.query = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "q"),
		.deadline = clock_monotonic() + http->config.answer_time,
	};

	http->config.answer(http->config.context, &request, answer);
}

/* libmicrohttpd calls it when the headers are there, and again when the body is, which is empty. A request that is refused is
 * answered at once, which ends the connection; others on the second call, which keeps it. */
static enum MHD_Result on_request(void *opaque, struct MHD_Connection *connection, const char *path,
				  const char *method, const char *version, const char *body,
				  size_t *body_size, void **place)
{
	struct http *http = opaque;
	struct asked *asked = *place;
	struct http_answer answer = { .status = MHD_HTTP_OK, .type = "text/plain" };

	(void)version;
	(void)body;
	*body_size = 0;
	client_mark(http, connection, 0);
	if (asked && asked->admitted) {
		answer_request(http, connection, path, &answer);
	} else if (is_admitted(http, connection, asked, path, method, &answer)) {
		asked->admitted = true;
		return MHD_YES;
	}
	if (answer.status >= 400)
		http_guard_log(&http->guard, address_of(connection), method, path, answer.status);
	http->config.answered(http->config.context, answer.status);
	return send_answer(connection, &answer);
}

static void on_log(void *opaque, const char *format, va_list args)
{
	char text[512];

	(void)opaque;
	vsnprintf(text, sizeof(text), format, args);
	text[strcspn(text, "\n")] = 0;
	log_verbose("HTTP: %s", text);
}

/* ---- opening ---- */

static bool is_loopback(const struct sockaddr *address)
{
	const struct sockaddr_in *v4 = (const void *)address;
	const struct sockaddr_in6 *v6 = (const void *)address;

	return address->sa_family == AF_INET ? ntohl(v4->sin_addr.s_addr) >> 24 == 127
					     : IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

/* ADDR:PORT or [ADDR]:PORT; an address, no name: who may reach it should not depend on a name server. */
static int find_address(const char *listen, struct addrinfo **found, struct error *e)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
				  .ai_socktype = SOCK_STREAM };
	const char *colon = strrchr(listen, ':');
	char address[128];
	size_t length = colon ? (size_t)(colon - listen) : 0;

	*found = NULL;
	if (length > 2 && listen[0] == '[' && listen[length - 1] == ']') {
		listen++;
		length -= 2;
	}
	snprintf(address, sizeof(address), "%.*s", (int)length, listen);
	if (!colon || !length || getaddrinfo(address, colon + 1, &hints, found) || !*found)
		return error_set(e, -EINVAL,
				 "'%s' is no address to listen on: 127.0.0.1:6100, [::1]:6100",
				 listen);
	return 0;
}

static int check_exposure(struct http *http, const struct sockaddr *address, struct error *e)
{
	const struct http_config *config = &http->config;

	http->guard.loopback = is_loopback(address);
	if (!http->guard.loopback && !config->token)
		return error_set(e, -EINVAL,
				 "'%s' can be reached by others: give a token (--token-file), or "
				 "listen on 127.0.0.1",
				 config->listen);
	if (!config->certificate != !config->key)
		return error_set(e, -EINVAL,
				 "a certificate needs its key, and a key its certificate");
	return 0;
}

static int start_daemon(struct http *http, const struct sockaddr *address, struct error *e)
{
	const struct http_config *config = &http->config;
	unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ERROR_LOG |
			 (http->tls ? MHD_USE_TLS : 0) |
			 (address->sa_family == AF_INET6 ? MHD_USE_IPv6 : 0);
	struct MHD_OptionItem tls[] = {
		{ MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)config->certificate },
		{ MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)config->key },
		{ MHD_OPTION_HTTPS_PRIORITIES, 0,
		  (void *)"NORMAL:-VERS-ALL:+VERS-TLS1.2:+VERS-TLS1.3" },
		{ MHD_OPTION_END, 0, NULL },
	};

	errno = 0;
	http->daemon = MHD_start_daemon(
		flags, 0, NULL, NULL, on_request, http, MHD_OPTION_EXTERNAL_LOGGER, on_log, http,
		MHD_OPTION_SOCK_ADDR, address, MHD_OPTION_THREAD_POOL_SIZE, THREADS,
		MHD_OPTION_CONNECTION_LIMIT, MOST_CONNECTIONS, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
		MOST_OF_ADDRESS, MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADER_BYTES,
		MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_URI_LOG_CALLBACK, on_target, http,
		MHD_OPTION_NOTIFY_COMPLETED, on_end, http, MHD_OPTION_NOTIFY_CONNECTION,
		on_connection, http, MHD_OPTION_LISTENING_ADDRESS_REUSE, 1, MHD_OPTION_ARRAY,
		http->tls ? tls : &tls[3], MHD_OPTION_END);
	if (http->daemon)
		return 0;
	return error_set(e, -EADDRINUSE, "cannot serve on %s: %s", config->listen,
			 errno	     ? strerror(errno)
			 : http->tls ? "the certificate or its key is refused"
				     : "libmicrohttpd refuses");
}

int http_open(struct http **out, const struct http_config *config, struct error *e)
{
	struct http *http = calloc(1, sizeof(*http));
	struct addrinfo *address = NULL;
	int err;

	*out = NULL;
	if (!http)
		return error_set(e, -ENOMEM, "out of memory");
	http->config = *config;
	http->tls = config->certificate;
	pthread_mutex_init(&http->lock, NULL);
	http_guard_init(&http->guard, config->token);
	err = find_address(config->listen, &address, e);
	if (!err)
		err = check_exposure(http, address->ai_addr, e);
	if (!err)
		err = start_daemon(http, address->ai_addr, e);
	if (address)
		freeaddrinfo(address);
	if (err)
		http_close(http);
	else
		*out = http;
	return err;
}

void http_close(struct http *http)
{
	if (!http)
		return;
	if (http->daemon)
		MHD_stop_daemon(http->daemon);
	pthread_mutex_destroy(&http->lock);
	http_guard_free(&http->guard);
	free(http);
}

uint16_t http_port(const struct http *http)
{
	const union MHD_DaemonInfo *info =
		MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_BIND_PORT);

	return info ? info->port : 0;
}
