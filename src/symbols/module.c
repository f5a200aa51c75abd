#include "symbols/module.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/suggest.h"
#include "symbols/loader_cache.h"

#define MOST_SCRIPTS 4 /* interpreters of interpreters */

static int file_add(struct buf *files, const char *path, const char *shown)
{
	const char *slash = strrchr(shown, '/');
	struct module_file file = { strdup(path), strdup(slash ? slash + 1 : shown) };

	if (file.path && file.name && !buf_append(files, &file, sizeof(file)))
		return 0;
	free(file.path);
	free(file.name);
	return -ENOMEM;
}

void module_files_free(struct buf *files)
{
	struct module_file *all = (void *)files->data;

	for (size_t i = 0; i < files->size / sizeof(*all); i++) {
		free(all[i].path);
		free(all[i].name);
	}
	buf_free(files);
}

static bool is_file(const char *path)
{
	struct stat status;

	return !stat(path, &status) && S_ISREG(status.st_mode);
}

/* ---- folders ---- */

/* Calls `take` for each folder of a list such as $PATH, until it finds something. */
static int each_folder(struct buf *files, const char *folders, const char *name,
		       int (*take)(struct buf *files, const char *folder, const char *name))
{
	char folder[PATH_MAX];
	size_t before = files->size;
	int err = 0;

	while (folders && *folders && !err && files->size == before) {
		size_t size = strcspn(folders, ":");

		snprintf(folder, sizeof(folder), "%.*s", (int)size, folders);
		if (size)
			err = take(files, folder, name);
		folders += size + (folders[size] != 0);
	}
	return err;
}

static int take_matching(struct buf *files, const char *folder, const char *name)
{
	DIR *open = opendir(folder);
	char path[2 * PATH_MAX + 2];
	struct dirent *entry;
	int err = 0;

	while (open && !err && (entry = readdir(open))) {
		if (fnmatch(name, entry->d_name, 0))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (is_file(path))
			err = file_add(files, path, path);
	}
	if (open)
		closedir(open);
	return err;
}

static int take_program(struct buf *files, const char *folder, const char *name)
{
	char path[2 * PATH_MAX + 2];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return is_file(path) && !access(path, X_OK) ? file_add(files, path, path) : 0;
}

/* ---- programs ---- */

/* The interpreter that the first line of a script names; false: it is no script. */
static bool script_interpreter(const char *path, char *interpreter, size_t size)
{
	FILE *file = fopen(path, "re");
	char line[PATH_MAX] = "", *rest = line + 2, *word;

	if (!file)
		return false;
	if (!fgets(line, sizeof(line), file))
		*line = 0;
	fclose(file);
	if (strncmp(line, "#!", 2))
		return false;
	do
		word = strsep(&rest, " \t\n");
	while (word && !*word);
	if (word && !strcmp(basename(word), "env")) /* #!/usr/bin/env python3 */
		do
			word = strsep(&rest, " \t\n");
		while (word && (!*word || *word == '-' || strchr(word, '=')));
	return word && *word && snprintf(interpreter, size, "%s", word) > 0;
}

static int find_program(struct buf *files, const char *program)
{
	char name[PATH_MAX], next[PATH_MAX];
	int err = 0;

	snprintf(name, sizeof(name), "%s", program);
	for (int i = 0; i < MOST_SCRIPTS && !err; i++) {
		struct buf found = { 0 };

		if (strchr(name, '/'))
			err = is_file(name) ? file_add(&found, name, name) : 0;
		else
			err = each_folder(&found, getenv("PATH"), name, take_program);
		if (err || !found.size ||
		    !script_interpreter(((struct module_file *)found.data)->path, next,
					sizeof(next))) {
			if (!err && found.size)
				err = buf_append(files, found.data, found.size);
			else
				module_files_free(&found);
			buf_free(&found);
			return err;
		}
		module_files_free(&found);
		snprintf(name, sizeof(name), "%s", next);
	}
	return err;
}

/* ---- a running process ---- */

