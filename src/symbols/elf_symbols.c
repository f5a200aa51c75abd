#include "symbols/elf_symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbols/elf_debug.h"

#define MOST_SYMBOLS  (16u << 20)
#define MOST_SEGMENTS 64
#define LONGEST_NAME  4096
#define HIDDEN	      0x8000 /* of a version: not the default one */

/* One symbol table, with what is said beside it. */
struct table {
	Elf *elf;
	Elf_Data *symbols;
	Elf_Data *versions;	  /* NULL: none */
	struct buf version_names; /* const char * each, by the version's number */
	size_t count, strings;
	bool public;
};

/* ---- versions ---- */

static int versions_read(struct table *table, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	int at = 0;

	for (size_t i = 0; data && i < header->sh_info; i++) {
		GElf_Verdef version;
		GElf_Verdaux name;
		const char **place;

		if (!gelf_getverdef(data, at, &version) ||
		    !gelf_getverdaux(data, at + (int)version.vd_aux, &name))
			return 0;
		place = buf_element(&table->version_names, version.vd_ndx & ~HIDDEN,
				    sizeof(*place));
		if (!place)
			return -ENOMEM;
		*place = elf_strptr(table->elf, header->sh_link, name.vda_name);
		if (!version.vd_next || version.vd_next > (1u << 30))
			return 0;
		at += (int)version.vd_next;
	}
	return 0;
}

/* The version that a symbol has beside its name; NULL: the default one, or none. */
static const char *version_of(const struct table *table, size_t i)
{
	size_t known = table->version_names.size / sizeof(char *);
	GElf_Versym version;

	if (!table->versions || !gelf_getversym(table->versions, (int)i, &version) ||
	    !(version & HIDDEN) || (size_t)(version & ~HIDDEN) >= known)
		return NULL;
	return ((const char *const *)table->version_names.data)[version & ~HIDDEN];
}

/* ---- symbols ---- */

/* Where in the file an address is; false: not in its code. */
static bool offset_of(const struct elf_symbols *symbols, uint64_t address, uint64_t *offset)
{
	const struct code_segment *segments = (const void *)symbols->segments.data;

	for (size_t i = 0; i < symbols->segments.size / sizeof(*segments); i++) {
		if (address - segments[i].address >= segments[i].size)
			continue;
		*offset = segments[i].offset + (address - segments[i].address);
		return true;
	}
	return false;
}

/* Parts of functions that the compiler moved out of the way are no functions. */
static bool is_part(const char *name)
{
	const char *cold = strstr(name, ".cold");

	return cold && (!cold[5] || cold[5] == '.');
}

/* What the unwinder asks on the way through frames of these languages: who has such frames names it. */
static bool is_personality(const char *name)
{
	return !strcmp(name, "__gxx_personality_v0") || !strcmp(name, "rust_eh_personality");
}

static int symbol_add(struct elf_symbols *symbols, const struct table *table, size_t i)
{
	struct symbol symbol = { .flags = table->public ? SYMBOL_PUBLIC : 0 };
	const char *name, *version;
	GElf_Sym entry;
	uint8_t type;

	if (!gelf_getsym(table->symbols, (int)i, &entry))
		return 0;
	name = elf_strptr(table->elf, table->strings, entry.st_name);
	symbols->throws |= name && is_personality(name);
	type = GELF_ST_TYPE(entry.st_info);
	if ((type != STT_FUNC && type != STT_GNU_IFUNC) || entry.st_shndx == SHN_UNDEF)
		return 0;
	if (!name || !*name || strnlen(name, LONGEST_NAME) == LONGEST_NAME || is_part(name) ||
	    !offset_of(symbols, entry.st_value, &symbol.offset))
		return 0;
	symbol.size = entry.st_size;
	symbol.name = (uint32_t)symbols->text.size;
	symbol.flags |= type == STT_GNU_IFUNC ? SYMBOL_IFUNC : 0;
	version = version_of(table, i);
	if (buf_printf(&symbols->text, "%s%s%s", name, version ? "@" : "",
		       version ? version : "") ||
	    buf_append(&symbols->text, "", 1))
		return -ENOMEM;
	return buf_append(&symbols->symbols, &symbol, sizeof(symbol));
}

static int table_read(struct elf_symbols *symbols, struct table *table)
{
	int err = 0;

	for (size_t i = 1; i < table->count && !err; i++)
		err = symbol_add(symbols, table, i);
	return err;
}

/* Reads the symbol tables of one kind. */
static int tables_read(struct elf_symbols *symbols, Elf *elf, unsigned kind, bool *found)
{
	struct table table = { .elf = elf, .public = kind == SHT_DYNSYM };
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	int err = 0;

	while (kind == SHT_DYNSYM && !err && (section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header))
			continue;
		if (header.sh_type == SHT_GNU_versym)
			table.versions = elf_getdata(section, NULL);
		else if (header.sh_type == SHT_GNU_verdef)
			err = versions_read(&table, section, &header);
	}
	section = NULL;
	while (!err && (section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header) || header.sh_type != kind ||
		    !(table.symbols = elf_getdata(section, NULL)))
			continue;
		table.count = table.symbols->d_size / sizeof(Elf64_Sym);
		table.strings = header.sh_link;
		if (table.count > MOST_SYMBOLS)
			err = -EFBIG;
		else
			err = table_read(symbols, &table);
		*found |= table.count > 1;
	}
	buf_free(&table.version_names);
	return err;
}

/* ---- the file ---- */

