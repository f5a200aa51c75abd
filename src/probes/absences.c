#include "probes/absences.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "schema/schema.h"

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

int absences_leave_out(struct absences *absences, uint32_t *layers, uint32_t required,
		       uint32_t refused, int err, struct error *e)
{
	refused &= *layers;
	for (unsigned i = 0; i < LAYER_COUNT; i++)
		if (refused & required & LAYER_BIT(i))
			return error_add(e, err, "cannot record layer '%s'", schema_layers[i].name);
	for (unsigned i = 0; i < LAYER_COUNT; i++)
		if (refused & LAYER_BIT(i)) {
			absences_add(absences, schema_layers[i].name, "%s", e->text);
			absences->items[absences->count - 1].expected = err == -ENODEV;
		}
	if (err == -ENODEV)
		absences->expected |= refused;
	*layers &= ~refused;
	return 0;
}
