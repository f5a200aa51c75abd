/* The maps and the memory that all objects share. This object has no program: it is loaded before the others, which get
 * what is here instead of making their own.
 */
#include "bpf/maps.bpf.h"
