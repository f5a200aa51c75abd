#include "schema/schema.h"

#include <string.h>

#define LIST(list, ...)                                           \
	static const char *const list##_list[] = { __VA_ARGS__ }; \
	const struct names list##_names = { list##_list, sizeof(list##_list) / sizeof(char *) };

#define NAME_OF(name) #name,

LIST(event, "fork", "exec", "exit", "rename", "exists")
LIST(task_state, "R", "S", "D", "T", "t", "X", "Z", "P", "I")
LIST(waker_kind, "thread", "hardirq", "timer", "hi", "timer", "net_tx", "net_rx", "block",
     "irq_poll", "tasklet", "sched", "timer", "rcu") /* from hi on the kernel's softirqs */
LIST(direction, "R", "W", "C")
LIST(block_op, "R", "W", "F", "D")
LIST(stall_kind, STALL_KINDS(NAME_OF))
LIST(file_kind, "file", "dir", "link", "char", "block", "pipe", "socket", "other")

#define LAYER(name, when, doc) #name,
static const char *const layer_list[] = {
#include "schema/layers.def"
};
const struct names layer_names = { layer_list, LAYER_COUNT };

#define LAYER(name_, when_, doc_) { .name = #name_, .doc = doc_, .when = WHEN_##when_ },
const struct layer_info schema_layers[LAYER_COUNT] = {
#include "schema/layers.def"
};

#define TEXT_OF(name, text) text,
LIST(loss, LOSSES(TEXT_OF))
#undef TEXT_OF

static const struct schema_column columns[COLUMN_FLAT_COUNT] = {
#define TABLE(...)
#define COLUMN(table, number_, name_, role_, type_, encoding_, unit_, doc_) \
	[flat_##table##_##name_] = { .name = #name_,                        \
				     .unit = unit_,                         \
				     .doc = doc_,                           \
				     .number = number_,                     \
				     .role = ROLE_##role_,                  \
				     .type = TYPE_##type_,                  \
				     .encoding = ENCODING_##encoding_ },
#define NAME_COLUMN(table, number_, name_, role_, list, doc_) \
	[flat_##table##_##name_] = { .name = #name_,          \
				     .unit = "",              \
				     .doc = doc_,             \
				     .names = &list##_names,  \
				     .number = number_,       \
				     .role = ROLE_##role_,    \
				     .type = TYPE_NAME,       \
				     .encoding = ENCODING_PLAIN },
#define FILE_COLUMN(table, number_, name_, path_, encoding_, doc_)  \
	[flat_##table##_##name_] = { .name = #name_,                \
				     .unit = "",                    \
				     .doc = doc_,                   \
				     .path = #path_,                \
				     .path_doc = "path of " #name_, \
				     .number = number_,             \
				     .role = ROLE_FILE,             \
				     .type = TYPE_FILE,             \
				     .encoding = ENCODING_##encoding_ },
#include "schema/tables.def"
};

const struct schema_table schema_tables[TABLE_COUNT] = {
#define TABLE(table, number_, layer_, kind_, group_, label_, doc_)       \
	[TABLE_##table] = { .name = #table,                              \
			    .label = label_,                             \
			    .doc = doc_,                                 \
			    .columns = &columns[first_##table],          \
			    .column_count = end_##table - first_##table, \
			    .group = column_##table##_##group_,          \
			    .kind = KIND_##kind_,                        \
			    .layer = LAYER_##layer_,                     \
			    .number = number_ },
#define COLUMN(...)
#include "schema/tables.def"
};

int schema_find_name(const struct names *names, const char *text, size_t size)
{
	for (unsigned i = 0; i < names->count; i++)
		if (names->names[i] && strlen(names->names[i]) == size &&
		    !memcmp(names->names[i], text, size))
			return (int)i;
	return -1;
}

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

int schema_column_by_role(const struct schema_table *table, enum column_role role)
{
	for (unsigned i = 0; i < table->column_count; i++)
		if (table->columns[i].role == role)
			return (int)i;
	return -1;
}

bool schema_is_timed(const struct schema_table *table)
{
	return table->columns[0].role == ROLE_TIME;
}

static const char *const titles[TABLE_COUNT] = {
#define TABLE(...)
#define COLUMN(...)
#define TITLE(table, title) [TABLE_##table] = title,
#include "schema/tables.def"
};

const char *schema_title(const struct schema_table *table)
{
	const char *title = titles[table - schema_tables];

	return title ? title : table->label ? table->label : table->name;
}
