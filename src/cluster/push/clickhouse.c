/* See clickhouse.h. */
#include "cluster/push/clickhouse.h"

#include <ctype.h>
#include <curl/curl.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_DATABASE "strata"
#define CONNECT_SECONDS	 5
#define ANSWER_LIMIT	 ((size_t)1 << 30)

/* What a plain statement must not do: answer with 200 and break down later. */
#define WHOLE_ANSWER "wait_end_of_query=1"

struct clickhouse {
	CURL *curl;
	CURLU *url;
	char *database, *address;
	struct clickhouse_server server;
	bool probed;
	int refusal;
	char error[CURL_ERROR_SIZE];
};

/* ---- the connection ---- */

static char *url_part(CURLU *url, CURLUPart part)
{
	char *text = NULL, *copy;

	if (curl_url_get(url, part, &text, CURLU_URLDECODE))
		return NULL;
	copy = strdup(text);
	curl_free(text);
	return copy;
}

/* The database is the path; the address is what is left without it and without who asks. */
static int split_url(struct clickhouse *clickhouse, const char *url, struct error *e)
{
	CURLU *bare;
	char *path, *text = NULL;

	clickhouse->url = curl_url();
	if (!clickhouse->url || curl_url_set(clickhouse->url, CURLUPART_URL, url, 0))
		return error_set(e, -EINVAL,
				 "'%s' is no URL of a ClickHouse server, such as "
				 "http://host:8123",
				 url);
	path = url_part(clickhouse->url, CURLUPART_PATH);
	clickhouse->database = strdup(path && path[0] && path[1] ? path + 1 : DEFAULT_DATABASE);
	free(path);
	curl_url_set(clickhouse->url, CURLUPART_PATH, "/", 0);
	bare = curl_url_dup(clickhouse->url);
	if (!bare || !clickhouse->database)
		return error_set(e, -ENOMEM, "out of memory");
	curl_url_set(bare, CURLUPART_USER, NULL, 0);
	curl_url_set(bare, CURLUPART_PASSWORD, NULL, 0);
	if (!curl_url_get(bare, CURLUPART_URL, &text, 0))
		clickhouse->address = strdup(text);
	curl_free(text);
	curl_url_cleanup(bare);
	return clickhouse->address ? 0 : error_set(e, -ENOMEM, "out of memory");
}

