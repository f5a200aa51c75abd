# Real ClickHouse servers for the tests of this folder, on this machine: `load ../run/lib` first.
#
#     shards_start N        N servers with one cluster, `three`, over all of them; their addresses are in $SHARDS (commas between)
#     shard_begin I         starts server I again, the first is 1; shard_kill I kills it
#     ask I SQL             what server I answers
#
# Each server takes three ports from $PORT on. Their data lie below $FOLDER.

CLICKHOUSE=$(PATH=$PATH:/usr/sbin command -v clickhouse-server || true)

need_clickhouse() {
	[ -n "$CLICKHOUSE" ] || skip "there is no clickhouse-server"
}

# free_ports N: the first of N ports in a row that nobody has.
free_ports() {
	/usr/bin/python3 - "$1" <<'END'
import random, socket, sys

def free(port):
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            s.bind(("127.0.0.1", port))
            return True
        except OSError:
            return False

while True:
    first = random.randrange(20000, 30000)
    if all(free(first + i) for i in range(int(sys.argv[1]))):
        print(first)
        break
END
}

shard_config() {
	local folder=$FOLDER/shard$1 port=$((PORT + 3 * ($1 - 1))) i

	mkdir -p "$folder"
	cat >"$folder/config.xml" <<END
<yandex>
<logger><level>warning</level><log>$folder/log</log><errorlog>$folder/errors</errorlog></logger>
<http_port>$port</http_port><tcp_port>$((port + 1))</tcp_port><interserver_http_port>$((port + 2))</interserver_http_port>
<listen_host>127.0.0.1</listen_host>
<path>$folder/data/</path><tmp_path>$folder/tmp/</tmp_path><user_files_path>$folder/files/</user_files_path>
<format_schema_path>$folder/schemas/</format_schema_path>
<users_config>users.xml</users_config><default_profile>default</default_profile><default_database>default</default_database>
<mark_cache_size>134217728</mark_cache_size><uncompressed_cache_size>134217728</uncompressed_cache_size><timezone>UTC</timezone>
<remote_servers><three>
$(for ((i = 1; i <= COUNT; i++)); do
		echo "<shard><replica><host>127.0.0.1</host><port>$((PORT + 3 * (i - 1) + 1))</port></replica></shard>"
	done)
</three></remote_servers>
</yandex>
END
	cat >"$folder/users.xml" <<'END'
<yandex><profiles><default><max_memory_usage>4000000000</max_memory_usage></default></profiles>
<users><default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default></users>
<quotas><default><interval><duration>3600</duration><queries>0</queries><errors>0</errors><result_rows>0</result_rows>
<read_rows>0</read_rows><execution_time>0</execution_time></interval></default></quotas></yandex>
END
}

# Returns when it answers.
shard_begin() {
	local port=$((PORT + 3 * ($1 - 1)))

	# No child of the test's own shell, which waits for those.
	(
		setsid "$CLICKHOUSE" --config="$FOLDER/shard$1/config.xml" >"$FOLDER/shard$1/out" 2>&1 3>&- </dev/null &
		echo $! >"$FOLDER/shard$1/pid"
	)
	within 30 curl -sf -o /dev/null "http://127.0.0.1:$port/ping"
}

shard_kill() {
	local pid

	pid=$(cat "$FOLDER/shard$1/pid")
	kill -KILL "$pid" 2>/dev/null
	within 10 gone "$pid"
}

shards_start() {
	local i

	FOLDER=$BATS_FILE_TMPDIR COUNT=$1 PORT=$(free_ports $((3 * $1))) SHARDS=
	export FOLDER COUNT PORT SHARDS
	for ((i = 1; i <= COUNT; i++)); do
		shard_config $i
		shard_begin $i
		SHARDS=$SHARDS${SHARDS:+,}http://127.0.0.1:$((PORT + 3 * (i - 1)))
	done
}

shards_stop() {
	local i

	for ((i = 1; i <= ${COUNT:-0}; i++)); do
		shard_kill $i
	done
}

# ask I SQL
ask() {
	curl -sf --data-binary "$2" "http://127.0.0.1:$((PORT + 3 * ($1 - 1)))/?database=strata" ||
		curl -s --data-binary "$2" "http://127.0.0.1:$((PORT + 3 * ($1 - 1)))/?database=strata"
}
