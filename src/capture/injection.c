#include "capture/injection.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "inject/place.h"
#include "inject/pool.h"
#include "inject/ticks.h"
#include "inprocess/calls.h"

#define POOL_FILE   "pool"
#define LEAST_RINGS 32 /* that there must be room for */

/* Slots of a ring. */
#define DEFAULT_SLOTS (1u << 14) /* a megabyte */
#define LEAST_SLOTS   (1u << 10)
#define MOST_SLOTS    (1u << 20)

/* The bytes of a library, as the Makefile built it: NAME_bytes and NAME_bytes_end. */
#define EMBED(name)                                                                  \
	__asm__(".section .rodata\n" #name "_bytes:\n"                               \
		".incbin \"" INJECT_FOLDER "/" #name ".so\"\n" #name "_bytes_end:\n" \
		".previous\n");                                                      \
	extern const char name##_bytes[], name##_bytes_end[]

EMBED(libstrata_calls);
EMBED(libstrata_gpu);

#define CUDA_VARIABLE "CUDA_INJECTION64_PATH"

/* A file that the job loads because its environment names it. */
static const struct library {
	const char *name;
	const char *begin, *end;
	struct {
		const char *name;
		enum environment_way way;
	} variables[3];
	/* What is absent where the library cannot be loaded. NULL: that is a failure. */
	const char *part;
} libraries[INJECT_LIBRARIES] = {
	[INJECT_CALLS] = { "libstrata_calls.so",
			   libstrata_calls_bytes,
			   libstrata_calls_bytes_end,
			   { { "LD_PRELOAD", ENVIRONMENT_APPEND } },
			   NULL },
	[INJECT_GPU] = { "libstrata_gpu.so",
			 libstrata_gpu_bytes,
			 libstrata_gpu_bytes_end,
			 { { "LD_PRELOAD", ENVIRONMENT_APPEND },
			   { CUDA_VARIABLE, ENVIRONMENT_KEEP },
			   { "NVTX_INJECTION64_PATH", ENVIRONMENT_KEEP } },
			 "gpu_op" },
};

struct injection {
	uint32_t libraries; /* INJECT_BITs */
	struct place place;
	struct pool *pool;
	struct injected *injected;
	struct environment environment;
};

/* Whether this machine has a driver for GPUs, which is told without loading a library: Linux's own, or that of Windows around it. A test
 * says so by its stand-in. */
static bool gpu_is_there(void)
{
	return !access("/proc/driver/nvidia/version", F_OK) || !access("/dev/dxg", F_OK) ||
	       secure_getenv("STRATA_NVML");
}

/* Libraries that the session wants. */
static uint32_t libraries_wanted(const struct session_config *config)
{
	uint32_t wanted = 0;

	if (config->command && config->inprocess)
		wanted |= INJECT_BIT(INJECT_CALLS);
	if (config->command && config->gpu_ops && config->layers & LAYER_BIT(LAYER_gpu) &&
	    gpu_is_there())
		wanted |= INJECT_BIT(INJECT_GPU);
	return wanted;
}

static int injection_write(struct injection *injection, const struct library *library,
			   struct error *e)
{
	char path[PATH_MAX];
	int err = place_write_library(&injection->place, library->name, library->begin,
				      (size_t)(library->end - library->begin), path, e);

	for (unsigned i = 0; i < 3 && library->variables[i].name && !err; i++)
		err = environment_add(&injection->environment, library->variables[i].name, path,
				      library->variables[i].way, e);
	return err;
}

/* --buffer is about these rings too. */
static uint32_t ring_slots(uint64_t ring_bytes)
{
	uint32_t slots = LEAST_SLOTS;

	if (!ring_bytes)
		return DEFAULT_SLOTS;
	while (slots < MOST_SLOTS && (uint64_t)slots * INJECT_SLOT < ring_bytes)
		slots *= 2;
	return slots;
}

