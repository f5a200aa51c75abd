/* A job that uses a GPU, as far as the stand-in for CUPTI has one: begins CUDA as the driver does, by loading the library that
 * $CUDA_INJECTION64_PATH names, and has the device do what its arguments say, one after another:
 *
 *     kernels N        N kernels of two names, in turn, on two streams of device 0; 2 us each
 *     copies N         N copies to the device, pinned, 4096 bytes each, and one back from it, pageable
 *     memset, graph N, wait, thread (a kernel of another thread), sleep MS, kill
 *     fork N           a child process, which launches N kernels; N 0: it leaves the device alone
 *     profile N        a profiler of its own, as torch.profiler is one, begins; N kernels; prints how many records it got
 *     ranges N         N NVTX ranges "step", in each a range "load" of domain "data", a mark, and a range over two threads
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cupti.h"

#define KERNEL_A "_Z8convolvePKfPfi" /* convolve(float const*, float*, int) */
#define KERNEL_B "plain_kernel"

/* Once a process, as cuInit. */
static void begin_cuda(void)
{
	static bool begun;
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	int (*initialize)(void) =
		library ? (int (*)(void))dlsym(library, "InitializeInjection") : NULL;

	if (!begun && initialize && !initialize())
		fputs("injection failed\n", stderr);
	begun = true;
}

static void kernels(unsigned count)
{
	begin_cuda();
	for (unsigned i = 0; i < count; i++)
		standin_kernel(i % 2 ? KERNEL_B : KERNEL_A, 0, 7 + i % 2, 2000);
}

static void copies(unsigned count)
{
	begin_cuda();
	for (unsigned i = 0; i < count; i++)
		standin_copy(STANDIN_HTOD, 1, 4096, 0, 7, 3000);
	standin_copy(STANDIN_DTOH, 0, 64, 0, 7, 1000);
}

static void *launch_there(void *unused)
{
	(void)unused;
	standin_kernel("of_a_thread", 1, 9, 5000);
	printf("thread %d\n", (int)gettid());
	fflush(stdout);
	return NULL;
}

static void in_thread(void *(*what)(void *), void *argument)
{
	pthread_t thread;

	pthread_create(&thread, NULL, what, argument);
	pthread_join(thread, NULL);
}

/* ---- a profiler of its own ---- */

static unsigned profiled, unknown;
static uint8_t *mine[64];
static unsigned mine_count;

static void profile_request(uint8_t **buffer, size_t *size, size_t *most)
{
	*most = 0;
	*size = 65536;
	*buffer = mine[mine_count++ % 64] = malloc(65536);
}

static void profile_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size,
			     size_t valid)
{
	void *record = NULL;
	bool known = false;

	(void)context;
	(void)stream;
	(void)size;
	for (unsigned i = 0; i < 64; i++)
		known |= mine[i] == buffer;
	unknown += !known; /* Kineto: "bufferCompleted called with unknown buffer" */
	while (!cuptiActivityGetNextRecord(buffer, valid, &record))
		profiled++;
}

static void profile(unsigned count)
{
	cuptiActivityRegisterCallbacks(profile_request, profile_complete);
	cuptiActivityEnable(10);
	kernels(count);
	cuptiActivityFlushAll(1);
	cuptiActivityDisable(10);
	printf("profiled %u unknown %u\n", profiled, unknown);
	fflush(stdout);
}

/* ---- NVTX, as its header begins it ---- */

enum { CORE = 1, CORE2 = 5, SIZE = 16 };

typedef void function(void);
static function *core[SIZE], *core2[SIZE];
static function **core_table[SIZE], **core2_table[SIZE];

static int module_table(unsigned module, function ****table, unsigned *size)
{
	if (module != CORE && module != CORE2)
		return 0;
	for (unsigned i = 1; i < SIZE; i++) {
		core_table[i] = &core[i];
		core2_table[i] = &core2[i];
	}
	*table = module == CORE ? core_table : core2_table;
	*size = SIZE;
	return 1;
}

static const struct {
	size_t size;
	int (*table)(unsigned module, function ****table, unsigned *size);
} callbacks = { sizeof(callbacks), module_table };

static const void *export_table(uint32_t table)
{
	return table == 1 ? &callbacks : NULL;
}

static bool begin_nvtx(void)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
	int (*initialize)(const void *(*)(uint32_t)) =
		library ? (int (*)(const void *(*)(uint32_t)))dlsym(library,
								    "InitializeInjectionNvtx2")
			: NULL;

	return initialize && initialize(export_table) == 1;
}

static void *end_range(void *number)
{
	((void (*)(uint64_t))core[7])(*(uint64_t *)number);
	return NULL;
}

static void ranges(unsigned count)
{
	struct {
		uint16_t version, size;
		uint32_t category;
		int32_t color_type;
		uint32_t color;
		int32_t payload_type, reserved;
		int64_t payload;
		int32_t message_type;
		const void *message;
	} event = { 3, sizeof(event), 0, 1, 0xff0000, 2, 0, -5, 3, NULL };
	void *domain;
	uint64_t number;

	if (!begin_nvtx())
		return;
	domain = ((void *(*)(const char *))core2[12])("data");
	event.message = ((void *(*)(void *, const char *))core2[10])(domain, "load");
	for (unsigned i = 0; i < count; i++) {
		((int (*)(const char *))core[9])("step");
		((int (*)(void *, const void *))core2[4])(domain, &event);
		usleep(1000);
		((int (*)(void *))core2[5])(domain);
		((int (*)(void))core[11])();
	}
	((void (*)(const wchar_t *))core[3])(L"gr\u00fcn");
	number = ((uint64_t(*)(const char *))core[5])("epoch");
	in_thread(end_range, &number);
}

/* ---- the job ---- */

/* A second process, on the device too if it has something to do there; ends with what atexit has. */
static void forked(unsigned count)
{
	pid_t child = fork();

	if (!child) {
		if (count)
			kernels(count);
		exit(0);
	}
	waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const char *word = argv[i];
		unsigned number = i + 1 < argc ? (unsigned)atoi(argv[i + 1]) : 0;

		if (!strcmp(word, "kernels"))
			kernels(number);
		else if (!strcmp(word, "copies"))
			copies(number);
		else if (!strcmp(word, "memset"))
			standin_memset(1024, 0, 7, 500);
		else if (!strcmp(word, "graph"))
			standin_graph(3, number, 0, 7, 100);
		else if (!strcmp(word, "wait"))
			standin_synchronize(0, 7, 20000000);
		else if (!strcmp(word, "thread"))
			in_thread(launch_there, NULL);
		else if (!strcmp(word, "profile"))
			profile(number);
		else if (!strcmp(word, "ranges"))
			ranges(number);
		else if (!strcmp(word, "fork"))
			forked(number);
		else if (!strcmp(word, "sleep"))
			usleep(number * 1000);
		else if (!strcmp(word, "kill"))
			kill(getpid(), SIGKILL);
	}
	return 0;
}