static int segments_read(struct elf_symbols *symbols, Elf *elf)
{
	size_t count;

	if (elf_getphdrnum(elf, &count))
		return -ENOEXEC;
	for (size_t i = 0; i < count && i < MOST_SEGMENTS; i++) {
		struct code_segment segment;
		GElf_Phdr header;

		if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD ||
		    !(header.p_flags & PF_X))
			continue;
		segment = (struct code_segment){ header.p_offset, header.p_vaddr, header.p_filesz };
		if (segment.offset > (uint64_t)symbols->identity.st_size ||
		    segment.size > (uint64_t)symbols->identity.st_size - segment.offset)
			return -ENOEXEC;
		if (buf_append(&symbols->segments, &segment, sizeof(segment)))
			return -ENOMEM;
	}
	return symbols->segments.size ? 0 : -ENOEXEC;
}

/* The names that only a debug file has. One that is not of this file, by its build id, is none. */
static int debug_file_read(struct elf_symbols *symbols, Elf *elf, const char *path)
{
	int fd = elf_debug_open(elf, symbols, path), err = 0;
	uint8_t id[sizeof(symbols->build_id)];
	Elf *debug;

	if (fd < 0)
		return 0;
	debug = elf_begin(fd, ELF_C_READ, NULL);
	if (debug && elf_build_id(debug, id, sizeof(id)) == symbols->build_id_size &&
	    !memcmp(id, symbols->build_id, symbols->build_id_size))
		err = tables_read(symbols, debug, SHT_SYMTAB, &symbols->has_debug_file);
	symbols->has_all |= symbols->has_debug_file;
	elf_end(debug);
	close(fd);
	return err;
}

/* In the order of the file; of one place, by name. */
static int compare_symbols(const void *a, const void *b, void *context)
{
	const struct symbol *one = a, *other = b;
	const char *text = context;

	if (one->offset != other->offset)
		return one->offset < other->offset ? -1 : 1;
	return strcmp(text + one->name, text + other->name);
}

/* The same name of the same place, from a second table, is one. */
static void symbols_settle(struct elf_symbols *symbols)
{
	struct symbol *all = (void *)symbols->symbols.data;
	size_t count = elf_symbols_count(symbols), kept = 0;
	char *text = (char *)symbols->text.data;

	qsort_r(all, count, sizeof(*all), compare_symbols, text);
	for (size_t i = 0; i < count; i++) {
		if (!kept || compare_symbols(&all[kept - 1], &all[i], text)) {
			all[kept++] = all[i];
			continue;
		}
		all[kept - 1].flags |= all[i].flags;
		if (!all[kept - 1].size)
			all[kept - 1].size = all[i].size;
	}
	symbols->symbols.size = kept * sizeof(*all);
}

static int elf_read(struct elf_symbols *symbols, Elf *elf, const char *path)
{
	GElf_Ehdr header;
	bool public = false;
	int err;

	if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header) ||
	    header.e_machine != EM_X86_64 || gelf_getclass(elf) != ELFCLASS64)
		return -ENOEXEC;
	symbols->build_id_size = elf_build_id(elf, symbols->build_id, sizeof(symbols->build_id));
	err = segments_read(symbols, elf);
	if (!err)
		err = tables_read(symbols, elf, SHT_SYMTAB, &symbols->has_all);
	if (!err)
		err = tables_read(symbols, elf, SHT_DYNSYM, &public);
	if (!err && !symbols->has_all)
		err = debug_file_read(symbols, elf, path);
	if (!err && elf_symbols_count(symbols))
		symbols_settle(symbols);
	return err;
}

int elf_symbols_open(struct elf_symbols *symbols, const char *path, struct error *e)
{
	Elf *elf = NULL;
	int err;

	*symbols = (struct elf_symbols){ .fd = open(path, O_RDONLY | O_CLOEXEC) };
	if (symbols->fd < 0)
		return error_errno(e, "cannot open '%s'", path);
	if (fstat(symbols->fd, &symbols->identity))
		return error_errno(e, "cannot read '%s'", path);
	elf_version(EV_CURRENT);
	if (S_ISREG(symbols->identity.st_mode))
		elf = elf_begin(symbols->fd, ELF_C_READ, NULL);
	err = elf_read(symbols, elf, path);
	elf_end(elf);
	if (err == -ENOEXEC)
		return error_set(e, err, "'%s' is not a program or library of x86-64", path);
	if (err == -EFBIG)
		return error_set(e, err, "'%s' has more than %u symbols", path, MOST_SYMBOLS);
	return err ? error_set(e, err, "out of memory") : 0;
}

void elf_symbols_close(struct elf_symbols *symbols)
{
	if (symbols->fd >= 0)
		close(symbols->fd);
	buf_free(&symbols->symbols);
	buf_free(&symbols->text);
	buf_free(&symbols->segments);
	symbols->fd = -1;
}

size_t elf_symbols_count(const struct elf_symbols *symbols)
{
	return symbols->symbols.size / sizeof(struct symbol);
}

const struct symbol *elf_symbols_get(const struct elf_symbols *symbols, size_t i)
{
	return (const struct symbol *)symbols->symbols.data + i;
}

const char *elf_symbols_name(const struct elf_symbols *symbols, const struct symbol *symbol)
{
	return (const char *)symbols->text.data + symbol->name;
}

bool elf_symbols_same(const struct elf_symbols *symbols)
{
	const struct stat *then = &symbols->identity;
	struct stat now;

	return !fstat(symbols->fd, &now) && now.st_size == then->st_size &&
	       now.st_mtim.tv_sec == then->st_mtim.tv_sec &&
	       now.st_mtim.tv_nsec == then->st_mtim.tv_nsec;
}

int elf_symbols_read(const struct elf_symbols *symbols, uint64_t offset, void *to, size_t size)
{
	uint8_t *at = to;

	while (size) {
		ssize_t got = pread(symbols->fd, at, size, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? -errno : -ENODATA;
		at += got;
		offset += (uint64_t)got;
		size -= (size_t)got;
	}
	return 0;
}
