/* Which system calls are watched. */
#include "gen/syscall_numbers.h"
#include "live/parts.h"
#include "schema/schema.h"

static const struct {
	int16_t number;
	enum direction direction;
} moving[] = {
#define IO_SYSCALL(name, number, number32, family, trait, direction, ...) \
	{ number, DIRECTION_##direction },
#include "schema/syscalls.def"
};

/* LIVE_CALL_MOVES and LIVE_CALL_WRITES of a call. */
static uint16_t call_flags(size_t number)
{
	for (size_t i = 0; i < sizeof(moving) / sizeof(*moving); i++)
		if (moving[i].number == (int16_t)number)
			return moving[i].direction == DIRECTION_R
				       ? LIVE_CALL_MOVES
				       : LIVE_CALL_MOVES | LIVE_CALL_WRITES;
	return 0;
}

void live_choose_calls(struct live *live, uint16_t *by_number)
{
	bool all = live->config.what & LIVE_BIT(LIVE_sclat);

	live->call_count = 1;
	for (size_t i = 0; i < SYSCALL_NUMBER_COUNT && i < LIVE_CALL_NUMBERS; i++) {
		uint16_t flags = call_flags(i);

		if (!syscall_by_number[i] || (!all && !flags))
			continue;
		by_number[i] = (uint16_t)(live->call_count | flags);
		live->calls[live->call_count++] =
			(struct live_call){ .name = syscall_by_number[i], .moves = flags };
	}
}
