#include "probes/quota.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS_MOST 4096

struct quota_group {
	char *folder;
	struct quota_spent seen;
};

/* ---- where hierarchies are ---- */

static bool has_word(const char *list, const char *word, const char *separators)
{
	size_t length = strlen(word);

	for (const char *at = list; *at; at += strspn(at, separators)) {
		size_t size = strcspn(at, separators);

		if (size == length && !strncmp(at, word, size))
			return true;
		at += size;
	}
	return false;
}

/* The first line of a group's file; false: it has none. */
static bool read_line(const char *folder, const char *name, char *line, size_t size)
{
	char path[PATH_MAX];
	FILE *file;
	bool read;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder, name) >= sizeof(path))
		return false;
	file = fopen(path, "re");
	if (!file)
		return false;
	read = fgets(line, (int)size, file);
	fclose(file);
	if (read)
		line[strcspn(line, "\n")] = 0;
	return read;
}

/* A line of mountinfo: ID PARENT DEVICE ROOT FOLDER OPTIONS ... - TYPE SOURCE OPTIONS */
static void take_mount(struct quota *quota, char *line)
{
	char root[PATH_MAX], folder[PATH_MAX], type[32], options[1024], controllers[1024];
	char *dash = strstr(line, " - ");

	if (!dash || sscanf(line, "%*s %*s %*s %4095s %4095s", root, folder) != 2 ||
	    sscanf(dash + 3, "%31s %*s %1023s", type, options) != 2)
		return;
	if (!strcmp(type, "cgroup") && has_word(options, "cpu", ",")) {
		strcpy(quota->version1.folder, folder);
		strcpy(quota->version1.root, root);
	} else if (!strcmp(type, "cgroup2") &&
		   read_line(folder, "cgroup.controllers", controllers, sizeof(controllers)) &&
		   has_word(controllers, "cpu", " ")) {
		strcpy(quota->version2.folder, folder);
		strcpy(quota->version2.root, root);
	}
}

void quota_open(struct quota *quota)
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	char *line = NULL;
	size_t room = 0;

	*quota = (struct quota){ 0 };
	while (file && getline(&line, &room, file) > 0)
		take_mount(quota, line);
	free(line);
	if (file)
		fclose(file);
}

bool quota_is_known(const struct quota *quota)
{
	return *quota->version1.folder || *quota->version2.folder;
}

/* ---- groups ---- */

static struct quota_group *groups_of(const struct quota *quota, size_t *count)
{
	*count = quota->groups.size / sizeof(struct quota_group);
	return (struct quota_group *)quota->groups.data;
}

void quota_close(struct quota *quota)
{
	size_t count;
	struct quota_group *groups = groups_of(quota, &count);

	for (size_t i = 0; i < count; i++)
		free(groups[i].folder);
	buf_free(&quota->groups);
}

/* What the kernel has counted of a group so far; false: it is gone, or counts nothing. */
static bool group_read(const struct quota_group *group, struct quota_spent *spent)
{
	unsigned long long number;
	char path[PATH_MAX], name[64];
	bool found = false;
	FILE *file;

	if ((size_t)snprintf(path, sizeof(path), "%s/cpu.stat", group->folder) >= sizeof(path))
		return false;
	file = fopen(path, "re");
	*spent = (struct quota_spent){ 0 };
	while (file && fscanf(file, "%63s %llu", name, &number) == 2) {
		if (!strcmp(name, "nr_throttled")) {
			spent->periods = number;
			found = true;
		} else if (!strcmp(name, "throttled_time")) {
			spent->throttled = number;
		} else if (!strcmp(name, "throttled_usec")) {
			spent->throttled = number * 1000;
		}
	}
	if (file)
		fclose(file);
	return found;
}

static void add_group(struct quota *quota, const char *folder, bool newer)
{
	struct quota_group group = { 0 };
	char line[64];
	size_t count;
	struct quota_group *groups = groups_of(quota, &count);

	for (size_t i = 0; i < count; i++)
		if (!strcmp(groups[i].folder, folder))
			return;
	/* The root of a hierarchy has no such file: nothing limits it. */
	if (count == GROUPS_MOST ||
	    !read_line(folder, newer ? "cpu.max" : "cpu.cfs_quota_us", line, sizeof(line)))
		return;
	group.folder = strdup(folder);
	if (!group.folder || !group_read(&group, &group.seen) ||
	    buf_append(&quota->groups, &group, sizeof(group)))
		free(group.folder);
}

/* A group by its path in the hierarchy, and all around it. */
static void add_groups(struct quota *quota, const struct quota_hierarchy *hierarchy,
		       const char *path, bool newer)
{
	size_t root = strcmp(hierarchy->root, "/") ? strlen(hierarchy->root) : 0;
	size_t mount = strlen(hierarchy->folder);
	char folder[2 * PATH_MAX];

	if (!mount || strncmp(path, hierarchy->root, root) ||
	    (root && path[root] && path[root] != '/'))
		return; /* not seen from here */
	snprintf(folder, sizeof(folder), "%s%s", hierarchy->folder, path + root);
	for (char *slash; strlen(folder) > mount; *slash = 0) {
		slash = strrchr(folder, '/');
		if (slash[1])
			add_group(quota, folder, newer);
	}
}

void quota_add_process(struct quota *quota, uint32_t pid)
{
	char path[32], *line = NULL;
	size_t room = 0;
	FILE *file;

	if (pid)
		snprintf(path, sizeof(path), "/proc/%u/cgroup", pid);
	else
		snprintf(path, sizeof(path), "/proc/self/cgroup");
	file = fopen(path, "re");
	while (file && getline(&line, &room, file) > 0) { /* NUMBER:CONTROLLERS:PATH */
		char *controllers = strchr(line, ':');
		char *name = controllers ? strchr(controllers + 1, ':') : NULL;

		if (!name)
			continue;
		*name++ = 0;
		name[strcspn(name, "\n")] = 0;
		if (has_word(controllers + 1, "cpu", ","))
			add_groups(quota, &quota->version1, name, false);
		else if (!controllers[1])
			add_groups(quota, &quota->version2, name, true);
	}
	free(line);
	if (file)
		fclose(file);
}

void quota_take(struct quota *quota, struct quota_spent *spent)
{
	size_t count;
	struct quota_group *groups = groups_of(quota, &count);

	*spent = (struct quota_spent){ 0 };
	for (size_t i = 0; i < count; i++) {
		struct quota_spent now;

		if (!group_read(&groups[i], &now) || now.throttled < groups[i].seen.throttled ||
		    now.periods < groups[i].seen.periods) /* another of that name */
			continue;
		spent->throttled += now.throttled - groups[i].seen.throttled;
		spent->periods += now.periods - groups[i].seen.periods;
		groups[i].seen = now;
	}
}
