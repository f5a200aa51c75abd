#include "probes/call_links.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probes/bpf_error.h"

#define MULTI_RETURN   1
#define NOT_SUPPORTED  524 /* the kernel's ENOTSUPP, which it does not mean to show */
#define CLOSERS	       32
#define LINKS_A_THREAD 4

/* The kernel's union bpf_attr for BPF_LINK_CREATE of many uprobes, which is younger than the headers of some machines. */
struct multi_link {
	uint32_t program, target, type, flags;
	uint64_t path, offsets, semaphores, cookies;
	uint32_t count, multi_flags, pid, pad;
};

_Static_assert(sizeof(struct multi_link) == 64, "struct multi_link");

/* ---- many by one ---- */

static int multi_attach(struct call_links *links, struct multi_link *link)
{
	int fd = (int)syscall(SYS_bpf, BPF_LINK_CREATE, link, sizeof(*link));

	if (fd < 0)
		return -errno;
	if (!buf_append(&links->fds, &fd, sizeof(fd)))
		return 0;
	close(fd);
	return -ENOMEM;
}

/* Attaches some places; a part that the kernel refuses is halved until the one to blame is alone. */
static int multi_attach_part(struct call_links *links, struct multi_link *link,
			     const uint64_t *offsets, size_t all, bool *refused, size_t count)
{
	size_t half = count / 2;
	int err;

	link->offsets = (uintptr_t)offsets;
	link->cookies = (uintptr_t)(offsets + all);
	if (link->semaphores)
		link->semaphores = (uintptr_t)(offsets + 2 * all);
	link->count = (uint32_t)count;
	err = multi_attach(links, link);
	if (err != -NOT_SUPPORTED && err != -EINVAL)
		return err;
	if (count == 1) {
		*refused = true;
		return 0;
	}
	err = multi_attach_part(links, link, offsets, all, refused, half);
	return err ? err
		   : multi_attach_part(links, link, offsets + half, all, refused + half,
				       count - half);
}

int call_links_multi(struct call_links *links, const struct bpf_program *program, int type,
		     bool returns, const char *path, struct call_place *places, size_t count,
		     struct error *e)
{
	struct multi_link link = {
		.program = (uint32_t)bpf_program__fd(program),
		.type = (uint32_t)type,
		.path = (uintptr_t)path,
		.multi_flags = returns ? MULTI_RETURN : 0,
	};
	/* All offsets, then all cookies, then all semaphores. */
	uint64_t *offsets = calloc(count, 3 * sizeof(*offsets));
	bool *refused = calloc(count, sizeof(*refused));
	int err = 0;

	for (size_t i = 0; offsets && i < count; i++) {
		offsets[i] = places[i].offset;
		offsets[count + i] = places[i].cookie;
		offsets[2 * count + i] = places[i].semaphore;
		link.semaphores |= places[i].semaphore;
	}
	if (offsets && refused)
		err = multi_attach_part(links, &link, offsets, count, refused, count);
	else
		err = -ENOMEM;
	for (size_t i = 0; refused && i < count; i++)
		places[i].refused |= refused[i];
	free(offsets);
	free(refused);
	return err ? error_set(e, err, "cannot put probes into '%s': %s", path, strerror(-err)) : 0;
}

/* ---- one by one ---- */

int call_links_single(struct call_links *links, const struct bpf_program *program, bool returns,
		      const char *path, struct call_place *places, size_t count, struct error *e)
{
	for (size_t i = 0; i < count; i++) {
		LIBBPF_OPTS(bpf_uprobe_opts, options, .retprobe = returns,
			    .bpf_cookie = places[i].cookie, .ref_ctr_offset = places[i].semaphore);
		struct bpf_link *link;

		if (places[i].refused)
			continue;
		link = bpf_program__attach_uprobe_opts(program, -1, path, places[i].offset,
						       &options);
		if (!link && (errno == NOT_SUPPORTED || errno == EINVAL))
			places[i].refused = true;
		else if (!link)
			return bpf_error(e, -errno, "cannot put a probe into a file");
		else if (buf_append(&links->links, &link, sizeof(link))) {
			bpf_link__destroy(link);
			return error_set(e, -ENOMEM, "out of memory");
		}
	}
	return 0;
}

/* ---- closing ---- */

struct closing {
	struct bpf_link **links;
	size_t count;
	atomic_size_t next;
};

static void *close_some(void *context)
{
	struct closing *closing = context;
	size_t i;

	while ((i = atomic_fetch_add(&closing->next, 1)) < closing->count)
		bpf_link__destroy(closing->links[i]);
	return NULL;
}

void call_links_close(struct call_links *links)
{
	struct closing closing = { .links = (void *)links->links.data,
				   .count = links->links.size / sizeof(struct bpf_link *) };
	pthread_t threads[CLOSERS];
	unsigned started = 0;

	for (size_t i = 0; i < links->fds.size / sizeof(int); i++)
		close(((int *)links->fds.data)[i]);
	while (started < CLOSERS && (started + 1) * LINKS_A_THREAD < closing.count &&
	       !pthread_create(&threads[started], NULL, close_some, &closing))
		started++;
	close_some(&closing);
	while (started)
		pthread_join(threads[--started], NULL);
	buf_free(&links->fds);
	buf_free(&links->links);
	*links = (struct call_links){ 0 };
}
