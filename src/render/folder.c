#include "render/folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int folder_open(struct folder *folder, const struct export_request *request, struct error *e)
{
	const char *path = request->output;
	struct stat stat_;

	*folder = (struct folder){ .request = request };
	folder->made = !mkdir(path, 0777);
	if (folder->made)
		return 0;
	if (errno != EEXIST)
		return error_errno(e, "cannot make the folder '%s'", path);
	if (!stat(path, &stat_) && !S_ISDIR(stat_.st_mode))
		return error_set(e, -ENOTDIR, "'%s' is no folder: this format writes one", path);
	return 0;
}

struct output *folder_add(struct folder *folder, const char *name, struct error *e)
{
	uint64_t limit = folder->request->max_bytes;
	struct output *out = calloc(1, sizeof(*out));
	char *path = NULL;
	int err;

	if (out)
		out->file.fd = -1;
	if (!out || asprintf(&path, "%s/%s", folder->request->output, name) < 0) {
		free(out);
		error_set(e, -ENOMEM, "out of memory");
		return NULL;
	}
	err = output_open(out, path, false, &folder->request->inputs, e);
	free(path);
	if (!err && buf_append(&folder->files, &out, sizeof(out)))
		err = error_set(e, -ENOMEM, "out of memory");
	if (err) {
		output_free(out);
		free(out);
		return NULL;
	}
	if (limit)
		out->limit = limit > folder->total ? limit - folder->total : 1;
	return out;
}

int folder_finish(struct folder *folder, struct output *out, struct error *e)
{
	int err;

	/* The message is to name the limit that was given, not what is left of it. */
	if (output_past_limit(out) || out->error == -EFBIG) {
		out->error = -EFBIG;
		out->limit = folder->request->max_bytes;
	}
	err = output_finish(out, e);
	folder->total += out->total;
	/* Only the names are needed from here on. */
	free(out->data);
	out->data = NULL;
	return err;
}

int folder_close(struct folder *folder, int err, uint64_t *total, struct error *e)
{
	struct output **files = (struct output **)folder->files.data;
	size_t count = folder->files.size / sizeof(*files);

	for (size_t i = 0; i < count && !err; i++)
		err = output_commit(files[i], e);
	for (size_t i = 0; i < count; i++) {
		output_free(files[i]);
		free(files[i]);
	}
	buf_free(&folder->files);
	if (err && folder->made)
		rmdir(folder->request->output); /* does nothing when another has put a file there */
	*total = folder->total;
	return err;
}
