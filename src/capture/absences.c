#include "capture/absences.h"

#include <stdarg.h>
#include <stdio.h>

void absences_add(struct absences *absences, const char *what, const char *why, ...)
{
	struct absence *absence;
	va_list args;

	if (absences->count == ABSENCES_MOST)
		return;
	absence = &absences->items[absences->count++];
	snprintf(absence->what, sizeof(absence->what), "%s", what);
	va_start(args, why);
	vsnprintf(absence->why, sizeof(absence->why), why, args);
	va_end(args);
}
