#include "capture/environment.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct environment_variable {
	const char *name; /* a literal */
	char *value;
	enum environment_way way;
};

static size_t count_of(const struct environment *environment)
{
	return environment->variables.size / sizeof(struct environment_variable);
}

static struct environment_variable *variable(const struct environment *environment, size_t i)
{
	return (struct environment_variable *)environment->variables.data + i;
}

int environment_add(struct environment *environment, const char *name, const char *value,
		    enum environment_way way, struct error *e)
{
	struct environment_variable added = { name, strdup(value), way };

	if (added.value && !buf_append(&environment->variables, &added, sizeof(added)))
		return 0;
	free(added.value);
	return error_set(e, -ENOMEM, "out of memory");
}

void environment_free(struct environment *environment)
{
	for (size_t i = 0; i < count_of(environment); i++)
		free(variable(environment, i)->value);
	buf_free(&environment->variables);
}

static int set_variable(const struct environment_variable *added)
{
	const char *old = getenv(added->name);
	char *both;
	int err;

	if (added->way == ENVIRONMENT_SET || !old || !*old)
		return setenv(added->name, added->value, 1) ? -errno : 0;
	if (added->way == ENVIRONMENT_KEEP)
		return 0;
	if (asprintf(&both, "%s:%s", old, added->value) < 0)
		return -ENOMEM;
	err = setenv(added->name, both, 1) ? -errno : 0;
	free(both);
	return err;
}

int environment_enter(const struct environment *environment)
{
	int err = 0;

	for (size_t i = 0; environment && i < count_of(environment) && !err; i++)
		err = set_variable(variable(environment, i));
	return err;
}
