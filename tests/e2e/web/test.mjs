// The views in a browser, against the real daemon on real profiles. Usage: node test.mjs PROFD SOURCE_ROOT CHROMIUM
import assert from "node:assert";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { startBrowser, startDaemon, Views, watch } from "./harness.mjs";

const [profd, root, program, only] = process.argv.slice(2);
const { startBridge } = await import(pathToFileURL(join(root, "clients/web/tools/bridge.mjs")));
const axeSource = readFileSync(
  createRequire(join(root, "clients/web/package.json")).resolve("axe-core/axe.min.js"),
  "utf8",
);
const demo = join(root, "tests/fixtures/go-demo/cpu.pprof");
const heap = join(root, "tests/fixtures/go-demo/heap.pprof");
const scratch = mkdtempSync(join(tmpdir(), "profd-web-"));

const seen = {};
const hear = watch(seen);
const bridge = await startBridge(profd, {
  onText: (direction, text) => hear(direction, text),
});
bridge.layouts = seen.layouts;
const browser = await startBrowser(root, program);

const tests = [];
const test = (name, run, options = {}) => tests.push({ name, run, options });

async function axe(views) {
  await views.page.evaluate(axeSource);
  const { violations } = await views.page.evaluate(() =>
    // eslint-disable-next-line no-undef
    axe.run(document, { rules: { "target-size": { enabled: true } } }),
  );
  const grave = violations.filter((v) => v.impact === "serious" || v.impact === "critical");
  assert.deepStrictEqual(
    grave.map((v) => `${v.id}: ${v.nodes.map((node) => node.html.slice(0, 160)).join(" | ")}`),
    [],
  );
}

test("opens a profile, and the picture is the daemon's", async (views) => {
  await views.open(demo);
  await views.ready();
  const [all] = await views.items();
  assert.match(all.text, /^all, 8\.34 s · 100 %$/);
  assert.match(await views.page.title(), /^cpu\.pprof · profd$/);
  // Something is on the canvas, in more than a few colours.
  const colors = await views.page.$eval(".stage canvas", (canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, Math.min(300, canvas.height));
    const found = new Set();
    for (let i = 0; i < data.length; i += 16) found.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
    return found.size;
  });
  assert.ok(colors > 8, `${colors} colours`);
});

test("zooms by a click, goes back and forward, and a link restores it", async (views) => {
  await views.open(demo);
  await views.ready();
  await views.clickBox("main.parseOrders");
  await views.until("the zoom in the address", () => views.fragment().get("zoom"));
  await views.until(
    "crumbs",
    async () => (await views.page.locator(".crumbs [aria-current]").textContent()) === "main.parseOrders",
  );
  assert.strictEqual(await views.chosen(), "main.parseOrders");
  await views.page.waitForTimeout(300);
  const link = views.page.url();
  await views.clickBox("encoding/json.checkValid");
  await views.until(
    "the second zoom",
    async () => (await views.page.locator(".crumbs [aria-current]").textContent()) === "json.checkValid",
  );
  await views.page.goBack();
  await views.until(
    "the first zoom again",
    async () => (await views.page.locator(".crumbs [aria-current]").textContent()) === "main.parseOrders",
  );
  await views.page.goForward();
  await views.until(
    "the second one again",
    async () => (await views.page.locator(".crumbs [aria-current]").textContent()) === "json.checkValid",
  );
  await views.page.keyboard.press("0");
  await views.until(
    "the whole",
    async () => (await views.page.locator(".crumbs [aria-current]").textContent()) === "all",
  );
  await views.page.goto("about:blank");
  await views.page.goto(link);
  await views.until(
    "the zoom of the link",
    async () => (await views.page.locator(".crumbs [aria-current]").textContent()) === "main.parseOrders",
  );
});

