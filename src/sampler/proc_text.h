/* Lines, words and numbers of a text from /proc. The text is taken as it comes: nothing here reads past
 * its end, and it needs no terminator.
 */
#ifndef STRATA_SAMPLER_PROC_TEXT_H
#define STRATA_SAMPLER_PROC_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct proc_text {
	const char *at;
	const char *end;
};

/* The next whole line, without its newline. One that the end of the text cuts short is none. */
static inline bool proc_text_line(struct proc_text *text, struct proc_text *line)
{
	const char *end = text->at < text->end
				  ? memchr(text->at, '\n', (size_t)(text->end - text->at))
				  : NULL;

	if (!end)
		return false;
	*line = (struct proc_text){ text->at, end };
	text->at = end + 1;
	return true;
}

/* The next word of a line and its length; 0 at the end. */
static inline size_t proc_text_word(struct proc_text *line, const char **word)
{
	while (line->at < line->end && *line->at == ' ')
		line->at++;
	*word = line->at;
	while (line->at < line->end && *line->at != ' ')
		line->at++;
	return (size_t)(line->at - *word);
}

/* A word that is a decimal number of 64 bits. */
static inline bool proc_text_number(const char *word, size_t size, uint64_t *number)
{
	*number = 0;
	for (size_t i = 0; i < size; i++) {
		unsigned digit = (unsigned)(word[i] - '0');

		if (digit > 9 || __builtin_mul_overflow(*number, 10, number) ||
		    __builtin_add_overflow(*number, digit, number))
			return false;
	}
	return size > 0;
}

/* Up to `most` numbers from the rest of a line. Returns how many there are before its end, or before
 * something that is no number. */
static inline size_t proc_text_numbers(struct proc_text *line, uint64_t *numbers, size_t most)
{
	size_t count = 0;

	while (count < most) {
		const char *word;
		size_t size = proc_text_word(line, &word);

		if (!proc_text_number(word, size, &numbers[count]))
			break;
		count++;
	}
	return count;
}

#endif
