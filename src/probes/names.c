#include "probes/names.h"

#include <errno.h>
#include <string.h>

#define MAGIC_PIPE  0x50495045
#define MAGIC_SOCK  0x534f434b
#define MAGIC_ANON  0x09041934
#define MAGIC_PIDFS 0x50494446
#define MAGIC_NSFS  0x6e736673

int names_join(struct buf *out, const char *names, size_t size)
{
	int err;

	out->size = 0;
	while (size) {
		size_t end = size - 1; /* of the last name: its NUL */
		size_t start = end;

		while (start && names[start - 1])
			start--;
		err = buf_append(out, "/", 1);
		if (!err)
			err = buf_append(out, names + start, end - start);
		if (err)
			return err;
		size = start;
	}
	return out->size ? 0 : buf_append(out, "/", 1);
}

int names_file_path(struct buf *out, const struct file_record *file)
{
	const char *names = (const char *)(file + 1);
	int length = (int)strnlen(names, file->names_size);
	unsigned long long inode = file->inode;

	if (!(file->flags & FILE_PSEUDO))
		return names_join(out, names, file->names_size);
	out->size = 0;
	switch (file->magic) {
	case MAGIC_PIPE: return buf_printf(out, "pipe:[%llu]", inode);
	case MAGIC_SOCK: return buf_printf(out, "socket:[%llu]", inode);
	case MAGIC_ANON: return buf_printf(out, "anon_inode:%.*s", length, names);
	case MAGIC_PIDFS: return buf_printf(out, "anon_inode:[pidfd]");
	case MAGIC_NSFS: return buf_printf(out, "%.*s:[%llu]", length, names, inode);
	default: return buf_printf(out, "/%.*s (deleted)", length, names); /* memfd and its kin */
	}
}
