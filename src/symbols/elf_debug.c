#include "symbols/elf_debug.h"

#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/cursor.h"

#define DEBUG_ROOT "/usr/lib/debug"

size_t elf_build_id(Elf *elf, uint8_t *id, size_t most)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section))) {
		size_t at = 0, name, description;
		GElf_Shdr header;
		GElf_Nhdr note;
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_NOTE)
			continue;
		data = elf_getdata(section, NULL);
		while (data && (at = gelf_getnote(data, at, &note, &name, &description)) > 0) {
			if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
			    memcmp((char *)data->d_buf + name, "GNU", 4) || note.n_descsz > most)
				continue;
			memcpy(id, (char *)data->d_buf + description, note.n_descsz);
			return note.n_descsz;
		}
	}
	return 0;
}

static int open_by_build_id(const struct elf_symbols *symbols)
{
	char path[sizeof(DEBUG_ROOT) + 160] = DEBUG_ROOT "/.build-id/";
	char *end = path + strlen(path);

	if (symbols->build_id_size < 2)
		return -1;
	for (size_t i = 0; i < symbols->build_id_size; i++)
		end += sprintf(end, "%02x%s", symbols->build_id[i], i ? "" : "/");
	strcpy(end, ".debug");
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* ---- by debug link: a name, and the checksum of the file that is meant ---- */

static bool has_checksum(int fd, uint32_t wanted)
{
	uLong sum = crc32(0, NULL, 0);
	off_t at = 0;
	ssize_t got;
	uint8_t *bytes = malloc(1 << 16);

	while (bytes && (got = pread(fd, bytes, 1 << 16, at)) > 0) {
		sum = crc32(sum, bytes, (uInt)got);
		at += got;
	}
	free(bytes);
	return bytes && sum == wanted;
}

static bool section_is(Elf *elf, const GElf_Shdr *header, const char *wanted)
{
	size_t names;
	const char *name;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	name = elf_strptr(elf, names, header->sh_name);
	return name && !strcmp(name, wanted);
}

static const char *debug_link(Elf *elf, uint32_t *checksum)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		struct cursor at;
		const char *name;
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) || !section_is(elf, &header, ".gnu_debuglink"))
			continue;
		data = elf_rawdata(section, NULL);
		if (!data || !data->d_buf || !memchr(data->d_buf, 0, data->d_size))
			return NULL;
		name = data->d_buf;
		at = cursor_over(data->d_buf, data->d_size);
		cursor_take(&at, (strlen(name) + 4) & ~3ul);
		*checksum = cursor_u32(&at);
		return at.failed || strchr(name, '/') || !*name ? NULL : name;
	}
	return NULL;
}

static int open_by_link(Elf *elf, const char *path)
{
	static const char *const places[] = { "%s%s/%s", "%s%s/.debug/%s", "%s%s/%s" };
	char real[PATH_MAX], *slash, candidate[2 * PATH_MAX];
	const char *name;
	uint32_t checksum;
	int fd = -1;

	name = debug_link(elf, &checksum);
	if (!name || !realpath(path, real) || !(slash = strrchr(real, '/')))
		return -1;
	*slash = 0;
	for (size_t i = 0; i < 3 && fd < 0; i++) {
		snprintf(candidate, sizeof(candidate), places[i], i == 2 ? DEBUG_ROOT : "", real,
			 name);
		fd = open(candidate, O_RDONLY | O_CLOEXEC);
		if (fd >= 0 && !has_checksum(fd, checksum)) {
			close(fd);
			fd = -1;
		}
	}
	return fd;
}

int elf_debug_open(Elf *elf, const struct elf_symbols *symbols, const char *path)
{
	int fd = open_by_build_id(symbols);

	return fd >= 0 ? fd : open_by_link(elf, path);
}
