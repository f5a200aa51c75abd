#include "base/quote.h"

#include <stdbool.h>
#include <string.h>

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("-_=+./,:@%^", c));
}

int quote_word(struct buf *out, const char *word, size_t size)
{
	bool plain = size > 0;
	int err;

	for (size_t i = 0; i < size && plain; i++)
		plain = is_plain(word[i]);
	if (plain)
		return buf_append(out, word, size);
	err = buf_append(out, "'", 1);
	for (size_t i = 0; i < size && !err; i++)
		err = word[i] == '\'' ? buf_append(out, "'\\''", 4) : buf_append(out, &word[i], 1);
	return err ? err : buf_append(out, "'", 1);
}
