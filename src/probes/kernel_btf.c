/* The kernel's types, read once for all that use them at the same time.
 *
 * libbpf reads them anew for each object that it loads: 5 MB in pieces of 4 KiB, more than some objects take the verifier. It can be told
 * of no copy, so the linker gives it these two functions in the place of its own (--wrap in the Makefile). As features.c holds
 * the types while a recording opens, all objects share those. Nobody changes them; any thread may come here.
 */
#include <bpf/btf.h>
#include <pthread.h>

static struct {
	pthread_mutex_t lock;
	struct btf *types;
	unsigned users; /* of types, each of which frees them */
} kernel = { .lock = PTHREAD_MUTEX_INITIALIZER };

struct btf *__real_btf__load_vmlinux_btf(void);
void __real_btf__free(struct btf *types);
struct btf *__wrap_btf__load_vmlinux_btf(void);
void __wrap_btf__free(struct btf *types);

struct btf *__wrap_btf__load_vmlinux_btf(void)
{
	struct btf *types;

	pthread_mutex_lock(&kernel.lock);
	if (!kernel.types)
		kernel.types = __real_btf__load_vmlinux_btf();
	types = kernel.types;
	kernel.users += types != NULL;
	pthread_mutex_unlock(&kernel.lock);
	return types;
}

void __wrap_btf__free(struct btf *types)
{
	pthread_mutex_lock(&kernel.lock);
	if (types && types == kernel.types) {
		if (--kernel.users)
			types = NULL;
		else
			kernel.types = NULL;
	}
	pthread_mutex_unlock(&kernel.lock);
	__real_btf__free(types);
}
