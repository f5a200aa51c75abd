/* The lists of why_acts.h as tables. */
#include "analyze/why_acts.h"

const char *const why_cause_names[WHY_CAUSE_COUNT] = {
#define WHY_CAUSE_NAME(name) #name,
	WHY_CAUSES(WHY_CAUSE_NAME)
#undef WHY_CAUSE_NAME
};

const struct why_act_info why_acts[WHY_ACT_COUNT] = {
#define WHY_ACT_INFO(id, cause, says) { says, WHY_##cause },
	WHY_ACTS(WHY_ACT_INFO)
#undef WHY_ACT_INFO
};
