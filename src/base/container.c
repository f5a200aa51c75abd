#include "base/container.h"

#include <string.h>

#define ID_DIGITS    64
#define LEAST_PREFIX 4

/* One name of a path. */
struct part {
	const char *text;
	size_t size;
};

static bool is_hex(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (!strchr("0123456789abcdef", text[i]) || !text[i])
			return false;
	return size;
}

static bool begins(const struct part *part, const char *word)
{
	return part->size > strlen(word) && !memcmp(part->text, word, strlen(word));
}

static bool ends(const struct part *part, const char *word)
{
	size_t length = strlen(word);

	return part->size > length && !memcmp(part->text + part->size - length, word, length);
}

static bool equals(const struct part *part, const char *word)
{
	return part->size == strlen(word) && !memcmp(part->text, word, part->size);
}

static bool has(const struct part *part, const char *word)
{
	return memmem(part->text, part->size, word, strlen(word));
}

static struct part without(struct part part, size_t first, size_t last)
{
	return (struct part){ part.text + first, part.size - first - last };
}

/* ID, or PREFIX-ID, or SLICE:PREFIX:ID. */
static struct part hex_id(struct part part)
{
	size_t before = part.size - ID_DIGITS;

	if (part.size < ID_DIGITS || !is_hex(part.text + before, ID_DIGITS) ||
	    (before && part.text[before - 1] != '-' && part.text[before - 1] != ':'))
		return (struct part){ 0 };
	return without(part, before, 0);
}

/* The container that one name of a path is of, given the name above it. */
static struct part name_of(struct part part, struct part above)
{
	static const char *const scopes[] = { "runc-", "crun-", "machine-" };
	struct part name = part, id;

	if (has(&part, "conmon") || begins(&part, "lxc.monitor") || has(&part, "machine-qemu"))
		return (struct part){ 0 };
	if (ends(&part, ".scope"))
		name = without(part, 0, strlen(".scope"));
	id = hex_id(name);
	if (id.text)
		return id;
	for (size_t i = 0; i < sizeof(scopes) / sizeof(*scopes); i++)
		if (ends(&part, ".scope") && begins(&name, scopes[i]))
			return without(name, strlen(scopes[i]), 0);
	if (begins(&part, "systemd-nspawn@") && ends(&part, ".service"))
		return without(part, strlen("systemd-nspawn@"), strlen(".service"));
	if (begins(&part, "lxc.payload."))
		return without(part, strlen("lxc.payload."), 0);
	if (equals(&above, "lxc") || equals(&above, "lxc.payload"))
		return part;
	return (struct part){ 0 };
}

/* The name that ends before `end`. */
static struct part part_before(const char *path, size_t end)
{
	size_t start = end;

	while (start && path[start - 1] != '/')
		start--;
	return (struct part){ path + start, end - start };
}

struct container_name container_of_group(const char *path)
{
	size_t end = strlen(path);

	while (end) {
		struct part part = part_before(path, end);
		size_t start = end - part.size;
		struct part above = part_before(path, start ? start - 1 : 0), name;

		name = part.size ? name_of(part, above) : (struct part){ 0 };
		if (name.text && name.size)
			return (struct container_name){ name.text, name.size, end };
		end = start ? start - 1 : 0;
	}
	return (struct container_name){ 0 };
}

struct container_name container_bare(const char *path)
{
	size_t end = strlen(path);
	struct part part = part_before(path, end);

	if (!part.size || ends(&part, ".scope") || ends(&part, ".service") ||
	    ends(&part, ".slice") || has(&part, "conmon"))
		return (struct container_name){ 0 };
	return (struct container_name){ part.text, part.size, end };
}

bool container_is(const struct container_name *name, const char *wanted)
{
	size_t length = strlen(wanted);

	if (!name->text || length > name->size || memcmp(name->text, wanted, length))
		return false;
	return length == name->size || (length >= LEAST_PREFIX && name->size == ID_DIGITS &&
					is_hex(name->text, name->size));
}
