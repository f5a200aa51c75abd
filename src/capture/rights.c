#include "capture/rights.h"

#include <errno.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef CAP_PERFMON
#	define CAP_PERFMON 38
#	define CAP_BPF	    39
#endif

#define BTF_PATH "/sys/kernel/btf/vmlinux"

uint64_t rights_effective(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { 0 } };

	if (syscall(SYS_capget, &header, data))
		return 0;
	return (uint64_t)data[1].effective << 32 | data[0].effective;
}

int rights_check(struct error *e)
{
	uint64_t have = rights_effective();
	bool bpf = have >> CAP_BPF & 1, perfmon = have >> CAP_PERFMON & 1;
	char self[PATH_MAX] = "strata";
	ssize_t length;

	if (have >> CAP_SYS_ADMIN & 1)
		bpf = perfmon = true;
	if (!bpf || !perfmon) {
		length = readlink("/proc/self/exe", self, sizeof(self) - 1);
		if (length > 0)
			self[length] = 0;
		return error_set(
			e, -EPERM,
			"recording needs the capability %s, which this user lacks: run it with "
			"sudo, or grant it once with 'sudo setcap cap_bpf,cap_perfmon+ep %s'",
			bpf	  ? "CAP_PERFMON"
			: perfmon ? "CAP_BPF"
				  : "CAP_BPF and CAP_PERFMON",
			self);
	}
	if (access(BTF_PATH, R_OK))
		return error_set(
			e, -ENOTSUP,
			"this kernel offers no type information: " BTF_PATH
			" is not there; a kernel built with CONFIG_DEBUG_INFO_BTF=y has it");
	return 0;
}
