/* The timeline: its lanes, its phases and steps, and what the text below says of the calls in view. redraw() is
 * asked for by whatever changes the view. */

const canvas = get('lanes'), ROW = 22, LABEL = 170;
const xOf = (ns, width) => LABEL + (ns - view.from) / (view.to - view.from) * (width - LABEL);
const nsOf = (x, width) => view.from + (x - LABEL) / (width - LABEL) * (view.to - view.from);

/* One column of pixels is the fullest of its slices. */
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

/* ---- all of it, and its text ---- */

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
