// The flame graph: zoom, camera, metrics, shapes.
import assert from "node:assert";

export default (test, { demo, heap }) => {
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

  test("tells at once what is pointed at, inside the window", async (views) => {
    await views.open(demo);
    await views.ready();
    const { x, y } = await views.place("main.verifyAll");
    await views.page.mouse.move(x, y);
    await views.until("a tooltip", async () =>
      /^main\.verifyAll/.test(await views.page.locator(".tooltip").textContent()),
    );
    // At both edges of a narrow window.
    await views.page.setViewportSize({ width: 700, height: 800 });
    await views.ready();
    const room = await views.page.locator(".stage").first().boundingBox();
    const root = (await views.place("runtime.main")).y - 18;
    for (const px of [room.x + 14, room.x + room.width - 30]) {
      await views.page.mouse.move(px, root);
      await views.until("a tooltip of all, inside the window", () =>
        views.page.evaluate(() => {
          const tooltip = document.querySelector(".tooltip");
          if (!/^all/.test(tooltip?.textContent ?? "")) return false;
          const { left, top, right, bottom } = tooltip.getBoundingClientRect();
          return left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
        }),
      );
      await views.page.mouse.move(px, 20);
    }
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
};
