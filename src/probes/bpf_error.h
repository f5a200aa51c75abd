/* Errors of libbpf, with its own words, and the verifier's. */
#ifndef STRATA_PROBES_BPF_ERROR_H
#define STRATA_PROBES_BPF_ERROR_H

#include "base/error.h"

/* From now on what libbpf says in this thread is kept for the next error, not printed. */
void bpf_error_listen(void);

/* Sets an error: what, the system's words for err, libbpf's, and, of a program that was refused, the verifier's last.
 * Returns err. */
int bpf_error(struct error *e, int err, const char *what);

#endif
