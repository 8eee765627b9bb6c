// A Go service, its profile and its code: what is done with profd most of the time.
import assert from "node:assert";
import { Client } from "../daemon.mjs";
import { until } from "../../until.mjs";

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

    await stage.step("lists who calls a function, as measured, and the way up from there", async () => {
      await window.openFile("report.go", 91);
      await window.command("profd: Who Calls This (Measured)");
      const rows = () => window.section("Callers");
      await until("the caller", async () => (await rows()).some((row) => /main\.distance/.test(row)));
      assert.match((await rows()).join("\n"), /main\.editsFrom/);
    });

    await stage.step("opens the hot path from a function, down to where its cost is spread", async () => {
      const daemon = await Client.connect(stage, folder);
      const { rows, names } = await daemon.request("view/hotPath", { spec: "callees of main.handle by function" });
      daemon.close();
      const last = names[rows.name.at(-1)].split(/[./]/).at(-1);
      const share = rows.totalShare.at(-1);
      assert.ok(rows.name.length > 3, "a path that has to be opened");
      await window.openFile("main.go", 50);
      await window.command("profd: Hot Path from Here");
      await until("its last function", async () =>
        (await window.section("Callees")).some((row) => row.includes(last) && row.includes(share)),
      );
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
  },
};
