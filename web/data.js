/* What the page shows, only read once it is here. `report` is what `strata report --json` prints, `line` the timeline
 * (src/render/page_html.c), whose arrays come packed; `diff` is there when two runs are compared, `why` (what `strata why
 * --json` prints) when the trace can tell. Of event i,
 * start[i], dur[i], moved[i], tid[i], path[i], op[i], lane[i] and kind[i] tell. */

const { report, timeline: line, diff, why } = JSON.parse(document.getElementById('data').textContent);

async function inflate(text) {
	const packed = atob(text), raw = new Uint8Array(packed.length);
	for (let i = 0; i < packed.length; i++) raw[i] = packed.charCodeAt(i);
	const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream('deflate'));
	return new Response(stream).arrayBuffer();
}
const buffer = await inflate(get('arrays').textContent);
get('arrays').remove();
let at = 0;
function array(Type, length) {
	const made = new Type(buffer, at, length);
	at += made.byteLength;
	return made;
}
const events = line.events;
const start = array(Float64Array, events), dur = array(Float64Array, events), moved = array(Float64Array, events);
const series = line.series.map(() => array(Float32Array, line.slices));
const cached = array(Float32Array, line.slices);
const tid = array(Uint32Array, events), path = array(Uint32Array, events);
const heat = array(Uint32Array, line.heat_slices * line.heat_latencies);
const op = array(Uint16Array, events), lane = array(Uint8Array, events), kind = array(Uint8Array, events);
const busy = line.lanes.map(() => line.kinds.map(() => array(Uint8Array, line.slices)));
const length = Math.max(line.length_ns, 1), slice = length / line.slices;
