#!/usr/bin/env bats
# Containers that a real runtime makes: seen from outside by launch, attach, --container and -a, and strata inside of one.
# Witnesses: what busybox in the container reads of itself, the host's /proc, the files on the host's disk.

load lib
setup_file() {
	need_bpf
	[ -n "$REFUSED" ] || ! REFUSED=$(unusable) || export REFUSED
}
setup() { enter; }
teardown() { leave; }

# Why no container can be run here; fails where one can.
unusable() {
	command -v runc busybox >/dev/null || { echo "runc or busybox is not installed"; return; }
	grep -qw overlay /proc/filesystems || { echo "no overlayfs here"; return; }
	return 1
}

# runtime ARGS...: runc, with its state in $T.
runtime() {
	runc --root "$T/runc" "$@" 3>&-
}

# image: a root file system of busybox on an overlay at $T/image, and a folder of the host's, $T/volume, that every
# container has as /data.
image() {
	local name

	mkdir -p lower/{bin,proc,sys,dev,tmp,data} volume
	cp "$(command -v busybox)" lower/bin/busybox
	for name in sh cat head sleep readlink; do
		ln -sf busybox lower/bin/$name
	done
	mounted "$T/layers" -t tmpfs tmpfs
	mkdir layers/upper layers/work
	mounted "$T/image" -t overlay overlay -o "lowerdir=$T/lower,upperdir=$T/layers/upper,workdir=$T/layers/work"
}

# bundle NAME COMMAND [JQ]: a container's folder; JQ changes its configuration. NAME is in no other run's.
bundle() {
	mkdir -p "bundle-$1"
	runtime spec -b "bundle-$1"
	jq --arg root "$T/image" --arg volume "$T/volume" --arg command "$2" '
		.root = { path: $root, readonly: false } | .process.terminal = false
		| .process.args = ["/bin/sh", "-c", $command]
		| .mounts += [{ destination: "/data", type: "bind", source: $volume, options: ["rbind", "rw"] }]
		'"${3:+| $3}" "bundle-$1/config.json" >"bundle-$1/changed"
	mv "bundle-$1/changed" "bundle-$1/config.json"
	undo sh -c 'runc --root "$0" delete -f "$1" 2>/dev/null || true' "$T/runc" "$(named "$1")"
}

named() {
	echo "strata-test-$$-$BATS_TEST_NUMBER-$1"
}

# start NAME: runs a bundle in the background until it has written `ready` to the volume; its first process is $INIT.
start() {
	rm -f volume/ready
	background runc --root "$T/runc" run -b "$T/bundle-$1" "$(named "$1")"
	within 20 test -e volume/ready
	INIT=$(runtime state "$(named "$1")" | jq .pid)
}

# Of a process on the host: the last id that its namespaces give it.
id_inside() {
	awk '/^NSpid:/ { print $NF }' "/proc/$1/status"
}

# child_of PID NAME: has a child of that name, which is $CHILD.
child_of() {
	CHILD=$(pgrep -P "$1" -x "$2")
}

# id_of NAME: an engine's id, made of the test's own name.
id_of() {
	named "$1" | sha256sum | cut -c1-64
}

@test "launched: the host's ids, the ids inside, the container, and paths as it sees them" {
	image
	head -c 3000 /dev/zero >volume/in
	bundle one 'echo $$; readlink /proc/self; head -c 12345 /dev/zero >/tmp/out; cat /data/in >/dev/null; true'
	record --scope job -- runc --root "$T/runc" run -b "$T/bundle-one" "$(named one)" >inside
	no_loss
	same "ids inside" "$(cat inside)" "$(rows process "event == 'exec' and args.startswith('/bin/sh -c')" ns_pid
		rows process "event == 'rename' and comm == 'readlink'" ns_pid)"
	shell=$(rows process "event == 'exec' and args.startswith('/bin/sh -c')" pid)
	same "container of all that the shell forked" "$(named one)" \
		"$(rows process "ppid == $shell or pid == $shell and event == 'exec'" container | sort -u)"
	same "outside" "- -" "$(rows process "event == 'exec' and args.startswith('runc')" ns_pid,container | sort -u | tr '\t' ' ')"
	same "written" "12345 /tmp/out" "$(rows io "path == '/tmp/out' and dir == 'W'" returned,path |
		awk '{ n += $1; path = $2 } END { print n, path }')"
	same "read" 3000 "$(rows io "path == '/data/in' and dir != 'W'" returned | awk '{ n += $1 } END { print n }')"
	same "where the host has them" "$T/image/tmp/out $T/volume/in" \
		"$(for path in /tmp/out /data/in; do rows file "path == '$path'" host_path | sort -u; done | xargs)"
	same "inode of the volume's file" "$(stat -c %i volume/in)" "$(rows file "path == '/data/in'" inode | sort -u)"
	same "size on the host" 12345 "$(stat -c %s "$(rows file "path == '/tmp/out'" host_path | sort -u)")"
	same "files of the host itself" 0 "$(count file "host_path and host_path == path")"
	same "SQL shows them too" "$T/volume/in" "$("$STRATA" sql -f csv "$RUN" \
		"select distinct f.host_path from io join file f using (file) where io.path = '/data/in'" | sed 1d)"
}

