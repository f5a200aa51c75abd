/* What is known of the calls in syscalls.def, as tables. */
#include "schema/schema.h"

const struct syscall_info schema_syscalls[SYSCALL_COUNT] = {
	[SYSCALL_none] = { .layer = LAYER_none, .direction = DIRECTION_none },
#define IO_SYSCALL(name, number, number32, family, trait, direction, shape)                       \
	[SYSCALL_##                                                                               \
		name] = { #name, LAYER_io, FAMILY_##family, TRAIT_##trait, DIRECTION_##direction, \
			  false },
#define FS_SYSCALL(name, number, number32, family, trait, ...)                         \
	[SYSCALL_##name] = {                                                           \
		#name, LAYER_fs, FAMILY_##family, TRAIT_##trait, DIRECTION_none, false \
	},
#define MEM_SYSCALL(name, number, number32, family, trait)                              \
	[SYSCALL_##name] = {                                                            \
		#name, LAYER_mem, FAMILY_##family, TRAIT_##trait, DIRECTION_none, false \
	},
#define QUEUE_SYSCALL(name, number, number32, shape) \
	[SYSCALL_##name] = { .layer = LAYER_io, .direction = DIRECTION_none },
#define QUEUED_IO(name, queue, number, family, trait, direction)                                  \
	[SYSCALL_##                                                                               \
		name] = { #name, LAYER_io, FAMILY_##family, TRAIT_##trait, DIRECTION_##direction, \
			  true },
#define QUEUED_FS(name, queue, number, family, trait) \
	[SYSCALL_##                                   \
		name] = { #name, LAYER_fs, FAMILY_##family, TRAIT_##trait, DIRECTION_none, true },
#include "schema/syscalls.def"
};

static const char *const names[SYSCALL_COUNT] = {
#define IO_SYSCALL(name, ...)  [SYSCALL_##name] = #name,
#define FS_SYSCALL(name, ...)  [SYSCALL_##name] = #name,
#define MEM_SYSCALL(name, ...) [SYSCALL_##name] = #name,
#define QUEUED_IO(name, ...)   [SYSCALL_##name] = #name,
#define QUEUED_FS(name, ...)   [SYSCALL_##name] = #name,
#include "schema/syscalls.def"
};
const struct names syscall_names = { names, SYSCALL_COUNT };

const char *const schema_libc_names[SYSCALL_COUNT] = {
#define LIBC_NAME(name, libc) [SYSCALL_##name] = #libc,
#include "schema/syscalls.def"
};