test("searches, tells an honest share, and steps through what matches", async (views) => {
  await views.open(demo);
  await views.ready();
  await views.page.keyboard.press("/");
  await views.page.keyboard.type("json");
  await views.until("the share", async () => /^36\.6 %/.test(await views.page.locator(".search-share").textContent()));
  assert.match(await views.page.locator("[role=status][aria-live]").textContent(), /36\.6 %/);
  await views.page.keyboard.press("Enter");
  await views.until("a match", async () => /json/.test(await views.chosen()));
  const first = await views.page.locator(".details .stack").textContent();
  await views.page.keyboard.press("Enter");
  await views.until("another match", async () => (await views.page.locator(".details .stack").textContent()) !== first);
  await views.page.keyboard.press("Escape");
  await views.until("no search", () => views.fragment().get("search") === null);
  await views.page.locator("[role=search] input").fill("(");
  await views.until("what is wrong", async () =>
    /regular expression/.test(await views.page.locator(".search-wrong").textContent()),
  );
});

test("keeps searches as highlighted sets", async (views) => {
  await views.open(demo, "&search=json");
  await views.ready();
  await views.page.getByLabel("Keep this search highlighted").click();
  await views.until("a set", async () => /json.*36\.6 %/.test(await views.page.locator(".search-set").textContent()));
  await views.page.locator("[role=search] input").fill("sha256");
  await views.until("two at once", async () => /^1/.test(await views.page.locator(".search-share").textContent()));
  await views.page.getByLabel("Highlight json no more").click();
  assert.strictEqual(await views.page.locator(".search-set").count(), 0);
});

test("tells at once what is pointed at, inside the window", async (views) => {
  await views.open(demo);
  await views.ready();
  const { x, y } = await views.place("main.verifyAll");
  await views.page.mouse.move(x, y);
  await views.until("a tooltip", async () =>
    /^main\.verifyAll/.test(await views.page.locator(".tooltip").textContent()),
  );
  await views.page.mouse.move(1278, 130);
  for (const [px, py] of [
    [960, 90],
    [4, 200],
    [960, 600],
  ]) {
    await views.page.mouse.move(px, py);
    await views.page.waitForTimeout(60);
    const box = await views.page
      .locator(".tooltip")
      .boundingBox()
      .catch(() => null);
    if (box !== null)
      assert.ok(
        box.x >= 0 && box.y >= 0 && box.x + box.width <= 1280 && box.y + box.height <= 800,
        JSON.stringify(box),
      );
  }
});

test("filters by menu and by words, switches, moves, undoes and redoes", async (views) => {
  await views.open(demo);
  await views.ready();
  await views.clickBox("main.findSimilar", { button: "right" });
  await views.page.getByRole("menuitem", { name: /^Drop stacks with it/ }).click();
  await views.until("the filter in the address", () =>
    /drop function main\.findSimilar/.test(views.fragment().get("view") ?? ""),
  );
  await views.until("a smaller view", async () => /5\.63 s/.test((await views.items())[0].text));
  await views.page.getByRole("button", { name: "Filter", exact: true }).click();
  await views.page.keyboard.type("hi");
  await views.until("what can follow", async () =>
    (await views.page.locator("#clause-list [role=option]").allTextContents()).includes("hide"),
  );
  await views.page.keyboard.press("Tab");
  await views.page.keyboard.type("function main.par");
  await views.until("names", async () =>
    (await views.page.locator("#clause-list [role=option]").allTextContents()).includes("main.parseOrders"),
  );
  await views.page.keyboard.press("ArrowDown");
  await views.page.keyboard.press("Enter");
  await views.page.keyboard.press("Enter");
  await views.until("two chips", async () => (await views.page.locator(".chip").count()) === 2);
  const chips = () => views.page.locator(".chip-text").allTextContents();
  const before = await chips();
  await views.page.locator(".chip-text").first().focus();
  await views.page.keyboard.press("Alt+ArrowRight");
  assert.deepStrictEqual(await chips(), [before[1], before[0]]);
  await views.page.locator(".chip-text").nth(1).click();
  await views.until("all of it again", async () => /8\.34 s/.test((await views.items())[0].text));
  assert.match(views.page.url(), /off=/);
  const link = views.page.url();
  await views.page.locator("main .stage-tree").focus();
  await views.page.keyboard.press("u");
  await views.page.keyboard.press("u");
  assert.deepStrictEqual(await chips(), before);
  await views.page.keyboard.press("u");
  await views.page.keyboard.press("u");
  await views.until("no filter", async () => (await views.page.locator(".chip").count()) === 0);
  for (let i = 0; i < 4; ++i) await views.page.keyboard.press("U");
  assert.deepStrictEqual(await chips(), [before[1], before[0]]);
  await views.page.goto("about:blank");
  await views.page.goto(link);
  await views.until("the chips of the link", async () => (await views.page.locator(".chip").count()) === 2);
  assert.strictEqual(await views.page.locator(".chip.off").count(), 1);
});

