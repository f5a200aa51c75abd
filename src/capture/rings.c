#include "capture/rings.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probes/bpf_error.h"

#define RING_TOTAL ((uint64_t)128 << 20) /* shared by all CPUs unless told otherwise */
#define RING_MOST  ((uint64_t)16 << 20)
#define RING_LEAST ((uint64_t)64 << 10)

static uint64_t ring_size(uint64_t wanted, unsigned cpus)
{
	uint64_t size = RING_LEAST;

	if (!wanted)
		wanted = RING_TOTAL / cpus < RING_MOST ? RING_TOTAL / cpus : RING_MOST;
	while (size < wanted && size < (uint64_t)1 << 30)
		size *= 2;
	return size;
}

static bool cpu_online(unsigned cpu)
{
	char path[64], state = '1';
	FILE *file;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u", cpu);
	if (access(path, F_OK))
		return false;
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online", cpu);
	file = fopen(path, "re"); /* not there for a CPU that cannot be taken off */
	if (!file)
		return true;
	if (fread(&state, 1, 1, file) != 1)
		state = '1';
	fclose(file);
	return state != '0';
}

int rings_open(struct rings *rings, uint64_t bytes, struct error *e)
{
	rings->cpus = (unsigned)libbpf_num_possible_cpus();
	rings->bytes = ring_size(bytes, rings->cpus);
	rings->fds = malloc(rings->cpus * sizeof(int));
	if (!rings->fds)
		return error_set(e, -ENOMEM, "out of memory");
	memset(rings->fds, -1, rings->cpus * sizeof(int));
	return 0;
}

/* Places all at once where the kernel can: after each placing it waits for all programs that run, some 15 ms. */
static int rings_place(const struct rings *rings, int map)
{
	uint32_t *cpus = calloc(rings->cpus, sizeof(*cpus)), count = 0;
	int *fds = calloc(rings->cpus, sizeof(*fds)), err = 0;

	for (uint32_t cpu = 0; cpus && fds && cpu < rings->cpus; cpu++) {
		if (rings->fds[cpu] < 0)
			continue;
		cpus[count] = cpu;
		fds[count++] = rings->fds[cpu];
	}
	if (!cpus || !fds) {
		err = -ENOMEM;
	} else {
		uint32_t placed = count;

		if (bpf_map_update_batch(map, cpus, fds, &placed, NULL))
			for (uint32_t i = 0; i < count && !err; i++)
				err = bpf_map_update_elem(map, &cpus[i], &fds[i], BPF_ANY) ? -errno
											   : 0;
	}
	free(cpus);
	free(fds);
	return err;
}

int rings_make(struct rings *rings, int map, struct error *e)
{
	int err;

	for (unsigned cpu = 0; cpu < rings->cpus; cpu++) {
		int fd;

		if (!cpu_online(cpu))
			continue;
		fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "ring", 0, 0, (uint32_t)rings->bytes,
				    NULL);
		if (fd < 0)
			return bpf_error(e, fd, "cannot make a ring buffer");
		rings->fds[cpu] = fd;
	}
	err = rings_place(rings, map);
	return err ? bpf_error(e, err, "cannot place a ring buffer") : 0;
}

void rings_close(struct rings *rings)
{
	for (unsigned cpu = 0; rings->fds && cpu < rings->cpus; cpu++)
		if (rings->fds[cpu] >= 0)
			close(rings->fds[cpu]);
	free(rings->fds);
}
