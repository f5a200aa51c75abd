/* --path PREFIX: whether a file is among those that are recorded, decided once, when the file is first met, and
 * kept as one bit for each file id. Of a directory above the prefix it is kept how much of the prefix its own
 * path covers, so that a path relative to it can be decided by its text.
 */
#ifndef STRATA_BPF_PREFIX_BPF_H
#define STRATA_BPF_PREFIX_BPF_H

#include "bpf/ring.bpf.h"

#define PREFIX_WORDS (PATH_BYTES / 8)

/* Whether two strings agree in their first `size` bytes. Both can be read up to the next word. */
static __always_inline bool prefix_equal(const char *text, const volatile char *other, __u32 size)
{
	for (__u32 i = 0; i < PREFIX_WORDS; i++) {
		__u64 differ, mask = ~0ull;

		if (i * 8 >= size)
			break;
		if (size - i * 8 < 8)
			mask >>= 64 - (size - i * 8) * 8;
		differ = *(const __u64 *)(text + i * 8) ^ *(const volatile __u64 *)(other + i * 8);
		if (differ & mask)
			return false;
	}
	return true;
}

/* The length is read anew where it is an index: 6.1's verifier loses itself in what it has deduced of it. */
static __always_inline bool prefix_is_below(const char *path, const volatile __u32 *length,
					    const volatile char *other, __u32 size)
{
	__u32 end = *length;

	return end < size && end < PATH_BYTES && other[*length & (PATH_BYTES - 1)] == '/' &&
	       prefix_equal(path, other, end);
}

/* Notes of a new file id whether its path, of `length` bytes, begins with the prefix. */
static __always_inline void prefix_note(__u32 id, const char *path, const volatile __u32 *length)
{
	struct prefix_above above = { .covered = *length + 1 };
	__u32 word = id >> 6;
	__u64 *bits;

	if (*length >= config.prefix_size &&
	    prefix_equal(path, config.prefix, config.prefix_size)) {
		bits = bpf_map_lookup_elem(&prefix_inside, &word);
		if (!bits)
			return;
		__sync_fetch_and_or(bits, 1ull << (id & 63));
		__sync_fetch_and_add(&shared.prefix_matched, 1);
		return;
	}
	above.real = prefix_is_below(path, length, config.prefix, config.prefix_size);
	above.text = prefix_is_below(path, length, config.prefix_text, config.prefix_text_size);
	if (above.real || above.text)
		bpf_map_update_elem(&prefixes_above, &id, &above, BPF_ANY);
}

/* Whether rows of a file are recorded; 0: it is not known. */
static __always_inline bool prefix_has_file(__u32 id)
{
	__u32 word = id >> 6;
	__u64 *bits;

	if (!config.prefix_size)
		return true;
	bits = id ? bpf_map_lookup_elem(&prefix_inside, &word) : NULL;
	return bits && *bits >> (id & 63) & 1;
}

static __always_inline bool prefix_rest_equal(const char *text, const volatile char *other,
					      __u32 size, __u32 from)
{
	return from < PATH_BYTES && from <= size && prefix_equal(text, &other[from], size - from);
}

/* Whether a path as a program passed it, relative to a directory unless it is absolute, is recorded. */
static __noinline __attribute__((unused)) bool prefix_has_text(const char *text, __u32 directory)
{
	struct prefix_above absolute = { .real = true, .text = config.prefix_text_size }, *above;

	if (!config.prefix_size)
		return true;
	above = &absolute;
	if (*text != '/') {
		if (prefix_has_file(directory))
			return true;
		above = bpf_map_lookup_elem(&prefixes_above, &directory);
	}
	if (!above ||
	    !((above->real &&
	       prefix_rest_equal(text, config.prefix, config.prefix_size, above->covered)) ||
	      (above->text && prefix_rest_equal(text, config.prefix_text, config.prefix_text_size,
						above->covered))))
		return false;
	__sync_fetch_and_add(&shared.prefix_matched, 1);
	return true;
}

#endif
