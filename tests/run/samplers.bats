#!/usr/bin/env bats
# The layers that are read from /proc each interval, against the tools that people read them with.

# bats file_tags=quiet
load lib
load disks
setup_file() { need_bpf; }
setup() { enter; }
teardown() { leave; }

# seeing 'FILE:TARGET ...' CMD...: runs CMD in the background, with each TARGET showing what FILE here holds.
seeing() {
	local pair mounts=

	for pair in $1; do
		mounts+="mount --bind '$T/${pair%%:*}' '${pair#*:}' && "
	done
	shift
	background unshare -m --propagation private sh -c "$mounts exec \"\$@\"" sh env LC_ALL=C "$@"
}

# The tool has taken its first reading and sleeps in pause(2), call 34, until its alarm.
between_readings() {
	grep -q '^34 ' "/proc/$PID/syscall"
}

# mpstat_agrees BEFORE AFTER: mpstat itself, shown the two texts as /proc/stat, prints what strata computes.
mpstat_agrees() {
	mkdir -p cpus/cpu{0,1,2,3,4,5,6,7}
	cp "$1" stat
	seeing "stat:/proc/stat cpus:/sys/devices/system/cpu" mpstat -P ALL 600 1
	within 10 between_readings
	cat "$2" >stat
	kill -ALRM $PID
	wait $PID
	# The first report; the averages after it also list CPUs that are offline.
	sed -n '/%usr/,/^$/p' out | sed -n '2,/^$/p' | sed '/^$/d; s/^[0-9:]* *\([AP]M\)\? *//; s/^all/-1/' |
		tr -s ' ' >theirs
	[ "$(wc -l <theirs)" -ge 2 ]
	same "mpstat's rows" "$(cat theirs)" "$("$ROOT/build/unit/test_sampler_cpu" "$1" "$2")"
}

@test "cpu: two readings give exactly what mpstat prints for them" {
	# CPU 0 has every column; 1 gets guest time before its user time, and loses iowait; 2 does not tick; 3 goes; 4 comes
	# as if new; 5 comes back with idle begun anew; the kernel's own sums are not to be used.
	cat >before <<-'STAT'
		cpu  7000 400 800 9000 310 20 30 40 500 60
		cpu0 1000 100 200 3000 50 5 6 7 100 10
		cpu1 2000 100 200 2000 100 5 8 11 200 20
		cpu2 3000 100 200 2000 60 5 8 11 100 10
		cpu3 1000 100 200 2000 100 5 8 11 100 20
		cpu5 1000 100 200 9000 900 5 8 11 100 20
		intr 5 0 0
		ctxt 100
	STAT
	cat >after <<-'STAT'
		cpu  7000 400 800 9000 310 20 30 40 500 60
		cpu0 1033 104 211 3057 53 7 9 8 113 13
		cpu1 2007 100 201 2091 97 5 8 11 211 20
		cpu2 3000 100 200 2000 60 5 8 11 100 10
		cpu4 10 1 2 20 10 5 8 11 1 0
		cpu5 1011 101 203 47 3 5 9 11 100 20
		intr 5 0 0
		ctxt 100
	STAT
	mpstat_agrees before after
	same "CPUs" "-1 0 1 2 5" "$(cut -d' ' -f1 theirs | tr '\n' ' ' | sed 's/ $//')"
}

@test "cpu: two readings of this machine give exactly what mpstat prints for them" {
	cat /proc/stat >before
	timeout 1 sh -c 'while :; do :; done' || true
	cat /proc/stat >after
	mpstat_agrees before after
}

