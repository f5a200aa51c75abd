/* What libbpf does not find among the kernel's own types it looks for in those of modules: a helper that an older kernel lacks, say.
 * To list modules takes CAP_SYS_ADMIN, which is as good as root, and without it libbpf gives up. strata needs nothing of modules:
 * to who may not list them there are none. The linker puts this in the place of libbpf's function (REC_LIBS in the Makefile).
 */
#include <bpf/bpf.h>
#include <errno.h>

int __real_bpf_btf_get_next_id(__u32 start_id, __u32 *next_id);
int __wrap_bpf_btf_get_next_id(__u32 start_id, __u32 *next_id);

int __wrap_bpf_btf_get_next_id(__u32 start_id, __u32 *next_id)
{
	int err = __real_bpf_btf_get_next_id(start_id, next_id);

	if (err != -EPERM)
		return err;
	errno = ENOENT;
	return -ENOENT;
}
