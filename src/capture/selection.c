#include "capture/selection.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/cgroups.h"
#include "capture/containers.h"

/* ---- cgroups and containers ---- */

static int resolve_cgroup(struct selection *selection, const char *path, struct error *e)
{
	struct cgroup_place place;
	int err = cgroups_find(path, &place, e);

	selection->cgroup_id = place.id;
	selection->subsystem = place.subsystem;
	return err;
}

static int resolve_container(struct selection *selection, struct error *e)
{
	char directory[PATH_MAX];
	int err = containers_find(selection->container, directory, sizeof(directory),
				  &selection->namespace, e);

	if (err || selection->namespace)
		return err;
	if (selection->cgroup)
		return error_set(e, -EINVAL,
				 "--container and --cgroup both choose a cgroup: give one");
	return resolve_cgroup(selection, directory, e);
}

/* ---- paths ---- */

/* Resolves the directories of a path that exist; what is beyond them stays as it is. */
static void resolve_links(char *out, size_t size, const char *path)
{
	char head[PATH_MAX], real[PATH_MAX];
	size_t length = strlen(path);

	snprintf(head, sizeof(head), "%s", path);
	while (length > 1) {
		const char *rest = path + length;

		head[length] = 0;
		if (realpath(head, real)) {
			if (!strcmp(real, "/"))
				real[0] = 0;
			snprintf(out, size, "%s%s", real, rest);
			return;
		}
		while (length > 1 && path[length - 1] == '/')
			length--;
		while (length > 1 && path[length - 1] != '/')
			length--;
		while (length > 1 && path[length - 1] == '/')
			length--;
	}
	snprintf(out, size, "%s", path);
}

static int resolve_path(struct selection *selection, struct error *e)
{
	char directory[PATH_MAX] = "", text[2 * PATH_MAX + 2];

	if (!*selection->path)
		return error_set(e, -EINVAL, "--path is empty");
	if (*selection->path != '/' && !getcwd(directory, sizeof(directory)))
		return error_errno(e, "cannot tell the current directory");
	snprintf(text, sizeof(text), "%s%s%s", directory, *directory ? "/" : "", selection->path);
	if (strlen(text) >= sizeof(selection->prefix_text))
		return error_set(e, -ENAMETOOLONG, "--path is longer than a path can be");
	snprintf(selection->prefix_text, sizeof(selection->prefix_text), "%.*s", PATH_MAX - 1,
		 text);
	resolve_links(selection->prefix, sizeof(selection->prefix), selection->prefix_text);
	if (selection->path[strlen(selection->path) - 1] == '/' &&
	    selection->prefix[strlen(selection->prefix) - 1] != '/' &&
	    strlen(selection->prefix) < sizeof(selection->prefix) - 1)
		strcat(selection->prefix, "/");
	if (!strcmp(selection->prefix, selection->prefix_text))
		selection->prefix_text[0] = 0;
	return 0;
}

int selection_resolve(struct selection *selection, struct error *e)
{
	int err = 0;

	selection->subsystem = -1;
	if (selection->comm && !*selection->comm)
		return error_set(e, -EINVAL, "--comm is empty");
	if (selection->container)
		err = resolve_container(selection, e);
	if (!err && selection->cgroup)
		err = resolve_cgroup(selection, selection->cgroup, e);
	if (!err && selection->path)
		err = resolve_path(selection, e);
	return err;
}

void selection_configure(const struct selection *selection, bool alone, struct config *config)
{
	config->selects = selection_of_threads(selection);
	config->selects_job = config->selects && alone;
	config->select_cgroup = selection->cgroup_id;
	config->select_namespace = selection->namespace;
	config->select_subsystem = selection->subsystem;
	if (selection->comm) /* names that threads have are cut likewise */
		memcpy(config->select_comm, selection->comm,
		       strnlen(selection->comm, COMM_BYTES - 1));
	if (!selection->path)
		return;
	config->prefix_size = (uint32_t)strlen(selection->prefix);
	memcpy(config->prefix, selection->prefix, config->prefix_size);
	config->prefix_text_size = (uint32_t)strlen(selection->prefix_text);
	memcpy(config->prefix_text, selection->prefix_text, config->prefix_text_size);
}
