#!/usr/bin/env node
/* What a report page shows, as JSON: the key numbers by name, and the cells of each list as texts.
 *
 *     page_figures.js PAGE
 */
'use strict';
const path = require('path');
const { chromium } = require(path.join(__dirname, '../../build/npm/playwright-core'));

(async () => {
	const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
	const page = await browser.newPage();

	await page.goto('file://' + path.resolve(process.argv[2]));
	await page.waitForSelector('html[data-ready=yes]', { timeout: 60000 });
	console.log(JSON.stringify(await page.evaluate(() => {
		const cells = (selector, inside) => [...document.querySelectorAll(selector)].map((row) =>
			[...row.querySelectorAll(inside)].map((cell) => cell.textContent.trim()));
		const bars = (id) => cells(`#${id} .row`, ':scope > div').map((row) => row.slice(0, 2));
		return {
			key: Object.fromEntries([...document.querySelectorAll('#key dd')].map((dd) =>
				[dd.dataset.key, [dd.firstChild.textContent, dd.querySelector('small')?.textContent ?? '']])),
			main: bars('main-time'), tasks: bars('tasks'), cpus: bars('cpus'), processes: bars('processes'),
			phases: cells('#phase-time tbody tr', 'td'), files: cells('#files tbody tr', 'td'), devices: cells('#devices tbody tr', 'td'),
			levels: cells('#levels tbody tr', 'td'),
		};
	})));
	await browser.close();
})().catch((error) => { console.error(error); process.exit(1); });
