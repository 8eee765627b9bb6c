import assert from "node:assert";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../until.mjs";

export default {
  title: "A folder without profiles",
  async run(stage) {
    const folder = stage.project("go-demo");
    // Those that other scenes have left end by themselves, later.
    const running = () => [...stage.editor.processes("profd serve"), ...stage.editor.processes("profd connect")];
    const others = new Set(running());
    for (const name of ["cpu.pprof", "heap.pprof"]) rmSync(join(folder, name));
    const window = await stage.open(folder);
    await stage.step("is none of its business: nothing but the entry is loaded, nothing is started", async () => {
      await window.openFile("parse.go");
      // The entry (2 KB) looks whether tabs of profiles came back with the window, and does no more.
      await window.command("Developer: Show Running Extensions");
      const rows = window.page.locator(
        ".runtime-extensions-editor .monaco-list-row, .editor-instance .monaco-list-row",
      );
      await rows.first().hover();
      // The list has those that took longest first, and rows that are in sight alone.
      await until("the row of profd", async () => {
        if ((await rows.filter({ hasText: "profd" }).count()) > 0) return true;
        await window.page.mouse.wheel(0, 300);
        return false;
      });
      await window.command("Output: Show Output Channels");
      const channels = await until("channels", async () => (await window.picks()).length > 1 && window.picks());
      assert.ok(!channels.some((name) => /^profd/.test(name)), channels.join("\n"));
      await window.press("Escape");
      const started = running().filter((pid) => !others.has(pid));
      assert.deepStrictEqual(started, []);
    });
  },
};
