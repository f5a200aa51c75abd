# Agents for the tests of this folder.

# agent NODE [OPTION...]: an agent on a free port of loopback, with the store $T/NODE.db, ready; its port is in $PORT, its id in
# $AGENT, its words in $T/NODE.err.
agent() {
	local node=$1

	shift
	background "$STRATA" agent --node "$node" --listen 127.0.0.1:0 --store "$T/$node.db" "$@"
	within 10 [ -e err ]
	mv err "$node.err"
	AGENT=$PID
	within 20 grep -q 'serving on port' "$node.err"
	PORT=$(sed -n 's/.*serving on port \([0-9]*\).*/\1/p' "$node.err")
}

# fetch PATH [CURL_OPTION...]
fetch() {
	curl -sS --max-time 20 "http://127.0.0.1:$PORT$1" "${@:2}"
}

# own NAME: a figure of the agent about itself.
own() {
	fetch /metrics | sed -n "s/^strata_agent_$1{.*} //p"
}

# intervals N: at least that many are in the store.
intervals() {
	[ "$(own intervals_total)" -ge "$1" ]
}

# in_store SQL: asked of $T/n1.db with a reader that is not strata's.
in_store() {
	/usr/bin/python3 -c 'import sqlite3, sys; [print(*row) for row in sqlite3.connect(sys.argv[1]).execute(sys.argv[2])]' \
		"$T/n1.db" "$1"
}
