#!/usr/bin/env bats
# Attacks by a user of the machine, by the environment and by the traced job, on a strata that has rights which its caller
# lacks. The user, 65534, needs no account: the program is a copy with file capabilities in a folder that all can enter.

load lib

OTHER=65534

setup_file() { need_bpf; }
setup() { enter; }
teardown() { leave; }

# with_capabilities [OWNER MODE]: $OPEN/strata, as the recipes of administrators leave it.
with_capabilities() {
	[ -n "${OPEN:-}" ] || open_folder
	chown "${1:-root:root}" "$OPEN/strata"
	chmod "${2:-0755}" "$OPEN/strata"
	setcap cap_bpf,cap_perfmon+ep "$OPEN/strata"
	RUN=$OPEN/run.strata
	rm -f "$RUN"
}

# as_other [-g GROUP] CMD...: as a user with no rights, in $OPEN; what is said on standard error goes to $T/words.
as_other() {
	local groups=--clear-groups

	if [ "$1" = -g ]; then
		groups=--groups=$2
		shift 2
	fi
	(cd "$OPEN" && setpriv --reuid $OTHER --regid $OTHER $groups "$@" 2>"$T/words" 3>&-)
}

# capabilities PID...: what the threads of these processes may ever do.
capabilities() {
	for pid; do
		sed -n 's/^CapPrm:[[:space:]]*//p' /proc/"$pid"/task/*/status
	done | sort -u
}

# tells WORD: whether any table of $RUN has WORD somewhere.
tells() {
	local table

	for table in $("$STRATA" info "$RUN" | awk '/^table /{ on = 1; next } on && NF { print $1 }'); do
		"$STRATA" dump "$RUN" "$table"
	done | grep -q -- "$1"
}

# A library that writes down what it may do as soon as it is loaded.
hostile_library() {
	cat >hostile.c <<-'C'
		#include <stdio.h>
		#include <string.h>
		__attribute__((constructor)) static void loaded(void)
		{
			FILE *from = fopen("/proc/self/status", "r"), *to = fopen("loaded", "w");
			char line[256];
			while (from && to && fgets(line, sizeof(line), from))
				if (!strncmp(line, "CapPrm", 6))
					fputs(line, to);
			if (to)
				fclose(to);
		}
	C
	cc -shared -fPIC -o "$1" hostile.c
	chmod 755 "$1"
}

# ---- file capabilities: what strata gives up ----

@test "a library that the environment names is not loaded by a strata with file capabilities" {
	record -- true
	cp "$RUN" run.copy
	with_capabilities
	hostile_library "$OPEN/hostile.so"
	install -m 644 run.copy "$RUN"
	as_other env STRATA_DUCKDB="$OPEN/hostile.so" ./strata sql "$RUN" 'select 1' || true
	[ ! -e "$OPEN/loaded" ]
}

@test "what a command other than record loads has no rights" {
	record -- true
	cp "$RUN" run.copy
	with_capabilities
	hostile_library "$OPEN/libduckdb.so"
	install -m 644 run.copy "$RUN"
	as_other ./strata sql "$RUN" 'select 1' || true
	same "capabilities" 0000000000000000 "$(awk '{ print $2 }' "$OPEN/loaded")"
}

@test "every command but those that load programs gives up its rights before it does anything" {
	for command in $("$STRATA" -h | awk '/^Commands:/{ on = 1; next } !NF { on = 0 } on { print $1 }'); do
		strace -qq -o calls -e trace=capset "$STRATA" "$command" no.strata >/dev/null 2>&1 || true
		[[ $command =~ ^(record|doctor|stat|agent)$ ]] || says calls 'capset.*permitted=1<<CAP_DAC_OVERRIDE\|1<<CAP_DAC_READ_SEARCH\|1<<CAP_FOWNER,'
	done
}

@test "a recorder that is armed has given up its capabilities" {
	with_capabilities
	background setpriv --reuid $OTHER --regid $OTHER --clear-groups "$OPEN/strata" record -o "$RUN" -- sleep 60
	within 20 armed
	same "by file capabilities" 0000000000000000 "$(capabilities "$PID")"
	STARTED= RUN=$T/run.strata
	record_background -- sleep 60
	same "root's: CAP_KILL" 0000000000000020 "$(capabilities "$PID")"
	pkill -KILL -s "$PID"
	mkdir mine && chown $OTHER mine && chmod 711 . && RUN=$OPEN/sudo.strata
	SUDO_USER=nobody record_background -- sleep 60
	same "under sudo: CAP_KILL" 0000000000000020 "$(capabilities "$PID")"
	same "under sudo: user" "$OTHER" "$(awk '/^Uid:/ { print $3 }' /proc/"$PID"/status)"
	pkill -KILL -U $OTHER -x sleep || true
}

@test "the job has none of strata's capabilities, and the whole environment" {
	with_capabilities
	none=$(printf 'Cap%s:\t0000000000000000\n' Inh Prm Eff Amb)
	same "by file" "$none" "$(as_other ./strata record -o "$RUN" -- grep -E 'Cap(Inh|Prm|Eff|Amb)' /proc/self/status)"
	same "LD_LIBRARY_PATH" /nowhere \
		"$(as_other env LD_LIBRARY_PATH=/nowhere ./strata record --force -o "$RUN" -- printenv LD_LIBRARY_PATH)"
	setcap -r "$OPEN/strata"
	same "ambient" "$none" "$(as_other --inh-caps +bpf,+perfmon --ambient-caps +bpf,+perfmon \
		./strata record --force -o "$RUN" -- grep -E 'Cap(Inh|Prm|Eff|Amb)' /proc/self/status)"
	same "root's own stay" "$(grep CapEff /proc/self/status)" \
		"$("$STRATA" record -o root.strata -- grep CapEff /proc/self/status 2>words)"
}

@test "a set-user-ID strata is the caller's" {
	open_folder
	chmod 4755 "$OPEN/strata"
	run -125 as_other ./strata record -- touch ran
	[ ! -e "$OPEN/ran" ]
	says words "CAP_BPF"
}

# ---- file capabilities: whom the caller sees ----

# somebody: root's process of secret arguments, with a file of a secret name that goes to the disk.
somebody() {
	mkdir -m 700 "$OPEN/closed"
	background sh -c "while :; do
		/bin/echo hidden-argument >/dev/null
		dd if=/dev/zero of=$OPEN/closed/hidden-name bs=4096 count=4 conv=fsync 2>/dev/null
		dd if=/dev/zero of=$OPEN/closed/hidden-name bs=4096 count=4 oflag=direct 2>/dev/null
		sleep 0.02; done"
	SOMEBODY=$PID
}

@test "an ordinary caller sees the job alone, in all layers" {
	with_capabilities
	somebody
	as_other ./strata record -o "$RUN" -- sh -c 'sleep 1; cat /etc/hostname; dd if=/dev/zero of=own bs=4096 count=4 conv=fsync; sync' >/dev/null
	same "users" $OTHER "$(rows process True uid | sort -u)"
	same "own rows of block" 1 "$(count block "path == '$OPEN/own' and op == 'W'")"
	[ "$(count sched)" -gt 0 ] && [ "$(count cpu)" -gt 0 ] && [ "$(count io "path == '/etc/hostname'")" -gt 0 ]
	job=$(rows process True tid | sort -u)
	same "threads of sched" "" "$(rows sched True tid | sort -u | grep -vxF "$job" || true)"
	! tells hidden-argument
	! tells hidden-name
	RUN=$T/all.strata
	record -- sleep 1 # as root, who sees that there was something to see
	tells hidden-argument
	tells hidden-name
}

# A program that is yet to become the other's is root's.
has_become() {
	[ "$(stat -c %u "/proc/$1")" = $OTHER ] && [ "$(cat "/proc/$1/comm")" != setpriv ]
}

@test "an ordinary caller cannot record others, and can record its own" {
	with_capabilities
	somebody
	for what in "-a -d 1s" "-p $SOMEBODY -d 1s" "-p 1 -d 1s" "--scope all -- touch ran"; do
		run -125 as_other ./strata record -o "$RUN" $what
		says words "your own processes only"
	done
	[ ! -e "$OPEN/ran" ] && [ ! -e "$RUN" ]
	background setpriv --reuid $OTHER --regid $OTHER --clear-groups sh -c 'while :; do sleep 0.05; done'
	within 10 has_become "$PID"
	as_other ./strata record -o "$RUN" -p "$PID" -d 500ms || { cat words; false; }
	same "users" $OTHER "$(rows process True uid | sort -u)"
	[ "$(count process "event == 'exec' and comm == 'sleep'")" -gt 0 ]
}

@test "programs of the job that get rights of their own are not shown" {
	with_capabilities
	echo secret >"$OPEN/hidden-name"
	chmod 600 "$OPEN/hidden-name"
	cp /bin/cat "$OPEN/setuid-cat"
	chmod 4755 "$OPEN/setuid-cat"
	cp /bin/cat "$OPEN/capable-cat"
	setcap cap_dac_read_search+ep "$OPEN/capable-cat"
	cp /bin/cat "$OPEN/closed-cat"
	chmod 711 "$OPEN/closed-cat"
	same "the job" "$(printf 'secret\nsecret\nvm')" "$(as_other ./strata record -o "$RUN" -- \
		sh -c './setuid-cat hidden-name; ./capable-cat <hidden-name 2>/dev/null || ./capable-cat hidden-name; ./closed-cat own; echo vm' 2>/dev/null)"
	same "programs shown" "sh" "$(rows process "event == 'exec'" comm | sort -u)"
	same "calls on it" 0 "$(count io,fs "(path or '').endswith('hidden-name') and comm != 'sh'")"
}

@test "root lets a group see all by a program that only its members can run" {
	with_capabilities root:60002 0750
	as_other -g 60002 ./strata record -o "$RUN" -a -d 200ms
	[ "$(count process "uid == 0")" -gt 0 ]
	run -1 as_other test -x ./strata
	with_capabilities root:60002 0755 # anybody may run it: being in the group means nothing
	run -125 as_other -g 60002 ./strata record -o "$RUN" -a -d 200ms
	with_capabilities $OTHER:$OTHER 0750 # the owner could have changed the mode
	run -125 as_other ./strata record -o "$RUN" -a -d 200ms
	says words "your own processes only"
}

@test "the error text tells the recipe of the group" {
	open_folder
	run -125 as_other ./strata record -- true
	says words "chown root:strata $OPEN/strata && sudo chmod 0750 $OPEN/strata && sudo setcap cap_bpf,cap_perfmon\+ep"
}

# ---- traces ----

@test "a trace is its owner's alone to read, whatever the umask" {
	(umask 0 && record -- true)
	same "mode" 600 "$(stat -c %a "$RUN")"
	(umask 0 && record --force -- true)
	same "mode, replaced" 600 "$(stat -c %a "$RUN")"
}

@test "--redact-args keeps arguments out" {
	record -- sh -c '/bin/echo hidden-argument' >/dev/null
	tells hidden-argument
	record --force --redact-args -- sh -c '/bin/echo hidden-argument' >/dev/null
	! tells hidden-argument
	same "arguments" - "$(rows process "event == 'exec'" args | sort -u)"
	same "command" sh "$(rows run "key == 'command'" value)"
	same "said so" args "$(rows run "key == 'redacted'" value)"
}

# ---- under sudo ----

@test "SUDO_USER: the trace is made by that user, not by root and given away" {
	chmod 711 . # as is all above it, or the next folder is not reached
	open_folder
	mkdir -m 755 "$OPEN/roots"
	SUDO_USER=nobody "$STRATA" record -o "$OPEN/roots/run.strata" -- touch "$OPEN/ran" 2>words
	same "in root's folder" "" "$(ls "$OPEN/roots")"
	says words "cannot create '$OPEN/roots/run.strata' as user 'nobody'.*unrecorded"
	[ -e "$OPEN/ran" ]
	SUDO_USER=nobody "$STRATA" record -o "$OPEN/run.strata" -- true 2>words
	same "owner" "$OTHER" "$(stat -c %u "$OPEN/run.strata")"
}

@test "SUDO_USER: a log that the user cannot read is not read" {
	open_folder
	line=':::MLLOG {"namespace": "", "time_ms": NOW, "event_type": "POINT_IN_TIME", "key": "hidden", "value": 1, "metadata": {}}'
	for mode in 600 644; do
		RUN=$OPEN/$mode.strata
		install -m $mode /dev/null "$OPEN/log"
		SUDO_USER=nobody "$STRATA" record -o "$RUN" --log "$OPEN/log" -- sleep 1 2>words &
		within 20 armed
		echo "${line/NOW/$(date +%s%3N)}" >>"$OPEN/log"
		wait $!
	done
	same "readable" 1 "$(count mark "name == 'hidden'")"
	RUN=$OPEN/600.strata
	same "closed" 0 "$(count mark)"
}

# ---- another user's job on root's terminal ----

# on_terminal KEYS CMD...: CMD in a shell on a terminal; once "ready" shows, KEYS are typed.
on_terminal() {
	chmod 711 "$T"
	run "$HERE/on_terminal.py" ready "$1" bash -c "$2"
	output=$(tr -d '\r' <<<"$output")
}

@test "a job of another user cannot type into root's terminal" {
	[ "$(cat /proc/sys/dev/tty/legacy_tiocsti 2>/dev/null || echo 1)" = 1 ] || skip "the kernel forbids it by itself"
	open_folder
	cat >"$OPEN/type.py" <<-'PYTHON'
		import fcntl, termios
		for fd in 0, 1, 2:
		    try:
		        for key in b"touched\n":
		            fcntl.ioctl(fd, termios.TIOCSTI, bytes([key]))
		    except OSError:
		        pass
	PYTHON
	for input in '' '</dev/null'; do
		for user in "-u nobody" ""; do
			SUDO_USER=nobody on_terminal "" \
				"$STRATA record -q --force -o $OPEN/run.strata $user -- /usr/bin/python3 $OPEN/type.py $input
				stty -echo; read -t 2 line; echo \"the shell got: \$line.\""
			says <(echo "$output") 'the shell got: \.'
		done
	done
	SUDO_USER=nobody on_terminal "" \
		"$STRATA record -q --force -o $OPEN/no/run.strata -- /usr/bin/python3 $OPEN/type.py
		$STRATA record -q --force -o /proc/run.strata -u nobody -- /usr/bin/python3 $OPEN/type.py
		stty -echo; read -t 2 line; echo \"the shell got: \$line.\""
	says <(echo "$output") 'the shell got: \.'
}

@test "on a terminal of its own: size, keys, Ctrl-C, exit status and other descriptors are as without" {
	strata="$STRATA record -q -u nobody --force -o $T/run.strata --"
	on_terminal "" "stty rows 33 cols 101; $strata sh -c 'stty size; test -t 2 && ls -l /proc/self/fd/2; exit 7'; echo status \$?; stty size"
	says <(echo "$output") '^33 101$'
	says <(echo "$output") '^status 7$'
	on_terminal "some words
" "$strata sh -c 'echo ready; read line; echo got: \$line'"
	says <(echo "$output") '^got: some words$'
	on_terminal ^C "$strata sh -c 'trap \"echo caught; exit 9\" INT; echo ready; while :; do sleep 0.05; done'; echo status \$?"
	same "interrupted" 1 "$(grep -c caught <<<"$output")"
	says <(echo "$output") '^status 9$'
	on_terminal ^C "$strata sh -c 'trap \"echo caught; exit 9\" INT; echo ready; while :; do sleep 0.05; done' </dev/null; echo status \$?"
	says <(echo "$output") '^status 9$'
	on_terminal "" "$strata sh -c 'printf \"a\\nb\\n\"; test -t 1 && echo terminal' >$T/out; echo ready"
	same "standard output" "$(printf 'a\nb')" "$(cat "$T/out")"
}

@test "on a terminal of its own: Ctrl-Z stops the job and strata, the shell has its terminal back, fg goes on" {
	open_folder
	cat >"$OPEN/job.sh" <<-'SHELL'
		echo ready
		while read -r line; do
		    echo "got $line"
		    [ "$line" != last ] || exit 5
		done
	SHELL
	run "$HERE/dialogue.py" env PS1='prompt> ' bash --norc --noprofile -i -- \
		'prompt> ' "$STRATA record -q -u nobody --force -o $RUN -- sh $OPEN/job.sh\n" \
		'ready' 'first\n' \
		'got first' '^Z' \
		'Stopped[^>]*prompt> ' "cut -d' ' -f3 /proc/\$(pgrep -u nobody -f $OPEN/job.sh)/stat | sed s/^/state:/\n" \
		'state:[A-Z][^>]*prompt> ' 'stty -a | grep -ow icanon | sed s/^/mode:/\n' \
		'mode:icanon[^>]*prompt> ' 'fg\n' \
		'fg[^>]*job.sh' 'last\n' \
		'got last[^>]*prompt> ' 'echo status: $?\n' \
		'status: [0-9][^>]*prompt> ' 'exit\n'
	output=$(tr -d '\r' <<<"$output")
	echo "$output"
	same "exit status" 0 $status
	says <(echo "$output") 'state:T$' # the job's; the shell has told strata's
	says <(echo "$output") 'status: 5$'
	says <(rows process "event == 'exit' and comm == 'sh'" exit_code) '^5$'
}

# Where /proc hides the processes of others, the shell's user sees none but its own.
@test "/proc mounted with hidepid: root's recording and that of a user are as without" {
	open_folder
	cat >hidden.sh <<-SHELL
		mount -t proc -o hidepid=2,gid=4242 proc /proc
		"$STRATA" record -q --interval 100ms -o "$OPEN/root.strata" -u nobody -- sh -c 'cat /proc/self/comm; sleep 0.3' >"$T/out" || exit 1
		setcap cap_bpf,cap_perfmon+ep "$OPEN/strata"
		setpriv --reuid 65534 --regid 65534 --clear-groups \
			"$OPEN/strata" record -q --interval 100ms -o "$OPEN/user.strata" -- sh -c 'cat /proc/self/comm; sleep 0.3' >>"$T/out"
	SHELL
	unshare -m sh hidden.sh
	same "the command's output" "cat cat" "$(xargs <out)"
	for name in root user; do
		RUN=$OPEN/$name.strata
		readable
		same "execs ($name)" "cat sh sleep" "$(rows process "event == 'exec'" comm | grep -xE 'cat|sh|sleep' | sort -u | xargs)"
		same "reads of its name ($name)" 4 "$(rows io "comm == 'cat' and dir == 'R' and path.endswith('/comm')" returned | head -1)"
		[ "$(count job "rss > 0")" -gt 0 ]
		same "absent ($name)" "" "$(rows run "key.startswith('absent')" key | grep -v 'fault.minor\|block.page\|gpu' || true)"
	done
}
