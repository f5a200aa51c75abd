#!/usr/bin/python3
"""Whether this kernel takes BPF programs from this user, asked without strata: the smallest tracing program.

Exits with 0, or prints why not and exits with 1. So a test is only skipped where the kernel itself refuses,
never because a program of strata's is broken.
"""
import ctypes
import os
import struct
import sys

BPF_PROG_LOAD, BPF_PROG_TYPE_RAW_TRACEPOINT, SYS_BPF = 5, 17, 321
BTF = "/sys/kernel/btf/vmlinux"


def main():
    program = ctypes.create_string_buffer(struct.pack("<BBhiBBhi", 0xB7, 0, 0, 0, 0x95, 0, 0, 0))  # return 0
    license_name = ctypes.create_string_buffer(b"GPL")
    attributes = struct.pack("<IIQQ", BPF_PROG_TYPE_RAW_TRACEPOINT, 2, ctypes.addressof(program),
                             ctypes.addressof(license_name)).ljust(128, b"\0")
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.syscall(SYS_BPF, BPF_PROG_LOAD, attributes, len(attributes))
    if fd < 0:
        sys.exit(f"this kernel refuses eBPF: {os.strerror(ctypes.get_errno())}")
    if not os.path.exists(BTF):
        sys.exit(f"this kernel has no type information ({BTF})")


if __name__ == "__main__":
    main()
