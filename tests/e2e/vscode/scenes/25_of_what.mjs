// What numbers are of stands beside them: metric, filters, side; and none of them is cut off.
import assert from "node:assert";
import { join } from "node:path";
import { execFileSync } from "node:child_process";
import { until } from "../../until.mjs";

const FILTER = "drop function main.findSimilar";

export default {
  title: "What numbers are of",
  async run(stage) {
    const folder = stage.project("go-demo");
    const window = await stage.open(folder, { viewport: { width: 1440, height: 900 } });
    const view = window.view();
    const about = (title) =>
      window.page.locator(".pane-header", { hasText: title }).locator(".description").textContent();
    /** Rows whose end is beyond the edge. */
    const cut = async (title) => {
      const rows = await window.sectionRows(title).all();
      const found = [];
      for (const row of rows) {
        const box = row.locator(".monaco-icon-label-container");
        if (await box.evaluate((one) => one.scrollWidth > one.clientWidth + 1)) found.push(await row.textContent());
      }
      return found;
    };

    await window.explorer("cpu.pprof").dblclick();
    await view.ready();
    await window.command("profd: Show Hot Spots");
    await until("rows", async () => (await window.section("Hot Spots")).length > 5);

    await stage.step("the list of hot spots says its metric and whether filters hold", async () => {
      assert.strictEqual(await about("Hot Spots"), "self cpu");
      await window.command("profd: Add Filter");
      await window.type(FILTER);
      await window.press("Enter");
      await until("filtered", async () => (await about("Hot Spots")) === "self cpu, filtered");
      await window.command("profd: Switch Metric…");
      await window.choose("samples");
      await until("another metric", async () => (await about("Hot Spots")) === "self samples, filtered");
      await window.command("profd: Switch Metric…");
      await window.choose("cpu");
      await until("the metric again", async () => (await about("Hot Spots")) === "self cpu, filtered");
    });

    await stage.step("no number of a list is cut off: functions, files, callees", async () => {
      assert.deepStrictEqual(await cut("Hot Spots"), []);
      await window.openFile("parse.go", 50);
      await window.command("profd: What Is Slow Below");
      await until("callees", async () => (await window.section("Callees")).length > 1);
      assert.deepStrictEqual(await cut("Callees"), []);
      await window.page.locator(".pane-header", { hasText: "Hot Spots" }).hover();
      await window.page.locator(".pane-header [aria-label='Group by File or Function']").click();
      await until("files", async () => (await window.section("Hot Spots")).some((row) => /^\w+\.go\d/.test(row)));
      await stage.picture(window, "of-what");
    });

    await stage.step("a hover under filters says the share of the whole profile, too", async () => {
      await window.openFile("parse.go", 52);
      const text = await window.hover(52, "Unmarshal");
      const top = ["top", join(folder, "cpu.pprof"), "--filter", FILTER, "-n", "1"];
      const [, total] = /^cpu ([\d.]+ s), /.exec(execFileSync(stage.profd, top, { encoding: "utf8" }));
      // By go tool pprof -list, without a filter: 3.05 s of 8.34 s.
      const said = `Shares are of what passes the filters, ${total} of 8.34 s; of the whole profile it is 36.6 %.`;
      assert.ok(text.includes(said), text);
      await stage.picture(window, "of-what-hover");
      await window.press("Escape");
    });

    await stage.step("a column of another metric says that it has selfs", async () => {
      await window.command("View: Close All Editors");
      await window.command("View: Show Explorer");
      await window.explorer("cpu.pprof").dblclick();
      await view.ready();
      await view.item().focus();
      // Without the panel beside it there is room for more than one metric.
      await window.press("t", "p");
      await view.locator("[role=columnheader][title='Self samples']").waitFor();
    });
  },
};
