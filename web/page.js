'use strict';
/* The report page. Everything that comes from the trace is text: it is put into the page with textContent and onto
 * canvases, never as HTML. `report` is what `strata report --json` prints, `line` the timeline (src/render/page_html.c). */
(async () => {
const { report, timeline: line, diff } = JSON.parse(document.getElementById('data').textContent);
const get = (id) => document.getElementById(id);

/* ---- units, as the program prints them ---- */

function three(value, unit) {
	return (value >= 99.95 ? value.toFixed(0) : value >= 9.995 ? value.toFixed(1) : value.toFixed(2)) + ' ' + unit;
}
function duration(ns) {
	if (ns < 1000) return Math.round(ns) + ' ns';
	if (ns < 999.5e3) return three(ns / 1e3, 'us');
	if (ns < 999.5e6) return three(ns / 1e6, 'ms');
	if (ns < 59.5e9) return three(ns / 1e9, 's');
	const seconds = Math.round(ns / 1e9);
	return seconds < 3600 ? `${Math.floor(seconds / 60)} min ${seconds % 60} s`
		: `${Math.floor(seconds / 3600)} h ${Math.round(seconds % 3600 / 60)} min`;
}
function bytes(value) {
	const names = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
	let i = -1;
	if (value < 1024) return Math.round(value) + ' B';
	do { value /= 1024; i++; } while (value >= 1023.5 && i + 1 < names.length);
	return (value < 99.95 ? value.toFixed(1) : value.toFixed(0)) + ' ' + names[i];
}
const count = (value) => value.toLocaleString('en-US');
const percent = (part, whole) => whole > 0 ? (part / whole * 100).toFixed(1) + ' %' : '-';

/* ---- small builders ---- */

function element(name, text, className) {
	const made = document.createElement(name);
	if (text !== undefined) made.textContent = text;
	if (className) made.className = className;
	return made;
}
function table(into, heads, rows) {
	const made = element('table'), head = made.createTHead().insertRow(), body = made.createTBody();
	for (const [title, text] of heads) {
		const cell = element('th', title, text ? 'text' : '');
		cell.scope = 'col';
		head.append(cell);
	}
	for (const row of rows) {
		const tr = body.insertRow();
		row.forEach((value, i) => {
			const cell = tr.insertCell();
			if (value instanceof Node) cell.append(value);
			else cell.textContent = value;
			if (heads[i][1]) cell.className = 'text';
		});
	}
	into.replaceChildren(made);
}
/* Rows of [name, text, share]. */
function bars(into, rows, none) {
	into.replaceChildren(...rows.map(([name, text, share]) => {
		const row = element('div', undefined, 'row'), bar = element('div', undefined, 'bar'), box = element('div');
		bar.style.width = Math.min(share * 100, 100) + '%';
		box.append(bar);
		row.append(element('div', name), element('div', text, 'value'), box);
		return row;
	}));
	if (!rows.length) into.textContent = none;
}

/* ---- the arrays of the timeline ---- */

async function inflate(text) {
	const packed = atob(text), raw = new Uint8Array(packed.length);
	for (let i = 0; i < packed.length; i++) raw[i] = packed.charCodeAt(i);
	const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream('deflate'));
	return new Response(stream).arrayBuffer();
}
const buffer = await inflate(get('arrays').textContent);
get('arrays').remove();
let at = 0;
function array(Type, length) {
	const made = new Type(buffer, at, length);
	at += made.byteLength;
	return made;
}
const events = line.events;
const start = array(Float64Array, events), dur = array(Float64Array, events), moved = array(Float64Array, events);
const series = line.series.map(() => array(Float32Array, line.slices));
const readBytes = array(Float32Array, line.slices), missedBytes = array(Float32Array, line.slices);
const tid = array(Uint32Array, events), path = array(Uint32Array, events);
const heat = array(Uint32Array, line.heat_slices * line.heat_latencies);
const op = array(Uint16Array, events), lane = array(Uint8Array, events), kind = array(Uint8Array, events);
const busy = line.lanes.map(() => line.kinds.map(() => array(Uint8Array, line.slices)));
const length = Math.max(line.length_ns, 1), slice = length / line.slices;

/* ---- what is selected; the address keeps it ---- */

const view = { from: 0, to: length, filter: '', lane: -1, hidden: new Set() };
function readAddress() {
	const given = new URLSearchParams(location.hash.slice(1));
	view.from = Math.max(Number(given.get('from')) || 0, 0);
	view.to = Math.min(Number(given.get('to')) || length, length);
	if (!(view.to > view.from)) { view.from = 0; view.to = length; }
	view.filter = given.get('path') || '';
	view.lane = line.lanes.findIndex((l) => l.pid !== null && String(l.pid) === given.get('pid'));
	view.hidden = new Set((given.get('hide') || '').split(',').filter(Boolean).map((name) => line.kinds.indexOf(name)));
}
function address() {
	const made = new URLSearchParams();
	if (view.from > 0 || view.to < length) { made.set('from', Math.round(view.from)); made.set('to', Math.round(view.to)); }
	if (view.filter) made.set('path', view.filter);
	if (view.lane >= 0 && line.lanes[view.lane].pid !== null) made.set('pid', line.lanes[view.lane].pid);
	if (view.hidden.size) made.set('hide', [...view.hidden].map((k) => line.kinds[k]).join(','));
	return '#' + made;
}
function sql() {
	const quote = (text) => "'" + text.replaceAll("'", "''") + "'";
	const absolute = (ns) => (BigInt(line.start_ts) + BigInt(Math.round(ns))).toString();
	const tables = { sched: ['cpu'], io: ['read', 'write'], fs: ['open', 'metadata'], block: ['block'] };
	const asked = [];
	for (const [name, kinds] of Object.entries(tables)) {
		const shown = kinds.filter((k) => !view.hidden.has(line.kinds.indexOf(k)));
		const where = [`ts + coalesce(dur, 0) >= ${absolute(view.from)}`, `ts <= ${absolute(view.to)}`];
		if (!shown.length || (name === 'sched' && view.filter)) continue;
		if (view.lane >= 0 && line.lanes[view.lane].pid !== null) where.push(`pid = ${line.lanes[view.lane].pid}`);
		if (view.filter) where.push(`contains(path, ${quote(view.filter)})`);
		if (name === 'io' && shown.length === 1) where.push(shown[0] === 'read' ? "dir <> 'W'" : "dir = 'W'");
		if (name === 'fs' && shown.length === 1) where.push(shown[0] === 'open' ? "op LIKE 'open%'" : "op NOT LIKE 'open%'");
		asked.push(`SELECT * FROM ${name} WHERE ${where.join(' AND ')} ORDER BY ts;`);
	}
	return asked.join('\n');
}
/* Whether an event is to be shown, wherever the view is. */
function wanted(i) {
	if (view.hidden.has(kind[i]) || (view.lane >= 0 && lane[i] !== view.lane)) return false;
	return !view.filter || (path[i] > 0 && matching[path[i] - 1]);
}
let matching = [];
function match() {
	matching = view.filter ? line.paths.map((text) => text.includes(view.filter)) : [];
}

/* ---- lanes ---- */

const canvas = get('lanes'), ROW = 22, LABEL = 170;
let colours = {};
function readColours() {
	const style = getComputedStyle(document.documentElement);
	for (const name of [...line.kinds, 'text', 'dim', 'line', 'back', 'panel', 'bar'])
		colours[name] = style.getPropertyValue('--' + name).trim();
}
function sized(target, height) {
	const width = target.parentElement.clientWidth, ratio = window.devicePixelRatio || 1;
	target.width = Math.round(width * ratio);
	target.height = Math.round(height * ratio);
	target.style.height = height + 'px';
	const context = target.getContext('2d');
	context.scale(ratio, ratio);
	context.clearRect(0, 0, width, height);
	return [context, width];
}
const xOf = (ns, width) => LABEL + (ns - view.from) / (view.to - view.from) * (width - LABEL);
const nsOf = (x, width) => view.from + (x - LABEL) / (width - LABEL) * (view.to - view.from);

/* One column of pixels is the mean of its slices. */
function drawSlices(context, width) {
	for (let l = 0; l < line.lanes.length; l++) {
		if (view.lane >= 0 && l !== view.lane) continue;
		for (let k = 0; k < line.kinds.length; k++) {
			if (view.hidden.has(k)) continue;
			const values = busy[l][k], full = k === 0 ? ROW - 4 : ROW - 8;
			context.fillStyle = colours[line.kinds[k]];
			for (let x = LABEL; x < width; x++) {
				const first = Math.max(Math.floor(nsOf(x, width) / slice), 0);
				const last = Math.min(Math.max(Math.ceil(nsOf(x + 1, width) / slice), first + 1), line.slices);
				let most = 0;
				for (let s = first; s < last; s++) most = Math.max(most, values[s]);
				if (!most) continue;
				const tall = Math.max(most / 255 * full, 2);
				context.fillRect(x, l * ROW + ROW - 2 - tall, 1, tall);
			}
		}
	}
}
function drawEvents(context, width) {
	const scale = (width - LABEL) / (view.to - view.from);
	for (let k = 0; k < line.kinds.length; k++) {
		context.fillStyle = colours[line.kinds[k]];
		const tall = k === 0 ? ROW - 4 : ROW - 9;
		for (let i = 0; i < events; i++) {
			if (kind[i] !== k || start[i] > view.to || start[i] + dur[i] < view.from || !wanted(i)) continue;
			const x = Math.max(xOf(start[i], width), LABEL);
			const end = Math.min(xOf(start[i] + dur[i], width), width);
			context.fillRect(x, lane[i] * ROW + ROW - 2 - tall, Math.max(end - x, Math.min(1, scale * 1e9)), tall);
		}
	}
}
function drawLabels(context, width) {
	context.font = '12px system-ui, sans-serif';
	context.textBaseline = 'middle';
	line.lanes.forEach((l, i) => {
		context.fillStyle = view.lane < 0 || view.lane === i ? colours.text : colours.dim;
		const name = l.pid === null ? l.name : `${l.name} ${l.pid} ${l.role}`;
		context.fillText(name, 2, i * ROW + ROW / 2, LABEL - 8);
		context.fillStyle = colours.line;
		context.fillRect(0, i * ROW + ROW - 1, width, 1);
	});
}
function drawAxis(context, width, top) {
	context.fillStyle = colours.dim;
	context.font = '11px system-ui, sans-serif';
	const span = view.to - view.from, rough = span / 8, unit = 10 ** Math.floor(Math.log10(rough));
	const step = [1, 2, 5, 10].map((n) => n * unit).find((n) => n >= rough);
	for (let t = Math.ceil(view.from / step) * step; t <= view.to; t += step) {
		const x = xOf(t, width);
		context.fillStyle = colours.line;
		context.fillRect(x, 0, 1, top + 3);
		context.fillStyle = colours.dim;
		context.fillText(span < 1e6 ? `${(t / 1e9).toFixed(9)} s` : `${+(t / 1e9).toFixed(6)} s`, Math.min(x + 2, width - 80), top + 9);
	}
}
let exact = false;
function drawLanes() {
	const height = Math.max(line.lanes.length, 1) * ROW + 18;
	const [context, width] = sized(canvas, height);
	/* Filters need the events themselves; so does a view in which a slice is wider than some pixels. */
	exact = view.filter !== '' || (view.to - view.from) / slice < (width - LABEL) / 4;
	drawAxis(context, width, height - 18);
	if (exact) drawEvents(context, width);
	else drawSlices(context, width);
	drawLabels(context, width);
}

/* ---- phases and steps ---- */

function drawPhases() {
	const box = get('phases'), list = report.phases.list;
	let shown = box.querySelector('canvas');
	if (!shown) box.append(shown = element('canvas'));
	const deep = Math.min(Math.max(...list.map((p) => p.depth)) + 1, 4), height = deep * 16 + (line.steps.length ? 8 : 0);
	const [context, width] = sized(shown, height);
	shown.setAttribute('role', 'img');
	shown.setAttribute('aria-label', 'Phases: ' + list.slice(0, 30).map((p) => `${p.name} ${duration(p.length_ns)}`).join(', '));
	context.font = '11px system-ui, sans-serif';
	context.textBaseline = 'middle';
	list.forEach((p, i) => {
		const from = xOf(p.start_ts - line.start_ts, width), to = xOf(p.end_ts - line.start_ts, width);
		if (to < LABEL || from > width) return;
		const x = Math.max(from, LABEL), w = Math.min(to, width) - x, y = Math.min(p.depth, 3) * 16;
		context.fillStyle = i % 2 ? colours.panel : colours.line;
		context.fillRect(x, y, w, 14);
		context.fillStyle = colours.text;
		if (w > 30) context.fillText(p.name, x + 3, y + 7, w - 6);
	});
	context.fillStyle = colours.bar;
	for (let i = 0; i < line.steps.length; i += 2) {
		const from = xOf(line.steps[i], width), to = xOf(line.steps[i] + line.steps[i + 1], width);
		if (to >= LABEL && from <= width)
			context.fillRect(Math.max(from, LABEL), deep * 16, Math.max(Math.min(to, width) - Math.max(from, LABEL) - 1, 1), 6);
	}
	context.fillStyle = colours.dim;
	context.fillText(line.steps.length ? `phases, steps (${report.steps.source})` : 'phases', 2, 7);
}

/* ---- curves ---- */

const seconds = Float64Array.from({ length: line.slices }, (_, i) => (i + 0.5) * slice / 1e9);
const plots = [];
const palette = () => [colours.read, colours.write, colours.open, colours.metadata, colours.block, colours.cpu];
function curve(into, title, unit, names, values, height) {
	const options = {
		height, width: into.clientWidth, cursor: { drag: { x: false, y: false } }, padding: [6, 0, 0, 0],
		scales: { x: { time: false } },
		axes: [{ stroke: colours.text, grid: { stroke: colours.line, width: 1 }, size: 24, values: (u, ticks) => ticks.map((t) => +t.toFixed(9) + ' s') },
			{ stroke: colours.text, grid: { stroke: colours.line, width: 1 }, label: title, labelSize: 20, size: LABEL - 20,
				values: (u, ticks) => ticks.map((v) => unit === 'bytes/s' ? bytes(v) + '/s' : v + ' ' + unit) }],
		series: [{ label: 's' }, ...names.map((label, i) => ({ label, stroke: palette()[i % 6], width: 1.5, points: { show: false },
			paths: uPlot.paths.stepped({ align: 1 }),
			value: (u, v) => v === null ? '-' : unit === 'bytes/s' ? bytes(v) + '/s' : v.toFixed(1) + ' ' + unit }))],
	};
	const data = [seconds, ...values.map((v) => Array.from(v, (x) => Number.isNaN(x) ? null : x))];
	const plot = new uPlot(options, data, into);
	plots.push(plot);
	const drawn = plot.root.querySelector('canvas');
	drawn.setAttribute('role', 'img');
	drawn.setAttribute('aria-label', `${title || 'Share of bytes'} over time: ${names.join(', ')}, in ${unit}`);
	return plot;
}
function makeCurves() {
	plots.splice(0).forEach((plot) => plot.destroy());
	for (const [group, title] of [['cpu', 'CPUs'], ['gpu', 'GPUs'], ['disk', 'Disks']]) {
		const chosen = line.series.map((s, i) => i).filter((i) => line.series[i].group === group);
		if (chosen.length)
			curve(get('curves'), title, line.series[chosen[0]].unit, chosen.map((i) => line.series[i].name),
				chosen.map((i) => series[i]), 110);
	}
	const hits = readBytes.map((all, i) => all > 0 ? Math.max(100 - missedBytes[i] / all * 100, 0) : NaN);
	if (report.files.regular.told_bytes) curve(get('cache'), '', '%', ['bytes that reads did not miss'], [hits], 150);
	else get('cache').textContent = 'Not known: the trace does not tell what reads missed.';
}
const limitCurves = () => plots.forEach((plot) => plot.setScale('x', { min: view.from / 1e9, max: view.to / 1e9 }));

/* ---- the view ---- */

function describe() {
	const inside = [];
	for (let i = 0; i < events; i++)
		if (start[i] <= view.to && start[i] + dur[i] >= view.from && kind[i] !== 0 && wanted(i)) inside.push(i);
	inside.sort((a, b) => dur[b] - dur[a]);
	get('selection').textContent = `In view: ${duration(view.from)} to ${duration(view.to)} (${duration(view.to - view.from)}), ` +
		`${count(inside.length)} calls and requests` + (view.filter ? ` with '${view.filter}' in the path` : '') +
		(view.lane >= 0 ? ` of ${line.lanes[view.lane].name} ${line.lanes[view.lane].pid}` : '') +
		(line.events_seen > events ? `; of ${count(line.events_seen)} events the ${count(events)} longest and largest are kept one by one` : '') + '.';
	get('sql').textContent = sql();
	get('sql-link').href = address();
	table(get('calls'), [['at'], ['took'], ['call', 1], ['bytes'], ['process', 1], ['path', 1]], inside.slice(0, 50).map((i) => [
		(start[i] / 1e9).toFixed(6) + ' s', duration(dur[i]), line.ops[op[i]], moved[i] ? bytes(moved[i]) : '',
		`${line.lanes[lane[i]].name} ${line.lanes[lane[i]].pid ?? ''} thread ${tid[i]}`, path[i] ? line.paths[path[i] - 1] : '']));
	canvas.setAttribute('aria-label', `Timeline of ${line.lanes.length} processes. ${get('selection').textContent}`);
}
let due = 0;
function draw() {
	due = 0;
	drawPhases();
	drawLanes();
	limitCurves();
	clearTimeout(draw.later);
	draw.later = setTimeout(() => { describe(); history.replaceState(null, '', address()); }, 120);
	if (!draw.once) { draw.once = true; clearTimeout(draw.later); describe(); }
}
const redraw = () => { due = due || requestAnimationFrame(draw); };
function look(from, to) {
	const span = Math.min(Math.max(to - from, Math.min(1000, length)), length);
	let begin = (from + to) / 2 - span / 2;
	begin = Math.min(Math.max(begin, 0), length - span);
	view.from = begin;
	view.to = begin + span;
	redraw();
}
function zoom(factor, around = (view.from + view.to) / 2) {
	look(around - (around - view.from) * factor, around + (view.to - around) * factor);
}
function pan(share) {
	const step = (view.to - view.from) * share;
	const moved = Math.min(Math.max(step, -view.from), length - view.to);
	look(view.from + moved, view.to + moved);
}

/* ---- mouse, keys, buttons ---- */

const place = (event) => {
	const box = canvas.getBoundingClientRect();
	return [event.clientX - box.left, event.clientY - box.top, box.width];
};
/* The event under the mouse: of those that a pixel touches, the shortest. */
function under(x, y, width) {
	const ns = nsOf(x, width), slack = (view.to - view.from) / (width - LABEL) * 2, l = Math.floor(y / ROW);
	let best = -1;
	for (let i = 0; i < events; i++) {
		if (lane[i] !== l || start[i] - slack > ns || start[i] + dur[i] + slack < ns || !wanted(i)) continue;
		if (best < 0 || dur[i] < dur[best] || (kind[best] === 0 && kind[i] !== 0)) best = i;
	}
	return best;
}
function tell(x, y, width) {
	const tip = get('tip'), i = x > LABEL ? under(x, y, width) : -1;
	tip.hidden = i < 0;
	if (i < 0) return;
	tip.textContent = `${line.ops[op[i]]} ${duration(dur[i])} at ${(start[i] / 1e9).toFixed(9)} s, thread ${tid[i]}` +
		(moved[i] ? `, ${count(moved[i])} bytes` : '') + (path[i] ? '\n' + line.paths[path[i] - 1] : '');
	tip.style.left = Math.min(x + 12, width - 300) + 'px';
	tip.style.top = y + 14 + 'px';
}
let drag = null;
canvas.addEventListener('wheel', (event) => {
	const [x, , width] = place(event);
	event.preventDefault();
	if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan((event.deltaX || event.deltaY) / 1000);
	else zoom(Math.exp(Math.max(Math.min(event.deltaY, 200), -200) / 300), nsOf(Math.max(x, LABEL), width));
}, { passive: false });
canvas.addEventListener('pointerdown', (event) => {
	const [x, y, width] = place(event);
	drag = { x, y, width, from: view.from, to: view.to, select: event.shiftKey, moved: false };
	canvas.setPointerCapture(event.pointerId);
});
canvas.addEventListener('pointermove', (event) => {
	const [x, y, width] = place(event);
	if (!drag) return tell(x, y, width);
	if (Math.abs(x - drag.x) > 3) drag.moved = true;
	if (drag.moved && !drag.select) {
		const shift = (drag.x - x) / (width - LABEL) * (drag.to - drag.from);
		const kept = Math.min(Math.max(shift, -drag.from), length - drag.to);
		look(drag.from + kept, drag.to + kept);
	}
});
canvas.addEventListener('pointerup', (event) => {
	const [x, y, width] = place(event), was = drag;
	drag = null;
	if (!was) return;
	if (was.moved && was.select) look(Math.min(nsOf(was.x, width), nsOf(x, width)), Math.max(nsOf(was.x, width), nsOf(x, width)));
	if (!was.moved) click(x, y, width);
});
canvas.addEventListener('pointerleave', () => { get('tip').hidden = true; });
/* On a lane's name: that process alone. On a call: its path alone. */
function click(x, y, width) {
	const l = Math.floor(y / ROW);
	if (x < LABEL && l < line.lanes.length) {
		view.lane = view.lane === l ? -1 : l;
	} else {
		const i = under(x, y, width);
		view.filter = i >= 0 && path[i] ? line.paths[path[i] - 1] : '';
		get('filter').value = view.filter;
		match();
	}
	redraw();
}
canvas.addEventListener('keydown', (event) => {
	const keys = { '+': () => zoom(0.5), '=': () => zoom(0.5), '-': () => zoom(2), '0': () => look(0, length),
		ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2), Escape: () => { view.lane = -1; setFilter(''); } };
	if (!keys[event.key]) return;
	event.preventDefault();
	keys[event.key]();
});
function setFilter(text) {
	view.filter = text;
	get('filter').value = text;
	match();
	redraw();
}
get('filter').addEventListener('input', () => setFilter(get('filter').value));
get('zoom-in').addEventListener('click', () => zoom(0.5));
get('zoom-out').addEventListener('click', () => zoom(2));
get('zoom-all').addEventListener('click', () => look(0, length));
get('copy').addEventListener('click', () => navigator.clipboard?.writeText(get('sql').textContent).catch(() => {}));
window.addEventListener('hashchange', () => { readAddress(); apply(); });
function makeKinds() {
	get('kinds').replaceChildren(...line.kinds.map((name, k) => {
		const label = element('label'), box = element('input'), swatch = element('span', undefined, 'swatch');
		box.type = 'checkbox';
		box.checked = !view.hidden.has(k);
		box.addEventListener('change', () => { box.checked ? view.hidden.delete(k) : view.hidden.add(k); redraw(); });
		swatch.style.background = `var(--${name})`;
		label.append(box, swatch, name === 'cpu' ? 'on CPU' : name);
		return label;
	}));
}
function apply() {
	get('filter').value = view.filter;
	match();
	makeKinds();
	redraw();
}

