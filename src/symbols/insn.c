#include "symbols/insn.h"

#include "base/cursor.h"

#define MAP_VEX	    4 /* plus the map that it names */
#define LONGEST	    15
#define RAX	    1
#define RDX	    4
#define IMM_BYTE    1
#define IMM_OPERAND 2 /* 4 bytes, 2 with prefix 66 */

/* One bit an opcode, 16 of them a row: those followed by a ModRM byte, and those that do not exist in 64-bit mode or are
 * not worth knowing. */
static const uint16_t modrm_one[16] = { 0x0f0f, 0x0f0f, 0x0f0f, 0x0f0f, 0, 0,
					0x0a08, 0,	0xffff, 0,	0, 0,
					0x00c3, 0xff0f, 0,	0xc0c0 };
static const uint16_t unknown_one[16] = { 0x40c0, 0xc0c0, 0x8080, 0x8080, 0, 0,
					  0x0007, 0,	  0x0004, 0x0400, 0, 0,
					  0x4030, 0x0070, 0x0400, 0x0003 };
static const uint16_t modrm_two[16] = { 0x200f, 0xffff, 0xff0f, 0,	0xffff, 0xffff,
					0xffff, 0xff7f, 0,	0xffff, 0xf838, 0xffff,
					0x00ff, 0xffff, 0xffff, 0xffff };
static const uint16_t unknown_two[16] = { 0x9410, 0, 0x00f0, 0xfa40, 0, 0, 0, 0,
					  0,	  0, 0x04c0, 0,	     0, 0, 0, 0 };

static bool table_has(const uint16_t *table, uint8_t opcode)
{
	return table[opcode >> 4] >> (opcode & 15) & 1;
}

/* ---- length ---- */

static void take_prefixes(struct cursor *at, struct insn *insn)
{
	for (; cursor_left(at); at->at++) {
		switch (*at->at) {
		case 0x66: insn->prefixes |= INSN_WORD; break;
		case 0x67: insn->prefixes |= INSN_ADDRESS; break;
		case 0xf2:
		case 0xf3: insn->prefixes |= INSN_REPEAT; break;
		case 0xf0: insn->prefixes |= INSN_LOCK; break;
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e: insn->prefixes |= INSN_SEGMENT; break;
		case 0x64:
		case 0x65: insn->prefixes |= INSN_FAR; break;
		default:
			if ((*at->at & 0xf0) == 0x40)
				insn->rex = cursor_u8(at);
			return;
		}
	}
}

/* The opcode behind a VEX (c4, c5) or EVEX (62) prefix. */
static void take_vector_opcode(struct cursor *at, struct insn *insn, uint8_t first)
{
	uint8_t map = 1;

	if (first == 0xc5) {
		cursor_u8(at);
	} else if (first == 0xc4) {
		map = cursor_u8(at) & 0x1f;
		cursor_u8(at);
	} else {
		map = cursor_u8(at) & 7;
		cursor_u16(at);
	}
	if (map < 1 || map > 6 || map == 4 || insn->rex)
		at->failed = true;
	insn->map = (uint8_t)(MAP_VEX + map);
	insn->opcode = cursor_u8(at);
	insn->has_modrm = !(insn->map == MAP_VEX + 1 && insn->opcode == 0x77);
}

static void take_opcode(struct cursor *at, struct insn *insn)
{
	uint8_t byte = cursor_u8(at);

	if (byte == 0xc4 || byte == 0xc5 || byte == 0x62) {
		take_vector_opcode(at, insn, byte);
		return;
	}
	insn->opcode = byte;
	if (byte != 0x0f) {
		insn->has_modrm = table_has(modrm_one, byte);
		at->failed |= table_has(unknown_one, byte);
		return;
	}
	insn->map = 1;
	insn->opcode = cursor_u8(at);
	if (insn->opcode == 0x38 || insn->opcode == 0x3a) {
		insn->map = insn->opcode == 0x38 ? 2 : 3;
		insn->opcode = cursor_u8(at);
		insn->has_modrm = true;
		return;
	}
	insn->has_modrm = table_has(modrm_two, insn->opcode);
	at->failed |= table_has(unknown_two, insn->opcode);
}

/* ModRM, SIB and displacement. */
static void take_modrm(struct cursor *at, struct insn *insn)
{
	uint8_t mode, base;

	insn->modrm = cursor_u8(at);
	mode = insn->modrm >> 6;
	base = insn->modrm & 7;
	if (mode == 3)
		return;
	if (base == 4)
		base = cursor_u8(at) & 7;
	if (mode == 1)
		cursor_u8(at);
	else if (mode == 2 || base == 5)
		cursor_u32(at);
}

