#!/usr/bin/env python3
"""Holds every probe that strata moves behind the first instruction of a function against what objdump says of the file.

    slides.py STRATA FILE

The instruction there has to be one that the kernel emulates; those before it must leave the stack pointer and the argument
registers alone, and go on behind themselves; and no branch of the whole file may lead to behind the first one and up to it.
"""
import re
import subprocess
import sys

KEPT = "rdi edi di dil rsi esi si sil rdx edx dx dl dh rcx ecx cx cl ch rsp esp sp spl".split()
ONLY_READ = ("cmp", "test", "endbr64", "nop", "bt", "ucomis", "comis")
EMULATED = re.compile(r"^(push +r|j[a-z]+ |call +[0-9a-f]|nop$|nop +DWORD PTR \[rax\+rax\*1\+0x0\])")


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main():
    strata, path = sys.argv[1:]
    code, targets, order = {}, set(), {}
    before = None
    for line in output("objdump", "-d", "-w", "-M", "intel", "--no-show-raw-insn", path).splitlines():
        found = re.match(r"^ *([0-9a-f]+):\t(.*)$", line)
        if not found:
            continue
        address, text = int(found[1], 16), re.sub(r"^(bnd|notrack) ", "", found[2].split("#")[0].strip())
        code[address] = text
        order[before] = address
        before = address
        target = re.match(r"^(?:j[a-z]+|call|loop[a-z]*) +([0-9a-f]+)\b", text)
        if target:
            targets.add(int(target[1], 16))
    addresses = {}
    for table in ("-t", "-T"):
        for line in output("objdump", table, path).splitlines():
            found = re.match(r"^([0-9a-f]{16}) .{7} \.text\t[0-9a-f]{16} +(?:\(?[A-Z]\S*\)? +)?(?:\.hidden +)?(\S+)$", line)
            if found:
                addresses.setdefault(found[2], set()).add(int(found[1], 16))
    checked = wrong = 0
    for line in output(strata, "record", "--list-calls", path).splitlines():
        found = re.match(r"^[^:]+:(\S+) +.*slid by ([0-9]+)", line)
        if not found or len(addresses.get(found[1], ())) != 1:
            continue  # a name of several versions or files: which one it is cannot be told from here
        start, = addresses[found[1]]
        site, at, why = start + int(found[2]), start, None
        while at is not None and at < site and not why:
            name, _, operands = code[at].partition(" ")
            if re.match(r"^(j|call|ret|push|pop|leave|enter|xchg|cmpxchg|xadd|mul|div|rep|syscall|cpuid)", name):
                why = f"passes {code[at]}"
            elif not name.startswith(ONLY_READ) and operands.strip().split(",")[0] in KEPT:
                why = f"passes {code[at]}"
            at = order.get(at)
        if at != site:
            why = why or "is no instruction"
        elif not EMULATED.match(code[site]):
            why = why or f"is {code[site]}"
        led_to = [t for t in range(start + 1, site + 1) if t in targets]
        if led_to and not code[site].startswith("push"):
            why = why or f"is led to at {led_to[0]:x}"
        checked += 1
        if why:
            wrong += 1
            print(f"{found[1]} + {found[2]}: {why}")
    print(f"{checked} checked, {wrong} wrong")
    return 1 if wrong or checked < 50 else 0


sys.exit(main())
