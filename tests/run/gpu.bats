# The layer gpu with stand-ins for NVIDIA's libraries (tests/standin), which do what these tests know. What only a real GPU can prove is
# in tests/gpu/run.
load lib

setup_file() { need_bpf; }

setup() {
	enter
	export STRATA_NVML=$ROOT/build/standin/libnvidia-ml.so.1
	JOB=$ROOT/build/standin/cuda_job
}

teardown() { leave; }

# cells TABLE CONDITION COLUMNS: the rows, sorted, with commas between their cells; - is null.
cells() {
	rows "$@" | tr '\t' , | sed 's/\\x20/ /g' | sort
}

@test "each column of gpu is the driver's, and the mean of its own samples" {
	record -e gpu -- sleep 2.2
	same "device 0" "50,20,2,5,13,14,10737418240,85899345920,400,41,1980,2619,4,100" \
		"$(cells gpu "gpu == 0 and dur > 9e8" "sm,mem,enc,dec,jpg,ofa,fb_used,fb_total,power,temperature,sm_clock,mem_clock,throttle,sm_max" | sort -u)"
	# 3 and 5 bytes a microsecond, by counters that are read a moment after the clock
	same "PCIe" "" "$(cells gpu "not (2.9e6 < pcie_tx < 3.1e6 and 4.9e6 < pcie_rx < 5.1e6)" "ts,pcie_tx,pcie_rx")"
	same "intervals tile" "" "$("$STRATA" dump "$RUN" gpu | awk -F, '
		NR > 1 { if ($3 in end && (d = $1 - end[$3], d < 0 ? -d : d) > 1000) print; end[$3] = $1 + $2 }')"
	no_loss
}

@test "gpu_process tells who is on which device" {
	sleep 30 &
	STANDIN_PID=$! record -e gpu -- sleep 1.5
	kill %1
	same "rows" "0,$!,C+G,30,15,2,3,4,5,3221225472,python" \
		"$(cells gpu_process "pid == $!" "gpu,pid,type,sm,mem,enc,dec,jpg,ofa,fb,command" | sort -u)"
	same "one without known memory" "G,-,-" "$(cells gpu_process "pid == 1" "type,fb,sm" | sort -u)"
}

@test "an old driver tells what it can" {
	STANDIN_NVML=old record -e gpu -- sleep 1.2
	same "device" "77,33,11,12,13,14,11811160064,123.456,900000,700000,1,-" \
		"$(cells gpu "gpu == 1" "sm,mem,enc,dec,jpg,ofa,fb_used,power,pcie_rx,pcie_tx,throttle,sm_max" | sort -u)"
	same "process" "50,25,5,6,-,-,-" "$(cells gpu_process "sm != None" "sm,mem,enc,dec,jpg,ofa,mig" | sort -u)"
}

@test "slices have rows of their own, null where the driver does not tell" {
	STANDIN_NVML=mig record -e gpu -- sleep 1.2
	same "slices" "0,MIG-00000000-0000-0000-0000-000000000010,-,21474836480
2,MIG-00000000-0000-0000-0000-000000000012,-,21474836480" \
		"$(cells gpu "mig != None" "mig,uuid,sm,fb_total" | sort -u)"
	same "processes" "1,2,C" "$(cells gpu_process "gpu == 1" "gpu,mig,type" | sort -u)"
	"$STRATA" report "$RUN" >report
	! grep -qi nan report
}

@test "no driver, no GPU, no permission: absent with the reason, and the rest is recorded" {
	local words reason

	while read -r words reason; do
		STANDIN_NVML=$words record --force -- true
		"$STRATA" info "$RUN" >info
		says info "gpu.*$reason"
		[ "$(count process "event == 'exec'")" -ge 1 ]
	done <<-'END'
		no-driver driver is not loaded
		no-gpu has no GPU
		no-permission /dev/nvidia
	END
	STRATA_NVML=$T/none.so record --force -- true
	says words "gpu.*none.so"
	unset STRATA_NVML
	if [ ! -e /proc/driver/nvidia/version ]; then
		record --force -- true
		! grep -q gpu words # nothing that could be missed
		record --force -v -- true
		says words "no NVIDIA driver"
		run -125 "$STRATA" record -e gpu -o "$T/other.strata" -- true
		[[ $output == *"no NVIDIA driver"* ]]
		[ ! -e "$T/other.strata" ]
	fi
}

@test "a driver that keeps who uses what to itself" {
	STANDIN_NVML=no-use record -e gpu -- sleep 1.2
	says words "gpu_process.sm.*Insufficient Permissions"
	same "memory is told" "3221225472" "$(cells gpu_process "fb != None" "fb" | sort -u)"
	same "use is not" "" "$(cells gpu_process "sm != None" "sm")"
}

