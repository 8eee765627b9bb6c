// Ten thousand and more random interactions with the page, and what page and daemon hold meanwhile. Prints JSON.
// Usage: node soak.mjs PROFD SOURCE_ROOT FILE INTERACTIONS SEED SECONDS
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gaugeOf } from "./growth.mjs";
import { processMemory, startBrowser, startDaemon, viewAddress, Views } from "./harness.mjs";
import { Wanderer } from "./wander.mjs";

const [profd, root, file, interactions, seed, seconds] = process.argv.slice(2);
const SAMPLES = 40;

const scratch = mkdtempSync(join(tmpdir(), "profd-page-soak-"));
// So little that the cache of views is full in the first third, and what grows then grows for ever.
const daemon = await startDaemon(profd, scratch, ["--memory-budget", "8MB"]);
const browser = await startBrowser(root);
const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
const views = new Views(await context.newPage(), undefined);
views.page.setDefaultNavigationTimeout(120_000);
try {
  await views.page.goto(await viewAddress(profd, daemon.socket, file));
  await views.ready();
  const gauge = await gaugeOf(browser, views.page);
  const wanderer = new Wanderer(views.page, Number(seed), views.page.url());
  await wanderer.begin();
  const end = performance.now() + Number(seconds) * 1000;
  const samples = [];
  let done = 0;
  const sample = async () => {
    // The same place each time: what is shown is not what is held.
    await wanderer.home();
    await views.page.setViewportSize({ width: 1280, height: 800 });
    await views.ready();
    await wanderer.letGo();
    // Pages of its program come in with what is used of it, and are nothing that it holds.
    const held = await gauge();
    held.left -= wanderer.keptToUndo();
    samples.push({ done, ...held, daemon: processMemory(daemon.pid).anonymous });
  };
  let next = 0;
  while (done < Number(interactions) && performance.now() < end) {
    if (done >= next) {
      await sample();
      next += interactions / SAMPLES;
    }
    done += await wanderer.step();
  }
  await sample();
  if (!(await wanderer.isSamePage())) views.complaints.push("the page was loaded anew");
  console.log(JSON.stringify({ done, samples, complaints: views.complaints, alive: daemon.alive() }));
} finally {
  await browser.close();
  await daemon.stop();
  rmSync(scratch, { recursive: true, force: true });
}