@test "attached: -p, and --container by name, by id and its beginning, by a process; it ends with the container" {
	local id

	image
	echo volume >volume/in
	id=$(id_of one)
	# Below a folder, as Docker has it, which runc leaves behind.
	undo sh -c 'for at in $(awk "\$3 ~ /^cgroup/ { print \$2 }" /proc/mounts); do
		[ ! -d "$at/$0" ] || rmdir "$at/$0"; done' "$(named engine)"
	bundle one 'echo >/data/ready; while :; do cat /data/in >/dev/null; sleep 0.02; done' \
		".linux.cgroupsPath = \"/$(named engine)/$id\""
	start one
	inside=$(id_inside "$INIT")
	same "first inside" 1 "$inside"
	for how in "-p $INIT" "--container $INIT" "--container $id" "--container ${id:0:12}"; do
		rm -f "$RUN"
		record $how --scope job -e io,fs -d 500ms
		says words "none lost"
		[ "$(count io "path == '/data/in' and comm == 'cat'")" -gt 3 ]
		same "all of the container ($how)" "$id" "$(rows process "pid != $INIT" container | sort -u)"
		same "the first process" "$INIT 1" "$(rows process "event == 'exists' and pid == $INIT" pid,ns_pid | tr '\t' ' ')"
		same "nobody else ($how)" cat "$(rows io True comm | sort -u | grep -vx sh)"
	done
	rm -f "$RUN"
	record_background --container "$id" -e io
	recorder=$PID
	runtime kill "$(named one)" KILL
	within 20 gone $recorder
	readable
	same "why it ended" "job ended" "$(rows run "key == 'stop_reason'" value | sed 's/.x20/ /')"
	same "last exit" "-9" "$(rows process "event == 'exit' and pid == $INIT" exit_code)"
}

# followed_by_name: records the running container `one` by its name, with what is added to it, until it is killed.
followed_by_name() {
	record_background --force --container "$(named one)" --scope job -e io,fs
	recorder=$PID
	runtime exec "$(named one)" cat /bin/busybox >/dev/null
	runtime kill "$(named one)" KILL
	within 20 gone $recorder
	same "bytes read by what was added" "$(stat -c %s lower/bin/busybox)" \
		"$(rows io "comm == 'cat' and path == '/bin/busybox' and dir != 'W'" returned | awk '{ n += $1 } END { print n }')"
	same "container" "$(named one)" "$(rows process "event != 'exists' or pid == $INIT" container | sort -u)"
}

@test "--container: the name that runc gives; what a runtime adds later belongs to it" {
	image
	bundle one 'echo >/data/ready; sleep 60'
	start one
	followed_by_name
	run -125 record --force --container "$(named two)"
	says words "no container '$(named two)'"
	run -125 record --force --container $$
	says words "process $$ is in no container"
}

@test "--container: where only a hierarchy of cgroup v1 has the container" {
	grep -q ' - cgroup ' /proc/self/mountinfo || skip "no cgroup v1 here"
	image
	bundle one 'echo >/data/ready; sleep 60'
	start one
	for root in $(awk '$3 == "cgroup2" { print $2 }' /proc/mounts); do
		echo "$INIT" >"$root/cgroup.procs"
	done
	same "the first process's group" "0::/" "$(grep ^0: "/proc/$INIT/cgroup")"
	followed_by_name
	same "unified" "/" "$(rows process "pid == $INIT" cgroup | sort -u)"
}

