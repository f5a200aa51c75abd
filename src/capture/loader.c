#include "capture/loader.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "probes/bpf_error.h"

struct loader {
	struct loader_item *items;
	size_t count;
	atomic_size_t next; /* item that no thread has taken */
	pthread_t *threads;
	size_t thread_count;
};

static void *loader_run(void *context)
{
	struct loader *loader = context;
	size_t i;

	while ((i = atomic_fetch_add(&loader->next, 1)) < loader->count) {
		struct loader_item *item = &loader->items[i];

		bpf_error_listen();
		item->cpu_ns = clock_now(CLOCK_THREAD_CPUTIME_ID);
		item->err = bpf_object__load_skeleton(item->skeleton);
		item->cpu_ns = clock_now(CLOCK_THREAD_CPUTIME_ID) - item->cpu_ns;
		if (item->err)
			bpf_error(&item->error, item->err, "the kernel refuses the BPF programs");
	}
	return NULL;
}

int loader_begin(struct loader **out, struct loader_item *items, size_t count, struct error *e)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	size_t threads = cpus > 0 && (size_t)cpus < count ? (size_t)cpus : count;
	struct loader *loader = calloc(1, sizeof(*loader));
	int err = 0;

	*out = loader;
	if (loader)
		loader->threads = calloc(threads, sizeof(*loader->threads));
	if (!loader || !loader->threads)
		return error_set(e, -ENOMEM, "out of memory");
	loader->items = items;
	loader->count = count;
	while (loader->thread_count < threads && !err) {
		err = -pthread_create(&loader->threads[loader->thread_count], NULL, loader_run,
				      loader);
		loader->thread_count += !err;
	}
	if (loader->thread_count)
		return 0; /* fewer threads take longer */
	return error_set(e, err, "cannot start a thread: %s", strerror(-err));
}

void loader_end(struct loader *loader)
{
	if (!loader)
		return;
	for (size_t i = 0; i < loader->thread_count; i++)
		pthread_join(loader->threads[i], NULL);
	free(loader->threads);
	free(loader);
}
