/* The ledger of `strata why`: the verdict, the loop's time by cause and step, and what lies behind each line. A click on a step, or
 * on a line, shows its place in the timeline. */

const causeColours = { computing: 'cpu', kernel: 'metadata', ready: 'open', storage: 'block', input: 'read', gpu: 'bar', collective: 'bar',
	lock: 'write', network: 'text', sleep: 'line', stopped: 'line', unknown: 'dim' };
const colourOf = (cause) => `var(--${causeColours[cause]})`;

/* A moment of the trace as the timeline counts it. */
const moment = (ts) => Number(BigInt(ts) - BigInt(line.start_ts));
function showTime(from, to) {
	const around = Math.max((to - from) / 4, 1000);
	look(from - around, to + around);
	get('timeline').scrollIntoView({ block: 'start' });
}

function whyVerdict() {
	const { verdict, contexts } = why;
	get('why-sentence').textContent = verdict.cause === null ? `No verdict: ${verdict.sentence}.` : `${verdict.sentence}.`;
	const more = [];
	if (verdict.cause !== null && verdict.cause !== 'computing')
		more.push(`Without that it could not take less than ${duration(verdict.bound)}, all else being equal: ${verdict.limit}.`);
	for (const next of verdict.next ?? []) more.push(`Then ${next.cause}, ${duration(next.ns)} (${percent(next.share)}): ${next.says}.`);
	more.push(contexts.map((c) => `${c.name} ${duration(c.ns)}`).join(', ') + '.');
	get('why-more').replaceChildren(...more.map((text) => element('p', text)));
}

/* One stack for each step, as tall as it was long. */
function whySteps() {
	const most = why.windows.reduce((longest, w) => Math.max(longest, w.end - w.start), 0);
	const stacks = why.windows.map((w) => {
		const stack = element('button', undefined, 'step'), told = [];
		stack.type = 'button';
		for (const [cause, ns] of Object.entries(w.causes)) {
			const piece = element('span');
			piece.style.height = ns / most * 100 + '%';
			piece.style.background = colourOf(cause);
			stack.append(piece);
			told.push(`${cause} ${duration(ns)}`);
		}
		stack.title = `${w.steps > 1 ? `${w.steps} steps, ` : ''}${duration(w.end - w.start)}: ${told.join(', ')}`;
		stack.setAttribute('aria-label', stack.title);
		stack.addEventListener('click', () => showTime(moment(w.start), moment(w.end)));
		return stack;
	});
	get('why-steps').replaceChildren(...stacks);
	get('why-steps').hidden = !stacks.length;
	const causes = new Set(why.windows.flatMap((w) => Object.keys(w.causes)));
	get('why-legend').replaceChildren(...[...causes].map((cause) => {
		const label = element('span', cause), swatch = element('span', undefined, 'swatch');
		swatch.style.background = colourOf(cause);
		label.prepend(swatch);
		return label;
	}));
}

/* How the longest piece of a line came about: from the focus thread to what it waited for at last. */
function whyChain(entry) {
	const links = entry.chain.map((l) => `${l.comm}[${l.tid}]${l.syscall ? ` in ${l.syscall}` : ''}`);
	const box = get('why-chain'), sql = element('pre', entry.sql);
	box.replaceChildren(element('p', `${entry.cause}: ${entry.says}${entry.name ? ` (${entry.name})` : ''}, ${duration(entry.ns)} in ${count(entry.pieces)} pieces, ` +
		`the longest ${duration(entry.longest_ns)}.`));
	if (links.length) box.append(element('p', [...links, entry.says].join(' ← ')));
	if (entry.files.length) {
		const files = element('div');
		table(files, [['time'], ['file', 1]], entry.files.map((f) => [duration(f.ns), f.path ?? '?']));
		box.append(files);
	}
	box.append(sql);
	box.hidden = false;
	showTime(moment(entry.longest_ts), moment(entry.longest_ts) + entry.longest_ns);
}

function whyLedger() {
	table(get('why-ledger'), [['cause', 1], ['what it did, or waited for', 1], ['', 1], ['time'], ['share'], ['']], why.ledger.slice(0, 20).map((entry) => {
		const open = element('button', 'show');
		open.type = 'button';
		open.addEventListener('click', () => whyChain(entry));
		return [entry.cause, entry.says, entry.name ?? '', duration(entry.ns), percent(entry.share), open];
	}));
}

function whySection() {
	if (!why) return;
	get('why').hidden = false;
	whyVerdict();
	whySteps();
	whyLedger();
}
