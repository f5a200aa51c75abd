#include "schema/schema.h"

#include <string.h>

#define LIST(list, ...)                                           \
	static const char *const list##_list[] = { __VA_ARGS__ }; \
	const struct names list##_names = { list##_list, sizeof(list##_list) / sizeof(char *) };

LIST(event, "fork", "exec", "exit", "rename", "exists")
LIST(task_state, "R", "S", "D", "T", "t", "X", "Z", "P", "I")
LIST(direction, "R", "W", "C")
LIST(block_op, "R", "W", "F", "D")
LIST(file_kind, "file", "dir", "link", "char", "block", "pipe", "socket", "other")

#define NAME_OF(name, text) #name,
LIST(layer, LAYERS(NAME_OF))
#undef NAME_OF
#define TEXT_OF(name, text) text,
LIST(loss, LOSSES(TEXT_OF))
#undef TEXT_OF

static const char *const syscall_list[SYSCALL_COUNT] = {
#define IO_SYSCALL(name, ...)  [SYSCALL_##name] = #name,
#define FS_SYSCALL(name, ...)  [SYSCALL_##name] = #name,
#define MEM_SYSCALL(name, ...) [SYSCALL_##name] = #name,
#define SYSCALL32(...)
#define NAMESPACE_SYSCALL(...)
#define QUEUE_SYSCALL(...)
#include "schema/syscalls.def"
#define ASYNC_IO(name, ...) [SYSCALL_##name] = #name,
#define ASYNC_FS(name, ...) [SYSCALL_##name] = #name,
#include "schema/async.def"
};
const struct names syscall_names = { syscall_list, SYSCALL_COUNT };

static const struct schema_column columns[COLUMN_FLAT_COUNT] = {
#define TABLE(...)
#define COLUMN(table, number_, name_, type_, encoding_, unit_, doc_) \
	[flat_##table##_##name_] = { .name = #name_,                 \
				     .unit = unit_,                  \
				     .doc = doc_,                    \
				     .number = number_,              \
				     .type = TYPE_##type_,           \
				     .encoding = ENCODING_##encoding_ },
#define NAME_COLUMN(table, number_, name_, list, doc_)       \
	[flat_##table##_##name_] = { .name = #name_,         \
				     .unit = "",             \
				     .doc = doc_,            \
				     .names = &list##_names, \
				     .number = number_,      \
				     .type = TYPE_NAME,      \
				     .encoding = ENCODING_PLAIN },
#include "schema/tables.def"
};

const struct schema_table schema_tables[TABLE_COUNT] = {
#define TABLE(table, number_, group_, doc_)                              \
	[TABLE_##table] = { .name = #table,                              \
			    .doc = doc_,                                 \
			    .columns = &columns[first_##table],          \
			    .column_count = end_##table - first_##table, \
			    .group = column_##table##_##group_,          \
			    .number = number_ },
#define COLUMN(...)
#include "schema/tables.def"
};

const struct schema_table *schema_table_by_name(const char *name)
{
	for (unsigned i = 0; i < TABLE_COUNT; i++)
		if (!strcmp(schema_tables[i].name, name))
			return &schema_tables[i];
	return NULL;
}

const struct schema_table *schema_table_by_number(uint16_t number)
{
	for (unsigned i = 0; i < TABLE_COUNT; i++)
		if (schema_tables[i].number == number)
			return &schema_tables[i];
	return NULL;
}

const struct schema_column *schema_column_by_number(const struct schema_table *table,
						    uint16_t number)
{
	for (unsigned i = 0; i < table->column_count; i++)
		if (table->columns[i].number == number)
			return &table->columns[i];
	return NULL;
}

int schema_column_by_name(const struct schema_table *table, const char *name)
{
	for (unsigned i = 0; i < table->column_count; i++)
		if (!strcmp(table->columns[i].name, name))
			return (int)i;
	return -1;
}
