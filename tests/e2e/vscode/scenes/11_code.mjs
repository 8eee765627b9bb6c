// The same Go service: heat, hovers, metrics, and pages that are not looked at.
import assert from "node:assert";
import { until } from "../../until.mjs";

export default {
  title: "Code with costs, and pages behind others",
  async run(stage) {
    const folder = stage.project("go-demo");
    const window = await stage.open(folder);
    const view = window.view();
    const hints = (file) => window.hints(stage.text(folder, file));
    await window.explorer("cpu.pprof").dblclick();
    await view.ready();

    await stage.step("draws hot lines hotter, in the gutter too, and never moves the cursor's line", async () => {
      await window.openFile("report.go", 91);
      const before = (await window.cursor()).top;
      const heat = await until("heat", async () => {
        const found = await window.heat();
        return found.size > 4 && found;
      });
      assert.ok(heat.get(93).strength > heat.get(88).strength, JSON.stringify([...heat]));
      assert.ok(
        [...heat.values()].every(({ gutter }) => gutter),
        "a mark in the gutter for each",
      );
      await window.command("profd: Toggle Costs in the Code");
      await until("none", async () => (await window.heat()).size === 0 && (await hints("report.go")).size === 0);
      assert.strictEqual((await window.cursor()).top, before);
      await window.command("profd: Toggle Costs in the Code");
      await until("the same again", async () => (await window.heat()).size === heat.size);
      assert.strictEqual((await window.cursor()).top, before);
    });

    await stage.step("sets hints apart from the code, so that no number reads on from it", async () => {
      const gaps = await until("gaps", async () => {
        const found = await window.gapsBeforeHints(stage.text(folder, "report.go"));
        return found.length > 4 && found;
      });
      for (const { line, characters } of gaps) assert.ok(characters >= 2, `line ${line}: ${characters}`);
      await stage.picture(window, "hints-apart");
    });

    await stage.step("tells on hover what a line costs, whom it calls and who calls it", async () => {
      const text = await window.hover(91, "editsFrom");
      for (const word of [
        /main\.editsFrom/,
        /cpu\s+0 s\s+2\.35 s\s+28\.2 %/,
        /callers: main\.distance/,
        /cpu\.pprof ·/,
      ])
        assert.match(text, word);
      await window.press("Escape");
    });

    await stage.step("switches the metric of the code", async () => {
      await window.command("View: Close All Editors");
      await window.explorer("heap.pprof").dblclick();
      await view.ready();
      await window.openFile("parse.go", 45);
      await window.status("heap.pprof").waitFor();
      const before = await until("hints", async () => (await hints("parse.go")).size > 1 && (await hints("parse.go")));
      await window.command("profd: Switch Metric");
      await until("objects among the metrics", async () => (await window.picks()).some((text) => /objects/.test(text)));
      await window.choose("objects");
      await until("other hints", async () => {
        const now = await hints("parse.go");
        return now.size > 0 && JSON.stringify([...now]) !== JSON.stringify([...before]);
      });
      await window.status(/objects/).waitFor();
    });

    await stage.step("holds no web view behind others, and is back where it was", async () => {
      await window.command("View: Close All Editors");
      await window.explorer("cpu.pprof").dblclick();
      await view.ready();
      await view.clickBox("main.parseOrders");
      await until("a zoom", async () => (await view.crumb()) === "main.parseOrders");
      await window.command("View: Close Editors in Other Groups");
      await window.openFile("parse.go");
      await until("none", async () => (await window.webviews()) === 0);
      await window.press("Control+PageUp");
      await view.ready();
      assert.strictEqual(await view.crumb(), "main.parseOrders");
    });
  },
};
