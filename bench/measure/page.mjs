// What the views cost in a browser, with a profile that is in the cache. Prints JSON for bench/harness/web.py.
// Usage: node page.mjs PROFD SOURCE_ROOT FILE SECONDS RUNS
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { CATEGORIES, workOfFrames } from "./frames.mjs";

const [profd, root, file, seconds, runs] = process.argv.slice(2);
const tests = (name) => import(pathToFileURL(join(root, "tests/e2e/web", name)));
const { startBrowser, startDaemon, viewAddress, processMemory } = await tests("harness.mjs");
const { Hands, randomOf } = await tests("hands.mjs");

const scratch = mkdtempSync(join(tmpdir(), "profd-page-"));
const browser = await startBrowser(root);

/** From asking to having heard, of every request that was answered with a result. */
function hearAnswers() {
  window.answerTimes = [];
  const sent = new Map();
  const idOf = (text) => /^.{0,40}?"id":(\d+)/.exec(text.slice(0, 80))?.[1];
  const { send } = WebSocket.prototype;
  const heard = new WeakSet();
  WebSocket.prototype.send = function (text) {
    if (!heard.has(this)) {
      heard.add(this);
      this.addEventListener("message", ({ data }) => {
        const at = sent.get(idOf(data));
        if (at === undefined) return;
        sent.delete(idOf(data));
        if (data.slice(0, 80).includes('"result"')) window.answerTimes.push(performance.now() - at);
      });
    }
    if (idOf(text) !== undefined && text.includes('"method"')) sent.set(idOf(text), performance.now());
    return send.call(this, text);
  };
}

/** A daemon, `profd view`, a page, until its first picture is on the screen. */
async function open(use) {
  const folder = mkdtempSync(join(scratch, "run-"));
  const context = await browser.newContext({ viewport: { width: 1600, height: 900 } });
  const page = await context.newPage();
  await page.addInitScript(hearAnswers);
  const start = performance.now();
  const daemon = await startDaemon(profd, folder);
  try {
    await page.goto(await viewAddress(profd, daemon.socket, file));
    await page.waitForSelector(".stage-tree [role=treeitem]", { state: "attached", timeout: 120_000 });
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    return await use(page, performance.now() - start);
  } finally {
    await context.close();
    await daemon.stop();
  }
}

const first = [];
for (let i = 0; i < Number(runs); ++i) first.push(await open((_, took) => took));

const measured = await open(async (page) => {
  // Asking where the picture is would be work of the page.
  const hands = new Hands(page, randomOf(1), await page.locator(".stage").boundingBox());
  await page.waitForTimeout(3000);
  await page.evaluate(() => (window.answerTimes.length = 0));
  await browser.startTracing(page, { categories: CATEGORIES });
  const end = performance.now() + Number(seconds) * 1000;
  while (performance.now() < end) await hands.lookAround();
  const { pid, ...frames } = workOfFrames(JSON.parse((await browser.stopTracing()).toString()));
  const answers = await page.evaluate(() => window.answerTimes);
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  const { metrics } = await session.send("Performance.getMetrics");
  const heap = metrics.find(({ name }) => name === "JSHeapUsedSize").value;
  return { frames, answers, heap, memory: processMemory(pid) };
});

await browser.close();
rmSync(scratch, { recursive: true, force: true });
console.log(JSON.stringify({ browser: browser.version(), first, ...measured }));
