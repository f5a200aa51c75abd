/* The life of the focus thread, stay by stay, charged to the ledger: see why.h. */
#ifndef STRATA_ANALYZE_WHY_FOCUS_H
#define STRATA_ANALYZE_WHY_FOCUS_H

#include "analyze/why.h"

int focus_charge(struct why *why); /* 0 or -ENOMEM */

#endif
