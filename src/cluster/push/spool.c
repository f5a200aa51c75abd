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
#include "cluster/push/spool_record.h"

#define NUMBERS_A_SECOND 1000000u

struct entry {
	struct batch batch;
	uint64_t bytes; /* of its rows */
	bool done;
};

struct spool {
	int folder, lock;
	char *path;
	struct entry *entries; /* in order of number */
	size_t count, capacity;
	uint64_t next, identity, epoch;
	int rows; /* of the batch that is being written, -1: none is */
};

/* ---- names and numbers on disk ---- */

#define NAME_SIZE 40

static const char *name_of(char out[NAME_SIZE], uint64_t number, const char *ending)
{
	snprintf(out, NAME_SIZE, "%020" PRIu64 ".%s", number, ending);
	return out;
}

/* Replaces a small file, whole and on disk when this returns. */
static int write_file(const struct spool *spool, const char *name, const void *bytes, size_t size,
		      struct error *e)
{
	char temporary[NAME_SIZE + 8];
	int fd, err = 0;

	snprintf(temporary, sizeof(temporary), "%s.new", name);
	fd = openat(spool->folder, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_errno(e, "cannot write '%s/%s'", spool->path, temporary);
	if (write(fd, bytes, size) != (ssize_t)size || fsync(fd))
		err = error_errno(e, "cannot write '%s/%s'", spool->path, temporary);
	close(fd);
	if (!err && renameat(spool->folder, temporary, spool->folder, name))
		err = error_errno(e, "cannot write '%s/%s'", spool->path, name);
	if (!err && fsync(spool->folder))
		err = error_errno(e, "cannot write '%s'", spool->path);
	if (err)
		unlinkat(spool->folder, temporary, 0);
	return err;
}

static int write_number(const struct spool *spool, const char *name, uint64_t number,
			struct error *e)
{
	char text[32];
	int size = snprintf(text, sizeof(text), "%" PRIu64 "\n", number);

	return write_file(spool, name, text, (size_t)size, e);
}

/* At most SPOOL_RECORD bytes. Returns how many, or -errno. */
static ssize_t read_file(const struct spool *spool, const char *name, char *out)
{
	int fd = openat(spool->folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t size;

	if (fd < 0)
		return -errno;
	size = read(fd, out, SPOOL_RECORD - 1);
	if (size < 0)
		size = -errno;
	else
		out[size] = '\0';
	close(fd);
	return size;
}

/* The number in a file, made and written when there is none. */
static int find_number(struct spool *spool, const char *name, uint64_t first, uint64_t *number,
		       struct error *e)
{
	char text[SPOOL_RECORD];
	ssize_t size = read_file(spool, name, text);

	if (size >= 0 && sscanf(text, "%" SCNu64, number) == 1)
		return 0;
	if (size >= 0 || size != -ENOENT)
		return error_set(e, size < 0 ? (int)size : -EBADMSG, "cannot read '%s/%s'",
				 spool->path, name);
	*number = first;
	return write_number(spool, name, first, e);
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
	char name[NAME_SIZE], text[SPOOL_RECORD];
	struct batch batch;
	struct stat rows = { 0 };
	ssize_t size;
	int err;

	name_of(name, number, done ? "done" : "batch");
	size = read_file(spool, name, text);
	if (size < 0)
		return error_set(e, (int)size, "cannot read '%s/%s'", spool->path, name);
	err = spool_parse(text, (size_t)size, &batch, e);
	if (!err && batch.number != number)
		err = error_set(e, -EBADMSG, "it is another batch's");
	if (err)
		return error_add(e, err, "'%s/%s' is damaged", spool->path, name);
	if (!done && fstatat(spool->folder, name_of(name, number, "rows"), &rows, 0))
		return error_errno(e, "'%s' lacks the rows of a batch, %s", spool->path, name);
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
			unlinkat(spool->folder, names[i], 0);
		}
		if (number >= spool->next)
			spool->next = number + 1;
	}
	return err;
}