/* ---- figures ---- */

function keyNumbers() {
	const run = report.run.figures, regular = report.files.regular, all = report.usage.cpus.find((c) => c.cpu === -1);
	const gpus = report.usage.gpus, mean = (list, key) => list.reduce((sum, g) => sum + g[key], 0) / list.length;
	const rows = [['length', 'Length', duration(report.run.window_ns), report.run.window ? `of phase ${report.run.window}` : '']];
	if (gpus.length) rows.push(['gpu', 'GPU busy', mean(gpus, 'sm').toFixed(0) + ' %', `idle for ${mean(gpus, 'idle').toFixed(0)} % of the time`]);
	else rows.push(['gpu', 'GPU', 'not recorded', '']);
	if (all) rows.push(['cpu', 'CPUs', (100 - all.idle - all.iowait).toFixed(0) + ' % busy', `iowait ${all.iowait.toFixed(0)} %, idle ${all.idle.toFixed(0)} %`]);
	if (report.tasks.known) rows.push(['job_cpu_ns', 'Job on CPUs', duration(report.tasks.job_cpu_ns), `waited ${duration(report.tasks.job_wait_ns)} for one`]);
	if (report.files.has_io) {
		rows.push(['read_bytes', 'Read from files', bytes(regular.read.bytes), `${count(regular.read.calls)} calls, ${duration(regular.read.time_ns)}`]);
		if (regular.told_bytes) rows.push(['cached', 'From the page cache', percent(regular.cached_bytes, regular.told_bytes), `${bytes(regular.missed_bytes)} waited for`]);
		rows.push(['again_bytes', 'Read again', bytes(regular.again_bytes), `of ${count(regular.again_files)} files`]);
		rows.push(['write_bytes', 'Written to files', bytes(regular.written.bytes), `${count(regular.written.calls)} calls`]);
	}
	if (report.files.has_fs) rows.push(['opens', 'Opens and stats', `${count(report.files.opens)} / ${count(report.files.stats)}`, `${duration(run.metadata_ns)} in metadata calls`]);
	if (report.steps.count) rows.push(['steps', 'Steps', count(report.steps.count), `median ${duration(report.steps.duration.p50)}` +
		(['handoffs', 'bursts'].includes(report.steps.source) ? `, guessed, confidence ${(report.steps.confidence * 100).toFixed(0)} %` : '')]);
	rows.push(['lost', 'Events lost', count(report.cost.lost), report.cost.cpu_ns === null ? '' : `recorder's CPU ${duration(report.cost.cpu_ns)}`]);
	get('key').replaceChildren(...rows.map(([key, name, value, more]) => {
		const box = element('div'), dd = element('dd', value);
		dd.dataset.key = key;
		if (more) dd.append(element('small', more));
		box.append(element('dt', name), dd);
		return box;
	}));
}
const parts = [['main_cpu_ns', 'on a CPU', 'cpu'], ['main_queue_ns', 'ready, waiting for a CPU', 'write'], ['main_workers_ns', 'asleep until a data worker woke it', 'read'],
	['main_disk_ns', 'asleep in the kernel, storage mostly', 'block'], ['main_own_ns', 'asleep until a thread of its own woke it', 'metadata'],
	['main_others_ns', 'asleep until another process woke it', 'open'], ['main_events_ns', 'asleep until a timer or device woke it', 'line']];
