#include "capture/containers.h"

#include <errno.h>
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/container.h"
#include "capture/cgroups.h"

/* ---- by the id of a process ---- */

static uint32_t namespace_of(const char *pid)
{
	char path[64];
	struct stat about;

	snprintf(path, sizeof(path), "/proc/%s/ns/pid", pid);
	return stat(path, &about) ? 0 : (uint32_t)about.st_ino;
}

/* Whether a directory of a mounted hierarchy is there, of the unified one or of one with controllers. */
static bool find_directory(const char *path, size_t size, bool unified, char *out, size_t room)
{
	FILE *mounts = fopen("/proc/self/mountinfo", "re");
	struct cgroup_mount mount;
	bool found = false;
	struct stat about;

	while (mounts && !found && cgroup_mount_read(mounts, &mount)) {
		if (strcmp(mount.type, unified ? "cgroup2" : "cgroup") ||
		    (!unified && strstr(mount.options, "name=")))
			continue;
		snprintf(out, room, "%s%.*s", mount.point, (int)size, path);
		found = !stat(out, &about);
	}
	if (mounts)
		fclose(mounts);
	return found;
}

/* The container's group that a process is in, by an engine's way of writing it. */
static bool group_of(const char *pid, char *directory, size_t size)
{
	char line[PATH_MAX + 64], *path;
	bool found = false;
	FILE *groups;

	snprintf(line, sizeof(line), "/proc/%s/cgroup", pid);
	groups = fopen(line, "re");
	while (groups && !found && fgets(line, sizeof(line), groups)) {
		struct container_name name;

		line[strcspn(line, "\n")] = 0;
		path = strchr(line, '/');
		if (!path || strstr(line, ":name="))
			continue;
		name = container_of_group(path);
		found = name.text &&
			find_directory(path, name.end, !strncmp(line, "0::", 3), directory, size);
	}
	if (groups)
		fclose(groups);
	return found;
}

static int find_by_process(const char *pid, char *directory, size_t size, uint32_t *namespace,
			   struct error *e)
{
	uint32_t theirs = namespace_of(pid);

	if (!theirs)
		return error_errno(e, "cannot tell the namespaces of process %s", pid);
	if (group_of(pid, directory, size))
		return 0;
	if (theirs == namespace_of("self"))
		return error_set(
			e, -ENOENT,
			"process %s is in no container: its control group is none of one, and its "
			"PID namespace is strata's own",
			pid);
	*namespace = theirs;
	return 0;
}

/* ---- by id or name ---- */

/* What a search has found. */
struct search {
	const char *wanted;
	char *directory;
	size_t size;
	char name[NAME_MAX + 1]; /* of what was found; empty: nothing yet */
	bool several;		 /* the words fit more than one */
};

static bool has_processes(const char *directory)
{
	char path[PATH_MAX];
	FILE *list;
	int first;

	snprintf(path, sizeof(path), "%s/cgroup.procs", directory);
	list = fopen(path, "re");
	first = list ? fgetc(list) : EOF;
	if (list)
		fclose(list);
	return first != EOF;
}

/* A group counts if it is a container's own: what lies below is its business. */
static void consider(struct search *search, const char *point, const char *directory)
{
	const char *path = directory + strlen(point);
	struct container_name name = container_of_group(path);

	if (!name.text)
		name = container_bare(path);
	if (path[name.end] || !container_is(&name, search->wanted) || name.size > NAME_MAX)
		return;
	if (!*search->name) {
		memcpy(search->name, name.text, name.size);
		snprintf(search->directory, search->size, "%s", directory);
	} else if (strlen(search->name) != name.size ||
		   memcmp(search->name, name.text, name.size)) {
		search->several = true;
	}
}

static void search_mount(struct search *search, char *point)
{
	char *const roots[] = { point, NULL };
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *entry;

	while (walk && (entry = fts_read(walk)))
		if (entry->fts_info == FTS_D && entry->fts_level && has_processes(entry->fts_path))
			consider(search, point, entry->fts_path);
	if (walk)
		fts_close(walk);
}

/* In the unified hierarchy or in those with controllers. The first that has it is enough. */
static void search_hierarchies(struct search *search, bool unified)
{
	FILE *mounts = fopen("/proc/self/mountinfo", "re");
	struct cgroup_mount mount;

	while (mounts && !*search->name && cgroup_mount_read(mounts, &mount))
		if (!strcmp(mount.type, unified ? "cgroup2" : "cgroup") &&
		    (unified || !strstr(mount.options, "name=")))
			search_mount(search, mount.point);
	if (mounts)
		fclose(mounts);
}

static int find_by_name(const char *wanted, char *directory, size_t size, struct error *e)
{
	struct search search = { .wanted = wanted, .directory = directory, .size = size };

	search_hierarchies(&search, true);
	if (!*search.name)
		search_hierarchies(&search, false);
	if (!*search.name)
		return error_set(
			e, -ENOENT,
			"no container '%s' runs here: give its id, the name in the path of its "
			"control group (/proc/PID/cgroup), or the id of a process in it",
			wanted);
	if (search.several)
		return error_set(e, -EINVAL, "'%s' begins the ids of several containers", wanted);
	return 0;
}

int containers_find(const char *wanted, char *directory, size_t size, uint32_t *namespace,
		    struct error *e)
{
	char path[64];
	struct stat about;

	*namespace = 0;
	if (!*wanted || strchr(wanted, '/'))
		return error_set(e, -EINVAL, "--container '%s' is no id or name", wanted);
	snprintf(path, sizeof(path), "/proc/%.40s", wanted);
	if (!wanted[strspn(wanted, "0123456789")] && !stat(path, &about))
		return find_by_process(wanted, directory, size, namespace, e);
	return find_by_name(wanted, directory, size, e);
}
