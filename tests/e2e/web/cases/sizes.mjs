// Large profiles, screens of any sharpness, windows of any size.
import assert from "node:assert";
import { createWriteStream } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import { randomOf } from "../hands.mjs";

/** Stacks of 20 to 60 frames of a program with packages, `megabytes` of them as folded text. */
async function writeLarge(path, megabytes) {
  const random = randomOf(7);
  const out = createWriteStream(path);
  for (let bytes = 0; bytes < megabytes * 1e6;) {
    const depth = 20 + Math.floor(random() * 40);
    let frame = 0;
    const stack = [];
    for (let i = 0; i < depth; ++i) {
      frame = (frame * 7 + Math.floor(random() ** 3 * 9)) % 9000;
      stack.push(`pkg${frame % 60}.Type${frame % 400}.method${frame}`);
    }
    const line = `main;${stack.join(";")} ${1 + Math.floor(random() * 50)}\n`;
    bytes += line.length;
    if (!out.write(line)) await once(out, "drain");
  }
  out.end();
  await once(out, "finish");
}

export default (test, { demo, scratch }) => {
  test("opens, zooms, searches and pans a large profile as it does a small one", async (views) => {
    const file = join(scratch, "large.folded");
    await writeLarge(file, 30);
    await views.open(file);
    await views.until("a picture", async () => (await views.items()).length > 0);
    await views.ready();
    const { boxes } = views.layout();
    assert.ok(boxes.depth.length > 500 && boxes.depth.length <= 4000, `${boxes.depth.length} boxes`);
    const box = await views.page.locator(".stage").boundingBox();
    for (let i = 0; i < 5; ++i) {
      await views.page.mouse.click(box.x + box.width / 2, box.y + 9 + 18 * (i + 1));
      await views.page.waitForTimeout(250);
    }
    await views.until("a zoom", () => views.fragment().get("zoom")?.includes("."));
    await views.page.keyboard.press("0");
    await views.page.keyboard.press("/");
    await views.page.keyboard.type("method12\\d\\b");
    await views.until("the share", async () => /%/.test(await views.page.locator(".search-share").textContent()));
    for (let i = 0; i < 3; ++i) await views.page.keyboard.press("Enter");
    await views.until("a match", async () => /method12\d$/.test(await views.chosen()));
    await views.page.keyboard.press("Escape"); // the search is left, its words stay
    await views.page.keyboard.press("Escape"); // and go
    await views.page.keyboard.press("3");
    await views.until("rows", async () => (await views.page.locator(".table-row").count()) > 10);
  });

  for (const zoom of [0.5, 1, 1.25, 2, 3])
    test(`is sharp, and hits what is pointed at, with the browser's zoom at ${zoom * 100} %`, async (views) => {
      await views.open(demo);
      await views.ready();
      // As a browser does: fewer and larger pixels of the page, on the page that is there.
      const session = await views.page.context().newCDPSession(views.page);
      await session.send("Emulation.setDeviceMetricsOverride", {
        width: Math.round(1280 / zoom),
        height: Math.round(800 / zoom),
        deviceScaleFactor: zoom,
        mobile: false,
      });
      const sizes = () =>
        views.page.$eval(".stage", (stage) => {
          const canvas = stage.querySelector("canvas");
          return {
            pixels: canvas.width,
            wanted: Math.round(stage.clientWidth * devicePixelRatio),
            ratio: devicePixelRatio,
          };
        });
      await views.until("as many pixels as the screen has", async () => {
        const { pixels, wanted, ratio } = await sizes();
        return ratio === zoom && pixels === wanted;
      });
      await views.page.waitForTimeout(500);
      for (const name of ["main.verifyAll", "main.findSimilar"]) {
        const { x, y } = await views.place(name);
        if (y > 800 / zoom) continue; // too few pixels of the page are left for that row
        await views.page.mouse.move(x, y);
        await views.until(`${name} under the pointer`, async () =>
          (await views.page.locator(".tooltip-name").textContent()).startsWith(name),
        );
      }
      const width = await views.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(width <= 0, `${width} pixels too wide`);
    });
};