int clickhouse_open(struct clickhouse **out, const char *url, struct error *e)
{
	struct clickhouse *clickhouse = calloc(1, sizeof(*clickhouse));
	int err;

	*out = clickhouse;
	if (!clickhouse)
		return error_set(e, -ENOMEM, "out of memory");
	err = split_url(clickhouse, url, e);
	if (err)
		return err;
	clickhouse->curl = curl_easy_init();
	if (!clickhouse->curl)
		return error_set(e, -ENOMEM, "out of memory");
	curl_easy_setopt(clickhouse->curl, CURLOPT_ERRORBUFFER, clickhouse->error);
	curl_easy_setopt(clickhouse->curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(clickhouse->curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(clickhouse->curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
	curl_easy_setopt(clickhouse->curl, CURLOPT_NOPROXY, "*");
	return 0;
}

void clickhouse_close(struct clickhouse *clickhouse)
{
	if (!clickhouse)
		return;
	strings_free(&clickhouse->server.settings);
	strings_free(&clickhouse->server.table_settings);
	curl_easy_cleanup(clickhouse->curl);
	curl_url_cleanup(clickhouse->url);
	free(clickhouse->database);
	free(clickhouse->address);
	free(clickhouse);
}

void clickhouse_set_timeout(struct clickhouse *clickhouse, uint64_t ns)
{
	curl_easy_setopt(clickhouse->curl, CURLOPT_TIMEOUT_MS, (long)(ns / 1000000));
}

const char *clickhouse_database(const struct clickhouse *clickhouse)
{
	return clickhouse->database;
}

const char *clickhouse_address(const struct clickhouse *clickhouse)
{
	return clickhouse->address;
}

int clickhouse_refusal(const struct clickhouse *clickhouse)
{
	return clickhouse->refusal;
}

/* ---- requests ---- */

static size_t take_answer(char *bytes, size_t size, size_t count, void *data)
{
	return buf_append(data, bytes, size * count) ? 0 : size * count;
}

/* Before the answer began nothing was done; after the request was sent nobody knows. */
static int unreached(CURLcode code)
{
	switch (code) {
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_CONNECT:
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_PEER_FAILED_VERIFICATION: return -ECONNREFUSED;
	default: return -EIO;
	}
}

/* The first line of what the server says, which old and new ones begin with "Code: N". */
static int refused(struct clickhouse *clickhouse, long status, const struct buf *answer,
		   struct error *e)
{
	const char *text = (const char *)answer->data;
	size_t length = answer->size ? strcspn(text, "\n") : 0;

	clickhouse->refusal = 0;
	if (length > 600)
		length = 600;
	if (answer->size && sscanf(text, "Code: %d", &clickhouse->refusal) != 1)
		clickhouse->refusal = 0;
	return error_set(e, -EREMOTEIO, "ClickHouse at %s refused (HTTP %ld): %.*s",
			 clickhouse->address, status, (int)length, answer->size ? text : "");
}

static int request(struct clickhouse *clickhouse, struct curl_slist *headers,
		   const char *parameters, struct buf *answer, struct error *e)
{
	char *text = NULL;
	long status = 0;
	CURLcode code;
	int err = 0;

	clickhouse->refusal = 0;
	clickhouse->error[0] = '\0';
	if (curl_url_set(clickhouse->url, CURLUPART_QUERY, parameters, 0) ||
	    curl_url_get(clickhouse->url, CURLUPART_URL, &text, 0))
		return error_set(e, -ENOMEM, "out of memory");
	curl_easy_setopt(clickhouse->curl, CURLOPT_URL, text);
	curl_easy_setopt(clickhouse->curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(clickhouse->curl, CURLOPT_WRITEFUNCTION, take_answer);
	curl_easy_setopt(clickhouse->curl, CURLOPT_WRITEDATA, answer);
	code = curl_easy_perform(clickhouse->curl);
	curl_free(text);
	curl_easy_getinfo(clickhouse->curl, CURLINFO_RESPONSE_CODE, &status);
	if (code)
		err = error_set(e, unreached(code), "no answer from ClickHouse at %s: %s",
				clickhouse->address,
				*clickhouse->error ? clickhouse->error : curl_easy_strerror(code));
	else if (buf_append(answer, "", 1))
		err = error_set(e, -ENOMEM, "out of memory");
	else if (answer->size--, status != 200)
		err = refused(clickhouse, status, answer, e);
	return err;
}

static struct curl_slist *headers_of(const char *encoding)
{
	struct curl_slist *headers = curl_slist_append(NULL, "Expect:"), *more;

	if (!headers || !encoding)
		return headers;
	more = curl_slist_append(headers, encoding);
	if (!more)
		curl_slist_free_all(headers);
	return more;
}

int clickhouse_run(struct clickhouse *clickhouse, const char *settings, const char *sql,
		   struct buf *body, struct error *e)
{
	struct buf answer = { .limit = ANSWER_LIMIT }, parameters = { 0 };
	struct curl_slist *headers = headers_of(NULL);
	int err;

	if (!headers || buf_printf(&parameters, WHOLE_ANSWER "%s", settings ? settings : "")) {
		err = error_set(e, -ENOMEM, "out of memory");
		goto out;
	}
	curl_easy_setopt(clickhouse->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(sql));
	curl_easy_setopt(clickhouse->curl, CURLOPT_POSTFIELDS, sql);
	err = request(clickhouse, headers, (const char *)parameters.data, body ? body : &answer, e);
out:
	curl_slist_free_all(headers);
	buf_free(&parameters);
	buf_free(&answer);
	return err;
}

int clickhouse_do(struct clickhouse *clickhouse, const char *settings, struct sql_text *sql,
		  struct buf *body, struct error *e)
{
	const char *text = sql_get(sql);
	int err = text ? clickhouse_run(clickhouse, settings, text, body, e)
		       : error_set(e, -ENOMEM, "out of memory");

	sql_clear(sql);
	return err;
}

int clickhouse_number(struct clickhouse *clickhouse, struct sql_text *sql, uint64_t *number,
		      struct error *e)
{
	struct buf body = { 0 };
	int err = clickhouse_do(clickhouse, NULL, sql, &body, e);

	if (!err && sscanf((const char *)body.data, "%" SCNu64, number) != 1)
		err = error_set(e, -EBADMSG, "ClickHouse at %s answered no number",
				clickhouse->address);
	buf_free(&body);
	return err;
}

struct sending {
	int fd;
	off_t at;
};

static size_t give_body(char *out, size_t size, size_t count, void *data)
{
	struct sending *sending = data;
	ssize_t got = pread(sending->fd, out, size * count, sending->at);

	if (got < 0)
		return CURL_READFUNC_ABORT;
	sending->at += got;
	return (size_t)got;
}

int clickhouse_insert(struct clickhouse *clickhouse, const char *settings, const char *sql, int fd,
		      uint64_t size, struct error *e)
{
	struct curl_slist *headers = headers_of("Content-Encoding: gzip");
	struct buf answer = { .limit = ANSWER_LIMIT }, parameters = { 0 };
	struct sending sending = { .fd = fd };
	char *escaped = curl_easy_escape(clickhouse->curl, sql, 0);
	int err;

	if (!headers || !escaped ||
	    buf_printf(&parameters, WHOLE_ANSWER "&query=%s%s", escaped,
		       settings ? settings : "")) {
		err = error_set(e, -ENOMEM, "out of memory");
		goto out;
	}
	curl_easy_setopt(clickhouse->curl, CURLOPT_POSTFIELDS, NULL);
	curl_easy_setopt(clickhouse->curl, CURLOPT_POST, 1L);
	curl_easy_setopt(clickhouse->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size);
	curl_easy_setopt(clickhouse->curl, CURLOPT_READFUNCTION, give_body);
	curl_easy_setopt(clickhouse->curl, CURLOPT_READDATA, &sending);
	err = request(clickhouse, headers, (const char *)parameters.data, &answer, e);
out:
	curl_slist_free_all(headers);
	curl_free(escaped);
	buf_free(&parameters);
	buf_free(&answer);
	return err;
}

/* ---- what it knows ---- */

static int list_names(struct clickhouse *clickhouse, const char *table, struct strings *names,
		      struct error *e)
{
	struct buf body = { 0 };
	char sql[128], *line, *rest;
	uint32_t number;
	int err;

	snprintf(sql, sizeof(sql), "SELECT name FROM system.%s FORMAT TabSeparated", table);
	err = clickhouse_run(clickhouse, NULL, sql, &body, e);
	for (rest = (char *)body.data; !err && rest && (line = strsep(&rest, "\n"));)
		if (*line && strings_add(names, line, strlen(line), &number))
			err = error_set(e, -ENOMEM, "out of memory");
	buf_free(&body);
	return err;
}

bool clickhouse_knows(const struct strings *settings, const char *name)
{
	uint32_t number;

	return strings_find(settings, name, strlen(name), &number);
}

int clickhouse_probe(struct clickhouse *clickhouse, const struct clickhouse_server **out,
		     struct error *e)
{
	struct clickhouse_server *server = &clickhouse->server;
	struct buf body = { 0 };
	int err = 0;

	*out = server;
	if (clickhouse->probed)
		return 0;
	err = clickhouse_run(clickhouse, NULL, "SELECT version()", &body, e);
	if (!err)
		snprintf(server->version, sizeof(server->version), "%.*s",
			 (int)strcspn((const char *)body.data, "\n"), (const char *)body.data);
	if (!err)
		err = list_names(clickhouse, "settings", &server->settings, e);
	if (!err)
		err = list_names(clickhouse, "merge_tree_settings", &server->table_settings, e);
	buf_free(&body);
	if (err)
		return err;
	/* These came with what they are about, and show that it is there. */
	server->codecs = clickhouse_knows(&server->settings, "allow_suspicious_codecs");
	server->low_cardinality =
		clickhouse_knows(&server->settings, "low_cardinality_max_dictionary_size");
	server->tokens =
		clickhouse_knows(&server->settings, "insert_deduplication_token") &&
		clickhouse_knows(&server->table_settings, "non_replicated_deduplication_window");
	clickhouse->probed = true;
	return 0;
}