test("says what is wrong with a filter, and keeps what was typed", async (views) => {
  await views.open(demo);
  await views.ready();
  await views.page.keyboard.press("F");
  await views.page.keyboard.type("drop colour red");
  await views.page.keyboard.press("Enter");
  assert.match(await views.page.locator(".clause-wrong").textContent(), /comes one of function, module/);
  assert.strictEqual(await views.page.getByRole("combobox", { name: "Filter" }).inputValue(), "drop colour red");
  await views.page.keyboard.press("Escape");
  assert.strictEqual(await views.page.locator(".clause").count(), 0);
});

test("switches the metric, for widths and for colours", async (views) => {
  await views.open(heap);
  await views.ready();
  const first = (await views.items())[0].text;
  await views.page.keyboard.press("m");
  await views.until("another total", async () => (await views.items())[0]?.text !== first);
  await views.until("the metric in the address", () => /metric/.test(views.fragment().get("view") ?? ""));
  await views.page.getByRole("combobox", { name: /^Colours/ }).selectOption("metric");
  await views.until("a colour column", () => views.layout().boxes.color !== undefined);
});

test("shows callers, callees and bottom-up", async (views) => {
  await views.open(demo);
  await views.ready();
  await views.clickBox("main.handle", { button: "right" });
  await views.page.getByRole("menuitem", { name: /^Callers of it/ }).click();
  await views.until("callers", () => /^callers of main\.handle/.test(views.layout().spec));
  await views.until("its name at the root", async () => /^main\.handle|^all/.test((await views.items())[0].text));
  await views.page.keyboard.press("C");
  await views.until("callees", () => /^callees of main\.handle/.test(views.layout().spec));
  await views.page.keyboard.press("b");
  await views.until("bottom-up", () => /^bottom-up/.test(views.layout().spec));
  await views.page.getByRole("button", { name: "Callers", exact: true }).first().click();
});

test("sorts the table, scrolls it and opens a row", async (views) => {
  await views.open(demo, "&tab=flat");
  const names = () => views.page.locator(".table-row .name:not(.muted)").allTextContents();
  await views.until("rows", async () => (await names()).length > 10);
  const bySelf = await names();
  await views.page
    .getByRole("columnheader", { name: /^Total/ })
    .getByRole("button")
    .click();
  await views.until(
    "another order",
    async () => /^(runtime|main)\.main$/.test((await names())[0]) && (await names())[0] !== bySelf[0],
  );
  const [heaviest] = await names();
  assert.strictEqual(
    await views.page.getByRole("columnheader", { name: /^Total/ }).getAttribute("aria-sort"),
    "descending",
  );
  await views.page.getByRole("grid").focus();
  await views.page.keyboard.press("End");
  await views.until(
    "the last row",
    async () => (await views.page.locator('.table-row[aria-rowindex="423"]').count()) === 1,
  );
  await views.page.keyboard.press("Home");
  await views.page.keyboard.press("Enter");
  await views.until("the sandwich", () => views.fragment().get("tab") === "sandwich");
  assert.strictEqual(views.fragment().get("function"), heaviest);
});

test("opens the hottest path of the tree", async (views) => {
  await views.open(demo, "&tab=tree");
  await views.until("rows", async () => (await views.page.locator(".table-row").count()) > 3);
  await views.page.getByRole("button", { name: "Hottest path" }).click();
  await views.until("main.handle", async () => (await views.chosen()) === "main.handle");
  const row = views.page.locator(".table-row.selected");
  assert.strictEqual(await row.getAttribute("aria-level"), "6");
  await views.page.getByRole("treegrid").focus();
  await views.page.keyboard.press("ArrowRight");
  await views.page.keyboard.press("ArrowRight");
  await views.until(
    "its first child",
    async () => (await views.page.locator(".table-row.selected").getAttribute("aria-level")) === "7",
  );
  await views.page.keyboard.press("Enter");
  await views.until("the flame graph, zoomed there", () => views.fragment().get("zoom")?.split(".").length === 7);
});

