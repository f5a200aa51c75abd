/* The large arrays that all programs share. They are defined here and nowhere else: of a weak definition in a
 * header the linker keeps the room of every copy, and small variables between them would lie pages apart.
 */
#include "bpf/prefix.bpf.h"
#include "bpf/task.bpf.h"

char LICENSE[] __weak SEC("license") = "Dual BSD/GPL";

__u64 job_bits[JOB_WORDS] = {};
const volatile char prefix[2 * PATH_BYTES + 8] = {};
const volatile char prefix_text[2 * PATH_BYTES + 8] = {};
