#include "symbols/prologue.h"

#include <string.h>

#include "symbols/insn.h"

#define FARTHEST  64	 /* bytes that a probe slides */
#define ARGUMENTS 0x00c6 /* rcx rdx rsi rdi; the others that pass arguments are not recorded */
#define RSP	  0x0010

static bool is_emulated(const struct insn *insn)
{
	switch (insn->kind) {
	case INSN_PUSH: return !insn->prefixes && (!insn->rex || insn->rex == 0x41);
	case INSN_NOP: return true;
	case INSN_JUMP:
	case INSN_CALL: return !insn->prefixes && !insn->rex;
	case INSN_BRANCH:
		return !insn->prefixes && !insn->rex &&
		       (insn->map == 1 || (insn->opcode & 0xf0) == 0x70);
	default: return false;
	}
}

/* By the kernel's rules, as far as they are sure; what else it refuses is found by trying. */
static bool is_refused(const struct insn *insn)
{
	if (insn->prefixes & (INSN_LOCK | INSN_SEGMENT))
		return true;
	return insn->map == 0 && (insn->opcode == 0xcc || insn->opcode == 0xcd ||
				  insn->opcode == 0xcf || insn->opcode == 0xf4);
}

struct site prologue_first(const uint8_t *code, size_t size)
{
	struct insn insn = insn_decode(code, size);

	return (struct site){
		.price = is_refused(&insn)    ? PRICE_REFUSED
			 : is_emulated(&insn) ? PRICE_EMULATED
					      : PRICE_STEPPED,
	};
}

/* Whether an instruction may run before the probe: it goes on behind itself, and leaves arguments and stack pointer alone. */
static bool may_pass(const struct insn *insn)
{
	int32_t written = insn_written(insn);

	return written >= 0 && !(written & (ARGUMENTS | RSP));
}

/* The first emulated instruction of the straight line that the function begins with; 0: there is none, or it is the first. */
static size_t first_emulated(const uint8_t *code, size_t size, bool *push)
{
	size_t at = 0;

	while (at < size && at <= FARTHEST) {
		struct insn insn = insn_decode(code + at, size - at);

		*push = insn.kind == INSN_PUSH;
		if (is_emulated(&insn))
			return at;
		if (!may_pass(&insn))
			return 0;
		at += insn.length;
	}
	return 0;
}

/* Whether some branch of the function may lead to behind its first byte and up to `site`. So it is said too when the function
 * cannot be decoded to its last byte, or jumps to a place that it computes. */
static bool is_branched_to(const uint8_t *code, size_t size, size_t site)
{
	size_t at = 0;

	while (at < size) {
		struct insn insn = insn_decode(code + at, size - at);
		int64_t target = (int64_t)at + insn.target;

		if (insn.kind == INSN_UNKNOWN || insn.kind == INSN_INDIRECT)
			return true;
		if (insn.target && target > 0 && target <= (int64_t)site)
			return true;
		at += insn.length;
	}
	return false;
}

struct site prologue_site(const uint8_t *code, size_t size)
{
	struct site site = prologue_first(code, size);
	bool push = false;
	size_t slide;

	if (site.price == PRICE_EMULATED)
		return site;
	slide = first_emulated(code, size, &push);
	/* A push is met once: a loop would move the stack pointer in each round. */
	if (!slide || (!push && is_branched_to(code, size, slide)))
		return site;
	return (struct site){ .slide = (uint16_t)slide, .price = PRICE_EMULATED, .loops = !push };
}

void prologue_find_branches(const uint8_t *code, size_t size, const uint8_t *marked, uint8_t *hit)
{
	for (size_t i = 0; i + 5 <= size; i++) {
		size_t length = code[i] == 0xe9 || code[i] == 0xe8 ? 1 : 0;
		int32_t distance;
		int64_t target;

		if (code[i] == 0x0f && (code[i + 1] & 0xf0) == 0x80 && i + 6 <= size)
			length = 2;
		if (!length)
			continue;
		memcpy(&distance, code + i + length, sizeof(distance));
		target = (int64_t)(i + length + 4) + distance;
		if (target >= 0 && (uint64_t)target < size && marked[target / 8] >> target % 8 & 1)
			hit[target / 8] |= (uint8_t)(1 << target % 8);
	}
}