@test "a driver that does not come back holds nothing up" {
	STANDIN_NVML=hung timeout 60 "$STRATA" record -o "$RUN" -- sleep 2.5 2>words
	readable
	[ "$(count cpu)" -gt 3 ]
}

@test "with rights of its own strata takes no library from the environment" {
	open_folder
	command -v setcap >/dev/null || skip "no setcap"
	setcap cap_bpf,cap_perfmon,cap_sys_admin+ep "$OPEN/strata" || skip "no file capabilities here"
	chmod 755 "$OPEN/strata"
	cp "$STRATA_NVML" "$OPEN/nvml.so"
	run setpriv --reuid=65534 --regid=65534 --clear-groups \
		env STRATA_NVML="$OPEN/nvml.so" "$OPEN/strata" record -v -o "$OPEN/run.strata" -- true
	echo "$output"
	[ "$status" = 0 ]
	RUN=$OPEN/run.strata
	same "rows of gpu" 0 "$(count gpu)"
}

@test "kernels, copies, memsets, graphs and waits, by thread and moment of launch" {
	record -- "$JOB" kernels 1000 copies 5 memset graph 3 thread wait >out
	says words "libstrata_gpu.so"
	same "kernels" "500 convolve(float const*, float*, int),7
500 plain_kernel,8" "$(cells gpu_op "kind == 'kernel' and graph is None and gpu == 0" "name,stream" | uniq -c | sed 's/^ *//')"
	same "a kernel" "64x1x1,256x1x1,32,1536,2000" \
		"$(cells gpu_op "name == 'plain_kernel'" "grid,block,registers,shared,dur" | sort -u)"
	same "copies" "DtoH,64,False,1000
HtoD,4096,True,3000" "$(cells gpu_op "kind == 'copy'" "name,bytes,pinned,dur" | sort -u)"
	same "five of them" 5 "$(count gpu_op "name == 'HtoD'")"
	same "memset" "1024,500" "$(cells gpu_op "kind == 'memset'" "bytes,dur")"
	same "graph: one launch" "3 3" "$(count gpu_op "graph == 3") $(cells gpu_op "graph == 3" "correlation,launch,tid" | uniq -c | awk '{ print $1 }')"
	same "another thread" "$(awk '/thread/ { print $2 }' out),1" "$(cells gpu_op "name == 'of_a_thread'" "tid,gpu")"
	same "launched before they began" "" "$(cells gpu_op "launch is None or not 0 <= ts - launch < 1e9 or tid is None" "ts,launch")"
	same "the wait" 1 "$(count gpu_op "kind == 'wait' and name == 'stream' and dur >= 20e6 and tid == pid")"
	no_loss
	same "nothing is left" "" "$(find /dev/shm /tmp -maxdepth 1 -name 'strata-job-*' -newer "$T/out" 2>/dev/null)"
}

@test "more records than a ring holds" {
	record -- "$JOB" kernels 60000
	same "kernels and losses" 60000 $(($(count gpu_op) + $("$STRATA" dump "$RUN" loss | awk -F, 'NR > 1 && $3 == "gpu" { n += $5 } END { print n + 0 }') / 2))
	[ "$(count gpu_op)" -gt 50000 ]
}

@test "several processes, a child without CUDA, a job that is killed" {
	record -- "$JOB" fork 10 kernels 20 fork 0
	same "by process" "10
20" "$(rows gpu_op True pid | sort | uniq -c | awk '{ print $1 }' | sort -n)"
	record --force -- "$JOB" kernels 30 sleep 1200 kernels 5 kill || true
	same "all but the last flush" 30 "$(count gpu_op)"
	readable
}

@test "the job's own profiler gets all it would get without strata" {
	"$JOB" kernels 10 profile 500 >bare
	record -- "$JOB" kernels 10 profile 500 kernels 7 >under
	same "its records" "$(cat bare)" "$(cat under)"
	same "strata has what came before" 10 "$(count gpu_op)"
	same "and says who has the rest" "gpu,the job's own profiler has the GPU's records,cuda_job" \
		"$(cells loss "layer == 'gpu'" "layer,reason,detail")"
}

@test "NVTX: nested, by domain, over two threads, with a payload" {
	record -- "$JOB" ranges 20
	same "ranges" "1 epoch,-,-
1 gr\xc3\xbcn,-,-
20 load,data,-5
20 step,-,-" "$(cells mark "source == 'nvtx'" "name,domain,value" | uniq -c | sed 's/^ *//')"
	same "loads lie in steps" "" "$(rows mark "name in ('load', 'step') and (dur is None or dur < 1000000 or tid != pid)")"
	same "a moment" 1 "$(count mark "source == 'nvtx' and dur is None")"
}

