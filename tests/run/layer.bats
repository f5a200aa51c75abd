# A layer is one BPF file, one probe file and its rows in the schema: tests/layer adds one to a copy of the tree, which then
# records it and reads it in every way that there is. CONTRIBUTING.md tells it.
load lib

setup_file() {
	need_bpf
	[ -z "$REFUSED" ] || return 0
	export TREE=$BATS_FILE_TMPDIR/tree
	mkdir "$TREE"
	cd "$ROOT" || return 1
	git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$TREE"
	# What is built already and what was fetched is taken along; what the new rows change is built anew.
	cp -a build "$TREE/"
	cp -a "$TREE/src" "$BATS_FILE_TMPDIR/before"
	tests/layer/add "$TREE"
	make -C "$TREE" -j"$(nproc)" all >"$BATS_FILE_TMPDIR/log" 2>&1 || {
		tail -n 20 "$BATS_FILE_TMPDIR/log"
		return 1
	}
}
setup() {
	enter
	STRATA=$TREE/build/strata
}
teardown() { leave; }

# Three signals to the job's own shell, which it ignores.
job=(sh -c 'trap "" USR1; kill -USR1 $$; kill -USR1 $$; kill -USR1 $$')

@test "nothing else of the tree had to change" {
	diff -rq "$BATS_FILE_TMPDIR/before" "$TREE/src" >changed || true
	same "files" "Files $BATS_FILE_TMPDIR/before/schema/layers.def and $TREE/src/schema/layers.def differ
Files $BATS_FILE_TMPDIR/before/schema/tables.def and $TREE/src/schema/tables.def differ
Only in $TREE/src/bpf: signal.bpf.c
Only in $TREE/src/probes: signal.c" "$(LC_ALL=C sort changed)"
}

@test "the layer is recorded by default and by name, and read by dump, info, sql and exports" {
	for layers in "" "-e signal"; do
		record --force $layers -- "${job[@]}"
		same "signals of $layers" "10 10 10" "$(rows signal 'number == 10' number | xargs)"
	done
	"$STRATA" info "$RUN" >info
	says info '^ *layers: .*signal'
	says info '^signal +[0-9]'
	"$STRATA" dump "$RUN" signal >dump
	says dump '^ts,dur,cpu,pid,tid,comm,number$'
	same "by sql" 3 "$("$STRATA" sql "$RUN" -f csv "SELECT count(*) FROM signal WHERE number = 10 AND comm = 'sh'" | tail -n 1)"
	"$STRATA" export "$RUN" -f csv -o csv
	same "by csv" 3 "$(awk -F, '$7 == 10' csv/signal.csv | wc -l)"
	"$STRATA" export "$RUN" -f pfw -o run.pfw
	same "by pfw" 3 "$(grep '"cat":"SIGNAL"' run.pfw | grep -c '"number":10')"
	"$STRATA" export "$RUN" -f perfetto -o run.pftrace
	[ "$(strings run.pftrace | grep -cx signal)" -ge 1 ]
}

@test "it is one of those that -e lists, and that the documentation tells of" {
	"$STRATA" record -e list >list
	says list '^signal +by default +signals sent to threads'
	make -C "$TREE" build/tools/schema-docs >/dev/null
	"$TREE/build/tools/schema-docs" >tables.md
	says tables.md '^## signal'
}
