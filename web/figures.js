/* The sections with figures of the whole run: numbers, bars, tables, histograms and the heat map; and what changed
 * since another run. */

function keyNumbers() {
	const { files, tasks, steps, cost, job, usage, run } = report, regular = files.regular, all = usage.cpus.find((c) => c.cpu === -1);
	const whose = run.has_job ? 'Job' : 'All processes';
	const rows = [['length', 'Length', duration(run.window_ns), run.window ? `of phase ${run.window}` : '']];
	if (usage.all_gpus) rows.push(['gpu', 'GPU busy', fixed(usage.all_gpus.sm, 0) + ' %', `idle for ${fixed(usage.all_gpus.idle, 0)} % of the time`]);
	else rows.push(['gpu', 'GPU', 'not recorded', '']);
	if (all) rows.push(['cpu', 'CPUs', fixed(all.busy, 0) + ' % busy', `iowait ${fixed(all.iowait, 0)} %, idle ${fixed(all.idle, 0)} %`]);
	if (tasks.known) rows.push(['job_cpu_ns', `${whose} on CPUs`, duration(tasks.job_cpu_ns), `waited ${duration(tasks.job_wait_ns)} for one`]);
	if (job.known) {
		rows.push(['job_cpu', "Job's CPU time", told(duration, job.cpu_ns), `${percent(job.usr_share, 0)} user, by the kernel's counters`]);
		rows.push(['job_memory', 'Most memory', told(bytes, job.most_rss), `${told(count, job.most_processes)} processes, ${told(count, job.most_threads)} threads at most`]);
		rows.push(['job_storage', 'Fetched from storage', told(bytes, job.read_bytes), `${told(bytes, job.write_bytes)} sent to it`]);
		rows.push(['job_faults', 'Major faults', told(count, job.major_faults), `and ${told(count, job.minor_faults)} that needed no storage`]);
	}
	if (files.io_known) {
		rows.push(['read_bytes', 'Read from files', bytes(regular.read.bytes), `${count(regular.read.calls)} calls, ${duration(regular.read.time_ns)}`]);
		if (regular.told_bytes) rows.push(['cached', 'From the page cache', percent(regular.cached_share), `${bytes(regular.missed_bytes)} waited for`]);
		rows.push(['again_bytes', 'Read again', bytes(regular.again_bytes), `of ${count(regular.again_files)} files`]);
		rows.push(['write_bytes', 'Written to files', bytes(regular.written.bytes), `${count(regular.written.calls)} calls`]);
	}
	if (files.fs_known) rows.push(['opens', 'Opens and stats', `${count(files.opens)} / ${count(files.stats)}`, `${duration(files.metadata_ns)} in metadata calls`]);
	if (steps.count) rows.push(['steps', 'Steps', count(steps.count), `median ${duration(steps.duration.p50)}` +
		(steps.guessed ? `, guessed, confidence ${percent(steps.confidence, 0)}` : '')]);
	rows.push(['lost', 'Events lost', count(cost.lost), cost.recording_cpu_ns === null ? '' : `recorder's CPU ${duration(cost.recording_cpu_ns)}`]);
	get('key').replaceChildren(...rows.map(([key, name, value, more]) => {
		const box = element('div'), dd = element('dd', value);
		dd.dataset.key = key;
		if (more) dd.append(element('small', more));
		box.append(element('dt', name), dd);
		return box;
	}));
}
/* The colour of each part of the main thread's time. */
const partColours = { main_cpu_ns: 'cpu', main_queue_ns: 'write', main_workers_ns: 'read', main_storage_ns: 'block', main_lock_ns: 'dim', main_own_ns: 'metadata',
	main_others_ns: 'open', main_events_ns: 'line' };
