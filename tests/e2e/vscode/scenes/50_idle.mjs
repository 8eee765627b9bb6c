import assert from "node:assert";
import { rmSync } from "node:fs";
import { join } from "node:path";

export default {
  title: "A folder without profiles",
  async run(stage) {
    const folder = stage.project("go-demo");
    // Those that other scenes have left end by themselves, later.
    const running = () => [...stage.editor.processes("profd serve"), ...stage.editor.processes("profd connect")];
    const others = new Set(running());
    for (const name of ["cpu.pprof", "heap.pprof"]) rmSync(join(folder, name));
    const window = await stage.open(folder);
    await stage.step("is none of its business: nothing is activated, nothing is started", async () => {
      await window.openFile("parse.go");
      await window.command("Developer: Show Running Extensions");
      const rows = window.page.locator(
        ".runtime-extensions-editor .monaco-list-row, .editor-instance .monaco-list-row",
      );
      await rows.first().waitFor();
      assert.doesNotMatch((await rows.allTextContents()).join("\n"), /profd/);
      const started = running().filter((pid) => !others.has(pid));
      assert.deepStrictEqual(started, []);
    });
  },
};
