/* Which files the arguments of `strata sql` mean. */
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/sql.h"

#define ENDING ".strata"

static int add_path(struct sql_paths *paths, const char *path, struct error *e)
{
	char **grown = realloc(paths->items, (paths->count + 1) * sizeof(*grown));
	char *copy = strdup(path);

	if (grown)
		paths->items = grown;
	if (!grown || !copy) {
		free(copy);
		return error_set(e, -ENOMEM, "out of memory");
	}
	grown[paths->count++] = copy;
	return 0;
}

/* Adds what the pattern matches, in order of name. How many there were, or -errno. */
static int add_matches(struct sql_paths *paths, const char *pattern, struct error *e)
{
	glob_t found;
	int err = 0, count;

	if (glob(pattern, 0, NULL, &found))
		return 0;
	count = (int)found.gl_pathc;
	for (size_t i = 0; i < found.gl_pathc && !err; i++)
		err = add_path(paths, found.gl_pathv[i], e);
	globfree(&found);
	return err ? err : count;
}

/* A folder's own name may hold what glob takes for a pattern. */
static char *folder_pattern(const char *folder)
{
	char *pattern = malloc(2 * strlen(folder) + sizeof("/*" ENDING)), *to = pattern;

	if (!pattern)
		return NULL;
	for (; *folder; folder++) {
		if (strchr("*?[\\", *folder))
			*to++ = '\\';
		*to++ = *folder;
	}
	strcpy(to, "/*" ENDING);
	return pattern;
}

static int add_folder(struct sql_paths *paths, const char *folder, struct error *e)
{
	char *pattern = folder_pattern(folder);
	int found =
		pattern ? add_matches(paths, pattern, e) : error_set(e, -ENOMEM, "out of memory");

	free(pattern);
	if (!found)
		return error_set(e, -ENOENT, "there is no *" ENDING " in folder '%s'", folder);
	return found;
}

/* What looks like a file is not taken for a query, which would only confuse. */
static bool looks_like_file(const char *word)
{
	size_t length = strlen(word);

	if (strpbrk(word, " \t\n;"))
		return false;
	return strchr(word, '/') ||
	       (length > strlen(ENDING) && !strcmp(word + length - strlen(ENDING), ENDING));
}

int sql_add_paths(struct sql_paths *paths, const char *word, struct error *e)
{
	struct stat stat_buf;
	int found;

	if (!stat(word, &stat_buf)) {
		if (S_ISDIR(stat_buf.st_mode))
			found = add_folder(paths, word, e);
		else
			found = add_path(paths, word, e);
		return found < 0 ? found : 1;
	}
	if (strpbrk(word, "*?[")) {
		found = add_matches(paths, word, e);
		if (found)
			return found < 0 ? found : 1;
	}
	if (looks_like_file(word))
		return error_set(e, -ENOENT, "there is no trace '%s'", word);
	return 0;
}

void sql_free_paths(struct sql_paths *paths)
{
	for (size_t i = 0; i < paths->count; i++)
		free(paths->items[i]);
	free(paths->items);
	*paths = (struct sql_paths){ 0 };
}
