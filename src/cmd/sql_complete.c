#include "cmd/sql_complete.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "query/columns.h"
#include "query/views.h"

#define MAX_FOUND 128
#define LINE	  80

static const char *const words[] = {
	"select",  "from",    "where", "group by", "order by", "limit",	 "having",	   "join",
	"using",   "asof",    "left",  "distinct", "count(",   "sum(",	 "avg(",	   "min(",
	"max(",	   "union",   "with",  "between",  "desc",     "filter", "quantile_cont(", "utc(",
	".tables", ".schema", ".runs", ".format",  ".timing",  ".help",	 ".quit",
};

struct found {
	const char *names[MAX_FOUND];
	size_t count;
};

static void offer(struct found *found, const char *name, const char *start, size_t size)
{
	if (strncasecmp(name, start, size) || found->count == MAX_FOUND)
		return;
	for (size_t i = 0; i < found->count; i++)
		if (!strcmp(found->names[i], name))
			return;
	found->names[found->count++] = name;
}

/* Column names are constants of the schema, whatever list they were found in. */
static void offer_columns(struct found *found, const char *start, size_t size)
{
	for (unsigned t = 0; t < TABLE_COUNT; t++) {
		struct query_column columns[QUERY_MAX_COLUMNS];
		unsigned count = query_columns(&schema_tables[t], columns);

		for (unsigned i = 0; i < count; i++)
			offer(found, columns[i].name, start, size);
	}
}

/* How much all have in common. */
static size_t common_length(const struct found *found)
{
	size_t length = strlen(found->names[0]);

	for (size_t i = 1; i < found->count; i++) {
		size_t same = 0;

		while (same < length && found->names[0][same] == found->names[i][same])
			same++;
		length = same;
	}
	return length;
}

static void list_names(const struct found *found, FILE *out)
{
	size_t at = 0;

	for (size_t i = 0; i < found->count; i++) {
		size_t length = strlen(found->names[i]) + 2;

		fputs(at && at + length <= LINE ? "  " : "\n", out);
		at = at && at + length <= LINE ? at + length : length;
		fputs(found->names[i], out);
	}
	fputs("\n", out);
	fflush(out);
}

int sql_complete(const char *line, size_t typed, FILE *out, struct buf *insert, bool *listed)
{
	struct found found = { .count = 0 };
	size_t size = 0, common;

	while (size < typed &&
	       (isalnum((unsigned char)line[typed - size - 1]) || line[typed - size - 1] == '_'))
		size++;
	if (size < typed && line[typed - size - 1] == '.' && size + 1 == typed)
		size++; /* a dot command */
	line += typed - size;
	for (unsigned t = 0; t < TABLE_COUNT; t++)
		offer(&found, schema_tables[t].name, line, size);
	for (unsigned v = 0; v < view_count; v++)
		offer(&found, views[v].name, line, size);
	offer_columns(&found, line, size);
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		offer(&found, words[i], line, size);
	if (!size || !found.count)
		return -ENOENT;
	common = common_length(&found);
	if (found.count > 1 && common <= size) {
		list_names(&found, out);
		*listed = true;
		return 0;
	}
	if (buf_append(insert, found.names[0] + size, common - size))
		return -ENOMEM;
	if (found.count == 1 && found.names[0][common - 1] != '(')
		return buf_append(insert, " ", 1);
	return 0;
}
