/* Errors of libbpf, with its own words. */
#ifndef STRATA_CAPTURE_BPF_ERROR_H
#define STRATA_CAPTURE_BPF_ERROR_H

#include "base/error.h"

/* From now on what libbpf says is kept for the next error, not printed. */
void bpf_error_listen(void);

/* Sets an error: what, the system's words for err, and libbpf's. Returns err. */
int bpf_error(struct error *e, int err, const char *what);

#endif
