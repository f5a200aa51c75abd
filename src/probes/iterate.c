#include "probes/iterate.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <unistd.h>

#include "probes/bpf_error.h"

int iterate(struct bpf_program *program, union bpf_iter_link_info *over, struct buf *out,
	    struct error *e)
{
	LIBBPF_OPTS(bpf_iter_attach_opts, options, .link_info = over,
		    .link_info_len = sizeof(*over));
	struct bpf_link *link = bpf_program__attach_iter(program, over ? &options : NULL);
	char part[4096];
	int err = 0, fd;

	if (!link)
		return bpf_error(e, -errno, "cannot attach an iterator");
	fd = bpf_iter_create(bpf_link__fd(link));
	if (fd < 0)
		err = bpf_error(e, fd, "cannot make an iterator");
	while (!err) {
		ssize_t got = read(fd, part, sizeof(part));

		if (got == 0)
			break;
		if (got > 0 && out && buf_append(out, part, (size_t)got))
			err = error_set(e, -ENOMEM, "out of memory");
		if (got < 0 && errno != EINTR && errno != EAGAIN)
			err = error_errno(e, "cannot run an iterator");
	}
	if (fd >= 0)
		close(fd);
	bpf_link__destroy(link);
	return err;
}
