#!/usr/bin/env bats
# Exports to files: classic layouts and CSV, and what happens when something is wrong. Perfetto and .pfw are in tests/web.

load lib
setup_file() { need_bpf; }

setup() {
	T=$(realpath "$BATS_TEST_TMPDIR")
	RUN=$T/run.strata
	DEMO=$ROOT/tests/data/demo.strata
	cd "$T"
}

teardown() { leave; }

needs_bpf() {
	[ -z "$REFUSED" ] || skip "$REFUSED"
}

odd() {
	"$ROOT/tests/web/odd_rows.py" | "$ROOT/build/tools/rows_to_run" odd.strata
}

LAYOUTS="switches bio open vfs_rw read write close create_del mmap munmap time_align pids cpu gpu dmon"

@test "an unknown format is answered with the list, a missing one too" {
	run -2 "$STRATA" export "$DEMO" -f perfeto
	for format in perfetto pfw csv classic trace_visuals $LAYOUTS; do
		grep -qw "$format" <<<"$output"
	done
	run -2 "$STRATA" export "$DEMO"
	grep -qw perfetto <<<"$output"
	run -2 "$STRATA" export -f perfetto
	run -2 "$STRATA" export -f csv "$DEMO" "$DEMO" -o folder
	run -2 "$STRATA" export -f csv "$DEMO" -o -
	run -2 "$STRATA" export -f perfetto "$DEMO" -e io,nonsense
	grep -q "unknown layer 'nonsense'" <<<"$output"
	run -2 "$STRATA" export -f perfetto "$DEMO" --from yesterday
	run -2 "$STRATA" export -f perfetto "$DEMO" --from 2 --to 1
	run -2 "$STRATA" export -f perfetto "$DEMO" --max-size many
	[ -z "$(ls)" ]
}

@test "the trace itself is not overwritten" {
	cp "$DEMO" copy.strata
	run -2 "$STRATA" export copy.strata -f pfw -o copy.strata
	ln -s copy.strata link
	run -2 "$STRATA" export copy.strata -f pfw -o link
	cmp copy.strata "$DEMO"
}

@test "output appears whole or not at all" {
	echo old >out
	run -1 "$STRATA" export "$DEMO" -f perfetto --max-size 64K -o out
	grep -q "limit of 64.0 KiB.*--from.*--to" <<<"$output"
	same "the file that was there" old "$(cat out)"
	for format in csv classic; do
		run -1 "$STRATA" export "$DEMO" -f $format --max-size 64K -o folder
		[ ! -e folder ]
	done
	mkdir folder
	run -1 "$STRATA" export "$DEMO" -f csv --max-size 64K -o folder
	same "files" "" "$(ls -A folder)"
	run -1 "$STRATA" export "$DEMO" -f perfetto -o missing/out
	run -1 "$STRATA" export "$DEMO" -f pfw -o folder
	run -1 "$STRATA" export "$DEMO" -f csv -o out
	same "files" "folder out" "$(ls -A | xargs)"
	"$STRATA" export -q "$DEMO" -f perfetto -o out
	[ "$(stat -c %s out)" -gt 100000 ]
	same "mode" "$(umask | awk '{ printf "%o", 438 - ($1 % 10) - int($1 / 10) % 10 * 8 }')" "$(stat -c %a out)"
}

@test "an export that is killed leaves nothing" {
	"$ROOT/tests/web/odd_rows.py" 100000 | "$ROOT/build/tools/rows_to_run" big.strata
	background "$STRATA" export big.strata -f csv -o folder
	within 20 test -d folder
	kill -KILL "$PID"
	wait "$PID" || true
	same "files" "" "$(ls -A folder | grep -v '\.csv$' || true)"
}

@test "the limit's message names a window that fits" {
	odd
	"$ROOT/tests/web/odd_rows.py" 200000 | "$ROOT/build/tools/rows_to_run" big.strata
	run -1 "$STRATA" export big.strata -f perfetto --max-size 16M -o out
	window=$(grep -oE -- '--from [0-9.]+ --to [0-9.]+' <<<"$output")
	# shellcheck disable=SC2086 # two options
	"$STRATA" export -q big.strata -f perfetto --max-size 16M $window -o out
	"$STRATA" export -q big.strata -f perfetto --max-size 0 -o out
}

@test "a cut trace gives what comes before, with a warning" {
	head -c 120000 "$DEMO" >cut.strata
	for format in perfetto pfw csv classic; do
		"$STRATA" export cut.strata -f $format -o out-$format 2>words
		says words "damaged"
	done
	rows=$("$STRATA" dump cut.strata io 2>/dev/null | wc -l)
	[ "$rows" -gt 100 ]
	same "rows of io" "$rows" "$(wc -l <out-csv/io.csv)"
	echo nothing >no.strata
	run -1 "$STRATA" export no.strata -f perfetto -o none
	[ ! -e none ]
}

