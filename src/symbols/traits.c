#include "symbols/traits.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define MOST_OFFSET 65536

/* ---- what may be said ---- */

static const struct trait_key {
	const char *name;
	size_t place;	     /* in struct function_traits */
	bool product;	     /* of two */
	enum function_as as; /* unless the word says otherwise */
} keys[] = {
	{ "bytes", offsetof(struct function_traits, bytes), true, AS_WORD },
	{ "count", offsetof(struct function_traits, count), false, AS_WORD },
	{ "rank", offsetof(struct function_traits, rank), false, AS_INT },
	{ "op", offsetof(struct function_traits, op), false, AS_INT },
	{ "fd", offsetof(struct function_traits, fd), false, AS_INT },
	{ "file", offsetof(struct function_traits, file), false, AS_WORD },
	{ "path", offsetof(struct function_traits, path), false, AS_WORD },
};

#define KEYS (sizeof(keys) / sizeof(*keys))

static struct function_source *source_of(struct function_traits *traits,
					 const struct trait_key *key)
{
	return (struct function_source *)((char *)traits + key->place);
}

/* ---- one source ---- */

static bool parse_as(const char *text, struct function_source *source)
{
	static const char *const names[] = {
		[AS_INT] = "int", [AS_NCCL_TYPE] = "nccl_type", [AS_NCCL_OP] = "nccl_op"
	};

	for (unsigned i = AS_INT; i <= AS_NCCL_OP; i++) {
		if (strcmp(text, names[i]))
			continue;
		source->as = (__u8)i;
		return true;
	}
	return false;
}

/* RETURNED, ARG0 to ARG5, or a number; then [OFFSET] for what lies behind a pointer, and :int and so on for what it is. */
static bool parse_source(char *text, struct function_source *source)
{
	char *as = strchr(text, ':'), *behind = strchr(text, '['), *end;

	if (as && !parse_as(as + 1, source))
		return false;
	if (as)
		*as = 0;
	if (behind) {
		unsigned long offset = strtoul(behind + 1, &end, 10);

		if (end == behind + 1 || strcmp(end, "]") || offset >= MOST_OFFSET)
			return false;
		source->behind = true;
		source->value = (__u32)offset;
		*behind = 0;
	}
	if (!strcmp(text, "RETURNED")) {
		source->from = FROM_RETURNED;
	} else if (!strncmp(text, "ARG", 3) && text[3] >= '0' && text[3] <= '5' && !text[4]) {
		source->from = (__u8)(FROM_ARG0 + text[3] - '0');
	} else {
		source->from = FROM_NUMBER;
		source->value = (__u32)strtoul(text, &end, 10);
		return !behind && end != text && !*end;
	}
	return true;
}

/* ---- one word ---- */

static bool parse_word(struct function_traits *traits, const struct trait_key *key, char *text)
{
	struct function_source *source = source_of(traits, key);
	char *second = key->product ? strchr(text, '*') : NULL;

	if (second)
		*second = 0;
	for (int i = 0; i < (second ? 2 : 1); i++) {
		source[i] = (struct function_source){ .as = (__u8)key->as };
		if (!parse_source(i ? second + 1 : text, &source[i]))
			return false;
	}
	return true;
}

int traits_parse(struct function_traits *traits, const char *word, struct error *e)
{
	size_t size = strcspn(word, "=");
	char text[64];

	for (size_t i = 0; i < KEYS; i++) {
		if (strlen(keys[i].name) != size || strncmp(keys[i].name, word, size))
			continue;
		if (strlen(word + size + 1) < sizeof(text) &&
		    parse_word(traits, &keys[i], strcpy(text, word + size + 1)))
			return 0;
		return error_set(e, -EINVAL,
				 "'%s': RETURNED, ARG0 to ARG5, a number, or of bytes a product of "
				 "two; then [OFFSET] and :int, :nccl_type or :nccl_op",
				 word);
	}
	return error_set(e, -EINVAL,
			 "'%s': only bytes, count, rank, op, fd, file and path are told", word);
}

void traits_take(struct function_traits *traits, const struct function_traits *from)
{
	for (size_t i = 0; i < KEYS; i++) {
		const struct function_source *source =
			source_of((struct function_traits *)from, &keys[i]);

		if (source->from)
			memcpy(source_of(traits, &keys[i]), source,
			       (keys[i].product ? 2 : 1) * sizeof(*source));
	}
}