@test "disk: two readings give exactly what iostat prints for them" {
	cat >before <<-'DISKSTATS'
		   7       0 loop0 413 0 16744 130 217 0 6384 50 0 104 186 0 0 0 0 14 5
		   7       1 loop1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
		   7       2 loop2 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
		 254       0 vda 222860 44905 22127178 152926 214834 82615 16569888 49578 0 73124 209798 48183 60 6248560 5762 44099 1530
		 259       0 nvme0n1 1000 1 8000 4294967290 1000 1 8000 4294967200 3 1000 4294967000
	DISKSTATS
	cat >after <<-'DISKSTATS'
		   7       0 loop0 413 0 16744 130 217 0 6384 50 0 104 186 0 0 0 0 14 5
		   7       1 loop1 10 0 80 7 0 0 0 0 0 13 7 0 0 0 0 0 0
		   7       2 loop2 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
		   8       0 sda 17 3 1024 70 2 1 16 1 0 33 71 0 0 0 0 0 0
		 254       0 vda 223861 44977 22327178 153926 216834 82915 16669890 51578 0 74024 211799 48190 60 6248960 5769 44199 1540
		 259       0 nvme0n1 1203 1 9624 50312 1000 1 8000 4294967200 0 1800 41077
	DISKSTATS
	"$ROOT/build/unit/test_sampler_disk" before after 137 | sort >ours
	same "devices" "loop0 loop1 nvme0n1 sda vda" "$(cut -d' ' -f1 ours | tr '\n' ' ' | sed 's/ $//')"
	for form in -x "-x -s"; do
		cp before diskstats
		echo "1000.00 2000.00" >uptime
		seeing "diskstats:/proc/diskstats uptime:/proc/uptime" iostat -d -k $form -y -p ALL 600 1
		within 10 between_readings
		cat after >diskstats
		echo "1001.37 2000.00" >uptime
		kill -ALRM $PID
		wait $PID
		# -p ALL, which makes iostat read /proc/diskstats, also lists what has never been used: loop2.
		sed -n '/^Device/,$p' out | sed '1d; /^$/d; /^loop2 /d' | sort >"report$form"
	done
	# Device r/s rkB/s rrqm/s %rrqm r_await rareq-sz w/s wkB/s wrqm/s %wrqm w_await wareq-sz ... aqu-sz %util
	same "iostat -x" "$(awk '{ print $1, $2, $8, $3, $9, $(NF - 1), $NF }' report-x)" \
		"$(awk '{ printf "%s %.2f %.2f %.2f %.2f %s %s\n", $1, $2 / 137 * 100, $3 / 137 * 100,
			$4 / 1024 / 137 * 100, $5 / 1024 / 137 * 100, $7, $6 }' ours)"
	# Device tps kB/s rqm/s await areq-sz aqu-sz %util
	same "iostat -x -s" "$(awk '{ print $1, $5 }' "report-x -s")" "$(awk '{ print $1, $8 }' ours)"
}

@test "cpu: beside mpstat under a steady load, the means of the whole run agree within a point" {
	background /usr/bin/python3 -c '
import time
while True:
    end = time.monotonic() + 0.05
    while time.monotonic() < end: pass
    time.sleep(0.05)'
	LC_ALL=C record -e cpu --interval 500ms -- mpstat -P ALL 1 6 >mpstat.out
	"$HERE/usage.py" mpstat "$RUN" mpstat.out
	"$HERE/usage.py" tiles "$RUN" cpu cpu
	same "rows of disk" 0 "$(count disk)"
}

# reads, read sectors, writes, written sectors of every whole disk
disk_counts() {
	for stat in /sys/block/*/stat; do
		awk -v dev="$(basename "$(dirname "$stat")")" \
			'{ printf "%s %.0f %.0f %.0f %.0f\n", dev, $1, $3 * 512, $5, $7 * 512 }' "$stat"
	done
}

@test "disk: beside iostat under a steady load, the means of the whole run agree within a point" {
	disk 64M
	background fio --name=steady --filename="$DISK" --rw=randread --bs=16m --direct=1 --ioengine=psync \
		--rate_iops=40 --time_based --runtime=60 --thread --output=fio.out
	sleep 1
	LC_ALL=C record -e disk --interval 500ms -- iostat -d -x -y 6 1 >iostat.out
	"$HERE/usage.py" iostat "$RUN" iostat.out "$NAME"
	"$HERE/usage.py" tiles "$RUN" disk dev
}

@test "disk: sums are the change of /sys/block/*/stat between readings around the recording, and inside it" {
	disk 64M
	export DISK
	export -f disk_counts
	disk_counts >outer.before
	record -e disk --interval 100ms -- bash -c '
		disk_counts >inner.before
		dd if=/dev/zero of="$DISK" bs=64k count=300 oflag=direct status=none
		sleep 0.3
		dd if="$DISK" of=/dev/null bs=16k count=500 iflag=direct status=none
		disk_counts >inner.after'
	disk_counts >outer.after
	rows disk True dev,reads,read_bytes,writes,write_bytes >ours
	awk -v loop="$NAME" '
		FILENAME ~ /before/ { for (i = 2; i <= 5; i++) n[FILENAME, $1, i] -= $i; next }
		FILENAME ~ /after/ { for (i = 2; i <= 5; i++) n[FILENAME, $1, i] += $i; all[$1]; next }
		{ for (i = 2; i <= 5; i++) sum[$1, i] += $i; had[$1] }
		END {
			for (dev in all)
				for (i = 2; i <= 5; i++) {
					inner = n["inner.before", dev, i] + n["inner.after", dev, i]
					outer = n["outer.before", dev, i] + n["outer.after", dev, i]
					if (sum[dev, i] < inner || sum[dev, i] > outer) {
						print dev, "column", i ":", inner, "<=", sum[dev, i] + 0, "<=", outer, "does not hold"
						bad = 1
					}
				}
			for (dev in had)
				if (!(dev in all)) { print dev, "is no whole disk"; bad = 1 }
			if (sum[loop, 2] < 500 || sum[loop, 4] < 300) { print "too little on", loop; bad = 1 }
			exit bad
		}' inner.before outer.before inner.after outer.after ours
}