static int injection_make_pool(struct injection *injection, uint32_t slots, enum inject_clock clock,
			       struct error *e)
{
	struct pool_config config = { .rings = INJECT_MOST_RINGS,
				      .slots = slots,
				      .area_bytes = INPROCESS_AREA_BYTES,
				      .clock = clock };
	uint64_t least = inject_pool_bytes(LEAST_RINGS, slots, INPROCESS_AREA_BYTES);
	char path[PATH_MAX];
	int fd, err = place_make_file(&injection->place, POOL_FILE, least, &fd, path, e);

	if (!err)
		err = pool_open(&injection->pool, fd, &config, e);
	if (!err)
		err = environment_add(&injection->environment, INJECT_ENVIRONMENT, path,
				      ENVIRONMENT_SET, e);
	return err;
}

static int injection_make(struct injection **out, const struct session_config *config,
			  uint32_t wanted, struct error *e)
{
	struct injected_setup setup = {
		.libraries = wanted,
		.calls = config->calls,
		.aggregate = config->aggregate,
		.min_dur = config->min_dur,
		.clock = ticks_usable() ? INJECT_TSC : INJECT_BOOTTIME,
	};
	struct place_users users = { config->invoker.uid, config->invoker.gid, config->account.uid,
				     config->account.gid };
	struct injection *injection;
	int err;

	injection = *out = calloc(1, sizeof(*injection));
	if (!injection)
		return error_set(e, -ENOMEM, "out of memory");
	injection->libraries = wanted;
	place_open(&injection->place, &users);
	err = injection_make_pool(injection, ring_slots(config->ring_bytes), setup.clock, e);
	for (unsigned i = 0; i < INJECT_LIBRARIES && !err; i++)
		if (setup.libraries & INJECT_BIT(i))
			err = injection_write(injection, &libraries[i], e);
	setup.pool = injection->pool;
	return err ? err : injected_open(&injection->injected, &setup, e);
}

/* Those of the libraries that a recording can do without. */
static uint32_t leave_out(uint32_t wanted, struct absences *absences, const struct error *why)
{
	for (unsigned i = 0; i < INJECT_LIBRARIES; i++)
		if (wanted & INJECT_BIT(i) && libraries[i].part) {
			absences_add(absences, libraries[i].part, "%s", why->text);
			wanted &= ~INJECT_BIT(i);
		}
	return wanted;
}

int injection_open(struct injection **out, const struct session_config *config,
		   struct absences *absences, struct error *e)
{
	uint32_t wanted = libraries_wanted(config), left;
	const char *other = getenv(CUDA_VARIABLE);
	int err;

	folder_remove_leftovers(config->invoker.uid, POOL_FILE);
	err = wanted ? injection_make(out, config, wanted, e) : 0;
	if (err) {
		left = leave_out(wanted, absences, e);
		if (left == wanted)
			return err;
		injection_close(*out);
		*out = NULL;
		return left ? injection_make(out, config, left, e) : 0;
	}
	if (wanted & INJECT_BIT(INJECT_GPU) && other && *other)
		absences_add(absences, "gpu_op", "another tool is in " CUDA_VARIABLE ": %s", other);
	return 0;
}

bool injection_has_gpu(const struct injection *injection)
{
	return injection && injection->libraries & INJECT_BIT(INJECT_GPU);
}

bool injection_survives(const struct injection *injection)
{
	return injection && injection->pool && pool_has_survivors(injection->pool);
}

void injection_close(struct injection *injection)
{
	if (!injection)
		return;
	if (injection_survives(injection))
		place_leave(&injection->place, POOL_FILE);
	injected_close(injection->injected);
	pool_close(injection->pool);
	place_remove(&injection->place);
	environment_free(&injection->environment);
	free(injection);
}

const struct environment *injection_environment(const struct injection *injection)
{
	return injection ? &injection->environment : NULL;
}

struct injected *injection_injected(const struct injection *injection)
{
	return injection ? injection->injected : NULL;
}

void injection_start(struct injection *injection, uint64_t now)
{
	if (!injection)
		return;
	injected_start(injection->injected, now);
	pool_start(injection->pool);
}

void injection_stop(struct injection *injection)
{
	if (injection)
		pool_stop(injection->pool);
}
