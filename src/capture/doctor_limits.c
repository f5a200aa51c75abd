/* What the doctor finds about limits: memory for the rings, open files, locked memory. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/units.h"
#include "capture/descriptors.h"
#include "capture/doctor.h"
#include "capture/rings.h"

#define ENOUGH_FILES \
	256 /* and one for each CPU: what a recording of all layers opens, and a little more */
#define OTHER_MEMORY ((uint64_t)128 << 20) /* maps and rows on their way to the file, at the most */
#define NO_LIMIT     ((uint64_t)1 << 60)   /* cgroup v1 says so by a number beyond all memory */

/* The least limit of a memory cgroup and those above it; UINT64_MAX: none. */
static uint64_t limit_above(const char *mount, const char *cgroup, const char *file)
{
	char folder[PATH_MAX], path[PATH_MAX + 64], line[64], *slash;
	uint64_t least = UINT64_MAX;

	snprintf(folder, sizeof(folder), "%s%s", mount, cgroup);
	while (strlen(folder) >= strlen(mount)) {
		snprintf(path, sizeof(path), "%s/%s", folder, file);
		if (doctor_read_line(path, line, sizeof(line)) && *line >= '0' && *line <= '9') {
			uint64_t limit = strtoull(line, NULL, 10);

			if (limit < NO_LIMIT && limit < least)
				least = limit;
		}
		slash = strrchr(folder, '/');
		if (!slash)
			break;
		*slash = 0;
	}
	return least;
}

/* The limit on the memory of this process; UINT64_MAX: none. */
static uint64_t memory_limit(void)
{
	FILE *file = fopen("/proc/self/cgroup", "re");
	uint64_t least = UINT64_MAX, limit;
	char line[PATH_MAX];

	while (file && fgets(line, sizeof(line), file)) {
		char *controllers = strchr(line, ':'), *path;

		path = controllers ? strchr(++controllers, ':') : NULL;
		if (!path)
			continue;
		*path++ = 0;
		path[strcspn(path, "\n")] = 0;
		if (!strcmp(path, "/"))
			*path = 0;
		if (!strcmp(controllers, "memory"))
			limit = limit_above("/sys/fs/cgroup/memory", path, "memory.limit_in_bytes");
		else if (!*controllers)
			limit = limit_above("/sys/fs/cgroup", path, "memory.max");
		else
			continue;
		least = limit < least ? limit : least;
	}
	if (file)
		fclose(file);
	return least;
}

static void look_at_rings(struct doctor *doctor)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct doctor_check *check;
	struct rings rings = { 0 };
	char each[32], all[32], most[32];
	uint64_t limit = memory_limit(), bytes;
	struct error e;

	if (rings_open(&rings, 0, &e))
		return;
	bytes = rings.bytes * (uint64_t)cpus;
	units_format_bytes(each, sizeof(each), rings.bytes);
	units_format_bytes(all, sizeof(all), bytes);
	rings_close(&rings);
	if (limit == UINT64_MAX) {
		doctor_add(doctor, "ring_memory", DOCTOR_OK,
			   "%s for each of %ld CPUs, %s in all; no cgroup limits it", each, cpus,
			   all);
		return;
	}
	units_format_bytes(most, sizeof(most), limit);
	check = doctor_add(doctor, "ring_memory",
			   bytes + OTHER_MEMORY > limit ? DOCTOR_WARNING : DOCTOR_OK,
			   "%s for each of %ld CPUs, %s in all, and up to 128 MiB for the rest; "
			   "the memory cgroup allows %s",
			   each, cpus, all, most);
	if (check->state == DOCTOR_WARNING)
		doctor_advise(check,
			      "strata record --buffer 1M, or a higher limit: rings, maps and "
			      "rows to write count there, and the kernel ends strata beyond it");
}

static void look_at_files(struct doctor *doctor)
{
	struct rlimit limit;
	struct doctor_check *check;
	long need = ENOUGH_FILES + sysconf(_SC_NPROCESSORS_CONF);

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	check = doctor_add(
		doctor, "open_files", limit.rlim_max < (rlim_t)need ? DOCTOR_WARNING : DOCTOR_OK,
		"%llu at most (soft limit %llu); a recording opens up to %ld",
		(unsigned long long)limit.rlim_max, (unsigned long long)limit.rlim_cur, need);
	if (check->state == DOCTOR_WARNING)
		doctor_advise(check, "%s", DESCRIPTORS_ADVICE);
}

static void look_at_locked_memory(struct doctor *doctor)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit))
		return;
	if (limit.rlim_cur == RLIM_INFINITY)
		doctor_add(doctor, "locked_memory", DOCTOR_OK, "no limit");
	else
		doctor_add(doctor, "locked_memory", DOCTOR_OK,
			   "%llu KiB; kernels since 5.11 count BPF memory by cgroup instead",
			   (unsigned long long)limit.rlim_cur / 1024);
}

void doctor_look_at_limits(struct doctor *doctor)
{
	look_at_rings(doctor);
	look_at_files(doctor);
	look_at_locked_memory(doctor);
}