@test "disk: a device that comes during the recording has its rows; partitions have none" {
	record_background -e disk --interval 100ms -a -d 3s
	disk 64M
	losetup -d "$DISK"
	# a partition table with one entry of 8 MiB
	/usr/bin/python3 -c '
import struct
with open("image", "r+b") as image:
    image.seek(446)
    image.write(struct.pack("<BxxxBxxxII48xH", 0, 0x83, 2048, 16384, 0xaa55))'
	DISK=$(losetup -P -f --show image)
	NAME=${DISK#/dev/}
	if [ -b "${DISK}p1" ]; then
		dd if="${DISK}p1" of=/dev/null bs=64k count=16 iflag=direct status=none
	else
		dd if="$DISK" of=/dev/null bs=64k count=16 iflag=direct status=none
	fi
	wait $PID
	[ "$(rows disk "dev == '$NAME'" reads | awk '{ n += $1 } END { print n + 0 }')" -ge 16 ]
	for dev in $(rows disk True dev | sort -u); do
		[ -e "/sys/block/$dev" ] && [ ! -e "/sys/class/block/$dev/partition" ]
	done
}

@test "--interval sets how long an interval is, and rows lie inside the recording" {
	record -e cpu,disk --interval 100ms -- sleep 1.05
	"$HERE/usage.py" tiles "$RUN" cpu cpu
	"$HERE/usage.py" tiles "$RUN" disk dev
	[ "$(count cpu "cpu == -1")" -ge 5 ]
	same "short intervals" 0 "$(count cpu "dur < 90_000_000 and ts + dur < $(rows run "key == 'stop_ts'" value) - 50_000_000")"
	"$STRATA" dump "$RUN" cpu --columns cpu,usr,idle >/dev/null
}

@test "without -e both layers are recorded; with others named, neither is read" {
	record -- true
	says <("$STRATA" info "$RUN") 'layers: .*cpu,disk'
	strace -f -e trace=openat -o calls "$STRATA" record -o other.strata -e io -- true 2>words
	same "files of the samplers" "" "$(grep -E '/proc/(stat|diskstats)' calls || true)"
	RUN=other.strata
	same "rows" "0 0" "$(count cpu) $(count disk)"
	"$STRATA" info --json "$RUN" >info
	same "layers" '["process","io"]' "$(jq -c .layers info)"
}

@test "a layer that this machine cannot give: said, stored as absent, and a failure only when named" {
	/usr/bin/python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("unopenable")'
	: >empty
	seeing "unopenable:/proc/diskstats empty:/proc/stat" "$STRATA" record -o "$RUN" -- true
	wait $PID
	says err "layer 'disk' is not recorded: cannot open /proc/diskstats"
	says err "layer 'cpu' is not recorded: /proc/stat"
	"$STRATA" info --json "$RUN" >info
	same "absent" "cannot open /proc/diskstats" "$(jq -r .absent.disk info | cut -c1-27)"
	same "layers" "false false true" "$(jq -c '.layers | index("cpu") != null, index("disk") != null,
		index("io") != null' info | tr '\n' ' ' | sed 's/ $//')"
	seeing "unopenable:/proc/diskstats" "$STRATA" record -o other.strata -e disk -- touch ran
	status=0
	wait $PID || status=$?
	same "exit status" 125 $status
	says err "cannot record layer 'disk': cannot open /proc/diskstats"
	[ ! -e ran ] && [ ! -e other.strata ]
}
