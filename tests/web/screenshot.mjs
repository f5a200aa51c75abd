// Shows a trace in Perfetto's viewer, in a real browser, and takes a picture:
//
//     node screenshot.mjs WEB TRACE PNG NAME...
//
// WEB is the folder that scripts/fetch-web fills. Waits until the viewer shows tracks with all the NAMEs, then takes the
// picture, and another, PNG with -last before its ending, scrolled to the last NAME. Prints how much of it is drawn on.
// Exits 1 and lists the tracks when one does not show.
import { createRequire } from 'node:module';
import { createServer } from 'node:http';
import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

const [web, trace, png, ...names] = process.argv.slice(2);
const { chromium } = createRequire(import.meta.url)(path.resolve(web, 'playwright-core'));
const TYPES = { '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm' };
const PATIENCE = 120000; // milliseconds, for a busy machine

const pageOf = (origin) => `<!doctype html><html><head><meta charset="utf-8"><title>trace</title>
<link rel="stylesheet" href="/perfetto.css">
<style>html, body { margin: 0; height: 100%; } #timeline_main { height: 100%; }
.track-shell, .track-group-panel::before { position: absolute; z-index: 9; padding: 1px 4px; font: 11px sans-serif;
	background: #ffffffc0; color: black; width: auto; height: auto; white-space: nowrap;
	pointer-events: none; }
.track-group-panel::before { content: attr(data-name); font-weight: bold; }</style></head>
<body><div id="timeline_data_source" hidden>${origin}/trace</div><div id="timeline_main"></div>
<script src="/frontend_bundle.js"></script></body></html>`;

// This build of the viewer leaves the names of tracks to the page around it: they are put back.
function bundle() {
	const edits = [
		['ondrop: this.ondrop.bind(this),\n        });', 'ondrop: this.ondrop.bind(this),\n        }, attrs.trackState.name);'],
		["{ id: 'track_' + this.trackGroupId }",
		 "{ id: 'track_' + this.trackGroupId, 'data-name': this.trackGroupState.name }"],
	];
	let source = readFileSync(path.join(web, 'perfetto-ui', 'frontend_bundle.js'), 'utf8');
	for (const [from, to] of edits) {
		if (!source.includes(from))
			throw new Error(`the viewer has changed: no "${from}"`);
		source = source.replace(from, to);
	}
	return source;
}

function answer(request, response) {
	const url = new URL(request.url, 'http://localhost').pathname;
	const file = url === '/trace' ? trace : path.join(web, 'perfetto-ui', path.normalize(url));

	response.setHeader('content-type', TYPES[path.extname(file)] ?? 'text/html');
	if (url === '/') {
		response.end(pageOf(`http://${request.headers.host}`));
	} else if (url === '/frontend_bundle.js') {
		response.end(bundle());
	} else if (existsSync(file) && statSync(file).isFile()) {
		createReadStream(file).pipe(response);
	} else {
		response.statusCode = 404;
		response.end();
	}
}

function serve() {
	const server = createServer(answer);

	return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

const tracksOf = (page) => page.evaluate(() => [
	...[...document.querySelectorAll('.track-group-panel')].map((element) => element.dataset.name),
	...[...document.querySelectorAll('.track-shell')].map((element) => element.textContent)]);

const scrollTo = (page, name) => page.evaluate((wanted) => {
	const tracks = [...document.querySelectorAll('.track-group-panel, .track-shell')];
	tracks.find((track) => (track.dataset.name ?? track.textContent).includes(wanted))?.scrollIntoView();
}, name);

// The share of the viewer's canvases that is neither white nor empty.
const drawnOn = (page) => page.evaluate(() => {
	let drawn = 0, all = 0;
	for (const canvas of document.querySelectorAll('canvas')) {
		if (!canvas.width || !canvas.height)
			continue;
		const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
		for (let i = 0; i < data.length; i += 4) {
			all++;
			drawn += data[i + 3] > 0 && (data[i] < 240 || data[i + 1] < 240 || data[i + 2] < 240);
		}
	}
	return drawn / Math.max(all, 1);
});

async function main() {
	const server = await serve();
	const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
	const page = await browser.newPage({ viewport: { width: 1600, height: 1200 } });
	const begin = Date.now();
	let tracks = [], missing = names, drawn = 0;

	await page.goto(`http://127.0.0.1:${server.address().port}/`);
	while (Date.now() - begin < PATIENCE && (missing.length || drawn < 0.01)) {
		await page.waitForTimeout(500);
		tracks = await tracksOf(page);
		missing = names.filter((name) => !tracks.some((track) => track.includes(name)));
		drawn = await drawnOn(page);
	}
	await page.waitForTimeout(1000);
	await page.screenshot({ path: png });
	await scrollTo(page, names.at(-1));
	await page.waitForTimeout(2000);
	await page.screenshot({ path: png.replace(/\.png$/, '-last.png') });
	await browser.close();
	server.close();
	if (missing.length)
		throw new Error(`no track: ${missing.join(', ')}; there are: ${tracks.join(', ')}`);
	return `${tracks.length} tracks, ${(drawn * 100).toFixed(1)} % drawn on`;
}

main().then((words) => { console.log(words); process.exit(0); }, (error) => {
	console.error(error.message ?? error);
	process.exit(1);
});
