#!/usr/bin/python3
"""Checks that what contrib/ asks Prometheus is what an agent serves.

    contrib_check.py METRICS DASHBOARD RULES METRICS_DEF

METRICS is what /metrics of an agent gave. Every name of a metric in an expression must be there, or be of a GPU in METRICS_DEF, for
machines that have none; every label that it is asked by must be one of its labels. Prints the expressions, one a line, each with a
word before it: `data` where this machine must have an answer, `none` where it need not.
"""
import json
import re
import sys

metrics, dashboard, rules, definitions = (open(path).read() for path in sys.argv[1:])
served = {}
for name, labels in re.findall(r"^(strata_\w+)\{(.*)\} \S+$", metrics, re.M):
    served.setdefault(name, set()).update(re.findall(r'(\w+)="', labels))
gpu = {f"strata_{name}" for name in re.findall(r"^FIGURE\(gpu, .*?, (gpu_\w+),", definitions, re.M)}
assert gpu and served
served = {**{name: {"node", "gpu"} for name in gpu}, **served}

board = json.loads(dashboard)
asked = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
legends = [(target["expr"], target["legendFormat"]) for panel in board["panels"] for target in panel["targets"]]
variables = [re.sub(r"^label_values\((.*), \w+\)$", r"\1", v["query"]) for v in board["templating"]["list"] if v["type"] == "query"]
recorded = dict(re.findall(r"- record: (\S+)\n\s+expr: (.*)", rules))
of_rules = re.findall(r"^\s+expr: (.*)$", rules, re.M)
assert len(asked) > 10 and len(of_rules) > 5 and recorded and variables

wrong = []
for expression in asked + of_rules + variables:
    base = expression
    for name, meaning in recorded.items():
        base = base.replace(name, meaning)
    names = set(re.findall(r"\bstrata_\w+", base))
    wrong += [f"{name} is not served: {expression}" for name in names if name not in served]
    labels = {label.strip() for by in re.findall(r"\b(?:by|on) \((.*?)\)", base) for label in by.split(",")}
    labels |= set(re.findall(r"\{\{(\w+)\}\}", dict(legends).get(expression, ""))) | set(re.findall(r"(\w+)=~?\"", base))
    wrong += [f"{name} has no label {label}: {expression}" for name in names & set(served) for label in labels
              if label not in served[name] and not (label == "le" and not name.endswith("_bucket"))]
    kind = "none" if names & gpu or re.search(r" [<>] ", base) else "data"
    print(kind, expression.replace("$node", ".*").replace("$__rate_interval", "10s").replace("[5m]", "[10s]"))
sys.exit("\n".join(wrong) or None)
