/* What the running kernel offers, asked of its type information (BTF), never of its version number. Reading
 * that takes some 10 ms, so it is opened once for all questions.
 */
#ifndef STRATA_PROBES_FEATURES_H
#define STRATA_PROBES_FEATURES_H

#include <stdbool.h>

#include "base/error.h"

struct btf;
struct features;

int features_open(struct features **features, struct error *e);
void features_close(struct features *features);

const struct btf *features_btf(const struct features *features);

/* The BTF id of a structure of the kernel's; 0: there is none. */
unsigned features_struct_id(const struct features *features, const char *name);

bool features_has_function(const struct features *features, const char *name);
bool features_has_struct(const struct features *features, const char *name);
bool features_has_member(const struct features *features, const char *structure,
			 const char *member);

/* In bytes; of a variable that each CPU has one of, where it lies among those. -ENOENT: there is none. */
int features_member_offset(const struct features *features, const char *structure,
			   const char *member);
int features_cpu_variable(const struct features *features, const char *name);

bool features_has_helper(const struct features *features, const char *name); /* without bpf_ */

/* The value of a name in an enumeration of the kernel's; -ENOENT: there is none. */
int features_enumerator(const struct features *features, const char *enumeration, const char *name);

/* How many arguments a tracepoint passes; 0: there is no such tracepoint. */
int features_tracepoint_arguments(const struct features *features, const char *name);

#endif
