/* vfork, for which no C can be written: it returns twice, on one stack. It is the system call and nothing else, as in the C library,
 * but that the child's calls are told under its own number while it runs on its parent's memory. */
#include "inprocess/library.h"

#define NESTED 4 /* children of children */

static __thread struct inject_thread saved[NESTED];
static __thread uint32_t nested;

void vfork_child(void);
void vfork_parent(void);

/* The child; its parent waits. */
void vfork_child(void)
{
	if (nested < NESTED)
		inject_enter_vfork(&calling.thread, &saved[nested]);
	nested++;
}

/* The parent: the child has gone or become another program, and what it left in their memory is here. */
void vfork_parent(void)
{
	nested--;
	if (nested < NESTED)
		inject_leave_vfork(&library.injector, &calling.thread, &saved[nested]);
}

long vfork_failed(long err);

long vfork_failed(long err)
{
	extern int *__errno_location(void) __attribute__((weak));

	if (__errno_location)
		*__errno_location() = (int)-err;
	return -1;
}

/* The return address is kept in a register, which the child has no part in: the child returns first, and what it calls then lies
 * where that address lay on the stack. */
__asm__(".text\n"
	".globl vfork\n"
	".type vfork, @function\n"
	"vfork:\n"
	"	endbr64\n"
	"	popq %rdi\n"
	"	movl $58, %eax\n" /* vfork */
	"	syscall\n"
	"	pushq %rdi\n"
	"	testq %rax, %rax\n"
	"	je 1f\n"
	"	js 2f\n"
	"	pushq %rax\n"
	"	call vfork_parent\n"
	"	popq %rax\n"
	"	ret\n"
	"1:	subq $8, %rsp\n"
	"	call vfork_child\n"
	"	addq $8, %rsp\n"
	"	xorl %eax, %eax\n"
	"	ret\n"
	"2:	movq %rax, %rdi\n"
	"	subq $8, %rsp\n"
	"	call vfork_failed\n"
	"	addq $8, %rsp\n"
	"	ret\n"
	".size vfork, . - vfork\n");
