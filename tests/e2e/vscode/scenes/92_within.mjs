// Where within a function its cost is, in the page of its profile: from the code and back.
import assert from "node:assert";
import { until } from "../../until.mjs";

export default {
  title: "Within a function",
  async run(stage) {
    const folder = stage.project("go-demo");
    const window = await stage.open(folder, { viewport: { width: 1600, height: 860 } });
    const view = window.view();
    await window.explorer("cpu.pprof").dblclick();
    await view.ready();
    const line =
      stage
        .text(folder, "report.go")
        .split("\n")
        .findIndex((text) => text.startsWith("func editsFrom(")) + 2;

    await stage.step("of the function at the cursor is shown by a command", async () => {
      await window.openFile("report.go", line);
      await window.command("profd: Within the Function");
      await view.locator(".within .table-row").first().waitFor();
      await until("its name", async () => /editsFrom/.test(await view.locator(".within-head").textContent()));
      await stage.picture(window, "within");
    });

    await stage.step("leads to a line of the source", async () => {
      const row = view.locator(".within .table-row").nth(1);
      const place = await row.locator("[role=gridcell]").first().textContent();
      await row.click();
      await until(
        "its line",
        async () => (await view.locator(".source-line.selected .source-number").textContent()) === place.split(":")[1],
      );
      assert.match(place, /^report\.go:\d+$/);
    });
  },
};