/* What it has mapped as code, opened by the mapping: right even when the file has lost its name since. */
static int find_mapped(struct buf *files, const char *name, pid_t pid)
{
	char maps[64], line[PATH_MAX + 128], path[PATH_MAX + 64];
	unsigned long before = 0;
	FILE *file;
	int err = 0;

	snprintf(maps, sizeof(maps), "/proc/%d/maps", (int)pid);
	file = fopen(maps, "re");
	while (file && !err && fgets(line, sizeof(line), file)) {
		unsigned long from, to, inode;
		char rights[8];
		int at = 0;

		line[strcspn(line, "\n")] = 0;
		if (sscanf(line, "%lx-%lx %7s %*s %*s %lu %n", &from, &to, rights, &inode, &at) <
			    4 ||
		    !at || line[at] != '/' || rights[2] != 'x' || inode == before ||
		    fnmatch(name, strrchr(line, '/') + 1, 0))
			continue;
		before = inode;
		snprintf(path, sizeof(path), "/proc/%d/map_files/%lx-%lx", (int)pid, from, to);
		if (access(path, R_OK))
			snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, line + at);
		err = file_add(files, path, line + at);
	}
	if (file)
		fclose(file);
	return err;
}

static int find_running_program(struct buf *files, pid_t pid)
{
	char link[64], name[PATH_MAX];
	ssize_t size;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	size = readlink(link, name, sizeof(name) - 1);
	if (size < 0)
		return 0;
	name[size] = 0;
	return file_add(files, link, name);
}

/* ---- any name ---- */

static int find_library(struct buf *files, const char *name)
{
	int err = each_folder(files, getenv("LD_LIBRARY_PATH"), name, take_matching);
	struct buf cached = { 0 };

	if (!err && !files->size)
		err = loader_cache_find(&cached, name);
	for (size_t at = 0; !err && at < cached.size;) {
		const char *path = (const char *)cached.data + at;

		if (is_file(path))
			err = file_add(files, path, path);
		at += strlen(path) + 1;
	}
	buf_free(&cached);
	if (!err && !files->size)
		err = each_folder(
			files,
			"/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib64:/usr/lib64:"
			"/lib:/usr/lib:/usr/local/lib",
			name, take_matching);
	return err;
}

static int not_found(const char *name, struct error *e)
{
	struct buf names = { 0 }, list = { 0 };
	char hint[512] = "";

	if (!loader_cache_names(&names))
		for (char *at = (char *)names.data; at < (char *)names.data + names.size;
		     at += strlen(at) + 1)
			if (buf_append(&list, &at, sizeof(at)))
				break;
	suggest_names(hint, sizeof(hint), name, (const char *const *)list.data,
		      list.size / sizeof(char *));
	buf_free(&list);
	buf_free(&names);
	return error_set(e, -ENOENT, "no library or program '%s' here%s%s", name,
			 !strncmp(hint, "did", 3) ? ", " : "; a path is taken too",
			 !strncmp(hint, "did", 3) ? hint : "");
}

int module_find(struct buf *files, const char *name, const struct module_target *target,
		struct error *e)
{
	size_t before = files->size;
	int err = 0;

	if (!strcmp(name, "exe")) {
		if (target->pid)
			err = find_running_program(files, target->pid);
		else if (target->command)
			err = find_program(files, target->command);
		else
			return error_set(e, -EINVAL,
					 "'exe' is the program of a command or of -p; with -a name "
					 "it by its path");
	} else if (strchr(name, '/')) {
		if (access(name, R_OK))
			return error_errno(e, "cannot open '%s'", name);
		err = file_add(files, name, name);
	} else {
		if (target->pid)
			err = find_mapped(files, name, target->pid);
		if (!err && files->size == before && !strstr(name, ".so"))
			err = find_program(files, name);
		if (!err && files->size == before)
			err = find_library(files, name);
	}
	if (err)
		return error_set(e, err, "out of memory");
	if (files->size > before)
		return 0;
	return not_found(strcmp(name, "exe") || !target->command ? name : target->command, e);
}
