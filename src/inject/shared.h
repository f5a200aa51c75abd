/* The memory that libraries inside of the job share with the recorder: one file, the pool, made by the recorder in a private
 * folder, and mapped whole by each process that loads such a library. Both sides include this; nothing else is agreed.
 *
 *     page 0         struct inject_pool: what everybody reads, the doorbell, who was turned away
 *     page 1         struct inject_owners: which thread has which ring
 *     page 2 ...     settings, one page a library
 *     then rings, inject_ring_bytes() each:
 *                    struct inject_ring (a page) │ the library's own area │ slots of 64 bytes, a power of two of them
 *
 * A ring has one writer, a thread, and one reader, the recorder. A record takes one slot or a few in a row:
 *
 *     reserve   head += slots, in one instruction, so that a signal handler of the thread that writes too gets others
 *     write     the record, but for the first word
 *     commit    the first word = the low half of the record's place plus 1: what was there before has another number
 *
 * The writer never waits and never looks at the reader: a ring that is not read in time is written over, oldest first. The reader copies,
 * and looks at head again: what head has come round to may be torn and is thrown away. So it counts exactly what it missed. A process
 * that is killed leaves its records where they are; one that it was writing has no commit.
 *
 * The job can write to all of it: the recorder trusts no byte, reads by pread, so that a file that was cut off is an error
 * and no signal, and never reads back what it wrote.
 */
#ifndef STRATA_INJECT_SHARED_H
#define STRATA_INJECT_SHARED_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#define INJECT_ENVIRONMENT "STRATA_INJECT" /* of the job: the path of the pool */
#define INJECT_MAGIC	   0x6a6e696174617274ull
#define INJECT_VERSION	   1
#define INJECT_PAGE	   4096u
#define INJECT_MOST_RINGS  512u
#define INJECT_SLOT	   64u
#define INJECT_MOST_SLOTS  16u /* of one record */

/* Libraries, which must not have each other's number: a thread has a ring for each. */
enum inject_library { INJECT_CALLS, INJECT_GPU, INJECT_LIBRARIES };

/* What a record is. Numbers are this file's and the recorder's of one build: they change as they like. */
enum inject_kind {
	INJECT_NOTHING,
	INJECT_CALL,
	INJECT_LOADED, /* a process has loaded the library of calls, and says no more */
	INJECT_GPU_OP,
	INJECT_GPU_TEXT,
	INJECT_GPU_MARK,
	INJECT_GPU_NOTE,
	INJECT_KINDS
};

/* What `ts` of calls counts. */
enum inject_clock {
	INJECT_BOOTTIME, /* ns */
	INJECT_TSC,	 /* the CPU's counter, where it never stops nor changes its pace */
};

/* Why a thread or a process writes nothing. */
enum inject_refusal {
	INJECT_NO_RING,	      /* records of threads that got none */
	INJECT_LIMITED_SPACE, /* processes whose address space is limited: the pool would take of it */
	INJECT_NO_MEMORY,     /* processes that could not be set up */
	INJECT_REFUSALS
};

struct inject_pool {
	uint64_t magic;
	uint32_t version;
	uint32_t rings;
	uint32_t slots;	     /* of a ring */
	uint32_t area_bytes; /* of a ring, whole pages */
	uint32_t clock;	     /* enum inject_clock */
	uint32_t ready;	     /* rings below this one have memory, and may be taken */
	uint32_t recording;
	uint32_t shift; /* ns = ticks * mult >> shift */
	uint64_t mult;
	_Alignas(64) uint32_t bell; /* a futex: grows when there is something to read */
	uint32_t asleep;	    /* the recorder waits for the bell */
	uint64_t turns;		    /* how often rings were taken */
	_Alignas(64) uint64_t refused[INJECT_LIBRARIES][INJECT_REFUSALS];
};

/* Who has a ring: 0 nobody, else packed by inject_owner(). */
struct inject_owners {
	uint64_t of[INJECT_MOST_RINGS];
};

#define INJECT_ENDED   (1ull << 63) /* its thread will write no more */
#define INJECT_TAKEN   (1ull << 62) /* the ring says whose it is; before, it is being taken */
#define INJECT_ID_BITS 22	    /* the kernel has no greater process ids */
#define INJECT_ID_MASK ((1u << INJECT_ID_BITS) - 1)

static inline uint64_t inject_owner(enum inject_library library, uint32_t pid, uint32_t tid)
{
	return INJECT_TAKEN | (uint64_t)library << (2 * INJECT_ID_BITS) |
	       (uint64_t)(pid & INJECT_ID_MASK) << INJECT_ID_BITS | (tid & INJECT_ID_MASK);
}

struct inject_ring {
	uint64_t head; /* slots that were ever reserved: grows for as long as the file is there */
	_Alignas(64) uint64_t
		turn; /* how often rings had been taken then: of two of one thread it left the older */
	uint64_t namespace; /* the inode of its writer's pid namespace; 0: not known */
};

struct inject_head {
	uint32_t commit;
	uint8_t kind;	 /* enum inject_kind */
	uint8_t slots;	 /* 1 to INJECT_MOST_SLOTS */
	uint16_t number; /* the kind's own */
};

union inject_slot {
	struct inject_head head;
	uint8_t bytes[INJECT_SLOT];
};

static_assert(sizeof(struct inject_pool) <= INJECT_PAGE, "struct inject_pool");
static_assert(sizeof(struct inject_owners) <= INJECT_PAGE, "struct inject_owners");
static_assert(sizeof(struct inject_ring) <= INJECT_PAGE, "struct inject_ring");
static_assert(sizeof(struct inject_head) == 8, "struct inject_head");
static_assert(sizeof(union inject_slot) == INJECT_SLOT, "union inject_slot");
static_assert(INJECT_LIBRARIES <= 256, "numbers of libraries");

/* Where things are in the file. */
#define INJECT_OWNERS_AT INJECT_PAGE

static inline uint64_t inject_settings_at(enum inject_library library)
{
	return (uint64_t)INJECT_PAGE * (2 + (unsigned)library);
}

#define INJECT_RINGS_AT ((uint64_t)INJECT_PAGE * (2 + INJECT_LIBRARIES))

static inline uint64_t inject_ring_bytes(uint32_t slots, uint32_t area_bytes)
{
	return (uint64_t)INJECT_PAGE + area_bytes + (uint64_t)slots * INJECT_SLOT;
}

static inline uint64_t inject_pool_bytes(uint32_t rings, uint32_t slots, uint32_t area_bytes)
{
	return INJECT_RINGS_AT + rings * inject_ring_bytes(slots, area_bytes);
}

#endif
