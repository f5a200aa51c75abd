/* See spool.h. */
#include "cluster/push/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "cluster/push/spool_folder.h"
#include "cluster/push/spool_record.h"

#define NUMBERS_A_SECOND 1000000u

struct entry {
	struct batch batch;
	uint64_t bytes; /* of its rows */
	bool done;
};

struct spool {
	struct spool_folder folder;
	int lock;
	struct entry *entries; /* in order of number */
	size_t count, capacity;
	uint64_t next, identity, epoch;
	int rows; /* of the batch that is being written, -1: none is */
};

static const char *name_of(char out[SPOOL_NAME], uint64_t number, const char *ending)
{
	snprintf(out, SPOOL_NAME, "%020" PRIu64 ".%s", number, ending);
	return out;
}

/* ---- the list of batches ---- */

static int add_entry(struct spool *spool, const struct batch *batch, uint64_t bytes, bool done,
		     struct error *e)
{
	if (spool->count == spool->capacity) {
		size_t capacity = spool->capacity ? 2 * spool->capacity : 64;
		struct entry *entries = realloc(spool->entries, capacity * sizeof(*entries));

		if (!entries)
			return error_set(e, -ENOMEM, "out of memory");
		spool->entries = entries;
		spool->capacity = capacity;
	}
	spool->entries[spool->count++] = (struct entry){ *batch, bytes, done };
	return 0;
}

