/* libFuzzer target: what a request to an agent says, field by field, and the bytes of a stored histogram. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/http_guard.h"
#include "cluster/metric_blob.h"

#define FIELDS 6

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The input as texts, one a line; those that are not there are empty. */
static void split(char *text, char **fields)
{
	for (size_t i = 0; i < FIELDS; i++) {
		char *end = strchr(text, '\n');

		fields[i] = text;
		text = end ? end + 1 : text + strlen(text);
		if (end)
			*end = 0;
	}
}

static void ask(char **fields)
{
	struct http_guard guard;
	struct http_answer answer = { 0 };
	struct http_asked asked = {
		.method = fields[0],
		.path = "/",
		.host = fields[1],
		.authorization = fields[2],
		.content_length = fields[3],
		.transfer_encoding = fields[4],
		.bad_target = !http_target_is_plain(fields[5]),
	};

	http_guard_init(&guard, fields[2][0] ? "0123456789abcdef" : NULL);
	guard.loopback = true;
	if (http_guard_admit(&guard, &asked, NULL, 1, &answer) && guard.token &&
	    strcasecmp(fields[2], "Bearer 0123456789abcdef"))
		abort(); /* let in without the token */
	buf_free(&answer.body);
	http_guard_free(&guard);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct metric_sample sample;
	uint64_t slots[LIVE_SLOTS];
	char *fields[FIELDS], *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = 0;
	split(text, fields);
	ask(fields);
	metric_blob_read(data, size, slots, &sample);
	free(text);
	return 0;
}
