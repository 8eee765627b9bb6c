// Keys of a page that its editor could keep to itself, and where a click on a box leads in the code.
import assert from "node:assert";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../until.mjs";

const LINES = 160;
const [DECLARED, HOT, DECLARED_SHORT, HOT_SHORT] = [20, 110, 130, 134];

export default {
  title: "Keys in a page, and lines behind boxes",
  async run(stage) {
    const folder = stage.project("go-demo");
    writeLongFile(folder);
    const window = await stage.open(folder, { viewport: { width: 1500, height: 860 } });
    const view = window.view();
    await window.explorer("cpu.pprof").dblclick();
    await view.ready();
    await view.focused();

    await stage.step("4 and 5 go to the box that was chosen", async () => {
      await view.clickBox("main.parseOrders");
      await until("the source beside", async () => (await window.shownTabs()).includes("parse.go"));
      await window.press("4");
      await view.locator(".sandwich").first().waitFor();
      await until("its callers", async () => (await view.locator("main").textContent()).includes("main.parseOrders"));
      assert.match(await view.locator(".sandwich").first().textContent(), /main\.parseOrders/);
      await until("callees above the line of what is chosen", () =>
        view.evaluate(isAboveLine, ".sandwich-half.callees"),
      );
      await stage.picture(window, "key-4");
      await window.press("5");
      const hot = view.locator(".source-line").filter({ hasText: "order, err := parseOrder(line)" });
      await hot.first().waitFor();
      await until("code above the line of what is chosen", () => view.evaluate(isAboveLine, ".source"));
      await until("the function on the screen", () =>
        hot.first().evaluate((line) => {
          const { top, bottom } = line.closest(".source").getBoundingClientRect();
          const box = line.getBoundingClientRect();
          return box.top >= top && box.bottom <= bottom;
        }),
      );
      await stage.picture(window, "key-5");
      await window.press("1");
      await view.ready();
      assert.strictEqual(await view.chosen(), "main.parseOrders");
    });

    await stage.step("Escape leaves the search, which keeps its words, and keys are keys again", async () => {
      await window.press("/");
      await window.page.keyboard.type("json");
      await until("the share", async () => /%/.test(await view.locator(".search-share").textContent()));
      await window.press("Escape");
      const search = view.locator("input[type=search]");
      await until("no focus there", () => search.evaluate((input) => document.activeElement !== input));
      assert.strictEqual(await search.inputValue(), "json");
      await window.press("t");
      await view.locator(".table").first().waitFor();
      assert.strictEqual(await search.inputValue(), "json");
      await window.press("t");
      await view.ready();
      await window.press("Escape");
      await until("no search", async () => (await search.inputValue()) === "");
    });

    await stage.step("a click on a box shows the hot lines of its function, not its declaration alone", async () => {
      const numbers = async () => (await window.lines()).map(({ line }) => line);
      const beside = async (name) => {
        await window.command("View: Close All Editors");
        await window.openProfile("long.cpuprofile");
        await view.ready();
        await view.clickBox(name);
        await until("the source", async () => (await window.shownTabs()).includes("long.js"));
        assert.strictEqual(await window.activeTab(), "long.cpuprofile");
        await window.goToGroup(2);
      };
      await beside("far");
      await until("the hot line", async () => (await numbers()).includes(HOT));
      await stage.picture(window, "hot-line");
      assert.strictEqual((await window.cursor()).line, HOT);
      // Both fit: the declaration is where the cursor is.
      await beside("near");
      await until("its hot line", async () => {
        const shown = await numbers();
        return shown.includes(HOT_SHORT) && shown.includes(DECLARED_SHORT);
      });
      assert.strictEqual((await window.cursor()).line, DECLARED_SHORT);
    });
  },
};

/** A function longer than the screen, whose time is far from its first line, and a short one. */
function writeLongFile(folder) {
  const file = join(folder, "long.js");
  const lines = Array.from({ length: LINES }, (_, i) => `  step(${i + 1});`);
  lines[DECLARED - 1] = "function far() {";
  lines[DECLARED_SHORT - 1] = "function near() {";
  writeFileSync(file, lines.join("\n") + "\n");
  const frame = (functionName, lineNumber) => ({
    functionName,
    lineNumber,
    columnNumber: 0,
    scriptId: "1",
    url: `file://${file}`,
  });
  const ticks = (line, n) => ({ hitCount: n, positionTicks: [{ line, ticks: n }] });
  const samples = [...Array(60).fill(2), ...Array(40).fill(3)];
  writeFileSync(
    join(folder, "long.cpuprofile"),
    JSON.stringify({
      nodes: [
        { id: 1, callFrame: { ...frame("(root)", -1), scriptId: "0", url: "" }, hitCount: 0, children: [2, 3] },
        { id: 2, callFrame: frame("far", DECLARED - 1), ...ticks(HOT, 60) },
        { id: 3, callFrame: frame("near", DECLARED_SHORT - 1), ...ticks(HOT_SHORT, 40) },
      ],
      startTime: 0,
      endTime: 100000,
      samples,
      timeDeltas: samples.map(() => 1000),
    }),
  );
}

/** In the page, beside a source: nothing of a view is below the line that says what is chosen. */
function isAboveLine(_, selector) {
  const line = document.querySelector(".details-line").getBoundingClientRect();
  return document.querySelector(selector).getBoundingClientRect().bottom <= line.top + 1;
}
