// A Go service, its profile and its code: what is done with profd most of the time.
import assert from "node:assert";
import { Client } from "../daemon.mjs";
import { until } from "../until.mjs";

const FILES = ["parse.go", "report.go", "digest.go", "main.go"];

export default {
  title: "A profile and its code",
  async run(stage) {
    const folder = stage.project("go-demo");
    const window = await stage.open(folder);
    const view = window.view();
    const hints = (file) => window.hints(stage.text(folder, file));

    await stage.step("opens a profile by a double click, and the picture is the daemon's", async () => {
      await window.explorer("cpu.pprof").dblclick();
      await view.ready();
      assert.match((await view.items())[0], /^all, 8\.34 s · 100 %$/);
      assert.strictEqual(await window.activeTab(), "cpu.pprof");
      await window.status("cpu.pprof · cpu 8.34 s").waitFor();
    });

    await stage.step("has the focus where its keys are, and searches", async () => {
      await view.focused();
      await window.press("/");
      await window.page.keyboard.type("json");
      await until("the share", async () => /^36\.6 %/.test(await view.locator(".search-share").textContent()));
      await window.press("Escape");
    });

    await stage.step(
      "shows the source beside a box that is clicked, and leaves the focus with the picture",
      async () => {
        await view.clickBox("main.parseOrders");
        await until("the source", async () => (await window.shownTabs()).includes("parse.go"));
        assert.strictEqual(await window.activeTab(), "cpu.pprof");
        assert.strictEqual(await view.chosen(), "main.parseOrders");
        await window.press("0");
        await until("the whole", async () => (await view.crumb()) === "all");
        await window.command("View: Close Editors in Other Groups");
      },
    );

    await stage.step("writes behind lines what source/annotations says, recursion included", async () => {
      const daemon = await Client.connect(stage, folder);
      await window.page.setViewportSize({ width: 1280, height: 2200 });
      for (const file of FILES) {
        await window.openFile(file);
        const expected = await daemon.annotations(folder, file);
        await until(`the hints of ${file}`, async () => {
          assert.deepStrictEqual([...(await hints(file))], [...expected]);
          return expected.size > 0;
        });
      }
      daemon.close();
      await window.page.setViewportSize({ width: 1280, height: 860 });
    });

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

    await stage.step("lists who calls a function, as measured, and the way up from there", async () => {
      await window.command("profd: Who Calls This (Measured)");
      const rows = () => window.section("Callers");
      await until("the caller", async () => (await rows()).some((row) => /main\.distance/.test(row)));
      assert.match((await rows()).join("\n"), /main\.editsFrom/);
    });

    await stage.step("reveals the function at the cursor in the picture", async () => {
      await window.tab("report.go").click();
      await window.command("profd: Reveal in Flame Graph");
      await view.ready();
      await until("its share", async () => /^32\.4 %/.test(await view.locator(".search-share").textContent()));
      assert.strictEqual(await window.activeTab(), "cpu.pprof");
    });

    await stage.step("filters the code and its lists, and undoes it", async () => {
      await window.openFile("report.go");
      const whole = await until("hints", async () => (await hints("report.go")).size > 3 && (await hints("report.go")));
      await window.command("profd: Add Filter");
      await window.type("drop function main.editsFrom");
      await window.press("Enter");
      await until("no hint there", async () => !(await hints("report.go")).has(91));
      await window.command("profd: Undo Filter Change");
      await until("all of them again", async () => {
        assert.deepStrictEqual(await hints("report.go"), whole);
        return true;
      });
    });

    await stage.step("switches the metric of the code", async () => {
      await window.command("View: Close All Editors");
      await window.explorer("heap.pprof").dblclick();
      await view.ready();
      await window.openFile("parse.go");
      await window.status("heap.pprof").waitFor();
      const before = await until("hints", async () => (await hints("parse.go")).size > 1 && (await hints("parse.go")));
      await window.command("profd: Switch Metric");
      const choice = (await window.picks()).find((text) => /objects/.test(text));
      assert.ok(choice !== undefined, "objects are a metric");
      await window.choose("objects");
      await until("other hints", async () => {
        const now = await hints("parse.go");
        return now.size > 0 && JSON.stringify([...now]) !== JSON.stringify([...before]);
      });
      await window.status(/objects/).waitFor();
    });

    await stage.step("holds no web view behind others, and is back within 300 ms", async () => {
      await window.command("View: Close All Editors");
      await window.explorer("cpu.pprof").dblclick();
      await view.ready();
      await view.clickBox("main.parseOrders");
      await until("a zoom", async () => (await view.crumb()) === "main.parseOrders");
      await window.command("View: Close Editors in Other Groups");
      await window.openFile("parse.go");
      await until("none", async () => (await window.webviews()) === 0);
      const times = [];
      for (let i = 0; i < 3; ++i) {
        const begin = Date.now();
        await window.press("Control+PageUp");
        await view.ready();
        times.push(Date.now() - begin);
        assert.strictEqual(await view.crumb(), "main.parseOrders", "where it was");
        await window.press("Control+PageDown");
        await until("none", async () => (await window.webviews()) === 0);
      }
      console.log(`  back after ${times.join(", ")} ms`);
      assert.ok(Math.min(...times) <= 300, `${times} ms`);
    });
  },
};
