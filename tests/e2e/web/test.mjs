// The views in a browser, against the real daemon on real profiles: every file of cases/.
// Usage: node test.mjs PROFD SOURCE_ROOT [PART_OF_A_NAME]
import assert from "node:assert";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { axeOf, startBrowser, Views, watch } from "./harness.mjs";

const [profd, root, only] = process.argv.slice(2);
const { startBridge } = await import(pathToFileURL(join(root, "clients/web/tools/bridge.mjs")));

const seen = {};
const hear = watch(seen);
const bridge = await startBridge(profd, { onText: hear });
bridge.layouts = seen.layouts;
bridge.asked = seen.asked;
const browser = await startBrowser(root);

/** What a case is given; each has a page of its own. */
const world = {
  profd,
  root,
  bridge,
  browser,
  axe: axeOf(root),
  scratch: mkdtempSync(join(tmpdir(), "profd-web-")),
  demo: join(root, "tests/fixtures/go-demo/cpu.pprof"),
  heap: join(root, "tests/fixtures/go-demo/heap.pprof"),
};

const tests = [];
const test = (name, run, options = {}) => tests.push({ name, run, options });
const cases = new URL("cases/", import.meta.url);
for (const file of readdirSync(cases).sort()) (await import(new URL(file, cases))).default(test, world);

let failed = 0;
for (const { name, run, options } of tests) {
  if (only && !name.includes(only)) continue;
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    acceptDownloads: true,
    ...options,
  });
  const views = new Views(await context.newPage(), bridge);
  const begun = performance.now();
  const took = () => `(${((performance.now() - begun) / 1000).toFixed(1)} s)`;
  try {
    await run(views);
    assert.deepStrictEqual(views.complaints, [], "nothing is complained of in the console");
    console.log(`ok ${name} ${took()}`);
  } catch (error) {
    ++failed;
    console.log(`FAILED ${name} ${took()}\n${error.stack}`);
    if (process.env.PROFD_WEB_PICTURES)
      await views.page.screenshot({
        path: join(process.env.PROFD_WEB_PICTURES, `failed-${failed}.png`),
      });
  }
  await context.close();
}
await browser.close();
await bridge.close();
rmSync(world.scratch, { recursive: true, force: true });
console.log(failed === 0 ? "all passed" : `${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
