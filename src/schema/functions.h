/* What is said about the arguments and the result of a function: which of them is a number of bytes, a file, a rank. Presets state
 * it (symbols/presets.txt); the programs in the kernel, which have the registers, read it as it is here.
 */
#ifndef STRATA_SCHEMA_FUNCTIONS_H
#define STRATA_SCHEMA_FUNCTIONS_H

#include <linux/types.h>

enum function_from {
	FROM_NONE, /* nothing says it */
	FROM_RETURNED,
	FROM_NUMBER, /* `value` itself */
	FROM_ARG0,   /* and so on to ARG5 */
	FROM_ARG5 = FROM_ARG0 + 5,
};

enum function_as {
	AS_WORD,      /* all 64 bits */
	AS_INT,	      /* the lower 32, signed: what is above them in a register means nothing */
	AS_NCCL_TYPE, /* a number of NCCL's types: the size of that */
	AS_NCCL_OP,   /* a number of NCCL's operations */
};

struct function_source {
	__u8 from;   /* enum function_from */
	__u8 as;     /* enum function_as */
	__u8 behind; /* it is a pointer, and what it says lies `value` bytes behind where it points */
	__u8 pad;
	__u32 value;
};

struct function_traits {
	struct function_source bytes[2]; /* their product; the second may be none */
	struct function_source count;
	struct function_source rank;
	struct function_source op;
	struct function_source fd;   /* a file by its descriptor */
	struct function_source file; /* of the kernel: a file by the address of its struct file */
	struct function_source path; /* a text */
};

/* Where an argument of a USDT mark is. */
#define USDT_ARGUMENTS 4
#define USDT_REGISTERS 16 /* rax rbx rcx rdx rsi rdi rbp rsp r8 to r15 */

enum usdt_kind {
	USDT_NONE, /* nowhere, or where no program can look: in a floating-point register, say */
	USDT_REGISTER,
	USDT_CONSTANT, /* `value` itself */
	USDT_MEMORY,   /* `value` bytes behind where the register points */
};

struct usdt_source {
	__u8 kind;   /* enum usdt_kind */
	__u8 number; /* of a register */
	__s8 size;   /* bytes; negative: with a sign */
	__u8 pad[5];
	__s64 value;
};

_Static_assert(sizeof(struct function_traits) == 64, "struct function_traits");

#endif
