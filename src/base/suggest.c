#include "base/suggest.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define SUGGEST_MAX_LENGTH 64
#define SUGGEST_MAX_NAMES  3

static unsigned suggest_least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Edits that turn one into the other, a swap of two neighbours counting as one: three rows of the
 * usual matrix are enough for that. */
static unsigned suggest_distance(const char *from, const char *to)
{
	unsigned rows[3][SUGGEST_MAX_LENGTH + 1];
	unsigned *two_back = rows[0], *back = rows[1], *row = rows[2];
	size_t from_length = strlen(from), to_length = strlen(to);

	if (from_length > SUGGEST_MAX_LENGTH || to_length > SUGGEST_MAX_LENGTH)
		return UINT32_MAX;
	for (unsigned j = 0; j <= to_length; j++)
		back[j] = j;
	for (unsigned i = 1; i <= from_length; i++) {
		unsigned *next = two_back;

		row[0] = i;
		for (unsigned j = 1; j <= to_length; j++) {
			unsigned change = back[j - 1] + (from[i - 1] != to[j - 1]);

			row[j] = suggest_least(change, suggest_least(back[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1])
				row[j] = suggest_least(row[j], two_back[j - 2] + 1);
		}
		two_back = back;
		back = row;
		row = next;
	}
	return back[to_length];
}

/* How far a name is, or UINT32_MAX when it is not near: a third of its letters may be wrong, and the
 * beginning of a name is near to it. */
static unsigned suggest_rank(const char *wrong, const char *name)
{
	size_t wrong_length = strlen(wrong), name_length = strlen(name);
	size_t longer = wrong_length > name_length ? wrong_length : name_length;
	unsigned distance = suggest_distance(wrong, name);

	if (distance < longer && distance <= (longer + 2) / 3)
		return distance;
	if (wrong_length >= 2 && !strncmp(wrong, name, wrong_length))
		return (unsigned)longer;
	return UINT32_MAX;
}

static void suggest_append(char *out, size_t size, const char *text)
{
	size_t length = strlen(out);

	snprintf(out + length, size - length, "%s", text);
}

char *suggest_names(char *out, size_t size, const char *wrong, const char *const *names,
		    size_t count)
{
	const char *nearest[SUGGEST_MAX_NAMES];
	unsigned ranks[SUGGEST_MAX_NAMES];
	unsigned found = 0;

	for (size_t i = 0; i < count; i++) {
		/* The dashes of an option say nothing about likeness. */
		unsigned rank =
			suggest_rank(wrong + strspn(wrong, "-"), names[i] + strspn(names[i], "-"));
		unsigned at = found;

		while (at > 0 && rank < ranks[at - 1])
			at--;
		if (rank == UINT32_MAX || at == SUGGEST_MAX_NAMES)
			continue;
		if (found < SUGGEST_MAX_NAMES)
			found++;
		for (unsigned j = found - 1; j > at; j--) {
			ranks[j] = ranks[j - 1];
			nearest[j] = nearest[j - 1];
		}
		ranks[at] = rank;
		nearest[at] = names[i];
	}
	snprintf(out, size, "%s", found ? "did you mean " : "one of: ");
	for (unsigned i = 0; i < found; i++) {
		suggest_append(out, size, i == 0 ? "'" : i + 1 == found ? " or '" : ", '");
		suggest_append(out, size, nearest[i]);
		suggest_append(out, size, "'");
	}
	for (size_t i = 0; !found && i < count; i++) {
		suggest_append(out, size, i ? ", " : "");
		suggest_append(out, size, names[i]);
	}
	if (found)
		suggest_append(out, size, "?");
	return out;
}