@test "a bar with rate and remaining time on a terminal, and nothing elsewhere" {
	"$ROOT/tests/web/odd_rows.py" 200000 | "$ROOT/build/tools/rows_to_run" big.strata
	"$HERE/on_terminal.py" never "" "$STRATA" export big.strata -f pfw -o out.pfw.gz >shown
	says shown '\[#*\.*\] +[0-9]+ %  [0-9,]+ rows/s, .* left'
	"$STRATA" export big.strata -f pfw -o out.pfw.gz 2>words
	same "lines" 1 "$(wc -l <words)"
	"$STRATA" export -q big.strata -f pfw -o out.pfw.gz 2>words
	same "words" "" "$(cat words)"
}

@test "a window in UTC is the window in seconds" {
	start=$("$STRATA" info "$DEMO" | sed -n 's/ *start: //p')
	from=$(date -u -d "$start + 0.5 seconds" +%Y-%m-%dT%H:%M:%S.%NZ)
	"$STRATA" export -q "$DEMO" -f vfs_rw --from 0.5 -o seconds
	"$STRATA" export -q "$DEMO" -f vfs_rw --from "$from" -o utc
	cmp seconds utc
	[ "$(wc -l <utc)" -gt 10 ]
}

@test "parquet: the rows and columns of csv, as DuckDB reads them back" {
	[ -e "$ROOT/build/libduckdb.so" ] || skip "DuckDB's library is not there"
	"$STRATA" export "$DEMO" -f csv -o csv 2>/dev/null
	"$STRATA" export "$DEMO" -f parquet -o parquet
	for table in io fs mem process file run clock; do
		"$STRATA" sql --allow-files -f csv "$DEMO" "from 'parquet/$table.parquet'" >"$table.csv"
		same "header of $table" "$(head -1 "csv/$table.csv")" "$(head -1 "$table.csv")"
		same "rows of $table" "$(wc -l <"csv/$table.csv")" "$(wc -l <"$table.csv")"
		same "$table" "$(tail -n +2 "csv/$table.csv" | sort)" "$(tail -n +2 "$table.csv" | sort)"
	done
	same "files" "$(ls csv | sed 's/csv$/parquet/')" "$(ls parquet)"
}

