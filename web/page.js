/* Begins: the head, the themes, and the order in which all is shown for the first time and painted again. */

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
