/* The words of presets about arguments and results, such as bytes=ARG1*RETURNED, as struct function_traits. */
#ifndef STRATA_SYMBOLS_TRAITS_H
#define STRATA_SYMBOLS_TRAITS_H

#include <stdbool.h>

#include "base/error.h"
#include "schema/functions.h"

/* Takes one word KEY=SOURCE. */
int traits_parse(struct function_traits *traits, const char *word, struct error *e);

/* Takes over what `from` says, and leaves what it says nothing about. */
void traits_take(struct function_traits *traits, const struct function_traits *from);

#endif