test("shows the profile, its lines and what is open", async (views) => {
  await views.open(demo, "&tab=profile");
  await views.until("facts", async () => /Hottest functions/.test(await views.page.locator("main").textContent()));
  await views.page.keyboard.press("8");
  await views.until("the list", async () => (await views.page.locator(".entries li").count()) > 0);
  await views.page.keyboard.press("5");
  await views.until("files", async () =>
    /parse\.go|mgcmark|report\.go/.test(await views.page.locator("main").textContent()),
  );
});

test("is used by keyboard alone", async (views) => {
  await views.open(demo);
  await views.ready();
  await views.page.locator(".skip").focus();
  await views.page.keyboard.press("Enter");
  assert.ok(await views.page.$eval(".stage-tree", (tree) => document.activeElement === tree));
  const active = async () => (await views.items()).find((item) => item.active)?.text ?? "";
  for (let i = 0; i < 7; ++i) await views.page.keyboard.press("ArrowDown");
  await views.until("the widest way down", async () => /^main\.(handle|parseOrders|findSimilar)/.test(await active()));
  const before = await active();
  await views.page.keyboard.press("ArrowUp");
  await views.page.keyboard.press("j");
  await views.until("up and down again", async () => (await active()) === before);
  await views.page.keyboard.press("Enter");
  await views.until("a zoom", () => views.fragment().get("zoom"));
  await views.page.keyboard.press(".");
  await views.page.getByRole("menu").waitFor();
  assert.ok(await views.page.evaluate(() => document.activeElement?.getAttribute("role") === "menuitem"));
  await views.page.keyboard.press("Escape");
  assert.ok(await views.page.$eval(".stage-tree", (tree) => document.activeElement === tree), "the focus is back");
  await views.page.keyboard.press("x");
  await views.until("a filter", async () => (await views.page.locator(".chip").count()) === 1);
  await views.page.keyboard.press("u");
  await views.until("none", async () => (await views.page.locator(".chip").count()) === 0);
  await views.page.keyboard.press("?");
  await views.page.getByRole("dialog", { name: "Keys" }).waitFor();
  const listed = await views.page.locator(".key-list").textContent();
  for (const word of ["zoom to the chosen box", "undo the last filter", "next match", "these keys"])
    assert.ok(listed.includes(word), word);
  await views.page.keyboard.press("Escape");
  await views.until("no dialog", async () => (await views.page.getByRole("dialog").count()) === 0);
  for (let i = 0; i < 3; ++i) {
    await views.page.keyboard.press("Backspace");
    await views.page.waitForTimeout(150);
  }
  await views.until("back", () => views.fragment().get("zoom") === null);
});

test("changes its theme, and follows the system's", async (views) => {
  await views.open(demo);
  await views.ready();
  const ground = () => views.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  await views.page.emulateMedia({ colorScheme: "dark" });
  await views.until("dark", async () => (await ground()) !== light);
  await views.page.getByRole("button", { name: "Settings" }).click();
  await views.page.getByRole("menuitemradio", { name: "Light" }).click();
  await views.until("light", async () => (await ground()) === light);
  await views.page.reload();
  await views.ready();
  assert.strictEqual(await ground(), light, "the choice is kept");
  await views.page.getByRole("button", { name: "Settings" }).click();
  await views.page.getByRole("menuitemradio", { name: "As the system" }).click();
});

test("treats hostile names as data, everywhere", async (views) => {
  const file = join(scratch, "hostile.folded");
  const names = [
    "<script>window.harm=1</script>",
    "<img src=x onerror=window.harm=1>",
    "[l](javascript:window.harm=1)",
    "a\u202eb\u2066c",
    "\u001b[31mred\u001b[0m",
    "&lt;b&gt;",
  ];
  writeFileSync(
    file,
    names.map((name, i) => `main;${names.slice(0, i).concat(name).join(";")} ${10 + i}`).join("\n") + "\n",
  );
  for (const tab of ["flame", "tree", "flat", "sandwich", "source", "threads", "profile", "open"]) {
    await views.open(file, `&tab=${tab}`);
    await views.page.waitForTimeout(500);
    if (tab === "flame") {
      await views.ready();
      for (let i = 0; i < 5; ++i) await views.page.keyboard.press("ArrowDown");
      await views.clickBox(names[1], { button: "right" });
      await views.page.getByRole("menu").waitFor();
      await views.page.keyboard.press("Escape");
    }
    assert.strictEqual(await views.page.evaluate(() => window.harm), undefined);
    assert.strictEqual(await views.page.locator("main img, main script").count(), 0);
    // eslint-disable-next-line no-control-regex
    assert.doesNotMatch(
      await views.page.locator("#app").textContent(),
      /[\u0000-\u0008\u001b\u202a-\u202e\u2066-\u2069]/,
    );
  }
});

