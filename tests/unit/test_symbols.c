/* Functions of this machine's own libraries, their names, and where a probe may stand in them. objdump and readelf, which know
 * nothing of this code, are the witnesses. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbols/elf_symbols.h"
#include "symbols/insn.h"
#include "symbols/prologue.h"

#define LIBC "/lib/x86_64-linux-gnu/libc.so.6"
#define LIBM "/lib/x86_64-linux-gnu/libm.so.6"

static struct elf_symbols opened(const char *path)
{
	struct elf_symbols symbols;
	struct error e = { "" };

	if (elf_symbols_open(&symbols, path, &e))
		fail_msg("%s", e.text);
	return symbols;
}

static const struct symbol *found(const struct elf_symbols *symbols, const char *name)
{
	for (size_t i = 0; i < elf_symbols_count(symbols); i++) {
		const struct symbol *symbol = elf_symbols_get(symbols, i);

		if (!strcmp(elf_symbols_name(symbols, symbol), name))
			return symbol;
	}
	return NULL;
}

/* Goes through what objdump says of a file's code, instruction by instruction. */
static void assert_decoded_as_objdump(const char *path)
{
	unsigned long long address, before = 0, instructions = 0, unknown = 0, wrong = 0;
	char command[256], line[512], bytes_text[256];
	uint8_t bytes[16], length = 0;
	FILE *objdump;

	snprintf(command, sizeof(command), "objdump -d -w -M intel --section=.text %s", path);
	objdump = popen(command, "r");
	assert_non_null(objdump);
	while (fgets(line, sizeof(line), objdump)) {
		struct insn insn;
		char *at, *end;

		if (sscanf(line, " %llx:\t%255[0-9a-f ]\t", &address, bytes_text) != 2 ||
		    strstr(line, "(bad)") ||
		    !strncmp(bytes_text, "9b ", 3)) /* two, to objdump one */
			continue;
		for (length = 0, at = bytes_text; length < 15; at = end) {
			unsigned long byte = strtoul(at, &end, 16);

			if (end == at)
				break;
			bytes[length++] = (uint8_t)byte;
		}
		insn = insn_decode(bytes, length);
		instructions++;
		unknown += insn.kind == INSN_UNKNOWN;
		if (insn.kind != INSN_UNKNOWN && insn.length != length && !wrong++)
			print_message("%s: %u, not %u: %s", path, insn.length, length, line);
		/* A branch names its target as objdump does. */
		if (insn.target && (at = strrchr(line, '\t')) &&
		    sscanf(at, "%*s %llx", &before) == 1 &&
		    before != address + (unsigned long long)(long long)insn.target && !wrong++)
			print_message("%s: branches elsewhere: %s", path, line);
	}
	assert_int_equal(pclose(objdump), 0);
	assert_true(instructions > 10000);
	assert_int_equal(wrong, 0);
	if (unknown * 1000 > instructions)
		fail_msg("%llu of %llu unknown", unknown, instructions);
}

static void instructions_are_as_long_as_objdump_says(void **state)
{
	(void)state;
	assert_decoded_as_objdump(LIBM);
	assert_decoded_as_objdump("/usr/bin/python3");
}

/* ---- sites ---- */

#define ASSERT_SITE(slides, costs, ...)                               \
	do {                                                          \
		const uint8_t code[] = { __VA_ARGS__ };               \
		struct site site = prologue_site(code, sizeof(code)); \
                                                                      \
		assert_int_equal(site.slide, slides);                 \
		assert_int_equal(site.price, costs);                  \
	} while (0)

static void a_probe_slides_to_what_is_emulated(void **state)
{
	(void)state;
	ASSERT_SITE(0, PRICE_EMULATED, 0x55, 0xc3);			    /* push rbp */
	ASSERT_SITE(0, PRICE_EMULATED, 0x0f, 0x1f, 0x44, 0x00, 0x00, 0xc3); /* nop */
	ASSERT_SITE(4, PRICE_EMULATED, 0xf3, 0x0f, 0x1e, 0xfa, 0x41, 0x57,
		    0xc3); /* endbr64; push r15 */
	ASSERT_SITE(3, PRICE_EMULATED, 0x48, 0x85, 0xff, 0x74, 0x01, 0xc3,
		    0xc3);					     /* test rdi,rdi; je */
	ASSERT_SITE(0, PRICE_STEPPED, 0xf3, 0x0f, 0x1e, 0xfa, 0xc3); /* endbr64; ret */
}

static void a_probe_does_not_slide_where_it_would_see_something_else(void **state)
{
	(void)state;
	ASSERT_SITE(0, PRICE_STEPPED, 0x48, 0x83, 0xec, 0x08, 0x55, 0xc3); /* sub rsp,8; push */
	ASSERT_SITE(0, PRICE_STEPPED, 0x48, 0x89, 0xf7, 0x55, 0xc3);	   /* mov rdi,rsi; push */
	ASSERT_SITE(0, PRICE_STEPPED, 0x31, 0xc9, 0x55, 0xc3);		   /* xor ecx,ecx; push */
	ASSERT_SITE(0, PRICE_STEPPED, 0xb2, 0x01, 0x55, 0xc3);		   /* mov dl,1; push */
	ASSERT_SITE(0, PRICE_STEPPED, 0x58, 0x55, 0xc3);		   /* pop rax; push */
	ASSERT_SITE(0, PRICE_STEPPED, 0xc5, 0xf8, 0x77, 0x55, 0xc3); /* vzeroupper: not known */
	/* xor eax,eax; L: cmp byte [rdi+rax],0; je out; inc rax; jmp L: once a round */
	ASSERT_SITE(0, PRICE_STEPPED, 0x31, 0xc0, 0x80, 0x3c, 0x07, 0x00, 0x74, 0x05, 0x48, 0xff,
		    0xc0, 0xeb, 0xf5, 0xc3);
	/* the same, but the loop is behind the branch */
	ASSERT_SITE(6, PRICE_EMULATED, 0x31, 0xc0, 0x80, 0x3c, 0x07, 0x00, 0x74, 0x05, 0x48, 0xff,
		    0xc0, 0xeb, 0xfb, 0xc3);
	/* test eax,eax; je; jmp rax: may lead anywhere */
	ASSERT_SITE(0, PRICE_STEPPED, 0x85, 0xc0, 0x74, 0x02, 0xff, 0xe0, 0xc3);
}

