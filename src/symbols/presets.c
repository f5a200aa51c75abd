#include "symbols/presets.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_TEXT (1u << 20)

__asm__(".section .rodata\n"
	"presets_text:\n"
	".incbin \"src/symbols/presets.txt\"\n"
	"presets_text_end:\n"
	".previous\n");

extern const char presets_text[], presets_text_end[];

/* ---- one line ---- */

/* Cuts off the words at the end of a line that say something: those with a =. */
static int parse_traits(char *line, struct function_traits *traits, struct error *e)
{
	char *word;
	int err = 0;

	while (!err && (word = strrchr(line, ' ')) && strchr(word, '=')) {
		err = traits_parse(traits, word + 1, e);
		while (word > line && word[-1] == ' ')
			word--;
		*word = 0;
	}
	return err;
}

/* The head of a section: its kind, and its modules. */
static int parse_head(struct preset_line *section, char *line, struct error *e)
{
	static const char *const kinds[] = { [PRESET_TRAITS] = "functions",
					     [PRESET_CALLBACKS] = "callbacks",
					     [PRESET_NEVER_RETURN] = "never-return",
					     [PRESET_RETURNS] = "returns" };
	char *word = strsep(&line, " \t");

	while (line && isspace((unsigned char)*line))
		line++;
	section->modules = line;
	section->name = NULL;
	if (!line || !*line || strpbrk(line, " \t"))
		return error_set(e, -EINVAL, "'%s' needs the name of a module", word);
	if (*word == '@') {
		section->kind = PRESET_CALLS;
		section->name = word + 1;
		return 0;
	}
	for (unsigned i = PRESET_TRAITS; i <= PRESET_RETURNS; i++) {
		if (strcmp(word, kinds[i]))
			continue;
		section->kind = i;
		return 0;
	}
	return error_set(
		e, -EINVAL,
		"'%s' begins no section: @NAME, functions, callbacks, never-return or returns",
		word);
}

static int add_line(struct presets *presets, const struct preset_line *section, char *line,
		    struct error *e)
{
	struct preset_line added = *section;
	int err = parse_traits(line, &added.traits, e);

	if (err)
		return err;
	added.name = section->name ? strdup(section->name) : NULL;
	added.modules = strdup(section->modules);
	added.patterns = strdup(line);
	if ((section->name && !added.name) || !added.modules || !added.patterns ||
	    buf_append(&presets->lines, &added, sizeof(added))) {
		free(added.name);
		free(added.modules);
		free(added.patterns);
		return error_set(e, -ENOMEM, "out of memory");
	}
	return 0;
}

/* ---- a text ---- */

static bool begins_section(const char *line)
{
	return *line == '@' || !strncmp(line, "returns ", 8) || !strncmp(line, "functions ", 10) ||
	       !strncmp(line, "callbacks ", 10) || !strncmp(line, "never-return ", 13);
}

static void trim(char *line)
{
	size_t size;

	line[strcspn(line, "#\r")] = 0;
	for (char *tab = line; (tab = strchr(tab, '\t'));)
		*tab = ' ';
	size = strlen(line);
	while (size && isspace((unsigned char)line[size - 1]))
		line[--size] = 0;
}

int presets_parse(struct presets *presets, const char *text, size_t size, const char *from,
		  struct error *e)
{
	char *copy = strndup(text, size), *rest = copy, *line;
	struct preset_line section = { 0 };
	unsigned number = 0;
	int err = copy ? 0 : error_set(e, -ENOMEM, "out of memory");

	while (!err && (line = strsep(&rest, "\n"))) {
		number++;
		trim(line);
		line += strspn(line, " \t");
		if (!*line)
			continue;
		if (begins_section(line) || !section.modules)
			err = parse_head(&section, line, e);
		else
			err = add_line(presets, &section, line, e);
	}
	free(copy);
	return err ? error_add(e, err, "%s, line %u", from, number) : 0;
}

static int read_own(struct presets *presets, const char *path, struct error *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = 0;
	struct buf text = { .limit = MOST_TEXT };
	ssize_t got = 0;

	if (fd < 0)
		return error_errno(e, "cannot open presets '%s'", path);
	do {
		void *to = buf_reserve(&text, 4096);

		if (!to)
			err = error_set(e, -EFBIG, "presets '%s' are longer than 1 MiB", path);
		else if ((got = read(fd, to, 4096)) < 0)
			err = error_errno(e, "cannot read presets '%s'", path);
		else
			text.size += (size_t)got;
	} while (!err && got > 0);
	close(fd);
	if (!err)
		err = presets_parse(presets, (const char *)text.data, text.size, path, e);
	buf_free(&text);
	return err;
}

int presets_open(struct presets *presets, const char *path, struct error *e)
{
	int err;

	*presets = (struct presets){ 0 };
	err = presets_parse(presets, presets_text, (size_t)(presets_text_end - presets_text),
			    "presets.txt", e);
	return err || !path ? err : read_own(presets, path, e);
}

void presets_close(struct presets *presets)
{
	for (size_t i = 0; i < presets_count(presets); i++) {
		struct preset_line *line = (struct preset_line *)presets->lines.data + i;

		free(line->name);
		free(line->modules);
		free(line->patterns);
	}
	buf_free(&presets->lines);
}

size_t presets_count(const struct presets *presets)
{
	return presets->lines.size / sizeof(struct preset_line);
}

const struct preset_line *presets_get(const struct presets *presets, size_t i)
{
	return (const struct preset_line *)presets->lines.data + i;
}

/* Whether one of several globs matches. */
static bool one_matches(const char *globs, const char *separators, const char *name)
{
	char glob[256];

	while (*globs) {
		size_t size = strcspn(globs, separators);

		snprintf(glob, sizeof(glob), "%.*s", (int)size, globs);
		if (size && !fnmatch(glob, name, 0))
			return true;
		globs += size + (globs[size] != 0);
	}
	return false;
}

bool preset_is_about(const struct preset_line *line, const char *module, const char *function)
{
	char base[4096];

	if (!one_matches(line->modules, ",", module))
		return false;
	snprintf(base, sizeof(base), "%.*s", (int)strcspn(function, "@"), function);
	return one_matches(line->patterns, " \t", base);
}
