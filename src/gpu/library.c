/* The process's state, and its records on their way to the recorder. The state is the process's as CUPTI's is: there is nobody who
 * could hold it for the library.
 */
#include "gpu/library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "inject/writer.h"

#define MOST_TEXTS 8192 /* told; a process with more tells the rest again and again */

static struct injector injector;
static __thread struct inject_thread thread __attribute__((tls_model("initial-exec")));
static __thread uint32_t own_tid __attribute__((tls_model("initial-exec")));
static pthread_once_t opened = PTHREAD_ONCE_INIT;
static _Atomic uint32_t
	own_pid; /* of the process that the state is of; a forked child is another */
static _Atomic uint64_t told[MOST_TEXTS];
static uint32_t cuda_pid; /* of the process that CUDA was begun in */

/* ---- the process ---- */

static void in_child(void)
{
	own_tid = 0;
	atomic_store(&own_pid, (uint32_t)getpid());
	for (size_t i = 0; i < MOST_TEXTS; i++)
		atomic_store_explicit(&told[i], 0, memory_order_relaxed);
}

static void open_once(void)
{
	atomic_store(&own_pid, (uint32_t)getpid());
	if (inject_open(&injector, INJECT_GPU, getenv(INJECT_ENVIRONMENT)))
		pthread_atfork(NULL, NULL, in_child);
}

bool library_ready(void)
{
	pthread_once(&opened, open_once);
	return injector.base;
}

uint64_t library_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint32_t library_tid(void)
{
	if (!own_tid)
		own_tid = (uint32_t)syscall(SYS_gettid);
	return own_tid;
}

uint32_t library_pid(void)
{
	return atomic_load_explicit(&own_pid, memory_order_relaxed);
}

/* ---- records ---- */

void library_write(struct inject_head *head, enum inject_kind kind, unsigned number, size_t size)
{
	size_t slots = (size + INJECT_SLOT - 1) / INJECT_SLOT;

	if (!library_ready() || slots > INJECT_MOST_SLOTS)
		return;
	head->kind = (uint8_t)kind;
	head->slots = (uint8_t)slots;
	head->number = (uint16_t)number;
	inject_write(&injector, &thread, head);
}

/* A record with text at its end, in memory that is whole slots. */
union texted {
	struct gpu_text_record text;
	struct gpu_note_record note;
	uint8_t bytes[GPU_RECORD_MOST];
};

static size_t put_text(union texted *record, size_t at, const char *text)
{
	size_t size = strlen(text);

	if (size > sizeof(record->bytes) - at)
		size = sizeof(record->bytes) - at;
	memcpy(record->bytes + at, text, size);
	return size;
}

void library_note(enum gpu_note note, uint64_t count, const char *text)
{
	union texted record = { .note = { .ts = library_now(), .count = count } };
	size_t size = put_text(&record, offsetof(struct gpu_note_record, text), text);

	record.note.size = (uint32_t)size;
	library_write(&record.note.head, INJECT_GPU_NOTE, note,
		      offsetof(struct gpu_note_record, text) + size);
}

/* ---- texts ---- */

/* FNV-1a; never 0. */
static uint64_t hash_of(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325ull;

	for (; *text; text++)
		hash = (hash ^ (uint8_t)*text) * 0x100000001b3ull;
	return hash ? hash : 1;
}

/* Whether the text has been told; notes that it has. */
static bool was_told(uint64_t hash)
{
	for (unsigned i = 0; i < 16; i++) {
		_Atomic uint64_t *place = &told[(hash + i) % MOST_TEXTS];
		uint64_t found = atomic_load_explicit(place, memory_order_relaxed);

		if (found == hash)
			return true;
		if (!found && atomic_compare_exchange_strong(place, &found, hash))
			return false;
		if (found == hash)
			return true;
	}
	return false;
}

/* The C++ library of the process itself knows how; one that has none has no names that need it. NULL: as it is. */
static char *demangled(const char *name)
{
	typedef char *demangle(const char *, char *, size_t *, int *);
	demangle *function = (demangle *)dlsym(RTLD_DEFAULT, "__cxa_demangle");
	void *library = function ? NULL : dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
	int status = 0;

	if (library)
		function = (demangle *)dlsym(library, "__cxa_demangle");
	return function && !strncmp(name, "_Z", 2) ? function(name, NULL, NULL, &status) : NULL;
}

uint64_t library_text(const char *text, bool demangle)
{
	uint64_t hash = hash_of(text);
	union texted record;
	char *clear;
	size_t size;

	if (was_told(hash))
		return hash;
	record = (union texted){ .text = { .hash = hash } };
	clear = demangle ? demangled(text) : NULL;
	size = put_text(&record, offsetof(struct gpu_text_record, text), clear ? clear : text);
	record.text.size = (uint32_t)size;
	library_write(&record.text.head, INJECT_GPU_TEXT, size < strlen(clear ? clear : text),
		      offsetof(struct gpu_text_record, text) + size);
	free(clear);
	return hash;
}

/* ---- what CUDA calls ---- */

/* Only in the process that CUDA was begun in: a forked child has none of CUPTI's threads, and would wait for them. */
static void flush_at_exit(void)
{
	if (cuda_pid == (uint32_t)getpid() && !giveway_held())
		activity_flush();
}

/* CUDA's driver calls this at cuInit, before anything else is done with a device. */
GPU_EXPORT int InitializeInjection(void);
GPU_EXPORT int InitializeInjection(void)
{
	struct cupti cupti;
	char text[256];
	const char *why;
	uint32_t version = 0;

	if (!library_ready())
		return 1;
	why = cupti_load(&cupti, text, sizeof(text));
	if (why) {
		library_note(GPU_NOTE_NO_CUPTI, 0, why);
		return 1;
	}
	cuda_pid = library_pid();
	cupti.version(&version);
	library_note(GPU_NOTE_ON, version, "");
	giveway_watch(&cupti);
	if (!giveway_held())
		atexit(flush_at_exit);
	return 1;
}
