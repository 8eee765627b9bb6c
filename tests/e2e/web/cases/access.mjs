// Who cannot see, point or sit at a desk: keys, themes, small screens, axe.
import assert from "node:assert";
import { join } from "node:path";
import { RULES_OF_COLORS } from "../harness.mjs";

export default (test, { axe, bridge, demo, root }) => {
  test("is used by keyboard alone", async (views) => {
    await views.open(demo);
    await views.ready();
    await views.page.locator(".skip").focus();
    await views.page.keyboard.press("Enter");
    assert.ok(await views.page.$eval(".stage-tree", (tree) => document.activeElement === tree));
    const active = async () => (await views.items()).find((item) => item.active)?.text ?? "";
    for (let i = 0; i < 7; ++i) await views.page.keyboard.press("ArrowDown");
    await views.until("the widest way down", async () =>
      /^main\.(handle|parseOrders|findSimilar)/.test(await active()),
    );
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

  test("loses no key, however many come before a frame", async (views) => {
    await views.open(demo);
    await views.ready();
    await views.page.locator(".skip").focus();
    await views.page.keyboard.press("Enter");
    const way = [];
    const active = async () => (await views.items()).find((item) => item.active);
    for (let i = 0; i < 8; ++i) {
      await views.page.keyboard.press("ArrowDown");
      await views.until("a step down", async () => (await active()).level === i + 2);
      way.push((await active()).text);
    }
    for (let i = 0; i < 8; ++i) await views.page.keyboard.press("ArrowUp");
    await views.until("the top again", async () => (await active()).level === 1);
    await views.page.evaluate(async () => {
      for (let i = 0; i < 8; ++i) {
        document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true }));
        // What is drawn for one key has its microtasks, not its frame, before the next.
        for (let turn = 0; turn < 50; ++turn) await Promise.resolve();
      }
    });
    await views.until("the same box", async () => (await active()).text === way.at(-1));
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

  test(
    "fits a telephone, and touch",
    async (views) => {
      await views.open(demo);
      await views.ready();
      const width = await views.page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(width <= 360, `${width} wide`);
      const { x, y } = await views.place("main.parseOrders");
      await views.page.touchscreen.tap(x, y);
      await views.until("it is chosen", async () =>
        /main\.parseOrders/.test(await views.page.locator(".details-line").textContent()),
      );
      await axe(views);
    },
    { viewport: { width: 360, height: 740 }, hasTouch: true },
  );

  for (const tab of ["flame", "tree", "flat", "sandwich", "source", "threads", "profile", "timeline", "open"])
    test(`has no serious accessibility fault: ${tab}, light and dark`, async (views) => {
      await views.open(
        demo,
        `&tab=${tab}&search=json&view=${encodeURIComponent("top-down by function | drop function main.findSimilar")}`,
      );
      await views.page.waitForTimeout(900);
      await axe(views);
      await views.darken();
      await axe(views, RULES_OF_COLORS);
    });

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

  // A stranger's code: opened, searched, focused, callers, source, a link; told by what a screen reader finds.
  test("tells a whole story by keys and the accessible tree alone", async (views) => {
    const folder = `file://${join(root, "tests/fixtures/go-demo")}`;
    const heard = () => views.page.locator("[role=status][aria-live]").textContent();
    const { keyboard } = views.page;
    await views.page.goto(`${bridge.url}#root=${encodeURIComponent(folder)}&view=open`);
    await views.until(
      "the page",
      async () => (await views.page.getByLabel("Path or address of a profile").count()) === 1,
    );
    for (let i = 0; i < 40; ++i) {
      if (await views.page.evaluate(() => document.activeElement?.matches("form input[type=text]"))) break;
      await keyboard.press("Tab");
    }
    await keyboard.type(demo);
    await keyboard.press("Enter");
    await views.until("the profile", async () => /^cpu\.pprof/.test(await views.page.title()));
    await keyboard.press("1");
    await views.ready();
    await keyboard.press("/");
    await keyboard.type("json.Unmarshal");
    await views.until("how much matches", async () => /%/.test(await heard()));
    await keyboard.press("Enter");
    await views.until("the match", async () =>
      (await views.items()).some((item) => item.active && item.text.startsWith("encoding/json.Unmarshal")),
    );
    await keyboard.press("Escape");
    await keyboard.press("Escape");
    await views.page.locator(".skip").focus();
    await keyboard.press("Enter");
    await keyboard.press("f");
    await views.until("the path alone", () => /keep/.test(views.fragment().get("view") ?? ""));
    await keyboard.press("u");
    await keyboard.press("c");
    await views.until("its callers", () => /^callers of encoding\/json\.Unmarshal/.test(views.layout().spec));
    await views.until("who calls it", async () =>
      (await views.items()).some((item) => item.text.startsWith("main.parseOrder (inlined),")),
    );
    await views.page.locator(".skip").focus();
    await keyboard.press("Enter");
    for (let i = 0; i < 3; ++i) {
      if ((await views.items()).some((item) => item.active && item.text.startsWith("main.parseOrder (inlined),"))) break;
      await keyboard.press("ArrowDown");
    }
    await keyboard.press("g");
    await views.until("its source", async () =>
      /json\.Unmarshal\(line, &order\)/.test(await views.page.locator("main").textContent()),
    );
    const link = views.page.url();
    await views.page.goto("about:blank");
    await views.page.goto(link);
    await views.until("the same from the link", async () =>
      /json\.Unmarshal\(line, &order\)/.test(await views.page.locator("main").textContent()),
    );
  });
};
