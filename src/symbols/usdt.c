#include "symbols/usdt.h"

#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOTE_NAME   "stapsdt"
#define NOTE_TYPE   3
#define MOST_PROBES 65536

/* ---- arguments ---- */

/* The registers in the order of enum usdt_register, by their names of 8, 4, 2 and 1 bytes. */
static const char *const registers[USDT_REGISTERS][4] = {
	{ "rax", "eax", "ax", "al" },	   { "rbx", "ebx", "bx", "bl" },
	{ "rcx", "ecx", "cx", "cl" },	   { "rdx", "edx", "dx", "dl" },
	{ "rsi", "esi", "si", "sil" },	   { "rdi", "edi", "di", "dil" },
	{ "rbp", "ebp", "bp", "bpl" },	   { "rsp", "esp", "sp", "spl" },
	{ "r8", "r8d", "r8w", "r8b" },	   { "r9", "r9d", "r9w", "r9b" },
	{ "r10", "r10d", "r10w", "r10b" }, { "r11", "r11d", "r11w", "r11b" },
	{ "r12", "r12d", "r12w", "r12b" }, { "r13", "r13d", "r13w", "r13b" },
	{ "r14", "r14d", "r14w", "r14b" }, { "r15", "r15d", "r15w", "r15b" },
};

static bool parse_register(const char *text, size_t size, __u8 *number)
{
	for (unsigned i = 0; i < USDT_REGISTERS; i++)
		for (unsigned j = 0; j < 4; j++) {
			if (strlen(registers[i][j]) != size || memcmp(registers[i][j], text, size))
				continue;
			*number = (__u8)i;
			return true;
		}
	return false;
}

/* %rax, $5, or -16(%rbp). */
static bool parse_place(const char *text, struct usdt_source *source)
{
	char *end;

	if (*text == '%') {
		source->kind = USDT_REGISTER;
		return parse_register(text + 1, strlen(text + 1), &source->number);
	}
	if (*text == '$') {
		source->kind = USDT_CONSTANT;
		source->value = strtoll(text + 1, &end, 0);
		return end != text + 1 && !*end;
	}
	source->kind = USDT_MEMORY;
	source->value = strtoll(text, &end, 0);
	return end[0] == '(' && end[1] == '%' && end[strlen(end) - 1] == ')' &&
	       parse_register(end + 2, strlen(end) - 3, &source->number);
}

static struct usdt_source parse_argument(const char *text)
{
	static const struct usdt_source none;
	struct usdt_source source = { 0 };
	char *end;
	long size = strtol(text, &end, 10);

	if (*end != '@') /* of old notes, or a number with a point */
		return none;
	source.size = (__s8)size;
	if (labs(size) != 1 && labs(size) != 2 && labs(size) != 4 && labs(size) != 8)
		return none;
	return parse_place(end + 1, &source) ? source : none;
}

void usdt_parse_arguments(const char *text, struct usdt_source sources[USDT_ARGUMENTS])
{
	char word[64];

	for (unsigned i = 0; i < USDT_ARGUMENTS; i++) {
		size_t size = strcspn(text, " ");

		sources[i] = (struct usdt_source){ 0 };
		if (size && size < sizeof(word)) {
			memcpy(word, text, size);
			word[size] = 0;
			sources[i] = parse_argument(word);
		}
		text += size + strspn(text + size, " ");
	}
}

/* ---- notes ---- */

/* Where in the file an address is; 0: nowhere. */
static uint64_t offset_of(Elf *elf, uint64_t address)
{
	size_t count;
	GElf_Phdr header;

	if (elf_getphdrnum(elf, &count))
		return 0;
	for (size_t i = 0; i < count; i++)
		if (gelf_getphdr(elf, (int)i, &header) && header.p_type == PT_LOAD &&
		    address - header.p_vaddr < header.p_filesz)
			return address - header.p_vaddr + header.p_offset;
	return 0;
}

/* How far the file was moved since its notes were made: what .stapsdt.base is for. */
static uint64_t address_of_base(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return 0;
	while ((section = elf_nextscn(elf, section))) {
		const char *name = gelf_getshdr(section, &header)
					   ? elf_strptr(elf, names, header.sh_name)
					   : NULL;

		if (name && !strcmp(name, ".stapsdt.base"))
			return header.sh_addr;
	}
	return 0;
}

static int probe_add(struct buf *probes, Elf *elf, uint64_t base, const char *note, size_t size)
{
	const char *end = note + size, *provider = note + 3 * sizeof(uint64_t), *name, *arguments;
	struct usdt_probe probe = { 0 };
	uint64_t addresses[3], moved;

	if (size < sizeof(addresses) || !memchr(provider, 0, (size_t)(end - provider)))
		return 0;
	name = provider + strlen(provider) + 1;
	if (name >= end || !memchr(name, 0, (size_t)(end - name)))
		return 0;
	arguments = name + strlen(name) + 1;
	if (arguments >= end || !memchr(arguments, 0, (size_t)(end - arguments)))
		return 0;
	memcpy(addresses, note, sizeof(addresses));
	moved = base ? base - addresses[1] : 0;
	probe.offset = offset_of(elf, addresses[0] + moved);
	probe.semaphore = addresses[2] ? offset_of(elf, addresses[2] + moved) : 0;
	if (!probe.offset || (addresses[2] && !probe.semaphore))
		return 0;
	usdt_parse_arguments(arguments, probe.sources);
	if (asprintf(&probe.name, "%s:%s", provider, name) < 0)
		return -ENOMEM;
	probe.arguments = strdup(arguments);
	if (probe.arguments && !buf_append(probes, &probe, sizeof(probe)))
		return 0;
	free(probe.name);
	free(probe.arguments);
	return -ENOMEM;
}

static int notes_read(struct buf *probes, Elf *elf, uint64_t base, Elf_Data *data)
{
	size_t at = 0, name, text, next;
	GElf_Nhdr header;
	int err = 0;

	while (!err && (next = gelf_getnote(data, at, &header, &name, &text)) > 0 &&
	       probes->size / sizeof(struct usdt_probe) < MOST_PROBES) {
		if (header.n_type == NOTE_TYPE && header.n_namesz == sizeof(NOTE_NAME) &&
		    !memcmp((char *)data->d_buf + name, NOTE_NAME, sizeof(NOTE_NAME)))
			err = probe_add(probes, elf, base, (char *)data->d_buf + text,
					header.n_descsz);
		at = next;
	}
	return err;
}

int usdt_read(struct buf *probes, int fd, struct error *e)
{
	Elf *elf = elf_version(EV_CURRENT) != EV_NONE ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	int err = 0;

	if (!elf)
		return error_set(e, -ENOEXEC, "%s", elf_errmsg(-1));
	while (!err && (section = elf_nextscn(elf, section))) {
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_NOTE)
			continue;
		data = elf_getdata(section, NULL);
		if (data)
			err = notes_read(probes, elf, address_of_base(elf), data);
	}
	elf_end(elf);
	return err ? error_set(e, err, "out of memory") : 0;
}

void usdt_free(struct buf *probes)
{
	for (size_t i = 0; i < probes->size / sizeof(struct usdt_probe); i++) {
		free(((struct usdt_probe *)probes->data)[i].name);
		free(((struct usdt_probe *)probes->data)[i].arguments);
	}
	buf_free(probes);
}
