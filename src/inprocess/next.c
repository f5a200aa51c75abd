/* The functions that the program would have called without this library: of each name the first that is behind it in the order of the
 * loader, and of its versions the one that is not an old one. That is what dlsym(RTLD_NEXT) finds; but dlsym may allocate, and in older
 * C libraries it is in a library that may not be there. */
#include "inprocess/library.h"

#include <elf.h>
#include <link.h>

extern int dl_iterate_phdr(int (*each)(struct dl_phdr_info *, size_t, void *), void *)
	__attribute__((weak));

static const char *const names[INPROCESS_ALL] = {
#define CALL_AS(type, name, as, parameters, arguments, shown) [INPROCESS_##name] = #name,
#define PROCEDURE(name, parameters, arguments)		      [INPROCESS_##name] = #name,
#define SPECIAL(name, as, count)			      [INPROCESS_##name] = #name,
#define NEXT(name)					      [INPROCESS_##name] = #name,
#include "inprocess/functions.def"
};

/* The symbols of a loaded file. */
struct file {
	uintptr_t base;
	const Elf64_Sym *symbols;
	const char *strings;
	const uint16_t *versions; /* NULL: it has none */
	const uint32_t *gnu_hash, *hash;
};

static bool equal(const char *one, const char *other)
{
	while (*one && *one == *other)
		one++, other++;
	return *one == *other;
}

static bool open_file(struct file *file, const struct dl_phdr_info *info)
{
	const Elf64_Dyn *dynamic = NULL;

	*file = (struct file){ .base = info->dlpi_addr };
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			dynamic = (const Elf64_Dyn *)(file->base + info->dlpi_phdr[i].p_vaddr);
	for (; dynamic && dynamic->d_tag != DT_NULL; dynamic++) {
		/* Some loaders write addresses there, others leave them as they are in the file. */
		uintptr_t at = dynamic->d_un.d_ptr;

		if (at < file->base)
			at += file->base;
		if (dynamic->d_tag == DT_SYMTAB)
			file->symbols = (const Elf64_Sym *)at;
		else if (dynamic->d_tag == DT_STRTAB)
			file->strings = (const char *)at;
		else if (dynamic->d_tag == DT_VERSYM)
			file->versions = (const uint16_t *)at;
		else if (dynamic->d_tag == DT_GNU_HASH)
			file->gnu_hash = (const uint32_t *)at;
		else if (dynamic->d_tag == DT_HASH)
			file->hash = (const uint32_t *)at;
	}
	return file->symbols && file->strings && (file->gnu_hash || file->hash);
}

/* The address of symbol i if it is that function, defined here, and no old version of it. */
static void *symbol_address(const struct file *file, uint32_t i, const char *name)
{
	const Elf64_Sym *symbol = &file->symbols[i];
	unsigned type = ELF64_ST_TYPE(symbol->st_info);
	uintptr_t at = file->base + symbol->st_value;

	if (!symbol->st_shndx || !symbol->st_value || (type != STT_FUNC && type != STT_GNU_IFUNC) ||
	    ELF64_ST_BIND(symbol->st_info) == STB_LOCAL ||
	    (file->versions && file->versions[i] & 0x8000) ||
	    !equal(file->strings + symbol->st_name, name))
		return NULL;
	return type == STT_FUNC ? (void *)at : ((void *(*)(void))at)();
}

static void *find_by_gnu_hash(const struct file *file, const char *name)
{
	uint32_t buckets = file->gnu_hash[0], first = file->gnu_hash[1], words = file->gnu_hash[2],
		 shift = file->gnu_hash[3], hash = 5381;
	const uint64_t *filter = (const uint64_t *)(file->gnu_hash + 4);
	const uint32_t *bucket = (const uint32_t *)(filter + words), *chain = bucket + buckets;
	uint64_t word;

	for (const char *at = name; *at; at++)
		hash = hash * 33 + (uint8_t)*at;
	word = filter[hash / 64 % words];
	if (!(word >> hash % 64 & 1) || !(word >> (hash >> shift) % 64 & 1))
		return NULL;
	for (uint32_t i = bucket[hash % buckets]; i >= first; i++) {
		uint32_t found = chain[i - first];
		void *at = (found | 1) == (hash | 1) ? symbol_address(file, i, name) : NULL;

		if (at || found & 1)
			return at;
	}
	return NULL;
}

static void *find_by_hash(const struct file *file, const char *name)
{
	uint32_t buckets = file->hash[0], hash = 0;
	const uint32_t *bucket = file->hash + 2, *chain = bucket + buckets;

	for (const char *at = name; *at; at++) {
		hash = (hash << 4) + (uint8_t)*at;
		hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
	}
	for (uint32_t i = bucket[hash % buckets]; i; i = chain[i]) {
		void *at = symbol_address(file, i, name);

		if (at)
			return at;
	}
	return NULL;
}

static bool is_this_library(const struct dl_phdr_info *info)
{
	uintptr_t here = (uintptr_t)&library;

	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t at = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

		if (info->dlpi_phdr[i].p_type == PT_LOAD && here >= at &&
		    here < at + info->dlpi_phdr[i].p_memsz)
			return true;
	}
	return false;
}

static int look_in_file(struct dl_phdr_info *info, size_t size, void *context)
{
	bool *behind = context;
	struct file file;

	(void)size;
	if (!*behind) {
		*behind = is_this_library(info);
		return 0;
	}
	if (!open_file(&file, info))
		return 0;
	for (unsigned i = 0; i < INPROCESS_ALL; i++) {
		void *at = library.functions[i].next;

		if (!at)
			at = file.gnu_hash ? find_by_gnu_hash(&file, names[i])
					   : find_by_hash(&file, names[i]);
		__atomic_store_n(&library.functions[i].next, at, __ATOMIC_RELEASE);
	}
	return 0;
}

void next_find(void)
{
	bool behind = false;

	if (dl_iterate_phdr)
		dl_iterate_phdr(look_in_file, &behind);
}