@test "a PID namespace alone: ids inside, and no container, as its cgroup is strata's" {
	mkfifo fifo
	background unshare -pf --kill-child sh -c "cat '$T/fifo' >/dev/null; sleep 60"
	within 10 child_of $PID sh
	init=$CHILD
	within 10 child_of "$init" cat
	record_background --container "$init" --scope job -e io,fs
	recorder=$PID
	head -c 777 /dev/zero >fifo
	within 10 child_of "$init" sleep
	kill -INT $recorder
	within 10 gone $recorder
	same "read inside" 777 "$(rows io "path == '$T/fifo' and returned" returned | awk '{ n += $1 } END { print n }')"
	same "ids inside" "1 $(id_inside "$CHILD")" \
		"$(rows process "pid == $init or comm == 'sleep' and event == 'exec'" ns_pid | sort -un | xargs)"
	same "containers" "-" "$(rows process "ns_pid is not None" container | sort -u)"
}

@test "-a and report: two containers side by side, each with its own sums" {
	image
	for name in one two; do
		size=$([ $name = one ] && echo 1000 || echo 2000)
		bundle $name "echo >/data/ready; until [ -e /data/go ]; do sleep 0.05; done
			for i in 1 2 3; do head -c $size /dev/zero >/tmp/$name.\$i; done; echo >/data/$name.done; sleep 60"
		start $name
	done
	record_background -a --comm head
	recorder=$PID
	touch volume/go
	within 20 test -e volume/one.done
	within 20 test -e volume/two.done
	kill -INT $recorder
	within 20 gone $recorder
	no_loss
	"$STRATA" report "$RUN" --json >report.json
	# The report leaves out nobody who moved bytes: of both, 3 processes, that wrote so much.
	for name in one two; do
		same "processes and bytes of $name" "$([ $name = one ] && echo "3 3000" || echo "3 6000")" \
			"$(rows process "event == 'exit' and comm == 'head' and container == '$(named $name)'" pid | wc -l) $(
			jq --arg name "$(named $name)" '.containers[] | select(.container == $name) | .written.bytes' report.json)"
	done
	"$STRATA" report "$RUN" --section containers >text
	says text "$(named one)"
	says text "$(named two)"
	says text "outside of any"
}

@test "inside of a container: records with the capabilities, and says what is missing without" {
	local name mounts

	mkdir -p lower/usr lower/strata
	for name in lib lib64; do
		cp -P /$name lower/
	done
	image
	mounts=".mounts += [{ destination: \"/usr\", type: \"bind\", source: \"/usr\", options: [\"rbind\", \"ro\"] },
		{ destination: \"/strata\", type: \"bind\", source: \"$(dirname "$(realpath "$STRATA")")\", options: [\"rbind\", \"ro\"] }]"
	bundle one '/strata/strata record -o /data/run.strata -e io,fs --scope job -- /bin/sh -c "echo \$\$ >/data/id; cat /data/id" &&
		/strata/strata record -o /data/all.strata -- sleep 0.2' \
		"$mounts | .process.capabilities[] = [\"CAP_BPF\", \"CAP_PERFMON\"]"
	runtime run -b "$T/bundle-one" "$(named one)" >inside 2>words || { cat words; false; }
	RUN=$T/volume/run.strata
	same "id, as the container's own /proc has it" "$(cat volume/id)" "$(rows io "path == '/data/id' and dir == 'W'" pid)"
	same "read" 1 "$(count io "path == '/data/id' and dir != 'W' and returned > 0")"
	same "nobody of outside" 0 "$(count process "pid is None")"
	RUN=$T/volume/all.strata
	no_loss
	same "layers" process,sched,io,fs,mem,wait,stall,fault,block,cpu,disk "$(rows run "key == 'layers'" value)"
	[ "$(count sched "tid is None and dur")" -gt 0 ] # others of the machine, who have no ids here
	bundle two '/strata/strata record -o /data/two.strata -- true' \
		"$mounts | .process.capabilities[] = [\"CAP_CHOWN\"]"
	run -125 runtime run -b "$T/bundle-two" "$(named two)"
	says <(echo "$output") "CAP_BPF and CAP_PERFMON"
	says <(echo "$output") "docker run --cap-add"
}
