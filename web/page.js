/* Begins: the head, the themes, and the order in which all is shown for the first time and painted again. */

function head() {
	const warnings = [];
	get('command').textContent = report.run.command || report.run.path;
	document.title = 'strata: ' + (report.run.command || report.run.path);
	get('when').textContent = `${duration(report.run.length_ns)} on ${report.run.host ?? 'an unknown host'}, ` +
		(report.run.exit_signal === null ? `exit status ${report.run.exit_status ?? 'unknown'}` : `ended by signal ${report.run.exit_signal}`) + `, ${report.run.path}`;
	warnings.push(...{ complete: [], damaged: ['The trace is damaged: this is what comes before the damage.'],
		live: ['The trace is not complete: it is still being recorded.'], killed: ['The trace is not complete: its recorder was killed.'],
		unwritten: ['The trace is not complete: its recorder could not write on.'] }[report.run.state]);
	if (report.cost.lost) warnings.push(`${count(report.cost.lost)} events were lost: figures are too low.`);
	if (report.cost.off_ns) warnings.push(`The recording was switched off for ${duration(report.cost.off_ns)}: what happened then is not known.`);
	for (const name of report.cost.lacking) warnings.push(`Layer ${name} was not recorded.`);
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
whySection();
readAddress();
get('filter').value = view.filter;
match();
makeKinds();
paint();
document.documentElement.dataset.ready = 'yes';
