/* Numbers as the program prints them: times, bytes, counts, shares. */

/* Halves are rounded up, in whole numbers, as the program does it: 42650 ns are 42.7 us in both. */
const rounded = (value, unit) => Math.floor((value + unit / 2) / unit);

/* Three digits: 1.23, 45.6, 789; null from 1000 on. */
function three(value, unit, name) {
	for (const digits of [2, 1, 0]) {
		const scale = 10 ** digits, all = rounded(value * scale, unit);
		if (all < 1000) return (all / scale).toFixed(digits) + ' ' + name;
	}
	return null;
}
function duration(ns) {
	if (ns < 1000) return Math.floor(ns) + ' ns';
	ns = Math.floor(ns);
	const seconds = rounded(ns, 1e9), minutes = rounded(seconds, 60);
	if (seconds < 60) return three(ns, 1e3, 'us') ?? three(ns, 1e6, 'ms') ?? three(ns, 1e9, 's');
	return seconds < 3600 ? `${Math.floor(seconds / 60)} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
function bytes(value) {
	const names = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
	let i = 0;
	if (value < 1024) return Math.floor(value) + ' B';
	while (i + 1 < names.length && rounded(value, 1024 ** (i + 1)) >= 1024) i++;
	const unit = 1024 ** (i + 1), tenths = rounded(value * 10, unit);
	return (tenths < 1000 ? (tenths / 10).toFixed(1) : rounded(value, unit)) + ' ' + names[i];
}
const count = (value) => value.toLocaleString('en-US');
/* With 0 or 1 digits, as C prints it: an exact half goes to the even digit. */
function fixed(value, digits) {
	const scaled = value * 10 ** digits, below = Math.floor(scaled), half = digits ? [0.25, 0.75] : [0.5];
	return half.includes(value % 1) ? ((below + below % 2) / 10 ** digits).toFixed(digits) : value.toFixed(digits);
}
const percent = (share, digits = 1) => share === null ? '-' : fixed(share * 100, digits) + ' %';
/* What may not be known: null in the report. */
const told = (format, value) => value === null ? 'not known' : format(value);
