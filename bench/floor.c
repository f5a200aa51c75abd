/* Runs a command while the programs of a BPF object are attached:
 *
 *     floor OBJECT COMMAND [ARGUMENT...]
 *
 * Where the object has the maps of floor.bpf.c, the command's first thread is their target, and a
 * thread empties the rings unread: it moves each ring's consumer to its producer, so that no record
 * is ever refused and no time goes into what becomes of records. The command starts when all is
 * attached; its exit status is passed on, and all that was loaded goes with this process.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "floor.h"

#define RING_BYTES (16u << 20) /* what strata takes by default */
#define EMPTY_US   5000

/* The two pages that a ring shares: where its reader is, which is ours to move, and its writer. */
struct ring {
	volatile uint64_t *consumer;
	const volatile uint64_t *producer;
};

struct rings {
	struct ring *each;
	unsigned count;
};

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "floor: %s: %s\n", what, strerror(errno));
	exit(125);
}

static int print_warnings(enum libbpf_print_level level, const char *format, va_list args)
{
	return level == LIBBPF_WARN ? vfprintf(stderr, format, args) : 0;
}

static struct ring ring_make(int rings_fd, uint32_t cpu)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "floor", 0, 0, RING_BYTES, NULL);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct ring ring;

	if (fd < 0 || bpf_map_update_elem(rings_fd, &cpu, &fd, BPF_ANY))
		die("cannot make a ring");
	ring.consumer = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ring.producer = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, (off_t)page);
	if (ring.consumer == MAP_FAILED || ring.producer == MAP_FAILED)
		die("cannot map a ring");
	return ring;
}

static _Noreturn void *rings_empty(void *argument)
{
	struct rings *rings = argument;

	for (;;) {
		for (unsigned i = 0; i < rings->count; i++)
			*rings->each[i].consumer = *rings->each[i].producer;
		usleep(EMPTY_US);
	}
}

/* Loads and attaches; the links are never destroyed, they end with the process. */
static struct bpf_object *object_attach(const char *path)
{
	struct bpf_object *object = bpf_object__open_file(path, NULL);
	struct bpf_program *program;
	struct bpf_map *rings;

	if (!object)
		die(path);
	rings = bpf_object__find_map_by_name(object, "rings");
	if (rings && bpf_map__set_max_entries(rings, (uint32_t)libbpf_num_possible_cpus()))
		die("cannot size the rings");
	if (bpf_object__load(object))
		die("cannot load the programs");
	bpf_object__for_each_program (program, object) {
		if (!bpf_program__attach(program))
			die(bpf_program__name(program));
	}
	return object;
}

/* Gives the object's rings memory and a thread that empties them. */
static void object_start_rings(struct bpf_object *object, struct rings *rings)
{
	int fd = bpf_object__find_map_fd_by_name(object, "rings");
	pthread_t thread;

	if (fd < 0)
		return;
	rings->count = (unsigned)libbpf_num_possible_cpus();
	rings->each = calloc(rings->count, sizeof(*rings->each));
	if (!rings->each)
		die("calloc");
	for (uint32_t cpu = 0; cpu < rings->count; cpu++)
		rings->each[cpu] = ring_make(fd, cpu);
	errno = pthread_create(&thread, NULL, rings_empty, rings);
	if (errno)
		die("pthread_create");
}

static void object_add_target(struct bpf_object *object, pid_t pid)
{
	struct floor_state state = { 0 };
	int targets = bpf_object__find_map_fd_by_name(object, "targets");
	int pidfd;

	if (targets < 0)
		return;
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (pidfd < 0 || bpf_map_update_elem(targets, &pidfd, &state, BPF_ANY))
		die("cannot add the target");
	close(pidfd);
}

/* Forks a child that runs the command once a byte comes through the pipe. */
static pid_t command_fork(char **command, int *go)
{
	int ends[2];
	pid_t pid;
	char byte;

	if (pipe2(ends, O_CLOEXEC))
		die("pipe");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		close(ends[1]);
		if (read(ends[0], &byte, 1) == 1)
			execvp(*command, command);
		_exit(127);
	}
	close(ends[0]);
	*go = ends[1];
	return pid;
}

static void object_report_loss(struct bpf_object *object)
{
	struct bpf_map *data = bpf_object__find_map_by_name(object, ".bss");
	size_t size = 0;
	const uint64_t *lost = data ? bpf_map__initial_value(data, &size) : NULL;

	if (lost && size >= sizeof(*lost) && *lost)
		fprintf(stderr, "floor: lost %llu events\n", (unsigned long long)*lost);
}

int main(int argc, char **argv)
{
	struct rings rings = { 0 };
	struct bpf_object *object;
	int status, go;
	pid_t pid;

	if (argc < 3) {
		fprintf(stderr, "usage: floor OBJECT COMMAND [ARGUMENT...]\n");
		return 2;
	}
	libbpf_set_print(print_warnings);
	object = object_attach(argv[1]);
	pid = command_fork(argv + 2, &go);
	object_start_rings(object, &rings);
	object_add_target(object, pid);
	if (write(go, "", 1) != 1)
		die("cannot start the command");
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			die("waitpid");
	object_report_loss(object);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
