/* The layers of a recording, as -e names them. */
#ifndef STRATA_CMD_LAYERS_H
#define STRATA_CMD_LAYERS_H

#include <stdint.h>

#include "base/error.h"

/* What -e can name, on standard output. */
void layers_list(void);

/* LAYER_BITs of a list, or of the default one for NULL, and those of them that were asked for by name. */
int layers_parse(const char *text, uint32_t *layers, uint32_t *required, struct error *e);

#endif
