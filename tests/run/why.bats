#!/usr/bin/env bats
# The ledger against programs that know what they waited for, by their own clock.

load lib
setup_file() { need_bpf; }
setup() { enter; }
teardown() { leave; }

# judge CAUSE WAIT: records known WAIT and compares the share of the cause with the program's own; see why_check.py.
judge() {
	record -- "$W/known" "$2" 15 >waited
	"$STRATA" why --json "$RUN" >why.json
	"$HERE/why_check.py" why.json waited "$1"
}

@test "a sleep is a sleep" { judge sleep sleep; }
@test "a mutex that another thread holds is a lock" { judge lock lock; }
@test "a process that computes for it is input" { judge input input; }
@test "a process that sleeps before it answers is input" { judge input idle; }
@test "SIGSTOP is stopped, whoever lets it go on" { judge stopped stopped; }

@test "a thread that computes for it is computing" {
	record -- "$W/known" thread 15 >waited
	"$STRATA" why --json "$RUN" >why.json
	/usr/bin/python3 - waited why.json <<-'PYTHON'
		import json, sys
		waited, ledger = open(sys.argv[1]).read().split(), json.load(open(sys.argv[2]))
		own = sum(line["ns"] for line in ledger["ledger"] if line["says"] == "a thread of its own ran")
		ready = sum(line["ns"] for line in ledger["ledger"] if line["cause"] == "ready")
		print(own, ready, waited)
		assert int(waited[0]) * 0.95 - ready <= own <= int(waited[0])
	PYTHON
}

@test "reads past the page cache are storage, with their device and file" {
	head -c 32M /dev/urandom >file
	sync
	FILE=$PWD/file judge storage storage
	/usr/bin/python3 - why.json "$PWD/file" <<-'PYTHON'
		import json, sys
		lines = [line for line in json.load(open(sys.argv[1]))["ledger"] if line["says"] == "a request to a device"]
		assert lines and lines[0]["name"], lines
		assert lines[0]["files"][0]["path"] == sys.argv[2], lines[0]["files"]
	PYTHON
}

@test "without table sched there is no ledger, and the words say what to record" {
	record -e io -- true
	run -1 "$STRATA" why "$RUN"
	[[ $output == *"no layer sched"* ]]
}

@test "a thread that is not there, and a line that is not there" {
	record -- true
	run -1 "$STRATA" why --focus 99999999 "$RUN"
	[[ $output == *"no stay on a CPU"* ]]
	run -1 "$STRATA" why --explain 99 "$RUN"
	[[ $output == *"the ledger has "*" lines"* ]]
}