test("loses the daemon and comes back, the picture staying", async (views) => {
  await views.open(demo);
  await views.ready();
  await views.clickBox("main.parseOrders");
  await views.until("crumbs", async () => (await views.page.locator(".crumbs [aria-current]").textContent()) !== "all");
  bridge.killDaemons();
  await views.until("what happened", async () => /daemon is gone/.test(await views.page.locator(".bar").textContent()));
  assert.ok((await views.items()).length > 0, "the picture stays");
  await views.until("back by itself", async () => (await views.page.locator(".bar").count()) === 0);
  await views.until(
    "the zoom again",
    async () => (await views.page.locator(".crumbs [aria-current]").textContent()) === "main.parseOrders",
  );
  await views.page.keyboard.press("t");
  await views.until("answers", async () => (await views.page.locator(".table-row").count()) > 3);
});

test("follows a file that changes, and keeps zoom and choice by names", async (views) => {
  const file = join(scratch, "changing.folded");
  writeFileSync(file, "main;work;inner 10\nmain;other 5\n");
  await views.open(file);
  await views.ready();
  await views.clickBox("work");
  await views.until("a zoom", () => views.fragment().get("zoom"));
  for (let round = 1; round <= 5; ++round) {
    writeFileSync(file, `main;work;inner ${10 + round}\nmain;other 5\nmain;new${round};x 3\n`);
    await views.until("the new numbers", async () =>
      new RegExp(`^work, ${10 + round} `).test(
        (await views.items()).find((item) => /^work/.test(item.text))?.text ?? "",
      ),
    );
    assert.strictEqual(await views.page.locator(".crumbs [aria-current]").textContent(), "work");
    assert.strictEqual(await views.chosen(), "work");
  }
  writeFileSync(file, "main;other 5\n");
  await views.until("the nearest ancestor, said", async () =>
    /not in this view; main is shown/.test(await views.page.locator(".notices").textContent()),
  );
});

test("says what is wrong with a file, and what to do", async (views) => {
  const file = join(scratch, "nothing.pprof");
  writeFileSync(file, "\u0000\u0001\u0002 no profile");
  await views.open(file);
  await views.until("the error", async () =>
    /nothing\.pprof cannot be opened/.test(await views.page.locator(".problem h1").textContent()),
  );
  await axe(views);
  await views.open(join(scratch, "absent.pprof"));
  await views.until("the error", async () =>
    /absent\.pprof cannot be opened/.test(await views.page.locator(".problem h1").textContent()),
  );
  copyFileSync(demo, join(scratch, "absent.pprof"));
  await views.page.getByRole("button", { name: "Try again" }).click();
  await views.ready();
});

test("moves with a click while answers take a second", async (views) => {
  await views.open(demo);
  await views.ready();
  const { x, y } = await views.place("main.parseOrders");
  bridge.settings.delay = 1000;
  try {
    const pixels = () =>
      views.page.$eval(".stage canvas", (canvas) =>
        Array.from(canvas.getContext("2d").getImageData(0, 130, canvas.width, 1).data).join(),
      );
    const before = await pixels();
    await views.page.mouse.click(x, y);
    await views.page.waitForTimeout(120);
    assert.notStrictEqual(await pixels(), before);
  } finally {
    bridge.settings.delay = 0;
  }
  await views.until(
    "the picture",
    async () => (await views.page.locator(".crumbs [aria-current]").textContent()) !== "all",
  );
});

