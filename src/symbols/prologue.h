/* Where in a function a probe costs least, without changing what it sees. The kernel emulates pushes, jumps, calls and
 * nops; any other instruction it steps over out of line, at ten times the price. So a probe may stand some instructions behind
 * the first one, where one of those is, if it meets each call once, with the return address still at the stack pointer and the
 * arguments still in their registers.
 */
#ifndef STRATA_SYMBOLS_PROLOGUE_H
#define STRATA_SYMBOLS_PROLOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum price {
	PRICE_EMULATED, /* cheap */
	PRICE_STEPPED,	/* dear */
	PRICE_REFUSED,	/* the kernel puts no probe there */
};

struct site {
	uint16_t slide; /* bytes behind the function's first one */
	uint8_t price;	/* enum price */
	bool loops; /* not on a push: a branch to it, or to between it and the first byte, would count calls twice */
};

/* For a function of `size` bytes, all of them at `code`. What can be known from the function alone is: no branch of its own leads
 * to behind its first instruction and up to the site. */
struct site prologue_site(const uint8_t *code, size_t size);

/* The site without sliding. */
struct site prologue_first(const uint8_t *code, size_t size);

/* One bit a byte of a segment of code; for branches from elsewhere, such as the cold part of a function. Marks the bits at which
 * a branch to a marked place was found, in `hit`, whichever way the bytes are read. */
void prologue_find_branches(const uint8_t *code, size_t size, const uint8_t *marked, uint8_t *hit);

#endif
