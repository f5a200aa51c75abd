#include "probes/core_types.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"

/* A name without what follows three underscores: libbpf takes that for a variant of the type. */
struct type_name {
	const char *text;
	size_t size;
};

struct copying {
	const struct btf *from;
	struct btf *to;
	uint32_t *ids;	    /* by the kernel's id: the copy's, 0 until there is one */
	struct buf names;   /* struct type_name each, sorted */
	int pointer, index; /* one type for every pointer, and one for the indices of arrays */
};

/* ---- which types ---- */

static size_t essential_size(const char *name)
{
	const char *variant = strstr(name, "___");

	return variant && variant != name ? (size_t)(variant - name) : strlen(name);
}

static int compare_names(const void *a, const void *b)
{
	const struct type_name *one = a, *other = b;

	if (one->size != other->size)
		return one->size < other->size ? -1 : 1;
	return memcmp(one->text, other->text, one->size);
}

static bool is_copied_kind(const struct btf_type *type)
{
	return btf_is_composite(type) || btf_is_any_enum(type);
}

static int names_gather(struct buf *names, const struct btf *btf)
{
	for (__u32 id = 1; id < btf__type_cnt(btf); id++) {
		const struct btf_type *type = btf__type_by_id(btf, id);
		struct type_name name = { .text = btf__name_by_offset(btf, type->name_off) };

		if (!is_copied_kind(type) || !*name.text)
			continue;
		name.size = essential_size(name.text);
		if (buf_append(names, &name, sizeof(name)))
			return -ENOMEM;
	}
	return 0;
}

static bool is_wanted(const struct copying *copying, const struct btf_type *type)
{
	struct type_name name = { .text = btf__name_by_offset(copying->from, type->name_off) };

	name.size = strlen(name.text);
	return name.size && bsearch(&name, copying->names.data, copying->names.size / sizeof(name),
				    sizeof(name), compare_names);
}

/* ---- copying ---- */

static int copy_type(struct copying *copying, __u32 id);

static int copy_enum(struct copying *copying, const struct btf_type *type, const char *name)
{
	int id = btf__add_enum(copying->to, name, type->size), err = 0;

	for (int i = 0; i < btf_vlen(type) && id > 0 && !err; i++) {
		const struct btf_enum *value = &btf_enum(type)[i];

		err = btf__add_enum_value(copying->to,
					  btf__name_by_offset(copying->from, value->name_off),
					  value->val);
	}
	return err ? err : id;
}

static int copy_enum64(struct copying *copying, const struct btf_type *type, const char *name)
{
	int id = btf__add_enum64(copying->to, name, type->size, btf_kflag(type)), err = 0;

	for (int i = 0; i < btf_vlen(type) && id > 0 && !err; i++) {
		const struct btf_enum64 *value = &btf_enum64(type)[i];

		err = btf__add_enum64_value(copying->to,
					    btf__name_by_offset(copying->from, value->name_off),
					    btf_enum64_value(value));
	}
	return err ? err : id;
}

/* A structure or union. Of one inside another that nobody has a name for, the size is enough. */
static int copy_composite(struct copying *copying, const struct btf_type *type, const char *name)
{
	bool whole = !*name || is_wanted(copying, type);
	int id, err = 0;

	/* libbpf adds members to the type made last: theirs have to be there before. */
	for (int i = 0; i < btf_vlen(type) && whole && !err; i++) {
		id = copy_type(copying, btf_members(type)[i].type);
		err = id < 0 ? id : 0;
	}
	if (err)
		return err;
	id = btf_is_struct(type) ? btf__add_struct(copying->to, name, type->size)
				 : btf__add_union(copying->to, name, type->size);
	for (int i = 0; i < btf_vlen(type) && whole && id > 0 && !err; i++) {
		const struct btf_member *member = &btf_members(type)[i];

		err = btf__add_field(
			copying->to, btf__name_by_offset(copying->from, member->name_off),
			copy_type(copying, member->type), btf_member_bit_offset(type, (__u32)i),
			btf_member_bitfield_size(type, (__u32)i));
	}
	return err ? err : id;
}

static int copy_anew(struct copying *copying, const struct btf_type *type)
{
	const char *name = btf__name_by_offset(copying->from, type->name_off);
	int element;

	switch (btf_kind(type)) {
	case BTF_KIND_INT:
		return btf__add_int(copying->to, name, type->size, btf_int_encoding(type));
	case BTF_KIND_FLOAT: return btf__add_float(copying->to, name, type->size);
	case BTF_KIND_ENUM: return copy_enum(copying, type, name);
	case BTF_KIND_ENUM64: return copy_enum64(copying, type, name);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION: return copy_composite(copying, type, name);
	case BTF_KIND_ARRAY:
		element = copy_type(copying, btf_array(type)->type);
		return element < 0 ? element
				   : btf__add_array(copying->to, copying->index, element,
						    btf_array(type)->nelems);
	default:
		return copying
			->pointer; /* whatever it points to: a relocation does not follow it */
	}
}

/* The id of a type's copy, which is made when it is first asked for; negative: an error. */
static int copy_type(struct copying *copying, __u32 id)
{
	const struct btf_type *type;
	int copy;

	if (!id)
		return 0;
	if (copying->ids[id])
		return (int)copying->ids[id];
	type = btf__type_by_id(copying->from, id);
	if (btf_is_mod(type) || btf_is_typedef(type) || btf_is_type_tag(type))
		copy = copy_type(copying, type->type);
	else
		copy = copy_anew(copying, type);
	if (copy > 0)
		copying->ids[id] = (uint32_t)copy;
	return copy;
}

static int copy_wanted(struct copying *copying)
{
	copying->index = btf__add_int(copying->to, "unsigned int", 4, 0);
	copying->pointer = btf__add_ptr(copying->to, 0);
	if (copying->index < 0 || copying->pointer < 0)
		return -ENOMEM;
	for (__u32 id = 1; id < btf__type_cnt(copying->from); id++) {
		const struct btf_type *type = btf__type_by_id(copying->from, id);

		if (is_copied_kind(type) && is_wanted(copying, type)) {
			int copy = copy_type(copying, id);

			if (copy < 0)
				return copy;
		}
	}
	return 0;
}

int core_types_write(int fd, const struct btf *kernel, struct bpf_object *const *objects,
		     size_t count, struct error *e)
{
	struct copying copying = { .from = kernel, .to = btf__new_empty() };
	const void *data = NULL;
	__u32 size = 0;
	int err = 0;

	copying.ids = calloc(btf__type_cnt(kernel), sizeof(*copying.ids));
	if (!copying.to || !copying.ids)
		err = -ENOMEM;
	for (size_t i = 0; i < count && !err; i++)
		err = names_gather(&copying.names, bpf_object__btf(objects[i]));
	if (!err) {
		qsort(copying.names.data, copying.names.size / sizeof(struct type_name),
		      sizeof(struct type_name), compare_names);
		err = copy_wanted(&copying);
	}
	if (!err)
		data = btf__raw_data(copying.to, &size);
	if (!err && (!data || write(fd, data, size) != (ssize_t)size))
		err = -EIO;
	btf__free(copying.to);
	free(copying.ids);
	buf_free(&copying.names);
	return err ? error_set(e, err, "cannot gather the kernel's types: %s", strerror(-err)) : 0;
}