@test "NVTX by NVIDIA's own header, and steps that the job names are not guessed" {
	record -- "$ROOT/build/standin/nvtx_job" || skip "$(cat out 2>/dev/null) no NVTX header here"
	same "ranges" "1 done,-,-
1 epoch,-,-
10 load,data,0.5
10 step,-,-" "$(cells mark "source == 'nvtx'" "name,domain,value" | uniq -c | sed 's/^ *//')"
	"$STRATA" report --json "$RUN" >report.json
	same "steps" "nvtx 10" "$(python3 -c '
import json; steps = json.load(open("report.json"))["steps"]
print(steps["source"], steps["count"])')"
}

@test "the report tells what ran, and the exports have it" {
	record -- "$JOB" kernels 100 copies 4 wait
	"$STRATA" report --json "$RUN" >report.json
	python3 - <<-'END'
		import json
		work = json.load(open("report.json"))["gpu_work"]
		device, = work["devices"]
		assert device["count"] == 105 and 0 < device["busy_ns"] <= 100 * 2000 + 4 * 3000 + 1000, device
		assert [(k["count"], k["ns"]) for k in work["kernels"]] == [(50, 100000)] * 2, work["kernels"]
		copies = {c["name"]: (c["count"], c["bytes"], c["rate"]) for c in work["copies"]}
		assert copies == {"HtoD": (4, 16384, 16384e9 / 12000), "DtoH": (1, 64, 64e9 / 1000)}, copies
		assert work["waiters"][0]["ns"] >= 20e6 and work["launch_to_start"]["count"] == 100
	END
	# The union by a witness that adds up by itself.
	same "busy" "$("$STRATA" dump "$RUN" gpu_op --columns ts,dur,kind | awk -F, '
		NR > 1 && $3 != "wait" { b = $1 > u ? $1 : u; e = $1 + $2; if (e > b) { n += e - b; u = e } }
		END { printf "%d", n }')" "$(python3 -c 'import json
print(json.load(open("report.json"))["gpu_work"]["devices"][0]["busy_ns"])')"
	"$STRATA" report --section gpus "$RUN" >text
	says text "plain_kernel"
	"$STRATA" export -q "$RUN" -f dmon -o dmon
	says dmon "^#Date +Time +gpu +pwr +gtemp"
	"$STRATA" export -q "$RUN" -f pfw -o run.pfw
	same "pfw" 105 "$(grep -c '"cat":"GPU".*"kind":"\(kernel\|copy\)"' run.pfw)"
	"$STRATA" export -q "$RUN" -f perfetto -o run.perfetto
}

@test "CUPTI that is missing, too old, refuses, or drops" {
	record -- "$W/known"
	same "no CUDA, no word" "" "$(rows run "key == 'absent.gpu_op'")"
	STANDIN_CUPTI=old record --force -- "$JOB" kernels 5
	same "rows" 0 "$(count gpu_op)"
	"$STRATA" info "$RUN" >info
	says info "gpu_op.*too old: version 12"
	STANDIN_CUPTI=refuses record --force -- "$JOB" kernels 5
	"$STRATA" info "$RUN" >info
	says info "gpu_op.*INVALID_KIND"
	STANDIN_CUPTI=drops record --force -- "$JOB" kernels 5
	same "dropped" "7,CUPTI had no room" "$(cells loss "layer == 'gpu'" "count,reason")"
}

@test "--no-gpu-ops leaves the job untouched, another tool's injection too" {
	record --no-gpu-ops -- env >with
	! grep -E 'INJECTION|STRATA_INJECT|LD_PRELOAD' with
	CUDA_INJECTION64_PATH=/opt/tool.so record --force -- sh -c 'echo $CUDA_INJECTION64_PATH' >with
	same "kept" /opt/tool.so "$(cat with)"
	says words "gpu_op.*another tool.*/opt/tool.so"
}

@test "no place to load a library from: gpu_op is absent, the rest is recorded" {
	# strata may lie below /tmp itself.
	unshare -m sh -c '
		mount --make-rprivate /
		mount --bind "$2" /mnt
		for place in /dev/shm /var/tmp; do mount -t tmpfs -o noexec none $place; done
		mount --bind /tmp /tmp && mount -o remount,bind,noexec /tmp
		unset XDG_RUNTIME_DIR
		cd / && STRATA_NVML=/mnt/standin/libnvidia-ml.so.1 "/mnt/${0##*/}" record -o "$1" -- true' "$STRATA" "$RUN" "$ROOT/build" 2>words
	says words "gpu_op.*no place that the job could load"
	[ "$(count process "event == 'exec'")" -ge 1 ]
}
