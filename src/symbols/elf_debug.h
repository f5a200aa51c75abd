/* Parts of reading ELF files that elf_symbols.c and its search for debug files share. */
#ifndef STRATA_SYMBOLS_ELF_DEBUG_H
#define STRATA_SYMBOLS_ELF_DEBUG_H

#include <libelf.h>

#include "symbols/elf_symbols.h"

/* The file's build id into `id`; its size, 0 when there is none. */
size_t elf_build_id(Elf *elf, uint8_t *id, size_t most);

/* Opens the file with the debug information of `elf`, which lies at `path`, if there is one: by build id or by debug link.
 * Returns its descriptor, or -1. */
int elf_debug_open(Elf *elf, const struct elf_symbols *symbols, const char *path);

#endif
