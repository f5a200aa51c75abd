/* Numbers as the program prints them: times, bytes, counts, shares. */

function three(value, unit) {
	return (value >= 99.95 ? value.toFixed(0) : value >= 9.995 ? value.toFixed(1) : value.toFixed(2)) + ' ' + unit;
}
function duration(ns) {
	if (ns < 1000) return Math.round(ns) + ' ns';
	if (ns < 999.5e3) return three(ns / 1e3, 'us');
	if (ns < 999.5e6) return three(ns / 1e6, 'ms');
	if (ns < 59.5e9) return three(ns / 1e9, 's');
	const seconds = Math.round(ns / 1e9), minutes = Math.floor((seconds + 30) / 60);
	return seconds < 3600 ? `${Math.floor(seconds / 60)} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
function bytes(value) {
	const names = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
	let i = -1;
	if (value < 1024) return Math.round(value) + ' B';
	do { value /= 1024; i++; } while (value >= 1023.5 && i + 1 < names.length);
	return (value < 99.95 ? value.toFixed(1) : value.toFixed(0)) + ' ' + names[i];
}
const count = (value) => value.toLocaleString('en-US');
const percent = (share, digits = 1) => share === null ? '-' : (share * 100).toFixed(digits) + ' %';
/* What may not be known: null in the report. */
const told = (format, value) => value === null ? 'not known' : format(value);