test("asks and draws nothing while nothing happens", async (views) => {
  await views.open(demo);
  await views.ready();
  await views.page.waitForTimeout(800);
  const frames = await views.page.evaluate(
    () =>
      new Promise((resolve) => {
        let count = 0;
        const original = window.requestAnimationFrame;
        window.requestAnimationFrame = (run) => {
          ++count;
          return original.call(window, run);
        };
        setTimeout(() => resolve(count), 1000);
      }),
  );
  assert.strictEqual(frames, 0);
});

test("zooms by wheel where the pointer is, and pans", async (views) => {
  await views.open(demo);
  await views.ready();
  const { x, y } = await views.place("main.verifyAll");
  await views.page.mouse.move(x, y);
  await views.page.keyboard.down("Control");
  for (let i = 0; i < 12; ++i) await views.page.mouse.wheel(0, -100);
  await views.page.keyboard.up("Control");
  await views.page.waitForTimeout(700);
  await views.page.mouse.move(x + 1, y);
  await views.until("the same box under the pointer", async () =>
    /^main\.verifyAll/.test(await views.page.locator(".tooltip").textContent()),
  );
  await views.page.mouse.move(600, 300);
  await views.page.mouse.down();
  await views.page.mouse.move(500, 300, { steps: 5 });
  await views.page.mouse.up();
  await views.page.waitForTimeout(400);
});

test("takes pictures, tables and Markdown along", async (views) => {
  await views.page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await views.open(demo);
  await views.ready();
  const saved = async (name) => {
    await views.page.getByRole("button", { name: "Export" }).click();
    const [download] = await Promise.all([
      views.page.waitForEvent("download", { timeout: 20_000 }),
      views.page.getByRole("menuitem", { name }).click(),
    ]);
    const path = join(scratch, download.suggestedFilename());
    await download.saveAs(path);
    return { name: download.suggestedFilename(), bytes: readFileSync(path) };
  };
  const svg = await saved("Picture, SVG");
  assert.strictEqual(svg.name, "cpu.pprof.svg");
  assert.match(svg.bytes.toString(), /^<svg[^]*main\.parseOrders/);
  const png = await saved("Picture, PNG");
  assert.strictEqual(png.bytes.subarray(1, 4).toString(), "PNG");
  const page = await saved(/HTML/);
  assert.match(page.bytes.toString(), /^<!doctype html>[^]*<svg/);
  const csv = await saved("Table, CSV");
  assert.match(csv.bytes.toString(), /^name,file,line/);
  await views.page.getByRole("button", { name: "Export" }).click();
  await views.page.getByRole("menuitem", { name: /Markdown/ }).click();
  await views.until("a table", async () =>
    /\| 670 ms \| 8\.0 % \|/.test(await views.page.evaluate(() => navigator.clipboard.readText())),
  );
});

test(
  "fits a telephone, and touch",
  async (views) => {
    await views.open(demo);
    await views.ready();
    const width = await views.page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= 360, `${width} wide`);
    const { x, y } = await views.place("main.parseOrders");
    await views.page.touchscreen.tap(x, y);
    await views.until("it is chosen", async () => (await views.chosen()) === "main.parseOrders");
    await axe(views);
  },
  { viewport: { width: 360, height: 740 }, hasTouch: true },
);

test("shows the text of a source beside what its lines cost", async (views) => {
  const folder = `file://${join(root, "tests/fixtures/go-demo")}`;
  await views.open(demo, `&root=${encodeURIComponent(folder)}&tab=source&function=main.parseOrder`);
  await views.until("the costly line", async () =>
    /36\.6 %\s+3\.05 s/.test(await views.page.locator("#line-51 .source-cost").textContent()),
  );
  assert.match(await views.page.locator("#line-51 code").textContent(), /json\.Unmarshal\(line, &order\)/);
  await axe(views);
});

test("lists threads and labels, and one that is chosen is a filter", async (views) => {
  await views.open(demo, "&tab=threads");
  await views.until("the labels", async () =>
    /57\.2 %4\.77 s\/report/.test(await views.page.locator("main").textContent()),
  );
  await views.page.getByRole("button", { name: /4\.77 s/ }).click();
  await views.until(
    "a chip",
    async () => (await views.page.locator(".chip-text").allTextContents())[0] === 'label endpoint = "/report"',
  );
  await views.page.keyboard.press("1");
  await views.ready();
  await views.until("its share", async () => /^all, 4\.77 s/.test((await views.items())[0].text));
});

