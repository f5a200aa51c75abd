#include "capture/hooks.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>

/* What an open file tells of itself: whether it is a link of this program. */
static bool is_link_of(const char *descriptor, unsigned program)
{
	bool link = false, same = false;
	char path[300], line[128];
	unsigned number;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%s", descriptor);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		link |= !strncmp(line, "link_id:", 8);
		same |= sscanf(line, "prog_id: %u", &number) == 1 && number == program;
	}
	if (file)
		fclose(file);
	return link && same;
}

static bool has_link(unsigned program)
{
	DIR *folder = opendir("/proc/self/fdinfo");
	const struct dirent *entry;
	bool found = false;

	while (folder && !found && (entry = readdir(folder)))
		found = *entry->d_name != '.' && is_link_of(entry->d_name, program);
	if (folder)
		closedir(folder);
	return found;
}

void hooks_list(const struct probe_run *run, enum probe_id probe,
		void (*each)(void *context, enum probe_id probe, const char *place, bool attached),
		void *context)
{
	struct bpf_program *program;

	bpf_object__for_each_program (program, *run->skeleton->obj) {
		const char *place = bpf_program__section_name(program);
		struct bpf_prog_info info = { 0 };
		unsigned size = sizeof(info);

		place += *place == '?';
		if (!bpf_program__autoload(program) || !strncmp(place, "iter", 4))
			continue; /* an iterator runs when it is asked, and hangs nowhere */
		if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size))
			continue;
		each(context, probe, place, has_link(info.id));
	}
}
