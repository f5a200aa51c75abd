// Looks at an agent's page in a real browser, and takes a picture:
//
//     node page.mjs NPM URL PNG [TOKEN]
//
// Waits until it has drawn an interval. Prints what it shows; exits 1 on noise in the console or a request elsewhere.
import { createRequire } from 'node:module';
import path from 'node:path';

const [npm, url, png, token] = process.argv.slice(2);
const { chromium } = createRequire(import.meta.url)(path.resolve(npm, 'playwright-core'));
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
const page = await browser.newPage({ viewport: { width: 1200, height: 900 } });
const noises = [];
page.on('console', (message) => { if (!message.text().includes('401')) noises.push(message.text()); });
page.on('pageerror', (error) => noises.push(error.message));
page.on('request', (request) => { if (!request.url().startsWith(url)) noises.push('request: ' + request.url()); });
await page.goto(url);
if (token) {
	await page.waitForSelector('#ask:not([hidden])', { timeout: 30000 });
	await page.fill('#token', token);
	await page.click('#ask button');
}
// The page's policy forbids what waitForFunction() does.
await page.waitForSelector('#strata_cpu_stay_seconds[data-count]:not([data-count="0"])', { timeout: 30000, state: 'attached' });
await page.waitForTimeout(5000);
await page.screenshot({ path: png });
console.log(JSON.stringify(await page.evaluate(() => ({
	node: document.getElementById('node').textContent,
	cpu: document.getElementById('cpu_now').textContent,
	bars: document.querySelectorAll('#strata_cpu_stay_seconds rect').length,
	disks: document.getElementById('disks').rows.length,
	lost: document.getElementById('own').rows[0].cells[1].textContent,
}))));
await browser.close();
for (const noise of noises)
	console.error(noise);
process.exit(noises.length ? 1 : 0);
