#!/usr/bin/env bats
# fork, exec, exit and rename of processes and threads, from the first execve to the last exit.

load lib
setup_file() { need_bpf; }
setup() { enter; mkdir work; }
teardown() { leave; }

# first COLUMN: of the job's own execve.
first() {
	rows process "event == 'exec'" "$1" | head -1
}

@test "rows begin with the execve of the command and end with the exit of the last process" {
	run -3 record --scope job -e io,fs,mem -- sh -c '/bin/true; exit 3'
	same "events" "exec fork exec exit exit" "$(rows process "event != 'exists'" event | xargs)"
	start=$(rows process "event == 'exec'" ts | head -1)
	same "calls before it" 0 "$(count io,fs,mem "ts < $start")"
	same "exit codes" "0 3" "$(rows process "event == 'exit'" exit_code | xargs)"
	shell=$(first pid)
	same "the child's parent" "$shell" "$(rows process "event == 'fork'" ppid)"
	same "calls of others" 0 "$(count io,fs,mem "comm not in ('sh', 'true')")"
}

@test "exec: program, arguments, user" {
	record --scope job -- /bin/echo 'two words' 'back\slash' '' last >/dev/null
	same exe "$(realpath /bin/echo)" "$(realpath "$(first exe)")"
	same comm echo "$(first comm)"
	same uid 0 "$(first uid)"
	# As a shell needs them: its words are the arguments again.
	eval "set -- $(printf %b "$(first args)")"
	same args "$(printf '<%s>' /bin/echo 'two words' 'back\slash' '' last)" "$(printf '<%s>' "$@")"
}

@test "exec: an argument list too long to keep is cut, and that is counted" {
	record --scope job -- /bin/true $(seq 100000 | head -c 100000)
	says <(first args) '^/bin/true.x20' || says <(first args) '^/bin/true 1 2 3 '
	same "loss" "process 1 string cut" "$(printf %b "$(rows loss True layer,count,reason | tr '\t' ' ')")"
}

@test "exec of a script: the interpreter is the program" {
	printf '#!/bin/sh\nexit 0\n' >script
	chmod +x script
	record --scope job -- ./script x
	same exe "$(realpath /bin/sh)" "$(realpath "$(first exe)")"
	same comm script "$(first comm)"
}

@test "death by a signal: minus its number" {
	run record --scope job -- sh -c 'sh -c "kill -SEGV \$\$"; kill -TERM $$'
	same "exit codes" "-11 -15" "$(rows process "event == 'exit'" exit_code | xargs)"
}

@test "500 threads at once" {
	record --scope job -e io,fs -- "$W/threads" "$T/work" 500
	no_loss
	pid=$(first pid)
	same "forks of threads" 500 "$(count process "event == 'fork' and pid == $pid and tid != pid")"
	same "exits" 501 "$(count process "event == 'exit' and pid == $pid")"
	same "threads that wrote" 500 "$(rows io "op == 'write' and '/work/' in path" tid | sort -u | wc -l)"
	same "bytes written" 150000 "$(rows io "op == 'write' and '/work/' in path" returned |
		awk '{ n += $1 } END { print n }')"
	same "files" 500 "$(rows io "op == 'pread64' and '/work/' in path and returned == 300" path | sort -u | wc -l)"
}

@test "10,000 short-lived processes, each tenth with an exec" {
	head -c 20000 /dev/zero >data
	record --scope job -e io,fs -- "$W/forks" "$T/data" 10000
	no_loss
	pid=$(first pid)
	rows process "ppid == $pid" event >events
	same forks 10000 "$(grep -c fork events)"
	same "exec in children" 1000 "$(count process "event == 'exec' and pid != $pid")"
	same exits 10001 "$(count process "event == 'exit'")"
	same "sum of the exit codes" "$(seq 0 9999 | awk '{ n += $1 % 100 } END { print n }')" \
		"$(rows process "event == 'exit'" exit_code | awk '{ n += $1 } END { print n }')"
	same "children's reads by pread" 9000 "$(count io "op == 'pread64' and path == '$T/data'")"
	same "their positions" "$(seq 0 9999 | grep -v '0$')" \
		"$(rows io "op == 'pread64' and path == '$T/data'" pos | sort -n)"
	same "reads after exec" 1000 "$(count io "op == 'read' and path == '$T/data' and returned == 16")"
}

