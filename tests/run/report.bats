#!/usr/bin/env bats
# strata report: every figure against sums over `strata dump`, and what it says where it cannot know.

load lib
setup_file() { need_bpf; }
setup() { enter; }
teardown() { leave; }

report() { "$STRATA" report "$@" "$RUN" >"$T/report" 2>"$T/report.err"; }

@test "every figure of a real training job equals the sums over strata dump" {
	/usr/bin/python3 "$TRAIN" --prepare --samples 64 data
	record -- /usr/bin/python3 "$TRAIN" --samples 64 --epochs 2 data
	no_loss
	"$HERE/report_check.py" "$RUN"
	report
	says report "^Main thread, python3"
	says report "asleep until a data worker woke it"
	says report "^Workers  8, at most 2 at once"
	says report "guessed from batches handed over, confidence"
	says report "^  idle "
	says report "^  kworker "
	says report "/data/sample-"
	same "lines of the first screen" yes "$(report --section overview && [ "$(wc -l <report)" -le 27 ] && echo yes)"
}

@test "phases that the job marks have figures of their own, and can be reported on alone" {
	record -e io,fs,mem -- sh -c "'$STRATA' mark load_start; head -c 100000 /dev/zero >a; '$STRATA' mark load_stop
		'$STRATA' mark use_start; cat a >/dev/null; '$STRATA' mark use_stop"
	"$HERE/report_check.py" "$RUN"
	"$STRATA" report --json "$RUN" >all.json
	same phases "load use" "$(jq -r '[.phases.list[].name] | join(" ")' all.json)"
	same "bytes written" 100000 "$(jq '.phases.list[0].figures.write_bytes' all.json)"
	"$STRATA" report --json --phase use "$RUN" >use.json
	same "bytes of the phase" "$(jq -c .phases.list[1].figures.read_bytes all.json)" \
		"$(jq -c .run.figures.read_bytes use.json)"
	same "a's reads" 100000 "$(jq --arg path "$T/a" '.files.list[] | select(.path == $path).read.bytes' use.json)"
	run -1 "$STRATA" report --phase lunch "$RUN"
}

@test "files opened through an io_uring are opens" {
	mkdir work
	record -e io,fs -- "$W/uring" "$T/work" plain >truth
	"$HERE/report_check.py" "$RUN"
	queued=$(grep -c '^io_uring_openat' truth)
	[ "$queued" -gt 0 ]
	same "opens" $((queued + $(count fs "op.startswith('open')"))) "$("$STRATA" report --json "$RUN" | jq .files.opens)"
}

@test "a log given later makes phases on the same clock" {
	record -e io -- sh -c 'stamp() { echo ":::MLLOG {\"time_ms\": $(date +%s%3N), \"key\": \"$1\", \"metadata\": {\"epoch_num\": $2}}"; }
		{ echo words; stamp epoch_start 1; sleep 0.2; stamp epoch_stop 1; stamp epoch_start 2
		sleep 0.1; stamp epoch_stop 2; } >log'
	"$STRATA" report --json --log log "$RUN" >report.json
	same phases "epoch 1 epoch 2" "$(jq -r '[.phases.list[].name] | join(" ")' report.json)"
	jq -e '.phases.list[0].length_ns >= 199e6 and .phases.list[0].open == false' report.json
	run -1 "$STRATA" report --log /dev/null "$RUN"
}

@test "what was not recorded is said to be unknown" {
	record -e process -- true
	report
	says report "layer sched not recorded"
	says report "layer io not recorded"
	says report "layer fs not recorded"
	says report "layer block not recorded"
	rm "$RUN"
	record -e sched -- sh -c 'echo x >x'
	"$HERE/report_check.py" "$RUN"
	report
	says report "^Main thread, sh"
	says report "layer io not recorded"
	rm "$RUN"
	record -e io -- cat /etc/passwd >/dev/null
	"$HERE/report_check.py" "$RUN"
	report
	says report "layer sched not recorded"
	report --json
	jq -e '.tasks.known == false and .files.has_io and .usage.gpus == []' report
}

@test "a cut trace gives what comes before the cut, and says so" {
	record -- sh -c 'for i in $(seq 50); do cat /etc/passwd; done' >/dev/null
	head -c $(($(stat -c %s "$RUN") * 2 / 3)) "$RUN" >cut.strata
	RUN=$T/cut.strata report
	says report.err "damaged"
	says report "The trace is damaged"
	says report "recorder's CPU time is not known"
	head -c 64 "$RUN" >none.strata
	run "$STRATA" report none.strata
	[ "$status" -le 1 ]
}

