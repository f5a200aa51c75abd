#!/usr/bin/env bats
# The report page in headless Chromium: what it shows, how it moves, and what it never does.

load ../run/lib

HERE=$ROOT/tests/run
SHOTS=$ROOT/build/web

setup_file() { need_bpf; }

setup() {
	command -v chromium >/dev/null || skip "chromium is not installed"
	T=$(realpath "$BATS_TEST_TMPDIR")
	RUN=$T/run.strata
	mkdir -p "$SHOTS"
	cd "$T" || return 1
}

drive() {
	"$STRATA" report -q --html page.html "$RUN"
	"$STRATA" report --json "$RUN" >report.json
	node "$ROOT/tests/web/drive.js" "$T/page.html" report.json "$SHOTS"
}

@test "the page of a real training job: numbers, zoom, pan, hover, filter, link, themes" {
	[ -z "$REFUSED" ] || skip "$REFUSED"
	/usr/bin/python3 "$TRAIN" --prepare --samples 64 data
	record -- /usr/bin/python3 "$TRAIN" --samples 64 --epochs 2 data
	drive
	# the selection as SQL: all rows of the run, but of table fs only the opens
	"$STRATA" sql -f csv "$RUN" "$(grep 'FROM fs ' view.sql)" >opens.csv
	same "rows of opens" "$(jq .files.opens report.json)" "$(($(wc -l <opens.csv) - 1))"
	"$STRATA" sql -f csv "$RUN" "$(cat view.sql)" >/dev/null
}

@test "text, JSON and page of a training job tell the same figures" {
	[ -z "$REFUSED" ] || skip "$REFUSED"
	/usr/bin/python3 "$TRAIN" --prepare --samples 64 data
	record -- /usr/bin/python3 "$TRAIN" --samples 64 --epochs 2 data
	"$STRATA" report -q --html page.html "$RUN"
	"$ROOT/tests/web/check_same.py" "$RUN" page.html
}

@test "the page of the recording that ships" {
	RUN=$ROOT/tests/data/demo.strata drive
}

@test "names with HTML, quotes and control characters are shown, never interpreted" {
	[ -z "$REFUSED" ] || skip "$REFUSED"
	name=$'\'"<img src=x onerror=hacked=1><b>\x01\n<!--'
	head -c 50000 /dev/zero >"$name"
	mkdir -p '<' && head -c 50000 /dev/zero >'</script><script>hacked=1;&'
	record -e io,fs -- cat "$name" '</script><script>hacked=1;&' >/dev/null
	drive
	"$STRATA" report -q --svg figure.svg "$RUN"
	/usr/bin/python3 -c 'import xml.dom.minidom, sys; xml.dom.minidom.parse("figure.svg")'
}

@test "ten million rows make a page of less than 15 MB, which works" {
	"$ROOT/build/bench/make_run" "$RUN" 10000000
	drive
	size=$(stat -c %s page.html)
	echo "$size bytes"
	[ "$size" -lt 15000000 ]
}

@test "an empty run, and one phase alone, have a page and a figure" {
	[ -z "$REFUSED" ] || skip "$REFUSED"
	record -e process -- true
	"$STRATA" report -q --html page.html --svg figure.svg "$RUN"
	"$STRATA" report --json "$RUN" >report.json
	cat >open.js <<-JS
		const { chromium } = require('$ROOT/build/npm/playwright-core');
		(async () => {
			const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
			const page = await browser.newPage();
			let errors = 0;
			page.on('pageerror', (e) => { errors++; console.log(e.message); });
			await page.goto('file://$T/page.html');
			await page.waitForSelector('html[data-ready=yes]');
			console.log(await page.textContent('#warning'));
			await browser.close();
			process.exit(errors);
		})();
	JS
	node open.js >out
	says out "Layer sched was not recorded"
	/usr/bin/python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse("figure.svg")'
}

@test "several containers have a section of their own; one has none" {
	rows_of() {
		echo "run key=layers value=process,sched"
		for i in 1 2 3; do
			echo "process ts=${i}000 event=fork pid=$i tid=$i comm=sh container=box$((i > $1 ? $1 : i))"
			echo "sched ts=${i}0000 dur=${i}00 cpu=0 pid=$i tid=$i"
		done
	}
	for containers in 2 1; do
		rows_of $containers | "$ROOT/build/tools/rows_to_run" run$containers.strata
		"$STRATA" report -q --html page$containers.html run$containers.strata
	done
	cat >open.js <<-JS
		const { chromium } = require('$ROOT/build/npm/playwright-core');
		(async () => {
			const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
			for (const n of [2, 1]) {
				const page = await browser.newPage();
				page.on('pageerror', (e) => console.log('error', e.message));
				await page.goto('file://$T/page' + n + '.html');
				await page.waitForSelector('html[data-ready=yes]');
				console.log(await page.isVisible('#containers-section'));
				for (const row of await page.locator('#containers tbody tr').all())
					console.log((await row.locator('td').allTextContents()).slice(0, 3).join(' '));
			}
			await browser.close();
		})();
	JS
	node open.js >out
	same "sections" "$(printf '%s\n' true "box2 2 500 ns" "box1 1 100 ns" false)" "$(cat out)"
}

@test "the page of a difference tells what changed as the JSON does" {
	[ -z "$REFUSED" ] || skip "$REFUSED"
	head -c 1M /dev/zero >data
	"$STRATA" record -q -o a.strata -e io,fs -- dd if=data of=/dev/null bs=64K status=none
	"$STRATA" record -q -o b.strata -e io,fs -- dd if=data of=/dev/null bs=4K status=none
	"$STRATA" diff -q --html page.html a.strata b.strata
	"$STRATA" diff --json a.strata b.strata >diff.json
	cat >open.js <<-JS
		const { chromium } = require('$ROOT/build/npm/playwright-core');
		(async () => {
			const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
			const page = await browser.newPage();
			page.on('pageerror', (e) => console.log('error', e.message));
			await page.goto('file://$T/page.html');
			await page.waitForSelector('html[data-ready=yes]');
			await page.selectOption('#group', 'operations');
			console.log(await page.locator('#changes-list tbody tr').count());
			await browser.close();
		})();
	JS
	same "rows" "$(jq '[.items[] | select(.group == "operations" and .verdict != "same")] | length' diff.json)" "$(node open.js)"
}
