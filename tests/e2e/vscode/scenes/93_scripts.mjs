// Scripts in the side bar, and a window of the timeline as a filter of the code.
import assert from "node:assert";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../until.mjs";

const QUIET = `-- @title Notes on a line
-- @arg least integer 3 Of what
for _, f in ipairs(profile:functions()) do
  if f.name == "main.editsFrom" then annotate(f.file, f.line, "at least " .. args.least) end
end
profile:visit(function(node) if node.name:find("^runtime") then node:elide() end end)
print("done")
`;

export default {
  title: "Scripts, and a window of time",
  async run(stage) {
    const folder = stage.project("go-demo");
    mkdirSync(join(folder, ".profd/analyses"), { recursive: true });
    writeFileSync(join(folder, ".profd/analyses/quiet.lua"), QUIET);
    const calls = { ph: "X", pid: 1, tid: 1 };
    const traceEvents = [
      { ...calls, ts: 0, dur: 40000, name: "load" },
      { ...calls, ts: 60000, dur: 40000, name: "draw" },
    ];
    writeFileSync(join(folder, "run.trace.json"), JSON.stringify({ traceEvents }));
    const line =
      stage
        .text(folder, "report.go")
        .split("\n")
        .findIndex((text) => text.startsWith("func editsFrom(")) + 1;
    const window = await stage.open(folder, { viewport: { width: 1500, height: 860 } });
    const view = window.view();
    await window.explorer("cpu.pprof").dblclick();
    await view.ready();
    await window.openFile("report.go", line);
    await window.command("profd: Show Hot Spots");

    await stage.step("a hover says the profile's tips for its function, and leads to where within it its cost is", async () => {
      const parse = stage.text(folder, "parse.go").split("\n");
      const at = parse.findIndex((text) => text.startsWith("func parseOrder(")) + 1;
      await window.openFile("parse.go", at);
      await until("hints", async () => (await window.hints(parse.join("\n"))).size > 0);
      const said = await window.hover(at, "parseOrder");
      assert.match(said, /Allocating and freeing memory is 12\.5 % of CPU time, 4\.1 % from main\.parseOrder/);
      await window.page.locator(".monaco-hover:visible a", { hasText: "Within the function" }).click();
      await until("its ranges", async () => /parseOrder/.test(await view.locator(".within-head").textContent()));
      await window.openFile("report.go", line);
    });

    for (const title of ["Hot Spots", "Callers and Callees", "Profiles", "Scripts"])
      await window.page.locator(".pane-header", { hasText: title }).click();
    const scripts = () => window.section("Scripts");

    await stage.step("are listed by whose they are, with what is asked of them", async () => {
      await until("the list", async () => (await scripts()).some((row) => row.startsWith("gc_share")));
      assert.deepStrictEqual((await scripts())[0], "Of This Workspace");
      assert.match((await scripts())[1], /^quiet/);
    });

    await stage.step("a script of the workspace runs after a yes, with its arguments", async () => {
      await window.row("Scripts", "quiet").click();
      await window.row("Scripts", "quiet").getByRole("button", { name: "Run a Script" }).click();
      await window.page.locator(".quick-input-widget:visible input.input").waitFor();
      await window.type("many");
      await until("what is wrong", async () =>
        /A whole number/.test(await window.page.locator(".quick-input-widget:visible").textContent()),
      );
      await window.type("4");
      await window.press("Enter");
      await window.dialog().waitFor();
      assert.match(await window.dialog().textContent(), /is a script of this workspace/);
      await window.dialog().getByRole("button", { name: "Run It" }).click();
      await until("its result", async () => (await scripts()).some((row) => row === "done"));
      await until("its page", async () => (await window.shownTabs()).some((name) => /quiet of cpu/.test(name)));
    });

    await stage.step("what it says of a line stands there", async () => {
      await window.row("Scripts", `report.go:${line}`).click();
      const afterLine = () =>
        window.page
          .locator(".editor-instance .view-line span")
          .evaluateAll((spans) => spans.map((span) => getComputedStyle(span, "::after").content));
      await until("the note", async () => (await afterLine()).some((text) => /◂.at.least.4/.test(text)));
      assert.strictEqual((await window.cursor()).line, line);
      await stage.picture(window, "scripts");
    });

    await stage.step("a table is in the side bar", async () => {
      await window.row("Scripts", "gc_share").click();
      await window.row("Scripts", "gc_share").getByRole("button", { name: "Run a Script" }).click();
      // What it asks for has defaults.
      for (const about of ["Rows of the table", "a Lua pattern"]) {
        await window.page.locator(".quick-input-widget:visible", { hasText: about }).waitFor();
        await window.press("Enter");
      }
      await until("its table", async () => (await scripts()).some((row) => /\d rows?$/.test(row)));
    });

    await stage.step("a window that is drawn in the timeline filters the code and the lists", async () => {
      await window.command("View: Show Explorer");
      await window.openProfile("run.trace.json");
      await view.ready();
      await view.focused();
      await window.press("8");
      const plot = view.locator(".timeline-plot canvas").first();
      await plot.waitFor();
      const box = await plot.boundingBox();
      const { mouse } = window.page;
      await mouse.move(box.x + box.width * 0.55, box.y + 30);
      await mouse.down();
      await mouse.move(box.x + box.width * 0.9, box.y + 30, { steps: 4 });
      await mouse.up();
      await view.locator(".chip").waitFor();
      // By the mouse: Escape, with which a command begins, would let go of the window.
      await window.page.locator(".activitybar .action-label[aria-label^='profd']").click();
      for (const title of ["Scripts", "Filters", "Hot Spots"])
        await window.page.locator(".pane-header", { hasText: title }).click();
      await until("the filter", async () => /^time 5\d/.test((await window.section("Filters"))[0] ?? ""));
      await until("draw alone", async () => {
        const rows = await window.section("Hot Spots");
        return rows.some((row) => row.startsWith("draw")) && !rows.some((row) => row.startsWith("load"));
      });
    });

    await stage.step("and is gone from the page when its filter is taken away", async () => {
      await window.command("profd: Remove All Filters");
      await until("no chip", async () => (await view.locator(".chip").count()) === 0);
      await until("load again", async () => (await window.section("Hot Spots")).some((row) => row.startsWith("load")));
    });
  },
};
