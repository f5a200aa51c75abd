#!/usr/bin/python3
"""What promtool does not find in the text of /metrics: exits 1 and says what is wrong.

    metrics_check.py FILE [openmetrics]
"""
import math
import re
import sys

SAMPLE = re.compile(r'^([a-z_]+)\{((?:[a-z]+="(?:[^"\\]|\\.)*",?)*)\} (\S+)$')
LABEL = re.compile(r'([a-z]+)="((?:[^"\\]|\\.)*)"')
wrong = []
text = open(sys.argv[1]).read()
openmetrics = len(sys.argv) > 2


def check(holds, what):
    if not holds:
        wrong.append(what)


check(text.endswith("# EOF\n" if openmetrics else "\n") and "\r" not in text, "the end of the text")
types, seen, families, buckets, counts, sums = {}, set(), [], {}, {}, {}
for line in text.splitlines():
    if line.startswith("# TYPE "):
        _, _, name, kind = line.split(" ")
        check(name not in types, f"type of {name} twice")
        types[name] = kind
        continue
    if line.startswith("#"):
        continue
    found = SAMPLE.match(line)
    if not found:
        check(False, f"no sample: {line}")
        continue
    name, labels, value = found.group(1), dict(LABEL.findall(found.group(2))), float(found.group(3))
    base = re.sub(r"_(bucket|sum|count)$", "", name)
    family = base if types.get(base) == "histogram" else re.sub("_total$", "", name) if openmetrics and name.endswith("_total") else name
    check(family in types, f"no type of {name}")
    if not families or families[-1] != family:
        check(family not in families, f"family {family} is split")
        families.append(family)
    check(line.rsplit(" ", 1)[0] not in seen, f"twice: {line}")
    seen.add(line.rsplit(" ", 1)[0])
    check(labels.get("node") == "n1", f"no node: {line}")
    check(set(labels) <= {"node", "device", "op", "gpu", "le", "code", "version"}, f"labels: {line}")
    check(math.isfinite(value), f"not finite: {line}")
    if types.get(family) == "counter":
        check(value >= 0 and name.endswith("_total"), f"counter: {line}")
    if family.endswith("_ratio"):
        check(0 <= value <= 1.1, f"ratio: {line}")
    if types.get(family) == "histogram":
        le = labels.pop("le", None)
        key = (family, tuple(sorted(labels.items())))
        if name.endswith("_bucket"):
            buckets.setdefault(key, []).append((float(le), value))
        elif name.endswith("_count"):
            counts[key] = value
        else:
            sums[key] = value
for key, list_ in buckets.items():
    check(list_ == sorted(list_), f"buckets of {key} are not in order")
    check(all(a[1] <= b[1] for a, b in zip(list_, list_[1:])), f"buckets of {key} are not cumulative")
    check(list_[-1][0] == math.inf and list_[-1][1] == counts.get(key), f"+Inf of {key}")
    check(key in sums, f"no sum of {key}")
    check([le for le, _ in list_] == [2.0 ** (i + 1) / 1e6 for i in range(35)] + [math.inf], f"ends of {key}")
check({k[0] for k in buckets} >= {"strata_cpu_stay_seconds", "strata_run_queue_latency_seconds", "strata_syscall_latency_seconds"}, "histograms")
for line in wrong[:20]:
    print(line)
sys.exit(bool(wrong))
