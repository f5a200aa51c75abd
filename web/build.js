/* Finds and makes elements of the page. What comes from the trace is text: it is put in with textContent and
 * onto canvases, never as HTML. */

const get = (id) => document.getElementById(id);
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

/* ---- canvases ---- */

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
