/* The kernel's types behind table stall: the device of pages that are written back, and the kinds of locks. See kernel.h. */
#ifndef STRATA_BPF_KERNEL_STALL_H
#define STRATA_BPF_KERNEL_STALL_H

#include "bpf/kernel.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct kobject {
	const char *name;
};

struct device {
	struct kobject kobj;
};

struct backing_dev_info {
	struct device *owner;
};

struct bdi_writeback {
	struct backing_dev_info *bdi;
};

#pragma clang attribute pop

#define LCB_F_SPIN   0x1 /* of contention_begin */
#define LCB_F_READ   0x2
#define LCB_F_WRITE  0x4
#define LCB_F_RT     0x8
#define LCB_F_PERCPU 0x10
#define LCB_F_MUTEX  0x20

#endif
