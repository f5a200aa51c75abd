// A current ClickHouse engine, npm's chdb, behind the requests that strata push and the tests send: statements in the body, or in
// ?query= with a gzip body of rows; settings in the URL. What the engine refuses is answered as a server does.
//
//     chdb_server.mjs FOLDER_OF_CHDB DATA PORT
//
// It is no server: the engine runs a request at a time, and HTTP of a current server is not what is tested with it.
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { writeFileSync, rmSync } from "node:fs";

const [modules, data, port] = process.argv.slice(2);
const { Session } = createRequire(modules + "/")("chdb");
const session = new Session(data + "/engine");
const own = new Set(["query", "database", "default_format", "wait_end_of_query"]);

const quoted = value => (/^[0-9]+$/.test(value) ? value : `'${value.replace(/[\\']/g, "\\$&")}'`);

// Settings hold for one statement, as they do in a request.
function run(sql, url) {
	const settings = [...url.searchParams].filter(([name]) => !own.has(name));
	const database = url.searchParams.get("database");

	if (database)
		session.query(`USE ${database}`);
	try {
		for (const [name, value] of settings)
			session.query(`SET ${name} = ${quoted(value)}`);
		return session.query(sql, url.searchParams.get("default_format") ?? "TSV");
	} finally {
		for (const [name] of settings)
			session.query(`SET ${name} = DEFAULT`);
		if (database)
			session.query("USE default");
	}
}

function insert(sql, url, rows) {
	const file = data + "/rows.gz";

	writeFileSync(file, rows);
	try {
		return run(sql.replace(/ FORMAT RowBinary$/, ` FROM INFILE '${file}' COMPRESSION 'gzip' FORMAT RowBinary`), url);
	} finally {
		rmSync(file);
	}
}

function answer(request, response, body) {
	const url = new URL(request.url, "http://localhost");
	const sql = url.searchParams.get("query");

	try {
		const text = url.pathname === "/ping" ? "Ok.\n" : sql ? insert(sql, url, body) : run(body.toString(), url);

		response.end(text);
	} catch (error) {
		response.statusCode = 500;
		response.end(`Code: ${/Code: (\d+)/.exec(error.message)?.[1] ?? 0}. ${error.message}\n`);
	}
}

createServer((request, response) => {
	const parts = [];

	request.on("data", part => parts.push(part));
	request.on("end", () => answer(request, response, Buffer.concat(parts)));
}).listen(Number(port), "127.0.0.1");
