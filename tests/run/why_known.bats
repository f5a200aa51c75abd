#!/usr/bin/env bats
# The ledger against training loops and programs that know what they waited for: real DataLoaders (known.py), and chains through locks,
# CPUs, storage and other processes (known_chains.c). All truths are their own clock readings.

load lib
load disks
setup_file() { need_bpf; }
setup() { enter; }
teardown() { leave; }

torch() {
	/usr/bin/python3 -c 'import torch' 2>/dev/null || skip "no PyTorch"
	head -c 32M /dev/urandom >file
	sync file
	FILE=$PWD/file record --force -- /usr/bin/python3 "$ROOT/tests/workloads/known.py" "$@" >truth
	judged
}

chain() {
	record --force -- "$W/known_chains" "$@" >truth
	judged
}

judged() {
	"$STRATA" why --json "$RUN" >why.json || { cat why.json; return 1; }
}

# check CAUSE [SAYS...]: see why_check.py.
check() {
	"$HERE/why_check.py" why.json truth "$@"
}

# holds EXPRESSION: of the ledger `why` and the truth `truth`.
holds() {
	/usr/bin/python3 - "$1" <<-'PYTHON'
		import json, sys
		why, text = json.load(open("why.json")), open("truth").read()
		truth = json.loads(text) if text.startswith("{") else None
		made = {}
		for part in why["mix"]["parts"]:
		    made[part["says"]] = made.get(part["says"], 0) + part["charged_ns"]
		assert eval(sys.argv[1]), (sys.argv[1], why["verdict"], why["mix"], truth)
	PYTHON
}

@test "a worker that decodes, and two" {
	torch decode 25
	check input "a data worker ran"
	torch two 25
	check input "a data worker ran"
}

@test "read first, decode last, half hidden: what awaited batches were made of, not what was done last" {
	torch half 25
	check input "a data worker waited for storage" "a data worker ran"
	holds 'why["mix"]["batches"] == 24'
}

@test "all hidden: nothing is charged, and it is shown as hidden" {
	torch hidden 15
	check input
	holds 'why["mix"]["made_ns"] > 0.6 * (truth["made"]["read"] + truth["made"]["decode"])'
	holds 'why["mix"]["charged_ns"] <= truth["waited"] * 1.05'
}

@test "one slow shard of two: its storage, and no more prefetching" {
	torch shard 24
	check input "a data worker waited for storage"
	holds 'why["verdict"].get("advice") != "prefetch"'
}

@test "a worker that holds the interpreter, with many small tensors: all of the get is input" {
	torch small 25
	check input "a data worker ran"
}

@test "a thread that relays batches is input, not computing" {
	torch relay 25
	check input
	holds 'why["verdict"].get("advice") == "none"'
}

@test "a worker that sleeps; longer than the loader polls" {
	torch pause 25
	check input "a data worker slept"
	torch polls 12
	check input "a data worker slept"
}

@test "workers started anew for each pass" {
	torch epochs 8
	check input
	holds 'any(context["name"] == "epoch turn-over" for context in why["contexts"])'
}

@test "locks: held over a sleep, over reads, passed on" {
	head -c 32M /dev/urandom >file
	sync file
	chain sleeper 15
	check lock "who held the lock slept"
	FILE=$PWD/file chain reader 15
	check lock "who held the lock slept"
	chain passed 15
	check lock "who held the lock ran"
}

@test "a barrier to which another thread comes late is computing, or ready for that" {
	chain barrier 15
	/usr/bin/python3 - <<-'PYTHON'
		import json
		waited = int(open("truth").read().split()[0])
		lines = json.load(open("why.json"))["ledger"]
		late = sum(line["ns"] for line in lines if line["says"] in ("a thread of its own ran", "what would have woken it had no CPU"))
		ready = sum(line["ns"] for line in lines if line["cause"] == "ready")
		print(waited, late, ready)
		assert waited * 0.95 - ready <= late <= waited * 1.05
	PYTHON
}

@test "a hog on the same CPU: ready, as long as the kernel says" {
	chain hog 15
	/usr/bin/python3 - <<-'PYTHON'
		import json
		delay = int(open("truth").read().split()[0])
		why = json.load(open("why.json"))
		ready = sum(line["ns"] for line in why["ledger"] if line["cause"] == "ready")
		print(delay, ready, why["total_ns"])
		assert abs(delay - ready) < 0.05 * why["total_ns"]
		assert why["verdict"]["cause"] == "ready", why["verdict"]
	PYTHON
}

@test "storage: pages of a mapping, another's reads, fsync" {
	head -c 32M /dev/urandom >file
	sync file
	FILE=$PWD/file chain mapped 15
	check storage "a page of a mapped file"
	FILE=$PWD/file chain second 15
	check storage
	FILE=$PWD/file chain sync 15
	check storage
}

@test "writes that the kernel slows down" {
	disk 256M
	mkfs.ext4 -q "$DISK"
	mounted "$T/disk" -t ext4 "$DISK"
	bdi=/sys/class/bdi/$(cat "/sys/block/$NAME/dev")
	[ -e "$bdi/strict_limit" ] && [ -e "$bdi/max_bytes" ] || skip "this kernel has no limit of dirty pages by device"
	undo sh -c 'echo 0 >"$0/strict_limit"; echo 100 >"$0/max_ratio"' "$bdi"
	echo 1 >"$bdi/strict_limit"
	echo 2097152 >"$bdi/max_bytes"
	touch "$T/disk/file"
	FILE=$T/disk/file chain throttled 40
	check storage "too much written and not yet on the device"
}

@test "a process behind a socket that computes before it answers is the network's" {
	export PORT=$((20000 + RANDOM % 20000))
	background "$W/known_chains" serve
	within 10 sh -c "ss -ltn | grep -q :$PORT"
	chain peer 15
	check network
}

@test "a barrier of two ranks: the wait of one is the other's, which is named" {
	/usr/bin/python3 -c 'import torch.distributed' 2>/dev/null || skip "no PyTorch"
	record -- /usr/bin/python3 "$ROOT/tests/workloads/ranks.py" 20 >truth
	mapfile -t ranks < <(rows process "event == 'exec' and ' 20 ' in (args or '')" pid)
	"$STRATA" why --json --focus "${ranks[0]}" "$RUN" >why.json
	/usr/bin/python3 - "${ranks[1]}" <<-'PYTHON'
		import json, sys
		waited = int(open("truth").read().split()[0])
		why = json.load(open("why.json"))
		lines = [line for line in why["ledger"] if line["cause"] == "collective"]
		late, ready = sum(line["ns"] for line in lines), sum(line["ns"] for line in why["ledger"] if line["cause"] == "ready")
		print(waited, late, ready, lines[0]["name"])
		assert late >= waited * 0.9 - ready
		assert lines[0]["name"].endswith(f"[{sys.argv[1]}]"), lines[0]["name"]
	PYTHON
}
