#include "probes/features.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct features {
	struct btf *btf;
};

int features_open(struct features **out, struct error *e)
{
	struct features *features = calloc(1, sizeof(*features));

	*out = features;
	if (!features)
		return error_set(e, -ENOMEM, "out of memory");
	features->btf = btf__load_vmlinux_btf();
	if (!features->btf)
		return error_errno(e, "cannot read the kernel's type information (BTF)");
	return 0;
}

void features_close(struct features *features)
{
	if (!features)
		return;
	btf__free(features->btf);
	free(features);
}

const struct btf *features_btf(const struct features *features)
{
	return features->btf;
}

unsigned features_struct_id(const struct features *features, const char *name)
{
	__s32 id = btf__find_by_name_kind(features->btf, name, BTF_KIND_STRUCT);

	return id > 0 ? (unsigned)id : 0;
}

/* NULL: there is no such type. */
static const struct btf_type *features_type(const struct features *features, const char *name,
					    uint32_t kind)
{
	__s32 id = btf__find_by_name_kind(features->btf, name, kind);

	return id > 0 ? btf__type_by_id(features->btf, (__u32)id) : NULL;
}

bool features_has_function(const struct features *features, const char *name)
{
	return features_type(features, name, BTF_KIND_FUNC);
}

bool features_has_struct(const struct features *features, const char *name)
{
	return features_type(features, name, BTF_KIND_STRUCT);
}

int features_member_offset(const struct features *features, const char *structure,
			   const char *member)
{
	const struct btf_type *type = features_type(features, structure, BTF_KIND_STRUCT);

	for (__u32 i = 0; type && i < btf_vlen(type); i++)
		if (!strcmp(btf__name_by_offset(features->btf, btf_members(type)[i].name_off),
			    member))
			return (int)(btf_member_bit_offset(type, i) / 8);
	return -ENOENT;
}

bool features_has_member(const struct features *features, const char *structure, const char *member)
{
	return features_member_offset(features, structure, member) >= 0;
}

int features_cpu_variable(const struct features *features, const char *name)
{
	const struct btf_type *section = features_type(features, ".data..percpu", BTF_KIND_DATASEC);
	__s32 id = btf__find_by_name_kind(features->btf, name, BTF_KIND_VAR);

	for (__u32 i = 0; section && i < btf_vlen(section); i++)
		if (btf_var_secinfos(section)[i].type == (__u32)id)
			return (int)btf_var_secinfos(section)[i].offset;
	return -ENOENT;
}

int features_enumerator(const struct features *features, const char *enumeration, const char *name)
{
	const struct btf_type *type = features_type(features, enumeration, BTF_KIND_ENUM);

	for (__u32 i = 0; type && i < btf_vlen(type); i++)
		if (!strcmp(btf__name_by_offset(features->btf, btf_enum(type)[i].name_off), name))
			return btf_enum(type)[i].val;
	return -ENOENT;
}

bool features_has_helper(const struct features *features, const char *name)
{
	char wanted[64];

	snprintf(wanted, sizeof(wanted), "BPF_FUNC_%s", name);
	return features_enumerator(features, "bpf_func_id", wanted) >= 0;
}

int features_tracepoint_arguments(const struct features *features, const char *name)
{
	const struct btf_type *type;
	char alias[96];

	/* typedef void (*btf_trace_NAME)(void *, argument, ...) */
	snprintf(alias, sizeof(alias), "btf_trace_%s", name);
	type = features_type(features, alias, BTF_KIND_TYPEDEF);
	if (type)
		type = btf__type_by_id(features->btf, type->type);
	if (type && btf_is_ptr(type))
		type = btf__type_by_id(features->btf, type->type);
	return type && btf_is_func_proto(type) && btf_vlen(type) > 1 ? btf_vlen(type) - 1 : 0;
}