static size_t immediate_one(const struct insn *insn)
{
	size_t operand = insn->prefixes & INSN_WORD && !(insn->rex & 8) ? 2 : 4;
	uint8_t opcode = insn->opcode, group = insn->modrm >> 3 & 7;

	if (opcode < 0x40)
		return (opcode & 7) == 4 ? 1 : (opcode & 7) == 5 ? operand : 0;
	if ((opcode & 0xf8) == 0xb8)
		return insn->rex & 8 ? 8 : operand;
	if ((opcode & 0xf8) == 0xb0 || (opcode & 0xf0) == 0x70)
		return 1;
	switch (opcode) {
	case 0x68:
	case 0x69:
	case 0x81:
	case 0xa9:
	case 0xc7: return operand;
	case 0x6a:
	case 0x6b:
	case 0x80:
	case 0x83:
	case 0xa8:
	case 0xc0:
	case 0xc1:
	case 0xc6:
	case 0xcd:
	case 0xe0:
	case 0xe1:
	case 0xe2:
	case 0xe3:
	case 0xe4:
	case 0xe5:
	case 0xe6:
	case 0xe7:
	case 0xeb: return 1;
	case 0xc2:
	case 0xca: return 2;
	case 0xc8: return 3;
	case 0xe8:
	case 0xe9: return 4;
	case 0xa0:
	case 0xa1:
	case 0xa2:
	case 0xa3: return insn->prefixes & INSN_ADDRESS ? 4 : 8;
	case 0xf6: return group < 2 ? 1 : 0;
	case 0xf7: return group < 2 ? operand : 0;
	default: return 0;
	}
}

static size_t immediate_size(const struct insn *insn)
{
	uint8_t opcode = insn->opcode;

	switch (insn->map) {
	case 0: return immediate_one(insn);
	case 1:
		if ((opcode & 0xf0) == 0x80)
			return 4;
		if (opcode == 0xa4 || opcode == 0xac || opcode == 0xba)
			return 1;
		/* fall through */
	case MAP_VEX + 1:
		return (opcode >= 0x70 && opcode <= 0x73) || opcode == 0xc2 ||
		       (opcode >= 0xc4 && opcode <= 0xc6);
	case 3:
	case MAP_VEX + 3: return 1;
	default: return 0;
	}
}

/* ---- kind ---- */

static enum insn_kind kind_one(const struct insn *insn)
{
	uint8_t opcode = insn->opcode, group = insn->modrm >> 3 & 7;

	if ((opcode & 0xf8) == 0x50)
		return INSN_PUSH;
	if ((opcode & 0xf0) == 0x70 || (opcode >= 0xe0 && opcode <= 0xe3))
		return INSN_BRANCH;
	switch (opcode) {
	case 0x90: return insn->rex || insn->prefixes ? INSN_OTHER : INSN_NOP;
	case 0xe8: return INSN_CALL;
	case 0xe9:
	case 0xeb: return INSN_JUMP;
	case 0xc2:
	case 0xc3:
	case 0xca:
	case 0xcb:
	case 0xcc:
	case 0xcf:
	case 0xf4: return INSN_END;
	case 0xff: return group == 4 || group == 5 ? INSN_INDIRECT : INSN_OTHER;
	default: return INSN_OTHER;
	}
}

static enum insn_kind kind_of(const struct insn *insn, const uint8_t *code)
{
	static const uint8_t nop5[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };

	if (insn->map == 0)
		return kind_one(insn);
	if (insn->map == 1 && (insn->opcode & 0xf0) == 0x80)
		return INSN_BRANCH;
	if (insn->map == 1 && insn->opcode == 0x0b)
		return INSN_END;
	if (insn->length == sizeof(nop5) && !memcmp(code, nop5, sizeof(nop5)))
		return INSN_NOP;
	return INSN_OTHER;
}

static bool names_target(enum insn_kind kind)
{
	return kind == INSN_JUMP || kind == INSN_BRANCH || kind == INSN_CALL;
}

struct insn insn_decode(const uint8_t *code, size_t size)
{
	struct cursor at = cursor_over(code, size < LONGEST ? size : LONGEST);
	struct insn insn = { 0 };
	size_t immediate;
	uint64_t value;

