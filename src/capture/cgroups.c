#include "capture/cgroups.h"

#include <errno.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

bool cgroup_mount_read(FILE *file, struct cgroup_mount *mount)
{
	char line[3 * PATH_MAX], *rest;

	while (fgets(line, sizeof(line), file)) {
		rest = strstr(line, " - ");
		if (rest &&
		    sscanf(line, "%*d %*d %u:%u %*s %4095s", &mount->major, &mount->minor,
			   mount->point) == 3 &&
		    sscanf(rest, " - %31s %*s %511s", mount->type, mount->options) == 2)
			return true;
	}
	return false;
}

static bool is_cgroup(const char *path, struct stat *about, struct statfs *system)
{
	return !stat(path, about) && S_ISDIR(about->st_mode) && !statfs(path, system) &&
	       (system->f_type == CGROUP2_SUPER_MAGIC || system->f_type == CGROUP_SUPER_MAGIC);
}

/* Looks for a path as /proc/PID/cgroup prints it, below where the unified hierarchy is mounted. */
static bool find_below_mount(const char *path, struct stat *about, struct statfs *system)
{
	FILE *mounts = fopen("/proc/self/mountinfo", "re");
	struct cgroup_mount mount;
	char full[2 * PATH_MAX];
	bool found = false;

	while (mounts && !found && cgroup_mount_read(mounts, &mount)) {
		if (strcmp(mount.type, "cgroup2"))
			continue;
		snprintf(full, sizeof(full), "%s/%s", mount.point, path);
		found = is_cgroup(full, about, system);
	}
	if (mounts)
		fclose(mounts);
	return found;
}

/* The number that the kernel gives a controller of v1; negative: it has none of that name. */
static int subsystem_number(const struct features *features, const char *word)
{
	char name[64];

	snprintf(name, sizeof(name), "%s_cgrp_id", strcmp(word, "blkio") ? word : "io");
	return features_enumerator(features, "cgroup_subsys_id", name);
}

/* The number of the first controller of a v1 hierarchy; negative: it has none. */
static int subsystem_of(const struct features *features, dev_t device)
{
	FILE *mounts = fopen("/proc/self/mountinfo", "re");
	int subsystem = -ENOENT;
	struct cgroup_mount mount;

	while (mounts && subsystem < 0 && cgroup_mount_read(mounts, &mount)) {
		char *rest = mount.options;

		if (mount.major != major(device) || mount.minor != minor(device))
			continue;
		for (char *word = strsep(&rest, ","); word && subsystem < 0;
		     word = strsep(&rest, ","))
			subsystem = subsystem_number(features, word);
	}
	if (mounts)
		fclose(mounts);
	return subsystem;
}

int cgroups_find(const char *path, struct cgroup_place *place, struct error *e)
{
	struct features *features;
	struct statfs system;
	struct stat about;
	int err;

	*place = (struct cgroup_place){ .subsystem = -1 };
	if (!is_cgroup(path, &about, &system) && !find_below_mount(path, &about, &system))
		return error_set(
			e, -ENOENT,
			"no cgroup '%s': give its directory, as /sys/fs/cgroup/..., or its "
			"path as /proc/PID/cgroup shows it",
			path);
	place->id = about.st_ino;
	if (system.f_type == CGROUP2_SUPER_MAGIC)
		return 0;
	err = features_open(&features, e);
	place->subsystem = err ? err : subsystem_of(features, about.st_dev);
	features_close(features);
	if (err)
		return err;
	if (place->subsystem < 0)
		return error_set(e, -ENOTSUP, "the hierarchy of cgroup '%s' has no controller",
				 path);
	return 0;
}

int cgroups_v1_subsystem(const struct features *features)
{
	/* Those first that every engine uses. */
	static const char *const words[] = { "devices", "pids",	  "memory", "freezer",
					     "cpu",	"cpuset", "blkio" };
	size_t best = sizeof(words) / sizeof(*words);
	FILE *mounts = fopen("/proc/self/mountinfo", "re");
	struct cgroup_mount mount;

	while (mounts && cgroup_mount_read(mounts, &mount)) {
		char *rest = mount.options;

		if (strcmp(mount.type, "cgroup"))
			continue;
		for (char *word = strsep(&rest, ","); word; word = strsep(&rest, ","))
			for (size_t i = 0; i < best; i++)
				if (!strcmp(word, words[i]))
					best = i;
	}
	if (mounts)
		fclose(mounts);
	return best < sizeof(words) / sizeof(*words) ? subsystem_number(features, words[best]) : -1;
}
