/* Writes small valid traces for the fuzzer to start from: make_seeds DIR. One file a table, with and
 * without nulls, one of all tables, and one of two traces, one behind the other, which have only some files in common.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/builder.h"
#include "store/writer.h"

#define SEED_ROWS 40

static void check(int err, const struct error *e)
{
	if (!err)
		return;
	fprintf(stderr, "make_seeds: %s\n", e->text);
	exit(1);
}

static void add_cell(struct builder *builder, unsigned column, uint32_t row)
{
	const struct schema_column *schema = &builder->table->columns[column];
	char text[32];

	switch (schema->type) {
	case TYPE_TEXT:
		builder_set_text(builder, column, text,
				 (size_t)snprintf(text, sizeof(text), "text%u", row % 9));
		break;
	case TYPE_NAME: builder_set(builder, column, row % schema->names->count); break;
	case TYPE_REAL: builder_set_real(builder, column, row * 1.25); break;
	case TYPE_BOOL: builder_set(builder, column, row % 2); break;
	default: builder_set(builder, column, (int64_t)(row % 5 * 1000 + row * column) - 3); break;
	}
}

static void add_chunk(unsigned table, uint32_t nulls, struct buf *out)
{
	struct builder *builder;
	struct error e;

	check(builder_open(&builder, &schema_tables[table], &e), &e);
	for (uint32_t row = 0; row < SEED_ROWS; row++) {
		for (unsigned c = 0; c < builder->table->column_count; c++)
			if (!nulls || (row + c) % nulls)
				add_cell(builder, c, row);
		builder_end_row(builder);
	}
	check(builder_encode(builder, out, &e), &e);
	builder_close(builder);
}

static void die(const char *path)
{
	perror(path);
	exit(1);
}

static void write_seed(const char *folder, const char *name, const struct buf *chunks)
{
	struct writer *writer;
	char path[4096];
	struct error e;
	int fd;

	snprintf(path, sizeof(path), "%s/%s.strata", folder, name);
	fd = open(path, O_CREAT | O_TRUNC | O_RDWR, 0644);
	if (fd < 0)
		die(path);
	check(writer_open(&writer, fd, &e), &e);
	check(writer_append(writer, chunks, &e), &e);
	check(writer_close(writer, &e), &e);
}

/* The second name's bytes behind the first's. */
static void join_seeds(const char *folder, const char *first, const char *second)
{
	char path[4096], other[4096], bytes[65536];
	FILE *from, *to;

	snprintf(path, sizeof(path), "%s/%s.strata", folder, first);
	snprintf(other, sizeof(other), "%s/%s.strata", folder, second);
	from = fopen(other, "re");
	to = fopen(path, "ae");
	if (!from || !to)
		die(from ? path : other);
	for (size_t size; (size = fread(bytes, 1, sizeof(bytes), from)) > 0;)
		if (fwrite(bytes, 1, size, to) != size)
			die(path);
	fclose(from);
	if (fclose(to))
		die(path);
}

int main(int argc, char **argv)
{
	struct buf all = { 0 };

	if (argc != 2) {
		fprintf(stderr, "usage: make_seeds DIR\n");
		return 2;
	}
	for (unsigned table = 0; table < TABLE_COUNT; table++) {
		struct buf one = { 0 };

		add_chunk(table, 0, &one);
		add_chunk(table, 3, &one);
		add_chunk(table, 7, &all);
		write_seed(argv[1], schema_tables[table].name, &one);
		buf_free(&one);
	}
	write_seed(argv[1], "all", &all);
	write_seed(argv[1], "two", &all);
	join_seeds(argv[1], "two", "file");
	buf_free(&all);
	return 0;
}
