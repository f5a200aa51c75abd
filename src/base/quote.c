#include "base/quote.h"

#include "base/escape.h"

int quote_word(struct buf *out, const char *word, size_t size)
{
	int err;

	if (!escape_needs_quotes(ESCAPE_SHELL, word, size))
		return buf_append(out, word, size);
	err = buf_append(out, "'", 1);
	if (!err)
		err = escape_append(out, ESCAPE_SHELL, word, size);
	return err ? err : buf_append(out, "'", 1);
}
