/* What the running kernel offers, asked of its type information (BTF), never of its version number. */
#ifndef STRATA_CAPTURE_FEATURES_H
#define STRATA_CAPTURE_FEATURES_H

#include <stdbool.h>

bool features_has_function(const char *name);
bool features_has_struct(const char *name);
bool features_has_helper(const char *name); /* a BPF helper, without bpf_ */

/* The value of a name in an enumeration of the kernel's; -ENOENT: there is none. */
int features_enumerator(const char *enumeration, const char *name);

/* How many arguments a tracepoint passes; 0: there is no such tracepoint. */
int features_tracepoint_arguments(const char *name);

#endif
