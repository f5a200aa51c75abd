/* How long an x86-64 instruction is, and what it does that matters to a probe: whether it branches, where to, and which
 * registers it writes. Bytes come from files and may be anything: what is not known is said to be so, never guessed.
 */
#ifndef STRATA_SYMBOLS_INSN_H
#define STRATA_SYMBOLS_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum insn_kind {
	INSN_UNKNOWN,  /* not decoded: its length is 0 */
	INSN_OTHER,    /* goes on behind itself */
	INSN_PUSH,     /* of a register */
	INSN_NOP,      /* of one byte, or the five that compilers leave for tracers */
	INSN_JUMP,     /* to a place that it names: `target` */
	INSN_BRANCH,   /* likewise, or behind itself */
	INSN_CALL,     /* likewise */
	INSN_INDIRECT, /* to a place that a register or memory names */
	INSN_END,      /* returns, or traps */
};

enum insn_prefix {
	INSN_WORD = 1,	  /* 66 */
	INSN_REPEAT = 2,  /* f2, f3 */
	INSN_LOCK = 4,	  /* f0 */
	INSN_SEGMENT = 8, /* 26 2e 36 3e */
	INSN_FAR = 16,	  /* 64 65 */
	INSN_ADDRESS = 32 /* 67 */
};

struct insn {
	enum insn_kind kind;
	uint8_t length;
	uint8_t prefixes; /* bits of enum insn_prefix */
	uint8_t rex;
	uint8_t map; /* 0: one byte; 1: 0f; 2: 0f 38; 3: 0f 3a; greater: VEX and EVEX */
	uint8_t opcode;
	bool has_modrm;
	uint8_t modrm;
	int32_t target; /* of a branch: from its first byte on */
};

/* Decodes the instruction at `code`; at most `size` bytes are looked at. */
struct insn insn_decode(const uint8_t *code, size_t size);

/* The general registers that it writes, a bit each as x86 numbers them (rsp is 4); -1: not known. */
int32_t insn_written(const struct insn *insn);

#endif