static void what_the_kernel_refuses_is_known(void **state)
{
	(void)state;
	ASSERT_SITE(0, PRICE_REFUSED, 0xf0, 0xff, 0x0f, 0xc3); /* lock dec dword [rdi] */
	ASSERT_SITE(0, PRICE_REFUSED, 0xcc, 0xc3);
}

/* Any bytes: no read beyond their end (the sanitizers watch), and an end. */
static void bytes_of_no_program_are_survived(void **state)
{
	uint8_t code[64];

	(void)state;
	srandom(1);
	for (int i = 0; i < 200000; i++) {
		size_t size = (size_t)random() % sizeof(code);

		for (size_t j = 0; j < size; j++)
			code[j] = (uint8_t)random();
		assert_true(prologue_site(code, size).slide <= size);
	}
}

/* ---- files ---- */

/* Each function that nm lists is there, at its place, by its name and version. */
static void the_functions_are_those_that_nm_lists(void **state)
{
	struct elf_symbols symbols = opened(LIBM);
	FILE *nm = popen("nm -D --defined-only --with-symbol-versions " LIBM, "r");
	char line[512], name[400], kind, *version;
	unsigned long long address;
	unsigned listed = 0, chosen = 0;

	(void)state;
	assert_non_null(nm);
	while (fgets(line, sizeof(line), nm)) {
		const struct symbol *symbol;

		if (sscanf(line, "%llx %c %399s", &address, &kind, name) != 3 ||
		    !strchr("TtWwi", kind))
			continue;
		version = strstr(name, "@@");
		if (version)
			*version = 0;
		symbol = found(&symbols, name);
		if (!symbol)
			fail_msg("%s is missing", name);
		assert_int_equal(symbol->offset,
				 address); /* code lies at its address in this file */
		assert_int_equal(!!(symbol->flags & SYMBOL_IFUNC), kind == 'i');
		assert_true(symbol->flags & SYMBOL_PUBLIC);
		listed++;
		chosen += kind == 'i';
	}
	assert_int_equal(pclose(nm), 0);
	assert_true(listed > 500 && chosen > 10);
	assert_true(symbols.build_id_size == 20);
	elf_symbols_close(&symbols);
}

static void parts_of_functions_are_no_functions(void **state)
{
	struct elf_symbols symbols = opened("/proc/self/exe");

	(void)state;
	assert_true(symbols.has_all);
	assert_non_null(found(&symbols, "main"));
	for (size_t i = 0; i < elf_symbols_count(&symbols); i++)
		assert_null(
			strstr(elf_symbols_name(&symbols, elf_symbols_get(&symbols, i)), ".cold"));
	elf_symbols_close(&symbols);
}

/* A library with some of its bytes replaced: an error, or symbols, and never a place beyond the file. */
static void damaged_files_are_survived(void **state)
{
	char path[] = "/tmp/strata-symbols-XXXXXX";
	uint8_t bytes[16384];
	struct error e;
	int fd = mkstemp(path), from = open("/lib/x86_64-linux-gnu/libdl.so.2", O_RDONLY);
	ssize_t size = read(from, bytes, sizeof(bytes));

	(void)state;
	assert_true(fd >= 0 && size > 4096);
	srandom(2);
	for (int i = 0; i < 3000; i++) {
		struct elf_symbols symbols;
		uint8_t copy[sizeof(bytes)];

		memcpy(copy, bytes, (size_t)size);
		for (int j = 0; j < 4; j++) /* half of them in the headers */
			copy[random() % (j % 2 ? size : 1024)] = (uint8_t)random();
		assert_int_equal(pwrite(fd, copy, (size_t)size, 0), size);
		assert_int_equal(ftruncate(fd, i % 3 ? size : random() % size), 0);
		if (!elf_symbols_open(&symbols, path, &e))
			for (size_t j = 0; j < elf_symbols_count(&symbols); j++)
				assert_true(elf_symbols_get(&symbols, j)->offset < (uint64_t)size);
		elf_symbols_close(&symbols);
	}
	close(from);
	close(fd);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions_are_as_long_as_objdump_says),
		cmocka_unit_test(a_probe_slides_to_what_is_emulated),
		cmocka_unit_test(a_probe_does_not_slide_where_it_would_see_something_else),
		cmocka_unit_test(what_the_kernel_refuses_is_known),
		cmocka_unit_test(bytes_of_no_program_are_survived),
		cmocka_unit_test(the_functions_are_those_that_nm_lists),
		cmocka_unit_test(parts_of_functions_are_no_functions),
		cmocka_unit_test(damaged_files_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
