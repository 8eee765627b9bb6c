// Two windows, one daemon.
import assert from "node:assert";
import { until } from "../../until.mjs";

export default {
  title: "Two windows on one daemon",
  async run(stage) {
    const folder = stage.project("go-demo");
    const first = await stage.open(folder);
    const second = await stage.open(folder);

    await stage.step("share the daemon and what it has read", async () => {
      for (const window of [first, second]) {
        await window.explorer("cpu.pprof").dblclick();
        await window.view().ready();
      }
      assert.strictEqual(stage.editor.daemons().length, 1);
    });

    await stage.step("choose apart from each other in the code, together in the picture", async () => {
      await first.view().locator(".stage-tree").focus();
      await first.press("ArrowDown", "ArrowDown", "ArrowDown");
      const chosen = await first.view().chosen();
      await until("the same choice", async () => (await second.view().chosen()) === chosen);
      assert.strictEqual(await second.activeTab(), "cpu.pprof");
    });

    await stage.step("list their own profiles, and those of the other below a heading", async () => {
      await first.command("View: Show Explorer");
      await first.explorer("heap.pprof").dblclick();
      await first.view().ready();
      await second.command("profd: Show Hot Spots");
      const rows = () => second.section("Profiles");
      await until("the heading", async () => (await rows()).includes("Of Other Windows and Pages"));
      assert.ok((await rows())[0].startsWith("cpu.pprof"), (await rows()).join("\n"));
      assert.ok(!(await rows()).some((row) => row.startsWith("heap.pprof")));
      await second.row("Profiles", "Of Other Windows and Pages").click();
      await until("the other's", async () => (await rows()).some((row) => row.startsWith("heap.pprof")));
      await stage.picture(second, "profiles-of-others");
    });

    await stage.step("leave the daemon to the other when one is closed", async () => {
      const [pid] = stage.editor.daemons();
      await first.close();
      await second.press("ArrowDown");
      await second.openFile("parse.go", 41);
      await until("hints", async () => (await second.hints(stage.text(folder, "parse.go"))).size > 1);
      assert.deepStrictEqual(stage.editor.daemons(), [pid]);
    });
  },
};
