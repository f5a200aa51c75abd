/* Names of functions as a user writes them: a glob, or /an extended regular expression/. A version behind @ is part of a name
 * only where the pattern has one too. */
#ifndef STRATA_SYMBOLS_PATTERN_H
#define STRATA_SYMBOLS_PATTERN_H

#include <regex.h>
#include <stdbool.h>

#include "base/error.h"

struct pattern {
	char *text;
	bool is_regex;
	regex_t regex;
};

int pattern_open(struct pattern *pattern, const char *text, struct error *e);
void pattern_close(struct pattern *pattern);
bool pattern_matches(const struct pattern *pattern, const char *name);

#endif
