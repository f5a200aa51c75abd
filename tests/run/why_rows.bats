#!/usr/bin/env bats
# The ledger of loops of which every moment is known: recordings made of rows (why_rows.py), so all figures are exact.

load lib
setup() {
	REFUSED=
	enter
}
teardown() { leave; }

# rows_of JOB: the recording into $RUN, its ledger into why.json.
rows_of() {
	"$HERE/why_rows.py" "$1" | "$ROOT/build/tools/rows_to_run" "$RUN"
	"$STRATA" why --json "$RUN" >why.json
}

# tells EXPRESSION EXPECTED: of the ledger `why`; us() gives microseconds.
tells() {
	same "$1" "$2" "$(/usr/bin/python3 - "$1" <<-'PYTHON'
		import json, sys
		why = json.load(open("why.json"))
		mix, verdict = why["mix"], why["verdict"]
		part = {part["says"]: part for part in mix["parts"]}
		us = lambda ns: round(ns / 1000)
		print(eval(sys.argv[1]))
	PYTHON
	)"
}

@test "half hidden: the walk charges the last part, the mix all that the batches were made of" {
	rows_of half
	# Nine batches of the loop are each waited for 50 ms of decoding, and 1 ms of the sender.
	tells 'us(mix["waited_ns"])' 459000
	tells 'us(mix["charged_ns"]), us(mix["outside_ns"])' '(450000, 9000)'
	tells 'mix["batches"], mix["awaited"]' '(9, 9)'
	# 99 ms of each 151 are the device's; so is that share of the wait.
	tells 'us(part["a data worker waited for storage"]["made_ns"])' 891000
	tells 'round(part["a data worker waited for storage"]["charged_ns"] / mix["charged_ns"], 2)' 0.66
	tells 'next(l["ns"] for l in why["ledger"] if l["says"] == "a data worker waited for storage") < 100_000_000' True
	tells 'verdict["cause"], verdict["next"][0]["cause"], verdict["next"][0]["says"]' "('computing', 'input', 'a data worker waited for storage')"
	tells 'verdict["next"][0]["path"]' /data/shard
}

@test "all hidden: nothing was waited for, and the making is shown" {
	rows_of hidden
	tells 'mix["waited_ns"], mix["awaited"], us(mix["hidden_ns"])' '(0, 0, 1358001)'
	tells 'us(part["a data worker waited for storage"]["made_ns"]), part["a data worker waited for storage"]["charged_ns"]' '(891000, 0)'
}

@test "a worker without an index while the loop computes: prefetch is what helps" {
	rows_of starved
	tells 'verdict["cause"], verdict["advice"]' "('input', 'prefetch')"
	tells 'us(mix["missed_ns"])' 800000
	# Without the reads: no less than what the loop computes, 9 steps of 100 ms.
	tells 'us(verdict["bound"]), verdict["limit"]' "(900000, \"the loop's own work\")"
}

@test "the ledger by step adds up, and the worker's file and device are cost by the time they cost" {
	rows_of starved
	tells 'len(why["windows"]), all(sum(w["causes"].values()) == w["end"] - w["start"] for w in why["windows"])' '(9, True)'
	tells 'why["costs"]["devices"][0]["name"], why["costs"]["files"][0]["name"], why["costs"]["directories"][0]["name"]' "('sdx', '/data/shard', '/data')"
	tells 'us(why["costs"]["devices"][0]["ns"])' 531000
	tells 'why["costs"]["mounts"][0]["name"]' '8:1 ext4'
}

@test "a GPU: spinning in a call that waits for it is its time, and its idle time is charged through who launched" {
	rows_of gpu
	# Ten calls of 65 ms, of which nine begin in the loop; what is left of 100 ms a step is computing.
	tells 'verdict["cause"], verdict["name"], us(verdict["ns"])' "('gpu', 'cudaStreamSynchronize', 585000)"
	tells 'us(why["gpus"][0]["busy_ns"]), why["gpus"][0]["operations"]' '(600000, 10)'
	tells 'why["gpus"][0]["busy_ns"] + why["gpus"][0]["idle_ns"] == why["total_ns"]' True
	tells 'sum(l["ns"] for l in why["gpus"][0]["ledger"]) == why["gpus"][0]["idle_ns"]' True
	# Between two kernels: 30 ms of computing after the call, the wait for the batch, 5 ms of computing and 5 in the next call.
	tells 'us(why["gpus"][0]["causes"]["gpu"])' 50000
	tells 'us(why["gpus"][0]["causes"]["input"])' 610500
}

