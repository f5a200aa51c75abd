/* What is selected: the stretch of time, the filter, the lane and the kinds that are hidden. The address of the page
 * keeps it, and it can be had as SQL. look(), zoom() and pan() move it. */

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
	const asked = [];
	for (const name of new Set(line.kind_rows.map((rows) => rows.table))) {
		const kinds = line.kind_rows.map((rows, k) => k).filter((k) => line.kind_rows[k].table === name);
		const shown = kinds.filter((k) => !view.hidden.has(k));
		const where = [`ts + coalesce(dur, 0) >= ${absolute(view.from)}`, `ts <= ${absolute(view.to)}`];
		if (!shown.length || (view.filter && !line.kind_rows[shown[0]].path)) continue;
		if (view.lane >= 0 && line.lanes[view.lane].pid !== null) where.push(`pid = ${line.lanes[view.lane].pid}`);
		if (view.filter) where.push(`contains(path, ${quote(view.filter)})`);
		if (shown.length < kinds.length) where.push(line.kind_rows[shown[0]].where);
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
