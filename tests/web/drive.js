#!/usr/bin/env node
/* Drives a report page in Chromium and says what it finds wrong.
 *
 *     drive.js PAGE JSON SCREENSHOTS     JSON: what `strata report --json` printed for the same run
 */
'use strict';
const fs = require('fs');
const path = require('path');
const { chromium } = require(path.join(__dirname, '../../build/npm/playwright-core'));

const [page_file, json_file, shots] = process.argv.slice(2);
const report = JSON.parse(fs.readFileSync(json_file, 'utf8'));
let wrong = 0, checked = 0;
function check(what, holds, found) {
	checked++;
	if (holds) return;
	wrong++;
	console.log(`wrong: ${what}${found === undefined ? '' : `: ${found}`}`);
}

function bytes(value) {
	const names = ['KiB', 'MiB', 'GiB'], rounded = (amount, unit) => Math.floor((amount + unit / 2) / unit);
	let i = 0;
	if (value < 1024) return value + ' B';
	while (i < 2 && rounded(value, 1024 ** (i + 1)) >= 1024) i++;
	const tenths = rounded(value * 10, 1024 ** (i + 1));
	return (tenths < 1000 ? (tenths / 10).toFixed(1) : rounded(value, 1024 ** (i + 1))) + ' ' + names[i];
}

async function open(browser, address, noises) {
	const page = await browser.newPage({ viewport: { width: 1200, height: 900 } });
	page.on('console', (message) => noises.push('console: ' + message.text()));
	page.on('pageerror', (error) => noises.push('error: ' + error.message));
	page.on('request', (request) => { if (!request.url().startsWith('file://' + page_file)) noises.push('request: ' + request.url()); });
	await page.goto(address);
	await page.waitForSelector('html[data-ready=yes]', { timeout: 60000 });
	return page;
}
/* The page draws in the next frame and writes its address a moment after that: by its own clock, however busy the machine. */
const settled = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 200))));
const span = async (page) => {
	await settled(page);
	const hash = new URLSearchParams(await page.evaluate(() => location.hash.slice(1)));
	return hash.has('from') ? [Number(hash.get('from')), Number(hash.get('to'))] : [0, report.run.window_ns];
};

/* Where the lanes are, in view. */
async function lanes(page) {
	await page.evaluate(() => document.getElementById('lanes').scrollIntoView({ block: 'center' }));
	return page.locator('#lanes').boundingBox();
}

async function checkNumbers(page) {
	const key = (name) => page.textContent(`[data-key=${name}]`, { timeout: 5000 }).then((text) => text, () => 'missing');
	check('bytes read', (await key('read_bytes')).startsWith(bytes(report.files.regular.read.bytes)), await key('read_bytes'));
	check('opens', (await key('opens')).includes(report.files.opens.toLocaleString('en-US')), await key('opens'));
	check('events lost', (await key('lost')).startsWith(String(report.cost.lost)), await key('lost'));
	check('steps', !report.steps.count || (await key('steps')).startsWith(String(report.steps.count)), await key('steps'));
	check('command', (await page.textContent('#command')) === report.run.command, await page.textContent('#command'));
	const rows = await page.locator('#files tbody tr').all();
	const regular = report.files.list.filter((file) => file.regular);
	check('rows of files', rows.length === Math.min(regular.length, 40), rows.length);
	for (let i = 0; i < Math.min(rows.length, 5); i++) {
		const cells = await rows[i].locator('td').allTextContents();
		check(`path of file ${i}`, cells[8] === regular[i].path, cells[8]);
		check(`bytes of file ${i}`, cells[0] === bytes(regular[i].read.bytes), cells[0]);
		check(`reads of file ${i}`, cells[1] === regular[i].read.calls.toLocaleString('en-US'), cells[1]);
	}
	const tasks = await page.locator('#tasks .row').count();
	const named = report.tasks.names.filter((task) => task.cpu_ns && !task.idle).filter((task, i) => i < 15 || task.telling).length;
	check('tasks without idle', tasks === named, tasks);
	await page.check('#with-idle');
	const texts = await page.locator('#tasks .row > :first-child').allTextContents();
	check('tasks with idle', !report.tasks.idle_ns || texts.includes('idle'), texts.join());
	check('phases', (await page.locator('#phase-time tbody tr').count()) === Math.min(report.phases.list.length, 200));
	const op = report.files.operations.findIndex((o) => o.size.count);
	if (op < 0) return;
	await page.selectOption('#op', String(op));
	const bins = await page.locator('#latency .row').count();
	check('bins of latency', bins === report.files.operations[op].latency.bins.filter(Boolean).length, bins);
}

