// What must not happen: pictures that wait or jump, work while nothing happens, places that are lost.
import assert from "node:assert";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** In the page: milliseconds from the next click to the first frame in which the canvas is another one. */
const timeNextClick = (stage) => {
  const canvas = stage.querySelector("canvas");
  const row = () => canvas.getContext("2d").getImageData(0, 130, canvas.width, 1).data.join();
  const before = row();
  window.clickTook = new Promise((resolve) =>
    window.addEventListener(
      "pointerup",
      () => {
        const start = performance.now();
        const look = () => (row() === before ? requestAnimationFrame(look) : resolve(performance.now() - start));
        requestAnimationFrame(look);
      },
      { once: true, capture: true },
    ),
  );
};

/** In the page: how many frames it asks for in the next 600 ms. */
const countFrames = () =>
  new Promise((resolve) => {
    let count = 0;
    const original = window.requestAnimationFrame;
    window.requestAnimationFrame = (run) => {
      ++count;
      return original.call(window, run);
    };
    setTimeout(() => {
      window.requestAnimationFrame = original;
      resolve(count);
    }, 600);
  });

export default (test, { bridge, demo, scratch }) => {
  test("moves pixels within 50 ms of a click while answers take a second", async (views) => {
    await views.open(demo);
    await views.ready();
    const { x, y } = await views.place("main.parseOrders");
    await views.page.mouse.move(x, y);
    bridge.settings.delay = 1000;
    try {
      // A machine that does something else at the same time is given three tries.
      const times = [];
      while (times.length < 3 && !times.some((time) => time <= 50)) {
        await views.page.$eval(".stage", timeNextClick);
        await views.page.mouse.click(x, y);
        times.push(await views.page.evaluate(() => window.clickTook));
        await views.page.waitForTimeout(1500);
        await views.page.keyboard.press("0");
        await views.page.waitForTimeout(1500);
      }
      assert.ok(Math.min(...times) <= 50, `${times.map((time) => time.toFixed(0)).join(", ")} ms`);
    } finally {
      bridge.settings.delay = 0;
    }
  });

  test("draws and asks nothing while nothing happens, searched, filtered and zoomed or not", async (views) => {
    await views.open(
      demo,
      `&search=json&view=${encodeURIComponent("top-down by function | drop function main.findSimilar")}`,
    );
    await views.ready();
    const { x, y } = await views.place("main.parseOrders");
    await views.page.mouse.click(x, y);
    for (const tab of "12345678") {
      await views.page.keyboard.press(tab);
      // What the key began may take its time on a busy machine; then nothing happens, for good.
      let frames = 1;
      let asked = 0;
      for (let tries = 0; tries < 5 && (frames > 0 || asked < bridge.asked.length); ++tries) {
        await views.page.waitForTimeout(1200);
        asked = bridge.asked.length;
        frames = await views.page.evaluate(countFrames);
      }
      assert.strictEqual(frames, 0, `frames in view ${tab}`);
      assert.deepStrictEqual(bridge.asked.slice(asked), [], `requests in view ${tab}`);
    }
  });

  test("gives the pixels of a picture back when another view is shown", async (views) => {
    await views.open(demo);
    await views.ready();
    await views.page.locator(".minimap canvas").first().waitFor();
    const canvases = await views.page.$$("canvas");
    const pixels = () =>
      Promise.all(canvases.map((canvas) => canvas.evaluate(({ isConnected, width }) => (isConnected ? 0 : width))));
    assert.ok(canvases.length >= 3);
    await views.page.keyboard.press("2");
    await views.until("another view", async () => (await views.page.locator("canvas").count()) === 0);
    await views.until("no pixel of what was shown", async () => (await pixels()).every((width) => width === 0));
  });

  test("keeps zoom, search, focus and choice while its file is written twenty times", async (views) => {
    const file = join(scratch, "written.folded");
    const write = (round) =>
      writeFileSync(file, `main;work;inner;leaf ${10 + round}\nmain;other 5\nmain;new${round};x 3\n`);
    write(0);
    const view = encodeURIComponent("callees of main");
    await views.open(file, `&search=inner&view=${view}`);
    await views.ready();
    await views.clickBox("work");
    await views.until("a zoom", () => views.fragment().get("zoom"));
    const address = views.page.url();
    for (let round = 1; round <= 20; ++round) {
      write(round);
      await views.until("the new numbers", async () =>
        (await views.items()).some((item) => item.text.startsWith(`work, ${10 + round} `)),
      );
      assert.strictEqual(views.page.url(), address);
      assert.strictEqual(await views.page.locator(".crumbs [aria-current]").textContent(), "work");
      assert.strictEqual(await views.chosen(), "work");
      assert.match(views.layout().spec, /^callees of main/);
      assert.strictEqual(views.layout().search?.amount.value, 10 + round);
    }
  });

  test("keeps what is open in a tree while its file is written twenty times, and while another view is looked at", async (views) => {
    const file = join(scratch, "tree.folded");
    const write = (round) =>
      writeFileSync(file, `main;work;inner;leaf ${10 + round}\nmain;other 5\nmain;new${round};x 3\n`);
    write(0);
    await views.open(file, "&tab=tree");
    await views.until("rows", async () => (await views.page.locator(".table-row").count()) > 0);
    await views.page.getByRole("button", { name: "Hottest path" }).click();
    const shown = async (round) =>
      (await views.page.locator(".table-row").allTextContents()).some(
        (text) => text.includes("leaf") && text.includes(String(10 + round)),
      );
    await views.until("the leaf", () => shown(0));
    for (let round = 1; round <= 20; ++round) {
      write(round);
      await views.until("the leaf, with its new number", () => shown(round));
    }
    await views.page.keyboard.press("1");
    await views.ready();
    await views.page.keyboard.press("2");
    await views.until("the leaf again", () => shown(20));
  });

  test("is where it was after twenty reloads of the page", async (views) => {
    await views.open(
      demo,
      `&search=json&view=${encodeURIComponent("top-down by function | drop function main.findSimilar")}`,
    );
    await views.ready();
    await views.clickBox("main.parseOrders");
    await views.until("a zoom", () => views.fragment().get("zoom"));
    const address = views.page.url();
    for (let round = 0; round < 20; ++round) {
      await views.page.reload();
      await views.until(
        "the zoom",
        async () => (await views.page.locator(".crumbs [aria-current]").textContent()) === "main.parseOrders",
      );
      assert.strictEqual(views.page.url(), address);
      assert.strictEqual(await views.page.locator("[role=search] input").inputValue(), "json");
      assert.strictEqual(await views.page.locator(".chip").count(), 1);
    }
  });
};