@test "a recording with losses says that its figures are too low" {
	background "$STRATA" record -o "$RUN" --scope job -e io --buffer 64K -- \
		sh -c 'echo ready; sleep 1; dd if=/dev/zero of=/dev/null bs=1 count=20000 status=none'
	within 20 grep -q ready out
	kill -STOP $PID
	sleep 2
	kill -CONT $PID
	wait $PID
	report
	says report "EVENTS LOST, figures are too low"
	says report "of layer io: ring full"
}

@test "names that would steer a terminal or a parser are shown, not obeyed" {
	local name=$'a\x1b[31m"<b onload=x>\n\xff'
	echo data >"$name"
	record -e io,fs -- cat "$name" >/dev/null
	report --top 1000
	! grep -q $'\x1b' report
	says report 'a.x1b\[31m"<b onload=x>.x0a.xff'
	report --json
	same path "$T/"$'a\x1b[31m"<b onload=x>\n\\xff' \
		"$(jq -r '.files.list[] | select(.path | contains("onload")).path' report)"
}

@test "a section alone, the number of rows, and the width of the terminal" {
	record -e io,fs -- sh -c 'mkdir -p a/very/long/folder/name/that/goes/on/and/on; for i in 1 2 3 4 5; do
		echo x >a/very/long/folder/name/that/goes/on/and/on/$i; done'
	report --section files --top 3
	same "lines" 7 "$(wc -l <report)"
	says report "and [0-9]+ more files"
	script -qec "stty cols 70; '$STRATA' report --section files '$RUN'" /dev/null >narrow
	[ "$(tr -d '\r' <narrow | wc -L)" -le 70 ]
	says narrow '\.\.\.'
	run -2 "$STRATA" report --section fils "$RUN"
	[[ $output == *"'files'"* ]]
	run -2 "$STRATA" report
}

@test "diff tells what changed between two runs, and nothing between a run and itself" {
	head -c 1M /dev/zero >data
	"$STRATA" record -q -o a.strata -e io,fs -- dd if=data of=/dev/null bs=64K status=none
	"$STRATA" record -q -o b.strata -e io,fs,sched -- dd if=data of=/dev/null bs=4K status=none
	"$STRATA" diff a.strata b.strata >text
	says text "Layer sched was recorded in B only"
	says text "Noise is one standard deviation"
	"$STRATA" diff --json a.strata b.strata >diff.json
	same "calls" "240 reads more" "$(jq -r '.items[] | select(.group == "operations" and .what == "calls" and .name == "read")
		| "\(.b - .a) reads more"' diff.json)"
	same "lengths" "$("$STRATA" info --json a.strata | jq .length_ns)" "$(jq .a.length_ns diff.json)"
	same "with itself" 0 "$("$STRATA" diff --json a.strata a.strata | jq '[.items[] | select(.verdict != "same")] | length')"
	run -2 "$STRATA" diff a.strata
	run -1 "$STRATA" diff a.strata data
}

@test "record --log follows the job's log: its lines become marks and phases, whenever the file appears" {
	cat >job.sh <<-'JOB'
		stamp() { echo ":::MLLOG {\"time_ms\": $(date +%s%3N), \"event_type\": \"$1\", \"key\": \"$2\", \"metadata\": {\"epoch_num\": $3}}"; }
		{ echo words; stamp INTERVAL_START epoch_start 1; } >log
		sleep 0.7
		printf ':::MLLOG {broken\n' >>log
		stamp INTERVAL_END epoch_stop 1 >>log
		{ stamp INTERVAL_START epoch_start 2; stamp INTERVAL_END epoch_stop 2; printf half; } >other
		mv other log
	JOB
	echo ':::MLLOG {"time_ms": 1000, "key": "epoch_start", "metadata": {"epoch_num": 0}}' >log # of another time
	record -e io --log log -- sh job.sh
	same marks "mllog epoch_start
mllog epoch_stop
mllog epoch_start
mllog epoch_stop" "$(rows mark True source,name | tr '\t' ' ')"
	"$STRATA" report --json "$RUN" >report.json
	same source mllog "$(jq -r .phases.source report.json)"
	same phases "epoch 1 epoch 2" "$(jq -r '[.phases.list[].name] | join(" ")' report.json)"
	jq -e '.phases.list[0].length_ns >= 699e6' report.json
	"$HERE/report_check.py" "$RUN"
}