async function checkView(page) {
	const canvas = page.locator('#lanes'), box = await lanes(page), whole = await span(page);

	await page.mouse.move(box.x + box.width / 2, box.y + 8);
	for (let i = 0; i < 5; i++) await page.mouse.wheel(0, -200);
	const zoomed = await span(page);
	check('the wheel zooms in', zoomed[1] - zoomed[0] < (whole[1] - whole[0]) / 5, zoomed);
	await page.mouse.down();
	await page.mouse.move(box.x + box.width / 2 - 200, box.y + 8, { steps: 4 });
	await page.mouse.up();
	const panned = await span(page);
	check('dragging pans', panned[0] > zoomed[0] && Math.abs(panned[1] - panned[0] - (zoomed[1] - zoomed[0])) < 1000, panned);
	const sql = await page.textContent('#sql');
	check('SQL has the bounds', sql.includes(String(BigInt(report.run.window_start_ts) + BigInt(panned[0]))), sql);
	await canvas.focus();
	await page.keyboard.press('ArrowLeft');
	const left = await span(page);
	check('the left key pans back', left[0] < panned[0], left);
	await page.keyboard.press('-');
	check('the minus key zooms out', (await span(page))[1] - (await span(page))[0] > left[1] - left[0]);
	await page.keyboard.press('0');
	check('the 0 key shows all', (await span(page))[1] - (await span(page))[0] === whole[1] - whole[0]);
	for (let i = 0; i < 60; i++) await page.keyboard.press('+');
	const close = await span(page);
	check('zoom reaches microseconds', close[1] - close[0] <= 10000, close);
	await page.keyboard.press('0');
	await page.mouse.move(box.x + 300, box.y + 8);
	await page.keyboard.down('Shift');
	await page.mouse.down();
	await page.mouse.move(box.x + 500, box.y + 8, { steps: 3 });
	await page.mouse.up();
	await page.keyboard.up('Shift');
	const chosen = await span(page);
	check('shift and dragging selects', chosen[1] - chosen[0] < (whole[1] - whole[0]) / 2, chosen);
	await page.keyboard.press('0');
	await span(page);
}

/* What the page shows of table fs with other metadata calls hidden: every way to open a file, and SQL that says so. */
async function checkSql(page) {
	await page.uncheck('#kinds label:has-text("metadata") input');
	await span(page);
	const sql = await page.textContent('#sql'), fs_line = sql.split('\n').find((line) => line.includes('FROM fs ')) ?? '';
	check('SQL names the calls that open', ['openat', 'creat', 'io_uring_openat'].every((name) => fs_line.includes(`'${name}'`)), fs_line);
	check('SQL of a table shown whole has no condition', !/ (op|dir) /.test(sql.split('\n').find((line) => line.includes('FROM io ')) ?? ''), sql);
	fs.writeFileSync(path.join(path.dirname(json_file), 'view.sql'), sql);
	await page.check('#kinds label:has-text("metadata") input');
	await span(page);
}

/* Looks for a call along the first lane: told with its path and bytes; a click keeps its path alone. */
async function checkCall(page) {
	let tip = '';

	for (const kind of ['on CPU', 'block', 'metadata', 'open', 'write']) await page.uncheck(`#kinds label:has-text("${kind}") input`);
	await span(page);
	const box = await lanes(page);
	for (let x = 175; x < box.width - 5; x += 2) {
		await page.mouse.move(box.x + x, box.y + 12);
		tip = await page.locator('#tip').isVisible() ? await page.textContent('#tip') : '';
		if (tip.includes('/') && tip.includes(' bytes')) break;
	}
	check('hovering tells a call', /^\w+ [\d.]+ (ns|us|ms|s) at \d+\.\d{9} s, thread \d+, [\d,]+ bytes\n\//.test(tip), tip);
	await page.mouse.down();
	await page.mouse.up();
	await settled(page);
	const filter = await page.inputValue('#filter'), where = tip.slice(tip.indexOf('\n') + 1);
	check('a click filters by its path', filter === where, filter);
	check('SQL has the path', (await page.textContent('#sql')).includes(`contains(path, '${where.replaceAll("'", "''")}')`), await page.textContent('#sql'));
	const paths = new Set(await page.locator('#calls tbody td:last-child').allTextContents());
	check('only its calls are listed', paths.size === 1 && paths.has(where), [...paths].join());
	return page.url();
}

async function checkTheme(page) {
	const back = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
	const before = await back();

	await page.click('#theme');
	check('the theme changes', (await back()) !== before, before);
	await page.screenshot({ path: path.join(shots, 'dark.png') });
	await page.click('#theme');
	check('the theme changes back', (await back()) === before);
}

async function checkReach(page) {
	const names = await page.evaluate(() => [...document.querySelectorAll('button, input, select, canvas')]
		.filter((e) => !(e.labels?.length || e.textContent.trim() || e.getAttribute('aria-label'))).map((e) => e.outerHTML));
	check('everything has a name', names.length === 0, names.join());
	check('tables have headings', await page.evaluate(() => [...document.querySelectorAll('table:not(.u-legend)')].every((t) => t.querySelector('th[scope=col]'))));
	await page.emulateMedia({ media: 'print' });
	check('print hides the tools', await page.locator('.tools').isHidden());
	await page.emulateMedia({ media: 'screen' });
}

(async () => {
	const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] }), noises = [];
	try {
		const page = await open(browser, 'file://' + page_file, noises);
		await page.screenshot({ path: path.join(shots, 'page.png') });
		await checkNumbers(page);
		await checkView(page);
		await checkSql(page);
		await checkTheme(page);
		await checkReach(page);
		const link = await checkCall(page);
		const again = await open(browser, link, noises);
		check('the link shows the same selection', (await again.textContent('#selection')) === (await page.textContent('#selection')), link);
		check('nothing of the trace was run', (await page.evaluate(() => window.hacked)) === undefined);
		await page.screenshot({ path: path.join(shots, 'filtered.png') });
		check('no error, no request', noises.length === 0, noises.join('\n'));
	} finally {
		await browser.close();
	}
	console.log(`${checked} checked, ${wrong} wrong`);
	process.exit(wrong ? 1 : 0);
})().catch((error) => { console.log(error); process.exit(1); });
