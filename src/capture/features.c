#include "capture/features.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static bool features_has(const char *name, uint32_t kind)
{
	struct btf *btf = btf__load_vmlinux_btf();
	bool found = btf && btf__find_by_name_kind(btf, name, kind) > 0;

	btf__free(btf);
	return found;
}

bool features_has_function(const char *name)
{
	return features_has(name, BTF_KIND_FUNC);
}

bool features_has_struct(const char *name)
{
	return features_has(name, BTF_KIND_STRUCT);
}

int features_enumerator(const char *enumeration, const char *name)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int id = btf ? btf__find_by_name_kind(btf, enumeration, BTF_KIND_ENUM) : -1;
	const struct btf_type *type = id > 0 ? btf__type_by_id(btf, (__u32)id) : NULL;
	int value = -ENOENT;

	for (unsigned i = 0; type && i < btf_vlen(type) && value == -ENOENT; i++)
		if (!strcmp(btf__name_by_offset(btf, btf_enum(type)[i].name_off), name))
			value = btf_enum(type)[i].val;
	btf__free(btf);
	return value;
}

bool features_has_helper(const char *name)
{
	char wanted[64];

	snprintf(wanted, sizeof(wanted), "BPF_FUNC_%s", name);
	return features_enumerator("bpf_func_id", wanted) >= 0;
}

int features_tracepoint_arguments(const char *name)
{
	struct btf *btf = btf__load_vmlinux_btf();
	const struct btf_type *type = NULL;
	char alias[96];
	int arguments = 0;
	__s32 id;

	/* typedef void (*btf_trace_NAME)(void *, argument, ...) */
	snprintf(alias, sizeof(alias), "btf_trace_%s", name);
	id = btf ? btf__find_by_name_kind(btf, alias, BTF_KIND_TYPEDEF) : -1;
	if (id > 0)
		type = btf__type_by_id(btf, btf__type_by_id(btf, (__u32)id)->type);
	if (type && btf_is_ptr(type))
		type = btf__type_by_id(btf, type->type);
	if (type && btf_is_func_proto(type) && btf_vlen(type) > 1)
		arguments = btf_vlen(type) - 1;
	btf__free(btf);
	return arguments;
}