	take_prefixes(&at, &insn);
	take_opcode(&at, &insn);
	if (insn.has_modrm)
		take_modrm(&at, &insn);
	immediate = immediate_size(&insn);
	value = cursor_number(&at, immediate);
	if (at.failed)
		return (struct insn){ .kind = INSN_UNKNOWN };
	insn.length = (uint8_t)(at.at - code);
	insn.kind = kind_of(&insn, code);
	if (names_target(insn.kind))
		insn.target = insn.length + (immediate == 1 ? (int8_t)value : (int32_t)value);
	return insn;
}

/* ---- what it writes ---- */

static int32_t written_rm(const struct insn *insn)
{
	if (insn->modrm >> 6 != 3)
		return 0; /* memory */
	return 1 << ((insn->modrm & 7) | (insn->rex & 1) << 3);
}

static int32_t written_reg(const struct insn *insn)
{
	return 1 << ((insn->modrm >> 3 & 7) | (insn->rex >> 2 & 1) << 3);
}

/* ah, ch, dh and bh, which without REX have the numbers of rsp, rbp, rsi and rdi. */
static int32_t written_byte(const struct insn *insn, int32_t written)
{
	return insn->rex || !(written & 0xf0) ? written : written >> 4;
}

static int32_t written_arithmetic(const struct insn *insn)
{
	bool compare = (insn->opcode & 0x38) == 0x38;

	switch (insn->opcode & 7) {
	case 0: return compare ? 0 : written_byte(insn, written_rm(insn));
	case 1: return compare ? 0 : written_rm(insn);
	case 2: return compare ? 0 : written_byte(insn, written_reg(insn));
	case 3: return compare ? 0 : written_reg(insn);
	default: return compare ? 0 : RAX;
	}
}

static int32_t written_group(const struct insn *insn)
{
	uint8_t group = insn->modrm >> 3 & 7;

	switch (insn->opcode) {
	case 0x80: return group == 7 ? 0 : written_byte(insn, written_rm(insn));
	case 0x81:
	case 0x83: return group == 7 ? 0 : written_rm(insn);
	case 0xf6: return group < 2 ? 0 : group < 4 ? written_byte(insn, written_rm(insn)) : RAX;
	case 0xf7: return group < 2 ? 0 : group < 4 ? written_rm(insn) : RAX | RDX;
	default: return group < 2 ? written_rm(insn) : -1; /* ff: inc, dec, and branches */
	}
}

static int32_t written_one(const struct insn *insn)
{
	uint8_t opcode = insn->opcode;

	if (opcode < 0x40)
		return written_arithmetic(insn);
	if ((opcode & 0xf8) == 0xb8)
		return 1 << ((opcode & 7) | (insn->rex & 1) << 3);
	switch (opcode) {
	case 0x84:
	case 0x85:
	case 0xa8:
	case 0xa9: return 0;
	case 0x80:
	case 0x81:
	case 0x83:
	case 0xf6:
	case 0xf7:
	case 0xff: return written_group(insn);
	case 0x88:
	case 0xc6: return written_byte(insn, written_rm(insn));
	case 0x89:
	case 0xc1:
	case 0xc7:
	case 0xd1:
	case 0xd3: return written_rm(insn);
	case 0x8a: return written_byte(insn, written_reg(insn));
	case 0x63:
	case 0x69:
	case 0x6b:
	case 0x8b:
	case 0x8d: return written_reg(insn);
	default: return -1;
	}
}

static int32_t written_two(const struct insn *insn)
{
	uint8_t opcode = insn->opcode;

	if ((opcode & 0xf0) == 0x40 || opcode == 0xaf)
		return written_reg(insn); /* cmov, imul */
	if (opcode == 0xb6 || opcode == 0xb7 || opcode == 0xbe || opcode == 0xbf)
		return written_reg(insn); /* movzx, movsx */
	if ((opcode & 0xf0) == 0x90)
		return written_byte(insn, written_rm(insn)); /* set */
	switch (opcode) {
	case 0x10:
	case 0x11:
	case 0x1e: /* endbr64, and hints */
	case 0x1f:
	case 0x28:
	case 0x29:
	case 0x2e:
	case 0x2f:
	case 0x57:
	case 0x6e:
	case 0x6f:
	case 0x7f:
	case 0xef: return 0; /* moves of and to vectors, and their clearing */
	default: return -1;
	}
}

int32_t insn_written(const struct insn *insn)
{
	if (insn->kind != INSN_OTHER || insn->prefixes & (INSN_LOCK | INSN_SEGMENT))
		return -1;
	if (insn->opcode == 0x1e && insn->map == 1 && insn->modrm != 0xfa)
		return -1; /* rdsspq writes its register */
	return insn->map == 0 ? written_one(insn) : insn->map == 1 ? written_two(insn) : -1;
}