@test "a checkpoint: a context of its own, told apart to the microsecond; a log and what comes before the loop are none" {
	rows_of saved
	tells 'why["checkpoints"]["count"], us(why["checkpoints"]["ns"]), why["checkpoints"]["bytes"]' '(1, 50000, 2000)'
	tells '[(p["says"], us(p["ns"])) for p in why["checkpoints"]["parts"]]' "[('gathering and serialising', 14000), ('writing', 5000), ('throttled', 7000), ('syncing', 22000), ('renaming', 2000)]"
	tells 'why["checkpoints"]["list"][0]["path"], why["checkpoints"]["list"][0]["loop"]' "('/data/saved.tmp', True)"
	tells '[us(c["ns"]) for c in why["contexts"] if c["name"] == "checkpoint"]' '[50000]'
	# What is marked as evaluation is one, less the checkpoint in it; a moment of that name is none.
	tells '[us(c["ns"]) for c in why["contexts"] if c["name"] == "evaluation"]' '[30000]'
	tells 'sum(c["ns"] for c in why["contexts"]) == why["total_ns"]' True
	"$STRATA" why "$RUN" | grep -q '^1 checkpoint of 2.* took 50.0 ms of the thread: gathering and serialising 14.0 ms, writing'
	# Without one, nothing is said.
	rows_of half
	tells 'why["checkpoints"]["count"]' 0
	run -0 "$STRATA" why "$RUN"
	[[ $output != *checkpoint* ]]
}

@test "views of SQL: the pieces tile the life, and add up to the lines and contexts to the nanosecond" {
	rows_of half
	"$STRATA" sql -f jsonl "$RUN" 'from ledger' >pieces.jsonl
	"$STRATA" sql -f jsonl "$RUN" 'from ledger_sum' >sums.jsonl
	same "the views" "same" "$(/usr/bin/python3 - <<-'PYTHON'
		import collections, json
		why = json.load(open("why.json"))
		pieces, sums = ([json.loads(line) for line in open(name)] for name in ("pieces.jsonl", "sums.jsonl"))
		ends = [why["focus"]["start_ts"]] + [piece["ts"] + piece["dur"] for piece in pieces]
		assert [piece["ts"] for piece in pieces] == ends[:-1] and ends[-1] == why["focus"]["end_ts"]
		contexts, files = collections.Counter(), collections.Counter()
		for piece in pieces:
		    contexts[piece["context"]] += piece["dur"]
		    files[piece["path"]] += piece["dur"]
		assert contexts == {c["name"]: c["ns"] for c in why["contexts"]}, contexts
		assert files["/data/shard"] == sum(f["ns"] for l in why["ledger"] for f in l["files"] if f["path"] == "/data/shard") > 0
		lines = {(l["cause"], l["says"], l["name"]): l["ns"] for l in why["ledger"]}
		assert lines == {(s["cause"], s["says"], s["name"]): s["ns"] for s in sums}, sums
		print("same")
	PYTHON
	)"
}

@test "SQL asked for the ledger of a recording without sched says what is missing" {
	"$ROOT/build/tools/rows_to_run" "$RUN" <<<'run key=start_ts value=1000000000'
	run -1 "$STRATA" sql "$RUN" 'from ledger'
	[[ $output == *"cannot judge"*"layer sched"* ]]
	"$STRATA" sql "$RUN" 'from io' # the other tables are there
}

@test "lost rows: a ledger, no verdict, and exit status 1" {
	"$HERE/why_rows.py" lost | "$ROOT/build/tools/rows_to_run" "$RUN"
	run -1 "$STRATA" why "$RUN"
	[[ $output == *"No verdict: rows of table sched were lost"* ]]
	[[ $output == *"running its own code"* ]]
}

@test "diff says why B is slower, act by act" {
	rows_of half
	mv "$RUN" half.strata
	rows_of starved
	"$STRATA" diff --json half.strata "$RUN" >diff.json
	same "the change" "450000 input a data worker waited for storage" "$(/usr/bin/python3 - <<-'PYTHON'
		import json
		items = [item for item in json.load(open("diff.json"))["items"] if item["group"] == "why"]
		loop = next(item for item in items if item["what"] == "the loop")
		most = max((item for item in items if item is not loop), key=lambda item: item["change"])
		print(round(loop["change"] / 1000), most["what"], most["name"])
		acts = sum(item["change"] for item in items if item is not loop)
		assert acts == loop["change"], (acts, loop)
	PYTHON
	)"
}