test("is served by the daemon, and the token leaves no trace", async (views) => {
  const daemon = await startDaemon(profd, scratch);
  try {
    const { address, once } = daemon.address({ open: [`file://${demo}`] });
    const token = new URLSearchParams(new URL(address).hash.slice(1)).get("t");
    assert.ok(token.length > 20);
    await views.page.goto(address);
    await views.ready();
    assert.ok(!views.page.url().includes(token));
    assert.strictEqual(views.fragment().get("open"), `file://${demo}`);
    assert.ok(!(await views.page.content()).includes(token));
    await views.page.reload();
    await views.ready();

    const other = new Views(await views.page.context().newPage(), bridge);
    await other.page.goto(once);
    await other.ready();
    // What is chosen on one page is chosen on the other.
    await other.page.locator(".stage-tree").focus();
    await other.page.keyboard.press("ArrowDown");
    await other.page.keyboard.press("ArrowDown");
    await views.until("the shared choice", async () => (await views.chosen()) === (await other.chosen()));
    assert.match(await views.page.locator(".details").textContent(), /chosen in client/);
    await other.page.close();

    const third = new Views(await (await browser.newContext()).newPage(), bridge);
    await third.page.goto(once);
    await third.until("that the code was used", async () =>
      /was used already/.test(await third.page.locator(".notices").textContent()),
    );
    await third.page.goto("about:blank");
    await third.page.goto(address.replace(token, "A".repeat(token.length)));
    await third.until("that it is not let in", async () =>
      /did not let this page in/.test(await third.page.locator(".bar.error").textContent()),
    );
    await third.page.context().close();
  } finally {
    daemon.stop();
  }
  await views.until("what happened", async () => /daemon is gone/.test(await views.page.locator(".bar").textContent()));
  views.complaints.length = 0;
});

test("opens files that are dropped on it, in pieces", async (views) => {
  const large = join(scratch, "large.folded");
  // More than two pieces.
  writeFileSync(
    large,
    Array.from({ length: 60_000 }, (_, i) => `main;function_${i % 700};leaf_${i} ${1 + (i % 9)}\n`).join(""),
  );
  await views.open(demo);
  await views.ready();
  await views.page.keyboard.press("8");
  await views.page.locator("input[type=file]").setInputFiles(large);
  await views.until("the dropped file", async () => /^large\.folded/.test(await views.page.title()));
  await views.ready();
  assert.match((await views.items())[0].text, /^all, 300 k/);
});

for (const tab of ["flame", "tree", "flat", "sandwich", "source", "threads", "profile", "open"])
  for (const colorScheme of ["light", "dark"])
    test(
      `has no serious accessibility fault: ${tab}, ${colorScheme}`,
      async (views) => {
        await views.open(
          demo,
          `&tab=${tab}&search=json&view=${encodeURIComponent("top-down by function | drop function main.findSimilar")}`,
        );
        await views.page.waitForTimeout(900);
        await axe(views);
      },
      { colorScheme },
    );

test(
  "keeps to forced colours and reduced motion",
  async (views) => {
    await views.open(demo);
    await views.ready();
    await views.clickBox("main.parseOrders");
    await views.until(
      "a zoom",
      async () => (await views.page.locator(".crumbs [aria-current]").textContent()) !== "all",
    );
    await axe(views);
  },
  { forcedColors: "active", reducedMotion: "reduce" },
);

let failed = 0;
for (const { name, run, options } of tests) {
  if (only && !name.includes(only)) continue;
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    acceptDownloads: true,
    ...options,
  });
  const views = new Views(await context.newPage(), bridge);
  try {
    await run(views);
    assert.deepStrictEqual(views.complaints, [], "nothing is complained of in the console");
    console.log(`ok ${name}`);
  } catch (error) {
    ++failed;
    console.log(`FAILED ${name}\n${error.stack}`);
    if (process.env.PROFD_WEB_PICTURES)
      await views.page.screenshot({
        path: join(process.env.PROFD_WEB_PICTURES, `failed-${failed}.png`),
      });
  }
  await context.close();
}
await browser.close();
await bridge.close();
rmSync(scratch, { recursive: true, force: true });
console.log(failed === 0 ? "all passed" : `${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
