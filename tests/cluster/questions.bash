# The questions of docs/cluster.md, asked of rows whose answers are known. `load shards` first; the tables of strata are there.

# The statements of the page, one a line.
questions() {
	awk '/^    SELECT/ { on = 1 }
		on && /^    / { sub(/^ +/, ""); line = line (line ? " " : "") $0; next }
		on { print line; line = ""; on = 0 }
		END { if (line) print line }' "$ROOT/docs/cluster.md"
}

# Job 42 on nodes q0 to q2, a rank each: rank 1 is 7 ms late at step 0, rank 2 is 3 ms at step 1; a disk answers in 1 to 100 us times
# the node's number + 1; a node's disks read 4096 bytes times that for each 4096 that calls got.
question_rows() {
	local who="concat('q', toString(number % 3)) AS node, '42' AS job, number % 3 AS job_rank, 'q' AS run, 1 AS batch, toDate('2026-11-01') AS day"

	ask 1 "INSERT INTO mark (ts, name, value, utc, node, job, job_rank, run, batch, day) SELECT number AS ts, 'step' AS name,
		toString(intDiv(number, 3)) AS value, 1000000000 * intDiv(number, 3) + if(number = 1, 7000000, 0) + if(number = 5, 3000000, 0) AS utc,
		$who FROM (SELECT number FROM system.numbers LIMIT 6)"
	ask 1 "INSERT INTO block (ts, dev, op, dur, bytes, node, job, job_rank, run, batch, day) SELECT number AS ts, 'sda' AS dev, 'R' AS op,
		1000 * (number % 3 + 1) * (intDiv(number, 3) + 1) AS dur, 4096 * (number % 3 + 1) AS bytes, $who FROM (SELECT number FROM system.numbers LIMIT 300)"
	ask 1 "INSERT INTO io (ts, dir, returned, node, job, job_rank, run, batch, day) SELECT number AS ts, 'R' AS dir, 4096 AS returned, $who
		FROM (SELECT number FROM system.numbers LIMIT 300)"
}

questions_answered() {
	local answers=()

	question_rows
	same "questions of the page" 3 "$(questions | wc -l)"
	while read -r sql; do
		answers+=("$(ask 1 "$sql" | grep -v '^demo' | sort | tr '\t' ' ')")
	done < <(questions)
	same "late ranks, with ms" $'0 1 7\n1 2 3' "${answers[0]}"
	same "slow disks" $'q0 sda 100 100\nq1 sda 100 200\nq2 sda 100 300' "${answers[1]}"
	same "read amplification" $'q0 1\nq1 2\nq2 3' "${answers[2]}"
}
