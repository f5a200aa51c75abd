#include "symbols/pattern.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int pattern_open(struct pattern *pattern, const char *text, struct error *e)
{
	size_t size = strlen(text);
	char why[128];
	int err;

	*pattern =
		(struct pattern){ .is_regex = size > 2 && *text == '/' && text[size - 1] == '/' };
	if (!size)
		return error_set(e, -EINVAL, "an empty name of a function");
	pattern->text = pattern->is_regex ? strndup(text + 1, size - 2) : strdup(text);
	if (!pattern->text)
		return error_set(e, -ENOMEM, "out of memory");
	if (!pattern->is_regex)
		return 0;
	err = regcomp(&pattern->regex, pattern->text, REG_EXTENDED | REG_NOSUB);
	if (!err)
		return 0;
	regerror(err, &pattern->regex, why, sizeof(why));
	free(pattern->text);
	pattern->text = NULL;
	return error_set(e, -EINVAL, "'%s' is not a regular expression: %s", text, why);
}

void pattern_close(struct pattern *pattern)
{
	if (pattern->text && pattern->is_regex)
		regfree(&pattern->regex);
	free(pattern->text);
	pattern->text = NULL;
}

bool pattern_matches(const struct pattern *pattern, const char *name)
{
	const char *version = strchr(name, '@');
	char base[4096];

	if (version && !strchr(pattern->text, '@')) {
		snprintf(base, sizeof(base), "%.*s", (int)(version - name), name);
		name = base;
	}
	if (pattern->is_regex)
		return !regexec(&pattern->regex, name, 0, NULL, 0);
	return !fnmatch(pattern->text, name, 0);
}
