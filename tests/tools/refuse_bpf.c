/* A kernel that refuses one BPF program, for tests: preloaded into strata, it answers the loading of the program whose name is
 * in $REFUSE_BPF as the verifier answers, with an error and a log.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char log_text[] = "0: R1=ctx() R10=fp0\n"
			       "R3 invalid mem access 'scalar'\n"
			       "processed 7 insns (limit 1000000)\n";

static int refused(const union bpf_attr *attributes)
{
	const char *name = getenv("REFUSE_BPF");

	return name && !strncmp(attributes->prog_name, name, BPF_OBJ_NAME_LEN - 1);
}

/* libbpf makes all its calls through this. */
long syscall(long number, ...)
{
	long (*next)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	long args[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		args[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_bpf && args[0] == BPF_PROG_LOAD && refused((void *)args[1])) {
		union bpf_attr *attributes = (void *)args[1];

		if (attributes->log_buf && attributes->log_size)
			snprintf((char *)attributes->log_buf, attributes->log_size, "%s", log_text);
		errno = EACCES;
		return -1;
	}
	return next(number, args[0], args[1], args[2], args[3], args[4], args[5]);
}
