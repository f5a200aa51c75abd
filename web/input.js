/* Mouse, keys, buttons and the address: all that changes the view. */

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
