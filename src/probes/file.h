/* Records of calls on files and mappings as rows. */
#ifndef STRATA_PROBES_FILE_H
#define STRATA_PROBES_FILE_H

#include "bpf/records.h"
#include "capture/sink.h"

/* A record of io, fs, mem or a mark. */
void file_add_row(struct sink *sink, const struct record *record);

#endif
