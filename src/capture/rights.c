#include "capture/rights.h"

#include <errno.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef CAP_PERFMON
#	define CAP_PERFMON 38
#	define CAP_BPF	    39
#endif

#define BTF_PATH	    "/sys/kernel/btf/vmlinux"
#define FIRST_PID_NAMESPACE 0xeffffffc /* the kernel's PROC_PID_INIT_INO */

static uint64_t effective_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { 0 } };

	if (syscall(SYS_capget, &header, data))
		return 0;
	return (uint64_t)data[1].effective << 32 | data[0].effective;
}

/* Whether a container took this user's rights: then nobody inside of it can give them back. */
static bool in_container(void)
{
	struct stat namespace;

	return !stat("/proc/self/ns/pid", &namespace) && namespace.st_ino != FIRST_PID_NAMESPACE;
}

static int rights_lack(const char *what, struct error *e)
{
	char self[PATH_MAX] = "strata";
	ssize_t length;

	if (in_container())
		return error_set(
			e, -EPERM,
			"recording needs the capability %s, which this container was not given: "
			"start it with 'docker run --cap-add BPF --cap-add PERFMON', or the like "
			"of other engines, or record it from outside with --container",
			what);
	length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (length > 0)
		self[length] = 0;
	return error_set(e, -EPERM,
			 "recording needs the capability %s, which this user lacks: run it with "
			 "sudo, or grant it once with 'sudo setcap cap_bpf,cap_perfmon+ep %s'",
			 what, self);
}

int rights_check(struct error *e)
{
	uint64_t have = effective_capabilities();
	bool bpf = have >> CAP_BPF & 1, perfmon = have >> CAP_PERFMON & 1;

	if (have >> CAP_SYS_ADMIN & 1)
		bpf = perfmon = true;
	if (!bpf || !perfmon)
		return rights_lack(bpf	     ? "CAP_PERFMON"
				   : perfmon ? "CAP_BPF"
					     : "CAP_BPF and CAP_PERFMON",
				   e);
	if (access(BTF_PATH, R_OK))
		return error_set(
			e, -ENOTSUP,
			"this kernel offers no type information: " BTF_PATH
			" is not there; a kernel built with CONFIG_DEBUG_INFO_BTF=y has it");
	return 0;
}
