#include "capture/selection.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "probes/features.h"

/* ---- cgroups ---- */

/* One line of /proc/self/mountinfo, as far as it concerns cgroups. */
struct mount_line {
	unsigned major, minor;
	char point[PATH_MAX];
	char type[32];
	char options[512]; /* of the superblock: the controllers, in v1 */
};

static bool mount_read(FILE *file, struct mount_line *mount)
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
	struct mount_line mount;
	char full[2 * PATH_MAX];
	bool found = false;

	while (mounts && !found && mount_read(mounts, &mount)) {
		if (strcmp(mount.type, "cgroup2"))
			continue;
		snprintf(full, sizeof(full), "%s/%s", mount.point, path);
		found = is_cgroup(full, about, system);
	}
	if (mounts)
		fclose(mounts);
	return found;
}

/* The number of the first controller of a v1 hierarchy; negative: it has none. */
static int subsystem_of(const struct features *features, dev_t device)
{
	FILE *mounts = fopen("/proc/self/mountinfo", "re");
	int subsystem = -ENOENT;
	struct mount_line mount;
	char name[64];

	while (mounts && subsystem < 0 && mount_read(mounts, &mount)) {
		char *rest = mount.options;

		if (mount.major != major(device) || mount.minor != minor(device))
			continue;
		for (char *word = strsep(&rest, ","); word && subsystem < 0;
		     word = strsep(&rest, ",")) {
			snprintf(name, sizeof(name), "%s_cgrp_id",
				 strcmp(word, "blkio") ? word : "io");
			subsystem = features_enumerator(features, "cgroup_subsys_id", name);
		}
	}
	if (mounts)
		fclose(mounts);
	return subsystem;
}

static int resolve_cgroup(struct selection *selection, struct error *e)
{
	struct features *features;
	struct statfs system;
	struct stat about;
	int err;

	if (!is_cgroup(selection->cgroup, &about, &system) &&
	    !find_below_mount(selection->cgroup, &about, &system))
		return error_set(
			e, -ENOENT,
			"no cgroup '%s': give its directory, as /sys/fs/cgroup/..., or its "
			"path as /proc/PID/cgroup shows it",
			selection->cgroup);
	selection->cgroup_id = about.st_ino;
	if (system.f_type == CGROUP2_SUPER_MAGIC)
		return 0;
	err = features_open(&features, e);
	selection->subsystem = err ? err : subsystem_of(features, about.st_dev);
	features_close(features);
	if (err)
		return err;
	if (selection->subsystem < 0)
		return error_set(e, -ENOTSUP, "the hierarchy of cgroup '%s' has no controller",
				 selection->cgroup);
	return 0;
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
	if (selection->cgroup)
		err = resolve_cgroup(selection, e);
	if (!err && selection->path)
		err = resolve_path(selection, e);
	return err;
}

void selection_configure(const struct selection *selection, bool alone, struct config *config)
{
	config->selects = selection->comm || selection->cgroup;
	config->selects_job = config->selects && alone;
	config->select_cgroup = selection->cgroup ? selection->cgroup_id : 0;
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