static int load_entry(struct spool *spool, uint64_t number, bool done, struct error *e)
{
	char name[SPOOL_NAME], text[SPOOL_RECORD];
	struct batch batch;
	struct stat rows = { 0 };
	ssize_t size;
	int err;

	name_of(name, number, done ? "done" : "batch");
	size = folder_read(&spool->folder, name, text);
	if (size < 0)
		return error_set(e, (int)size, "cannot read '%s/%s'", spool->folder.path, name);
	err = spool_parse(text, (size_t)size, &batch, e);
	if (!err && batch.number != number)
		err = error_set(e, -EBADMSG, "it is another batch's");
	if (err)
		return error_add(e, err, "'%s/%s' is damaged", spool->folder.path, name);
	if (!done && fstatat(spool->folder.fd, name_of(name, number, "rows"), &rows, 0))
		return error_errno(e, "'%s' lacks the rows of a batch, %s", spool->folder.path,
				   name);
	return add_entry(spool, &batch, (uint64_t)rows.st_size, done, e);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A number's three names sort as batch, done, rows: one without either of the first two was never committed. */
static int load_names(struct spool *spool, char **names, size_t count, struct error *e)
{
	uint64_t number, known = 0;
	char ending[8];
	int err = 0;

	qsort(names, count, sizeof(*names), compare_names);
	for (size_t i = 0; i < count && !err; i++) {
		if (sscanf(names[i], "%20" SCNu64 ".%7s", &number, ending) != 2)
			continue;
		if (!strcmp(ending, "batch") || !strcmp(ending, "done")) {
			err = load_entry(spool, number, *ending == 'd', e);
			known = number;
		} else if (!strcmp(ending, "rows") && known != number) {
			unlinkat(spool->folder.fd, names[i], 0);
		}
		if (number >= spool->next)
			spool->next = number + 1;
	}
	return err;
}

static int load(struct spool *spool, struct error *e)
{
	int copy = openat(spool->folder.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	DIR *folder = copy < 0 ? NULL : fdopendir(copy);
	char **names = NULL;
	size_t count = 0;
	struct dirent *item;

	if (!folder) {
		if (copy >= 0)
			close(copy);
		return error_errno(e, "cannot read '%s'", spool->folder.path);
	}
	while (!err && (item = readdir(folder))) {
		char **more = realloc(names, (count + 1) * sizeof(*names));

		if (more)
			names = more;
		if (!more || !(names[count] = strdup(item->d_name)))
			err = error_set(e, -ENOMEM, "out of memory");
		else
			count++;
	}
	if (!err)
		err = load_names(spool, names, count, e);
	for (size_t i = 0; i < count; i++)
		free(names[i]);
	free(names);
	closedir(folder);
	return err;
}

static int make_folder(const char *path, struct error *e)
{
	char part[4096];

	for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
		mkdir(part, 0700); /* one that cannot be made shows below */
	}
	if (mkdir(path, 0700) && errno != EEXIST)
		return error_errno(e, "cannot make the spool '%s'", path);
	return 0;
}

static int take_lock(struct spool *spool, uint64_t patience, struct error *e)
{
	uint64_t end = clock_monotonic() + patience;

	spool->lock = openat(spool->folder.fd, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (spool->lock < 0)
		return error_errno(e, "cannot open the spool '%s'", spool->folder.path);
	while (flock(spool->lock, LOCK_EX | LOCK_NB)) {
		if (clock_monotonic() > end)
			return error_set(e, -EBUSY, "the spool '%s' is in use by another process",
					 spool->folder.path);
		usleep(20000);
	}
	return 0;
}

int spool_open(struct spool **out, const char *path, uint64_t patience, struct error *e)
{
	struct spool *spool = calloc(1, sizeof(*spool));
	uint64_t random = 0;
	int err;

	*out = spool;
	if (!spool || !(spool->folder.path = strdup(path)))
		return error_set(e, -ENOMEM, "out of memory");
	spool->folder.fd = spool->lock = spool->rows = -1;
	err = make_folder(path, e);
	if (err)
		return err;
	spool->folder.fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (spool->folder.fd < 0)
		return error_errno(e, "cannot open the spool '%s'", path);
	err = take_lock(spool, patience, e);
	if (err)
		return err;
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return error_errno(e, "cannot make a random number");
	spool->next = clock_now(CLOCK_REALTIME) / 1000000000u * NUMBERS_A_SECOND;
	err = folder_find_number(&spool->folder, "identity", random, &spool->identity, e);
	if (!err)
		err = folder_find_number(&spool->folder, "epoch", 0, &spool->epoch, e);
	return err ? err : load(spool, e);
}

void spool_close(struct spool *spool)
{
	if (!spool)
		return;
	if (spool->folder.fd >= 0)
		close(spool->folder.fd);
	if (spool->lock >= 0)
		close(spool->lock);
	free(spool->entries);
	free(spool->folder.path);
	free(spool);
}

uint64_t spool_identity(const struct spool *spool)
{
	return spool->identity;
}

int spool_next_epoch(struct spool *spool, uint64_t *epoch, struct error *e)
{
	int err = folder_write_number(&spool->folder, "epoch", spool->epoch + 1, e);

	if (!err)
		*epoch = ++spool->epoch;
	return err;
}

int spool_shard(const struct spool *spool, unsigned *shard)
{
	char text[SPOOL_RECORD];
	ssize_t size = folder_read(&spool->folder, "shard", text);

	return size > 0 && sscanf(text, "%u", shard) == 1 ? 0 : -ENOENT;
}

int spool_set_shard(struct spool *spool, unsigned shard, struct error *e)
{
	return folder_write_number(&spool->folder, "shard", shard, e);
}

uint64_t spool_next_number(const struct spool *spool)
{
	return spool->next;
}

uint64_t spool_cursor(const struct spool *spool, const char *stream, bool *ended)
{
	*ended = false;
	for (size_t i = spool->count; i--;)
		if (!strcmp(spool->entries[i].batch.stream, stream)) {
			*ended = spool->entries[i].batch.is_last;
			return spool->entries[i].batch.cursor;
		}
	return 0;
}

/* ---- writing a batch ---- */

int spool_begin(struct spool *spool, struct row_writer *writer, struct error *e)
{
	char name[SPOOL_NAME];
	int err;

	name_of(name, spool->next, "rows");
	spool->rows =
		openat(spool->folder.fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (spool->rows < 0)
		return error_errno(e, "cannot write '%s/%s'", spool->folder.path, name);
	err = row_writer_begin(writer, spool->rows, e);
	if (err)
		spool_drop(spool, writer);
	return err;
}

void spool_drop(struct spool *spool, struct row_writer *writer)
{
	char name[SPOOL_NAME];
	struct error ignored;

	row_writer_end(writer, &ignored);
	if (spool->rows < 0)
		return;
	close(spool->rows);
	spool->rows = -1;
	unlinkat(spool->folder.fd, name_of(name, spool->next, "rows"), 0);
}

int spool_commit(struct spool *spool, struct row_writer *writer, struct batch *batch,
		 struct error *e)
{
	char name[SPOOL_NAME], text[SPOOL_RECORD];
	struct stat rows = { 0 };
	int err = row_writer_end(writer, e), size;

	batch->number = spool->next;
	batch->rows = writer->rows;
	batch->first = writer->first;
	batch->last = writer->last;
	if (!err && (fsync(spool->rows) || fstat(spool->rows, &rows)))
		err = error_errno(e, "cannot write rows");
	size = spool_format(batch, text);
	if (!err && size < 0)
		err = error_set(e, size, "its name is too long");
	if (!err)
		err = folder_write(&spool->folder, name_of(name, batch->number, "batch"), text,
				   (size_t)size, e);
	if (!err)
		err = add_entry(spool, batch, (uint64_t)rows.st_size, false, e);
	if (err) {
		spool_drop(spool, writer);
		return error_add(e, err, "cannot spool a batch in '%s'", spool->folder.path);
	}
	close(spool->rows);
	spool->rows = -1;
	spool->next++;
	return 0;
}

/* ---- sending it ---- */

const struct batch *spool_first(const struct spool *spool)
{
	for (size_t i = 0; i < spool->count; i++)
		if (!spool->entries[i].done)
			return &spool->entries[i].batch;
	return NULL;
}

void spool_waiting(const struct spool *spool, uint64_t *batches, uint64_t *bytes)
{
	*batches = *bytes = 0;
	for (size_t i = 0; i < spool->count; i++)
		if (!spool->entries[i].done) {
			++*batches;
			*bytes += spool->entries[i].bytes;
		}
}

int spool_rows(const struct spool *spool, const struct batch *batch, int *fd, uint64_t *size,
	       struct error *e)
{
	char name[SPOOL_NAME];
	struct stat rows;

	name_of(name, batch->number, "rows");
	*fd = openat(spool->folder.fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (*fd < 0 || fstat(*fd, &rows))
		return error_errno(e, "cannot read '%s/%s'", spool->folder.path, name);
	*size = (uint64_t)rows.st_size;
	return 0;
}

/* Of a stream only the last batch tells how far it is; those before it go. */
static void forget_before(struct spool *spool, size_t last)
{
	char name[SPOOL_NAME];
	size_t kept = 0;

	for (size_t i = 0; i < spool->count; i++) {
		const struct entry *entry = &spool->entries[i];

		if (i < last && entry->done &&
		    !strcmp(entry->batch.stream, spool->entries[last].batch.stream))
			unlinkat(spool->folder.fd, name_of(name, entry->batch.number, "done"), 0);
		else
			spool->entries[kept++] = *entry;
	}
	spool->count = kept;
}

int spool_done(struct spool *spool, uint64_t number, struct error *e)
{
	char from[SPOOL_NAME], to[SPOOL_NAME];

	for (size_t i = 0; i < spool->count; i++) {
		if (spool->entries[i].batch.number != number)
			continue;
		name_of(from, number, "batch");
		if (renameat(spool->folder.fd, from, spool->folder.fd,
			     name_of(to, number, "done")) ||
		    fsync(spool->folder.fd))
			return error_errno(e, "cannot rename '%s/%s'", spool->folder.path, from);
		unlinkat(spool->folder.fd, name_of(from, number, "rows"), 0);
		spool->entries[i].done = true;
		forget_before(spool, i);
		break;
	}
	return 0;
}