@test "exec from a thread that is not the leader" {
	run -5 record --scope job -e io,fs -- "$W/execthread" "$T/work"
	read -r pid tid <<<"${lines[0]}"
	same "after the exec the leader's id holds" "$pid $pid" "${lines[1]}"
	[ "$pid" != "$tid" ]
	same "ids that wrote" "leader $pid $pid thread $pid $tid after $pid $pid" \
		"$(rows io "op == 'write' and '/work/' in path" path,pid,tid | sed 's|.*/work/||' | xargs)"
	same "the exec" "$pid $pid" "$(rows process "event == 'exec'" pid,tid | tail -1 | tr '\t' ' ')"
	same "exit code" 5 "$(rows process "event == 'exit'" exit_code | tail -1)"
	no_loss
}

@test "renames of threads by prctl and through /proc" {
	record --scope job -e io,fs -- "$W/rename" "$T/work" >names
	while read -r tid _ new; do
		same "rename of $tid" "$new" "$(printf %b "$(rows process "event == 'rename' and tid == $tid" comm)")"
	done <names
	comm() { printf %b "$(rows io "op == 'write' and path == '$T/work/$1'" comm)"; }
	same "before prctl" rename "$(comm prctl-before)"
	same "after prctl" "by prctl" "$(comm prctl-after)"
	same "before /proc" rename "$(comm proc-before)"
	same "after /proc" "by proc" "$(comm proc-after)"
	same "main thread" "the main thread" "$(comm main-after)"
}

@test "a process id used again: the second process has a name and files of its own" {
	pid=$(record --scope job -e io,fs -- "$W/pidreuse" "$T/work")
	same "forks, exits" "fork exit fork exit" \
		"$(rows process "pid == $pid and event != 'rename'" event | xargs)"
	same "exit codes" "10 20" "$(rows process "pid == $pid and event == 'exit'" exit_code | xargs)"
	same "names and files" "$(printf '%s\t%s\t%s\n' first 10 "$T/work/first" second 20 "$T/work/second")" \
		"$(rows io "pid == $pid and op == 'write'" comm,returned,path)"
	same "two threads of one id" 2 \
		"$(rows thread "tid == $pid and comm in ('first', 'second')" comm | sort -u | wc -l)"
}

@test "vfork and posix_spawn" {
	record --scope job -e io -- /usr/bin/python3 -c "
import os, subprocess
subprocess.run(['/bin/true'])
os.waitpid(os.posix_spawn('/bin/false', ['false'], {}), 0)"
	same "exec in children" "true false" "$(rows process "event == 'exec'" comm | tail -2 | xargs)"
	same "their exit codes" "0 1 0" "$(rows process "event == 'exit' and tid == pid" exit_code | xargs)"
}

@test "who made each process and thread: the creating thread's id" {
	record --scope job -e io -- /usr/bin/python3 -c '
import os, sys, threading
def work(depth):
    me = threading.get_native_id()
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
    made = [(child, me)]
    if depth:
        thread = threading.Thread(target=work, args=(depth - 1,))
        thread.start()
        made.append((thread.native_id, me))
        thread.join()
    for one in made:
        print(*one, flush=True)
work(4)' >told
	[ "$(wc -l <told)" = 9 ]
	same "creators" "$(sort told)" "$(rows process "event == 'fork'" tid,creator_tid | tr '\t' ' ' | sort)"
	same "of other events" "-" "$(rows process "event != 'fork'" creator_tid | sort -u)"
}
