/* The functions of an ELF file, by all names that its symbol tables and its debug file give them: sorted by where they lie in the
 * file. The file stays open: whoever puts probes into it does so by the same descriptor, so that a file that takes
 * its name meanwhile is another one.
 *
 * Only x86-64 is read. The bytes may be anything; libelf and this look at none beyond the file's end.
 */
#ifndef STRATA_SYMBOLS_ELF_SYMBOLS_H
#define STRATA_SYMBOLS_ELF_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/error.h"

enum symbol_flag {
	SYMBOL_IFUNC = 1,  /* not the function, but what chooses it when the program starts */
	SYMBOL_PUBLIC = 2, /* other files may call it */
};

struct symbol {
	uint64_t offset; /* in the file */
	uint64_t size;	 /* in bytes; 0: not said */
	uint32_t
		name; /* see elf_symbols_name(); NAME@VERSION unless it is of the default version */
	uint32_t flags; /* bits of enum symbol_flag */
};

/* A run of code of the file. */
struct code_segment {
	uint64_t offset, address, size;
};

struct elf_symbols {
	int fd;
	struct stat identity; /* of the file as it was read */
	struct buf symbols;   /* struct symbol each */
	struct buf text;      /* their names */
	struct buf segments;  /* struct code_segment each */
	uint8_t build_id[64];
	size_t build_id_size; /* 0: it has none */
	bool has_all; /* it, or its debug file, has the names of all functions, not only the public ones */
	bool has_debug_file;
	bool throws; /* it has code of C++ or Rust, whose exceptions unwind the stack */
};

int elf_symbols_open(struct elf_symbols *symbols, const char *path, struct error *e);
void elf_symbols_close(struct elf_symbols *symbols);

size_t elf_symbols_count(const struct elf_symbols *symbols);
const struct symbol *elf_symbols_get(const struct elf_symbols *symbols, size_t i);
const char *elf_symbols_name(const struct elf_symbols *symbols, const struct symbol *symbol);

/* Whether the file is still as it was read: nobody has written to it. */
bool elf_symbols_same(const struct elf_symbols *symbols);

/* Reads bytes of the file; fails when there are fewer. */
int elf_symbols_read(const struct elf_symbols *symbols, uint64_t offset, void *to, size_t size);

#endif
