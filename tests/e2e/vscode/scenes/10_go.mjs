// A Go service, its profile and its code: what is done with profd most of the time.
import assert from "node:assert";
import { Client } from "../daemon.mjs";
import { until } from "../until.mjs";

export default {
  title: "A profile and its code",
  async run(stage) {
    const folder = stage.project("go-demo");
    const window = await stage.open(folder);
    const view = window.view();

    await stage.step("opens a profile by a double click, and the picture is the daemon's", async () => {
      await window.explorer("cpu.pprof").dblclick();
      await view.ready();
      assert.match((await view.items())[0], /^all, 8\.34 s · 100 %$/);
      assert.strictEqual(await window.activeTab(), "cpu.pprof");
    });

    await stage.step("searches in the picture", async () => {
      await view.locator(".stage-tree").focus();
      await window.press("/");
      await window.page.keyboard.type("json");
      await until("the share", async () => /^36\.6 %/.test(await view.locator(".search-share").textContent()));
      await window.press("Escape");
    });

    await stage.step("goes from a box to its source", async () => {
      await view.clickBox("main.parseOrders");
      await until("the source", async () => /parse\.go/.test(await window.activeTab()));
    });

    await stage.step("shows what lines cost, as source/annotations has it, recursion included", async () => {
      const daemon = await Client.connect(stage, folder);
      for (const file of ["parse.go", "report.go", "digest.go", "main.go"]) {
        await window.openFile(file);
        await window.page.setViewportSize({ width: 1280, height: 2200 });
        const expected = await daemon.annotations(folder, file);
        assert.ok(expected.size > 2, `${file} has hints`);
        await until(`the hints of ${file}`, async () => {
          const shown = await window.hints(stage.text(folder, file));
          assert.deepStrictEqual([...shown], [...expected]);
          return true;
        });
        await window.page.setViewportSize({ width: 1280, height: 860 });
      }
      daemon.close();
    });
  },
};
