#include "cluster/select/nodes.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_MOST (1u << 20)

const struct node *nodes_find(const struct nodes *nodes, const char *name)
{
	for (unsigned i = 0; i < nodes->count; i++)
		if (!strcmp(nodes->items[i].name, name))
			return &nodes->items[i];
	return NULL;
}

int nodes_unknown(const struct nodes *nodes, const char *name, struct error *e)
{
	char list[600] = "";

	for (unsigned i = 0; i < nodes->count && strlen(list) < sizeof(list) - SELECT_NAME; i++)
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", i ? ", " : "",
			 nodes->items[i].name);
	return error_set(e, -ENOENT, "there is no node '%s': %s%s", name,
			 nodes->count ? "known are " : "none is known", list);
}

static int add_node(struct nodes *nodes, const char *name, const char *address, struct error *e)
{
	bool has_scheme = !strncmp(address, "http://", 7) || !strncmp(address, "https://", 8);
	struct node *items;
	size_t length;

	if (!*name || strlen(name) >= SELECT_NAME || !*address ||
	    strlen(address) + sizeof("http://") >= NODES_TEXT)
		return error_set(e, -EINVAL, "a node is NAME = ADDRESS:PORT");
	if (nodes_find(nodes, name))
		return error_set(e, -EINVAL, "node '%s' is named twice", name);
	items = realloc(nodes->items, (nodes->count + 1) * sizeof(*items));
	if (!items)
		return error_set(e, -ENOMEM, "out of memory");
	nodes->items = items;
	items[nodes->count] = (struct node){ 0 };
	snprintf(items[nodes->count].name, SELECT_NAME, "%s", name);
	snprintf(items[nodes->count].address, NODES_TEXT, "%s%s", has_scheme ? "" : "http://",
		 address);
	length = strlen(items[nodes->count].address);
	if (items[nodes->count].address[length - 1] == '/')
		items[nodes->count].address[length - 1] = '\0';
	nodes->count++;
	return 0;
}

static int set_token(struct nodes *nodes, const char *name, const char *token, struct error *e)
{
	const struct node *node = nodes_find(nodes, name);
	char *out = !strcmp(name, "*") ? nodes->token
		    : node	       ? nodes->items[node - nodes->items].token
				       : NULL;

	if (!out)
		return nodes_unknown(nodes, name, e);
	if (strlen(token) >= NODES_TEXT)
		return error_set(e, -EINVAL, "the token of '%s' is too long", name);
	snprintf(out, NODES_TEXT, "%s", token);
	return 0;
}

/* The text without blanks around it; changes it. */
static char *trim(char *text)
{
	char *end;

	while (isspace((unsigned char)*text))
		text++;
	end = text + strlen(text);
	while (end > text && isspace((unsigned char)end[-1]))
		*--end = '\0';
	return text;
}

static int parse_line(struct nodes *nodes, char *line, char *section, size_t size, struct error *e)
{
	char *equals;

	line = trim(line);
	if (!*line || *line == '#' || *line == ';')
		return 0;
	if (*line == '[') {
		if (strcmp(line, "[nodes]") && strcmp(line, "[tokens]"))
			return error_set(e, -EINVAL, "sections are [nodes] and [tokens]");
		snprintf(section, size, "%s", line);
		return 0;
	}
	equals = strchr(line, '=');
	if (!equals)
		return error_set(e, -EINVAL, "a node is NAME = ADDRESS:PORT");
	*equals = '\0';
	if (!strcmp(section, "[tokens]"))
		return set_token(nodes, trim(line), trim(equals + 1), e);
	return add_node(nodes, trim(line), trim(equals + 1), e);
}

int nodes_add(struct nodes *nodes, const char *text, struct error *e)
{
	char *copy = strdup(text), section[16] = "[nodes]";
	int err = copy ? parse_line(nodes, copy, section, sizeof(section), e)
		       : error_set(e, -ENOMEM, "out of memory");

	free(copy);
	return err ? error_add(e, err, "'%.80s'", text) : 0;
}

int nodes_parse(struct nodes *nodes, const char *text, struct error *e)
{
	char *copy = strdup(text), *rest = copy, *line, section[16] = "[nodes]";
	unsigned number = 0;
	int err = copy ? 0 : error_set(e, -ENOMEM, "out of memory");

	while (!err && (line = strsep(&rest, "\n"))) {
		number++;
		err = parse_line(nodes, line, section, sizeof(section), e);
	}
	free(copy);
	return err ? error_add(e, err, "line %u", number) : 0;
}

int nodes_read(struct nodes *nodes, const char *path, struct error *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;
	char *text = calloc(1, FILE_MOST + 1);
	ssize_t size = fd < 0 || !text ? -1 : read(fd, text, FILE_MOST);

	if (!text)
		err = error_set(e, -ENOMEM, "out of memory");
	else if (size < 0)
		err = error_errno(e, "cannot read '%s'", path);
	else if (strlen(text) != (size_t)size)
		err = error_set(e, -EINVAL, "'%s' is no list of nodes", path);
	else if ((err = nodes_parse(nodes, text, e)))
		error_add(e, err, "'%s'", path);
	if (fd >= 0)
		close(fd);
	free(text);
	return err;
}

void nodes_free(struct nodes *nodes)
{
	free(nodes->items);
	*nodes = (struct nodes){ 0 };
}