function mainTime() {
	const figures = report.run.figures, whole = parts.reduce((sum, [key]) => sum + figures[key], 0);
	const rows = parts.filter(([key]) => figures[key]).sort((a, b) => figures[b[0]] - figures[a[0]]);
	bars(get('main-time'), rows.map(([key, name]) => [name, `${duration(figures[key])} ${percent(figures[key], whole)}`, figures[key] / whole]),
		'Not known: layer sched was not recorded, or there is no main process.');
}
function phaseTime() {
	const rows = report.phases.list.slice(0, 200).map((phase) => {
		const stack = element('div', undefined, 'stack'), f = phase.figures;
		for (const [key, name, colour] of parts) {
			const piece = element('span');
			piece.style.width = f[key] / Math.max(phase.length_ns, 1) * 100 + '%';
			piece.style.background = `var(--${colour})`;
			piece.title = `${name}: ${duration(f[key])}`;
			stack.append(piece);
		}
		stack.setAttribute('role', 'img');
		stack.setAttribute('aria-label', parts.filter(([key]) => f[key]).map(([key, name]) => `${name} ${duration(f[key])}`).join(', '));
		return ['  '.repeat(phase.depth) + phase.name, duration(phase.length_ns), stack, duration(f.cpu_ns), bytes(f.read_bytes), duration(f.read_ns), bytes(f.write_bytes), bytes(f.device_read_bytes)];
	});
	table(get('phase-time'), [['phase', 1], ['length'], ['main thread', 1], ['job on CPUs'], ['read'], ['in reads'], ['written'], ['from devices']], rows);
}
function tasks() {
	const idle = get('with-idle').checked, list = report.tasks.names.filter((t) => t.cpu_ns && (idle || t.name !== 'idle')).slice(0, 15);
	const whole = report.tasks.busy_ns + (idle ? report.tasks.idle_ns : 0);
	bars(get('tasks'), list.map((t) => [t.name, `${duration(t.cpu_ns)} ${percent(t.cpu_ns, whole)}`, t.cpu_ns / whole]), 'Not known: layer sched was not recorded.');
}
const from = (i) => i ? 2 ** (i - 1) : 0;
function histograms() {
	const chosen = report.files.operations[get('op').value];
	if (!chosen) return;
	const show = (into, hist, unit) => bars(into, hist.bins.map((n, i) => [n, i]).filter(([n]) => n)
		.map(([n, i]) => [`${unit(from(i))}${i ? ' and more' : ''}`, count(n), n / hist.count]), 'None.');
	show(get('latency'), chosen.latency, duration);
	show(get('size'), chosen.size, bytes);
}
function drawHeat() {
	const shown = get('heat'), [context, width] = sized(shown, 260), left = 80, cell = (width - left) / line.heat_slices;
	let most = 0, low = line.heat_latencies, high = 0;
	heat.forEach((n, i) => {
		if (!n) return;
		most = Math.max(most, n);
		low = Math.min(low, i % line.heat_latencies);
		high = Math.max(high, i % line.heat_latencies);
	});
	shown.setAttribute('aria-label', most ? `Reads by latency over time, from ${duration(from(low))} to ${duration(2 ** high)}` : 'No reads');
	if (!most) return;
	const tall = 240 / (high - low + 1);
	for (let s = 0; s < line.heat_slices; s++)
		for (let l = low; l <= high; l++) {
			const n = heat[s * line.heat_latencies + l];
			if (!n) continue;
			context.globalAlpha = 0.15 + 0.85 * Math.log1p(n) / Math.log1p(most);
			context.fillStyle = colours.bar;
			context.fillRect(left + s * cell, (high - l) * tall, Math.max(cell, 1), tall - 1);
		}
	context.globalAlpha = 1;
	context.fillStyle = colours.dim;
	context.font = '11px system-ui, sans-serif';
	for (let l = low; l <= high; l += Math.max(Math.round((high - low) / 8), 1))
		context.fillText(duration(from(l)), 2, (high - l) * tall + tall);
	context.fillText('0 s', left, 256);
	context.fillText(duration(length), width - 50, 256);
}
function figures() {
	keyNumbers();
	mainTime();
	phaseTime();
	tasks();
	bars(get('cpus'), report.tasks.cpus.map((c) => [`CPU ${c.cpu}`, `${duration(c.busy_ns)} ${percent(c.busy_ns, c.busy_ns + c.idle_ns)}`, c.busy_ns / Math.max(c.busy_ns + c.idle_ns, 1)]),
		'Not known: layer sched was not recorded.');
	const named = report.tasks.names.filter((t) => t.processes).sort((a, b) => b.processes - a.processes).slice(0, 15);
	bars(get('processes'), named.map((t) => [t.name, `${count(t.processes)}${t.lives ? ', mean life ' + duration(t.life_ns / t.lives) : ''}`, t.processes / named[0].processes]), 'None.');
	get('op').replaceChildren(...report.files.operations.map((o, i) => { const made = element('option', `${o.op} (${count(o.calls)} calls)`); made.value = i; return made; }));
	histograms();
	table(get('files'), [['read'], ['reads'], ['in reads'], ['99 %'], ['read again'], ['written'], ['opens'], ['device time'], ['file', 1]],
		report.files.list.filter((f) => f.regular).slice(0, 40).map((f) => [bytes(f.read.bytes), count(f.read.calls), duration(f.read.time_ns), duration(f.latency.p99),
			f.again_bytes === null ? '?' : bytes(f.again_bytes), bytes(f.written.bytes), count(f.opens), duration(f.device_ns), f.path ?? '?']));
	table(get('devices'), [['device', 1], ['read'], ['median'], ['99 %'], ['written'], ['median'], ['99 %'], ['read ahead'], ['for the job']], report.devices.map((d) => [d.dev,
		bytes(d.read_bytes), duration(d.read_latency.p50), duration(d.read_latency.p99), bytes(d.write_bytes), duration(d.write_latency.p50), duration(d.write_latency.p99), bytes(d.ahead_bytes), bytes(d.job_bytes)]));
	get('trace').textContent = `${count(report.cost.rows)} rows, ${bytes(report.cost.bytes)}; layers ${report.cost.layers.join(', ')}` +
		Object.entries(report.cost.absent).map(([name, why]) => `; ${name} is absent: ${why}`).join('') + '.';
}
/* Of a run compared with another. */
function changes() {
	if (!diff) return;
	const units = { ns: duration, bytes, count }, chosen = get('group').value || 'run';
	const show = (item, value) => value === null ? '-' : units[item.unit](value);
	get('changes').hidden = false;
	get('changes-note').textContent = `From A (${diff.a.path}, ${duration(diff.a.length_ns)}) to B (${diff.b.path}, ${duration(diff.b.length_ns)}). ` +
		'Noise is one standard deviation as the runs themselves show it, beyond noise more than three; it leaves out what differs from run to run.';
	if (!get('group').options.length)
		get('group').replaceChildren(...[...new Set(diff.items.map((item) => item.group))].map((name) => element('option', name)));
	table(get('changes-list'), [['what', 1], ['A'], ['B'], ['change'], ['noise'], ['', 1], ['of', 1]], diff.items.filter((item) => item.group === chosen && item.verdict !== 'same')
		.map((item) => [item.what, show(item, item.a), show(item, item.b), item.a === null || item.b === null ? '' : (item.b < item.a ? '-' : '+') + show(item, Math.abs(item.b - item.a)),
			item.noise === null ? '?' : item.noise === 0 ? 'exact' : show(item, item.noise), item.verdict, item.name ?? '']));
}
function head() {
	const warnings = [];
	get('command').textContent = report.run.command || report.run.path;
	document.title = 'strata: ' + (report.run.command || report.run.path);
	get('when').textContent = `${duration(report.run.length_ns)} on ${report.run.host ?? 'an unknown host'}, exit status ${report.run.exit_status ?? 'unknown'}, ${report.run.path}`;
	if (report.run.damage) warnings.push('The trace is damaged: this is what comes before the damage.');
	else if (!report.run.complete) warnings.push('The trace is not complete.');
	if (report.cost.lost) warnings.push(`${count(report.cost.lost)} events were lost: figures are too low.`);
	for (const name of ['sched', 'io', 'fs', 'block']) if (!report.cost.layers.includes(name)) warnings.push(`Layer ${name} was not recorded.`);
	get('warning').textContent = warnings.join(' ');
	get('warning').hidden = !warnings.length;
}

/* ---- themes, sizes, begin ---- */

function paint() {
	readColours();
	makeCurves();
	drawHeat();
	draw();
}
function setTheme(dark) {
	document.documentElement.dataset.theme = dark ? 'dark' : 'light';
	get('theme').textContent = dark ? 'Light theme' : 'Dark theme';
}
setTheme(matchMedia('(prefers-color-scheme: dark)').matches);
get('theme').addEventListener('click', () => { setTheme(document.documentElement.dataset.theme !== 'dark'); paint(); });
get('with-idle').addEventListener('change', tasks);
get('op').addEventListener('change', histograms);
get('group').addEventListener('change', changes);
let resizing = 0;
window.addEventListener('resize', () => { clearTimeout(resizing); resizing = setTimeout(paint, 150); });
head();
figures();
changes();
readAddress();
get('filter').value = view.filter;
match();
makeKinds();
paint();
document.documentElement.dataset.ready = 'yes';
})();