@test "csv: each table as dump prints it, empty ones with a note" {
	"$STRATA" export "$DEMO" -f csv -o folder 2>words
	says words "no rows in:.*gpu"
	tables=0
	for file in folder/*.csv; do
		table=$(basename "$file" .csv)
		"$STRATA" dump "$DEMO" "$table" | cmp - "$file"
		tables=$((tables + 1))
	done
	[ $tables -ge 20 ]
	"$STRATA" export -q "$DEMO" -f csv -e io --from 0.5 -o part
	"$STRATA" dump "$DEMO" io --from 0.5 | cmp - part/io.csv
	[ ! -e part/fs.csv ]
}

@test "classic: every layout, its header and its number of columns, whatever the names" {
	odd
	"$STRATA" export odd.strata -f classic -o folder 2>words
	same "files" "$(tr ' ' '\n' <<<"$LAYOUTS" | sort | xargs)" "$(ls folder | xargs)"
	while read -r layout columns; do
		grep -qxE 'Attaching [0-9]+ probes?\.\.\.' <(head -1 folder/"$layout")
		if [ "$layout" != switches ]; then
			same "header of $layout" "$columns" "$(sed -n 2p folder/"$layout")"
		fi
		same "columns of $layout" "$(wc -w <<<"$columns")" "$(tail -n +2 folder/"$layout" | awk '{ print NF }' | sort -u)"
		[ "$(wc -l <folder/"$layout")" -gt 2 ] || grep -q "no lines in:.*$layout" words
	done <<-EOF
		switches comm pid cpu nsecs
		bio TIMESTAMP TIME PID COMM DONEPID DONECOMM DISK T SECTOR BYTES LAT
		open TIMESTAMP TIME PID COMM FUNC LAT FILE
		vfs_rw TIMESTAMP TIME PID COMM R/W LAT REQUESTED RETURNED FILE
		read TIMESTAMP PID OFFSET RET LAT FILENAME
		write TIMESTAMP PID OFFSET SIZE LAT FILENAME
		close TIMESTAMP PID FD LAT FILENAME
		create_del TIMESTAMP PID FUNCTION MODE LAT FILENAME
		mmap TIMESTAMP PID FD ADDRESS LAT FILENAME
		munmap TIMESTAMP PID ADDRESS LEN LAT
		time_align TIMESTAMP HH:MM:SS
	EOF
}

@test "classic: times at the end of the call, errors negative, unknown as -, unfinished left out" {
	odd
	export TZ=Asia/Kathmandu
	"$STRATA" export -q odd.strata -f classic -o folder
	same vfs_rw "$(cat <<-'EOF'
		Attaching 6 probes...
		TIMESTAMP TIME PID COMM R/W LAT REQUESTED RETURNED FILE
		7000 2026-09-21T19:58:20.000007000 10 a\xff\x20b R 5000 10 -5 /data/\xff\xfe\x0a"\x5c\x20x
		13000 2026-09-21T19:58:20.000013000 10 a\xff\x20b R 9000 10 7 /data/\xff\xfe\x0a"\x5c\x20x
		14000 2026-09-21T19:58:20.000014000 10 a\xff\x20b R 9000 10 7 /data/\xff\xfe\x0a"\x5c\x20x
		40010 2026-09-21T19:58:20.000040010 2147483647 - R 10 10 0 -
		250010 2026-09-21T19:58:20.000250010 12 new R 10 10 0 /plain
	EOF
	)" "$(cat folder/vfs_rw)"
	same read "13000 10 4 7 9000" "$(sed -n 4p folder/read | cut -d' ' -f1-5)"
	same open "15010 2026-09-21T19:58:20.000015010 10 a\\xff\\x20b openat 10 \"\"" "$(sed -n 3p folder/open)"
	same create_del "16010 10 openat 0644 10 \\x2d" "$(sed -n 3p folder/create_del)"
	same mmap "$(printf '17010 10 - 0x7fffffffe000 10 -\n18010 10 - -22 10 -')" "$(tail -n +3 folder/mmap)"
	same munmap "19010 10 0x7fffffffe000 4096 10" "$(sed -n 3p folder/munmap)"
	same bio "24000 2026-09-21T19:58:20.000024000 10 a\\xff\\x20b 2147483647 - vda 0 - 4096 1500" "$(sed -n 3p folder/bio)"
	same time_align "999999999 19:58:20 1000000000 19:58:21" "$(sed -n 3,4p folder/time_align | xargs)"
	same switches "a\\xff\\x20b 10 0 1500" "$(sed -n 2p folder/switches)"
}

@test "classic: what goes through io_uring opens, closes, creates and deletes too; reads and writes are calls alone" {
	"$ROOT/build/tools/rows_to_run" queued.strata <<-EOF
		fs ts=1000 dur=10 pid=7 tid=7 op=openat arg_path=a flags=0 returned=3
		fs ts=2000 dur=10 pid=7 tid=7 op=io_uring_openat arg_path=b flags=0x42 mode=0640 returned=4
		fs ts=3000 dur=10 pid=7 tid=7 op=io_uring_openat2 arg_path=c flags=0 returned=5
		fs ts=4000 dur=10 pid=7 tid=7 op=creat arg_path=d mode=0600 returned=6
		fs ts=5000 dur=10 pid=7 tid=7 op=io_uring_close fd=4 returned=0
		fs ts=6000 dur=10 pid=7 tid=7 op=close fd=3 returned=0
		fs ts=7000 dur=10 pid=7 tid=7 op=io_uring_unlinkat arg_path=b returned=0
		fs ts=8000 dur=10 pid=7 tid=7 op=rmdir arg_path=e returned=0
		fs ts=9000 dur=10 pid=7 tid=7 op=newfstatat arg_path=a returned=0
		io ts=1000 dur=10 pid=7 tid=7 op=io_uring_read dir=R requested=1 returned=1
		io ts=2000 dur=10 pid=7 tid=7 op=pread64 dir=R requested=1 returned=1
		io ts=3000 dur=10 pid=7 tid=7 op=readv dir=R requested=1 returned=1
		io ts=4000 dur=10 pid=7 tid=7 op=aio_pwrite dir=W requested=1 returned=1
		io ts=5000 dur=10 pid=7 tid=7 op=write dir=W requested=1 returned=1
	EOF
	"$STRATA" export -q queued.strata -f classic -o folder
	same open "openat a io_uring_openat b io_uring_openat2 c creat d" \
		"$(tail -n +3 folder/open | awk '{ print $5, $7 }' | xargs)"
	same close "4 3" "$(tail -n +3 folder/close | awk '{ print $3 }' | xargs)"
	same create_del "io_uring_openat 0640 creat 0600 io_uring_unlinkat - rmdir -" \
		"$(tail -n +3 folder/create_del | awk '{ print $3, $4 }' | xargs)"
	same vfs_rw "2010 R 5010 W" "$(tail -n +3 folder/vfs_rw | awk '{ print $1, $5 }' | xargs)"
	same read 2010 "$(tail -n +3 folder/read | awk '{ print $1 }' | xargs)"
	same write 5010 "$(tail -n +3 folder/write | awk '{ print $1 }' | xargs)"
}

@test "--raw prints names as they are" {
	odd
	"$STRATA" export odd.strata -f vfs_rw --raw -o - 2>/dev/null >raw
	grep -aqF "$(printf 'a\xff b R 5000 10 -5 /data/\xff\xfe')" raw
	grep -aqF '"\ x' raw
}

@test "one layout to stdout, and lines in order of TIMESTAMP" {
	"$STRATA" export "$DEMO" -f vfs_rw -o - >all
	rows=$("$STRATA" dump "$DEMO" io --columns op | grep -cxE 'read|pread64|write|pwrite64')
	same "lines" "$rows" "$(($(wc -l <all) - 2))"
	tail -n +3 all | sort -c -n -k1,1
	"$STRATA" export "$DEMO" -f open -o - | sed -n 2p >first
	same header "TIMESTAMP TIME PID COMM FUNC LAT FILE" "$(cat first)"
}

@test "gpu as nvidia-smi pmon prints it" {
	odd
	TZ=UTC "$STRATA" export -q odd.strata -f gpu -o gpu
	same lines "$(cat <<-'EOF'
		#Date        Time         gpu         pid   type     sm    mem    enc    dec    jpg    ofa     fb   ccpm    command
		#YYYYMMDD    HH:MM:SS     Idx           #    C/G      %      %      %      %      %      %     MB     MB    name
		 20260921    14:13:20       0         10     C     44      3      -      -      -      -     10      -    py\x20thon
		 20260921    14:13:28       0          -     -      -      -      -      -      -      -      -      -    -
	EOF
	)" "$(sed 's/ *$//' gpu)"
}

# The user time of each CPU and of all, averaged over mpstat's own intervals, by column name.
MPSTAT='$2 == "CPU" { for (i = 3; i <= NF; i++) if ($i == "%usr") usr = i; next }
	$1 != "Average:" && NF > 10 { sum[$2] += $usr; count[$2]++ }
	END { for (cpu in sum) printf "%s %.2f %d\n", cpu, sum[cpu] / count[cpu], count[cpu] }'

@test "cpu parses as mpstat's own output does, and the means of a steady load agree" {
	needs_bpf
	background taskset -c 0 sh -c 'while :; do :; done'
	within 10 busy "$PID"
	record -e cpu -- env LC_ALL=C mpstat -P ALL 1 6 >mpstat
	"$STRATA" export -q "$RUN" -f cpu -o cpu
	sed '/^Average/,$d' mpstat | awk "$MPSTAT" | sort >theirs
	# The recording is a little longer than what it records: whole intervals only.
	sed '/^Average/,$d' cpu | awk "$MPSTAT" | sort >ours
	same "CPUs" "$(cut -d' ' -f1 theirs)" "$(cut -d' ' -f1 ours)"
	awk '$1 == "Average:" && NF > 10 { print $2, $3 }' mpstat | sort >theirs.mean
	awk '$1 == "Average:" && NF > 10 { print $2, $3 }' cpu | sort >ours.mean
	join theirs.mean ours.mean | awk '{ d = $2 - $3; if (d < 0) d = -d; if (d > 1) { print "means differ:", $0; bad = 1 } }
		END { exit bad || NR < 2 }'
}

busy() {
	[ "$(awk '{ print $14 }' "/proc/$1/stat" 2>/dev/null)" -gt 20 ] 2>/dev/null
}

# Whether the program has printed something; fails at once when it has ended instead.
printed() {
	[ -s out ] || ! gone "$1" || {
		cat err
		exit 1
	}
	[ -s out ]
}

@test "switches are the lines that a bpftrace script prints at sched_switch" {
	needs_bpf
	command -v bpftrace >/dev/null || skip "no bpftrace"
	grep -qw tracefs /proc/filesystems || skip "no tracefs in this kernel"
	background "$ROOT/scripts/with-tracefs" bpftrace -B line \
		-e 'tracepoint:sched:sched_switch { printf("%s %d %d %llu\n", comm, pid, cpu, nsecs); }'
	within 60 printed "$PID"
	record -e sched -a -d 3s
	kill -INT "$PID"
	wait "$PID" || true
	"$STRATA" export -q "$RUN" -f switches -o switches
	"$HERE/switches.py" out err switches
}