function mainTime() {
	const rows = report.main.known ? report.main.parts.filter((part) => !part.slight) : [];
	bars(get('main-time'), rows.map((part) => [part.says, `${duration(part.time_ns)} ${percent(part.share)}`, part.share]),
		'Not known: layer sched was not recorded, or there is no main process.');
}
function phaseTime() {
	const parts = report.main.parts.filter((part) => part.figure);
	const rows = report.phases.list.filter((phase) => phase.figures).slice(0, 200).map((phase) => {
		const stack = element('div', undefined, 'stack'), f = phase.figures;
		for (const { figure, says } of parts) {
			const piece = element('span');
			piece.style.width = f[figure] / Math.max(phase.length_ns, 1) * 100 + '%';
			piece.style.background = `var(--${partColours[figure]})`;
			piece.title = `${says}: ${duration(f[figure])}`;
			stack.append(piece);
		}
		stack.setAttribute('role', 'img');
		stack.setAttribute('aria-label', parts.filter(({ figure }) => f[figure]).map(({ figure, says }) => `${says} ${duration(f[figure])}`).join(', '));
		return ['  '.repeat(phase.depth) + phase.name, duration(phase.length_ns), stack, phase.cpus === null ? '-' : duration(f.cpu_ns), bytes(f.read_bytes), duration(f.read_ns), bytes(f.write_bytes), bytes(f.device_read_bytes)];
	});
	table(get('phase-time'), [['phase', 1], ['length'], ['main thread', 1], ['job on CPUs'], ['read'], ['in reads'], ['written'], ['from devices']], rows);
}
function tasks() {
	const idle = get('with-idle').checked, list = report.tasks.names.filter((t) => t.cpu_ns && (idle || !t.idle)).filter((t, i) => i < 15 || t.telling);
	const share = (t) => idle ? t.share : t.busy_share;
	bars(get('tasks'), list.map((t) => [t.name, `${duration(t.cpu_ns)} ${percent(share(t))}`, share(t)]), 'Not known: layer sched was not recorded.');
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
/* At most ten operations, and four inside each. */
function levels() {
	const { own_ns: own, operations } = report.levels, seen = new Map(), shown = [];
	operations.forEach((o, i) => {
		const place = seen.get(o.parent) ?? 0, inside = o.parent === null || shown.includes(o.parent);
		seen.set(o.parent, place + 1);
		if (inside && place < (o.parent === null ? 10 : 4)) shown.push(i);
	});
	get('levels-own').textContent = 'Own time: ' + Object.entries(own).filter(([, ns]) => ns).map(([level, ns]) => `${level} ${duration(ns)}`).join(', ');
	table(get('levels'), [['operation', 1], ['level', 1], ['calls'], ['bytes'], ['each'], ['for each byte above'], ['time'], ['own time']], shown.map((i) => {
		const o = operations[i], name = element('span', o.name + (o.module ? ` [${o.module}]` : ''));
		name.style.paddingLeft = o.depth * 1.2 + 'em';
		return [name, o.level, count(o.calls), o.bytes === null ? '' : bytes(o.bytes), o.bytes_a_call === null ? '' : bytes(Math.floor(o.bytes_a_call)),
			o.growth === null ? '' : Number(o.growth.toPrecision(3)), o.time_ns === null ? '' : duration(o.time_ns), o.own_ns === null ? '' : duration(o.own_ns)];
	}));
}
function figures() {
	keyNumbers();
	mainTime();
	phaseTime();
	tasks();
	bars(get('cpus'), report.tasks.cpus.map((c) => [`CPU ${c.cpu}`, `${duration(c.busy_ns)} ${percent(c.busy_share)}`, c.busy_share ?? 0]),
		'Not known: layer sched was not recorded.');
	const named = report.tasks.most_processes.slice(0, 15);
	bars(get('processes'), named.map((t) => [t.name, count(t.processes) + (t.mean_life_ns === null ? '' : `, mean life ${duration(t.mean_life_ns)}`),
		t.processes / named[0].processes]), 'None.');
	get('containers-section').hidden = !report.containers.length;
	table(get('containers'), [['container', 1], ['processes'], ['on CPUs'], ['waited for one'], ['read'], ['in reads'], ['written'], ['in metadata']],
		report.containers.map((c) => [c.container ?? 'outside of any', count(c.processes), duration(c.cpu_ns), duration(c.wait_ns), bytes(c.read.bytes),
			duration(c.read.time_ns), bytes(c.written.bytes), duration(c.metadata_ns)]));
	get('op').replaceChildren(...report.files.operations.map((o, i) => { const made = element('option', `${o.op} (${count(o.calls)} calls)`); made.value = i; return made; }));
	histograms();
	table(get('files'), [['read'], ['reads'], ['in reads'], ['99 %'], ['read again'], ['written'], ['opens'], ['device time'], ['file', 1]],
		report.files.list.slice(0, Math.min(report.files.regular_count, 40)).map((f) => [bytes(f.read.bytes), count(f.read.calls), duration(f.read.time_ns), duration(f.latency.p99),
			f.again_bytes === null ? '?' : bytes(f.again_bytes), bytes(f.written.bytes), count(f.opens), duration(f.device_ns), f.path ?? '?']));
	table(get('devices'), [['device', 1], ['read'], ['median'], ['99 %'], ['written'], ['median'], ['99 %'], ['read ahead'], ['for the job']], report.devices.map((d) => [d.dev,
		bytes(d.read_bytes), duration(d.read_latency.p50), duration(d.read_latency.p99), bytes(d.write_bytes), duration(d.write_latency.p50), duration(d.write_latency.p99), bytes(d.ahead_bytes), bytes(d.job_bytes)]));
	levels();
	get('trace').textContent = `${count(report.cost.rows)} rows, ${bytes(report.cost.bytes)}; layers ${report.cost.layers.join(', ')}` +
		Object.entries(report.cost.absent).map(([name, why]) => `; ${name} is absent: ${why}`).join('') + '.';
}
/* Of a run compared with another. */
function changes() {
	if (!diff) return;
	const units = { ns: duration, bytes, count }, chosen = get('group').value || 'run';
	const show = (item, value) => value === null ? '-' : units[item.unit](value);
	const only = (item) => item.a === null ? 'only in B' : 'only in A';
	const changed = (item) => item.change === null ? only(item) : (item.change < 0 ? '-' : '+') + show(item, Math.abs(item.change)) +
		(item.share === null ? '' : ` (${percent(item.share)})`);
	get('changes').hidden = false;
	get('changes-note').textContent = `From A (${diff.a.path}, ${duration(diff.a.length_ns)}) to B (${diff.b.path}, ${duration(diff.b.length_ns)}). ` +
		'Noise is one standard deviation as the runs themselves show it, beyond noise more than three; it leaves out what differs from run to run.' +
		[['A', diff.layers_only_a], ['B', diff.layers_only_b]].map(([run, names]) => names.length ? ` Recorded in ${run} only, and not compared: ${names.join(', ')}.` : '').join('');
	if (!get('group').options.length)
		get('group').replaceChildren(...[...new Set(diff.items.map((item) => item.group))].map((name) => element('option', name)));
	table(get('changes-list'), [['what', 1], ['A'], ['B'], ['change'], ['noise'], ['', 1], ['of', 1]], diff.items.filter((item) => item.group === chosen && item.verdict !== 'same')
		.map((item) => [item.what, show(item, item.a), show(item, item.b), changed(item),
			item.noise === null ? '?' : item.noise === 0 ? 'exact' : show(item, item.noise), item.verdict, item.name ?? '']));
}
