/* The curves over time, drawn by uPlot: CPUs, GPUs, disks and the page cache. */

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
	get('curves-left-out').hidden = !line.series_left_out;
	get('curves-left-out').textContent = `${count(line.series_left_out)} more curves are not shown: a page has ${count(line.series.length)} at most.`;
	if (report.files.regular.told_bytes) curve(get('cache'), '', '%', ['bytes from the page cache'], [cached.map((share) => share * 100)], 150);
	else get('cache').textContent = 'Not known: the trace does not tell what reads missed.';
}
const limitCurves = () => plots.forEach((plot) => plot.setScale('x', { min: view.from / 1e9, max: view.to / 1e9 }));