static int load(struct spool *spool, struct error *e)
{
	int copy = openat(spool->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	DIR *folder = copy < 0 ? NULL : fdopendir(copy);
	char **names = NULL;
	size_t count = 0;
	struct dirent *item;

	if (!folder) {
		if (copy >= 0)
			close(copy);
		return error_errno(e, "cannot read '%s'", spool->path);
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

	spool->lock = openat(spool->folder, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (spool->lock < 0)
		return error_errno(e, "cannot open the spool '%s'", spool->path);
	while (flock(spool->lock, LOCK_EX | LOCK_NB)) {
		if (clock_monotonic() > end)
			return error_set(e, -EBUSY, "the spool '%s' is in use by another process",
					 spool->path);
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
	if (!spool || !(spool->path = strdup(path)))
		return error_set(e, -ENOMEM, "out of memory");
	spool->folder = spool->lock = spool->rows = -1;
	err = make_folder(path, e);
	if (err)
		return err;
	spool->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (spool->folder < 0)
		return error_errno(e, "cannot open the spool '%s'", path);
	err = take_lock(spool, patience, e);
	if (err)
		return err;
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return error_errno(e, "cannot make a random number");
	spool->next = clock_now(CLOCK_REALTIME) / 1000000000u * NUMBERS_A_SECOND;
	err = find_number(spool, "identity", random, &spool->identity, e);
	if (!err)
		err = find_number(spool, "epoch", 0, &spool->epoch, e);
	return err ? err : load(spool, e);
}

void spool_close(struct spool *spool)
{
	if (!spool)
		return;
	if (spool->folder >= 0)
		close(spool->folder);
	if (spool->lock >= 0)
		close(spool->lock);
	free(spool->entries);
	free(spool->path);
	free(spool);
}

uint64_t spool_identity(const struct spool *spool)
{
	return spool->identity;
}

int spool_next_epoch(struct spool *spool, uint64_t *epoch, struct error *e)
{
	int err = write_number(spool, "epoch", spool->epoch + 1, e);

	if (!err)
		*epoch = ++spool->epoch;
	return err;
}

int spool_shard(const struct spool *spool, unsigned *shard)
{
	char text[SPOOL_RECORD];
	ssize_t size = read_file(spool, "shard", text);

	return size > 0 && sscanf(text, "%u", shard) == 1 ? 0 : -ENOENT;
}

int spool_set_shard(struct spool *spool, unsigned shard, struct error *e)
{
	return write_number(spool, "shard", shard, e);
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
	char name[NAME_SIZE];
	int err;

	name_of(name, spool->next, "rows");
	spool->rows = openat(spool->folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (spool->rows < 0)
		return error_errno(e, "cannot write '%s/%s'", spool->path, name);
	err = row_writer_begin(writer, spool->rows, e);
	if (err)
		spool_drop(spool, writer);
	return err;
}

void spool_drop(struct spool *spool, struct row_writer *writer)
{
	char name[NAME_SIZE];
	struct error ignored;

	row_writer_end(writer, &ignored);
	if (spool->rows < 0)
		return;
	close(spool->rows);
	spool->rows = -1;
	unlinkat(spool->folder, name_of(name, spool->next, "rows"), 0);
}

int spool_commit(struct spool *spool, struct row_writer *writer, struct batch *batch,
		 struct error *e)
{
	char name[NAME_SIZE], text[SPOOL_RECORD];
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
		err = write_file(spool, name_of(name, batch->number, "batch"), text, (size_t)size,
				 e);
	if (!err)
		err = add_entry(spool, batch, (uint64_t)rows.st_size, false, e);
	if (err) {
		spool_drop(spool, writer);
		return error_add(e, err, "cannot spool a batch in '%s'", spool->path);
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
	char name[NAME_SIZE];
	struct stat rows;

	name_of(name, batch->number, "rows");
	*fd = openat(spool->folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (*fd < 0 || fstat(*fd, &rows))
		return error_errno(e, "cannot read '%s/%s'", spool->path, name);
	*size = (uint64_t)rows.st_size;
	return 0;
}

/* Of a stream only the last batch tells how far it is; those before it go. */
static void forget_before(struct spool *spool, size_t last)
{
	char name[NAME_SIZE];
	size_t kept = 0;

	for (size_t i = 0; i < spool->count; i++) {
		const struct entry *entry = &spool->entries[i];

		if (i < last && entry->done &&
		    !strcmp(entry->batch.stream, spool->entries[last].batch.stream))
			unlinkat(spool->folder, name_of(name, entry->batch.number, "done"), 0);
		else
			spool->entries[kept++] = *entry;
	}
	spool->count = kept;
}

int spool_done(struct spool *spool, uint64_t number, struct error *e)
{
	char from[NAME_SIZE], to[NAME_SIZE];

	for (size_t i = 0; i < spool->count; i++) {
		if (spool->entries[i].batch.number != number)
			continue;
		name_of(from, number, "batch");
		if (renameat(spool->folder, from, spool->folder, name_of(to, number, "done")) ||
		    fsync(spool->folder))
			return error_errno(e, "cannot rename '%s/%s'", spool->path, from);
		unlinkat(spool->folder, name_of(from, number, "rows"), 0);
		spool->entries[i].done = true;
		forget_before(spool, i);
		break;
	}
	return 0;
}
