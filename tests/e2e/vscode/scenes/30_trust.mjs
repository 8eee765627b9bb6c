// A folder of somebody else: its project file may open nothing until the person trusts it.
import assert from "node:assert";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../until.mjs";

export default {
  title: "An untrusted workspace",
  settings: {
    "security.workspace.trust.enabled": true,
    "security.workspace.trust.startupPrompt": "never",
  },
  async run(stage) {
    const folder = stage.project("go-demo");
    writeFileSync(join(folder, ".profd.toml"), 'profiles = ["cpu.pprof"]\n');
    const window = await stage.open(folder);

    await stage.step("leaves the project file alone until the folder is trusted", async () => {
      await window.status("Restricted Mode").waitFor();
      await window.openFile("parse.go", 45);
      await new Promise((resolve) => setTimeout(resolve, 1500));
      assert.strictEqual((await window.hints(stage.text(folder, "parse.go"))).size, 0);
    });

    await stage.step("opens profiles that are asked for, all the same", async () => {
      await window.explorer("heap.pprof").dblclick();
      await window.view().ready();
      await window.tab("heap.pprof").click();
      await window.press("Control+F4");
    });

    await stage.step("offers nothing that records, which would run programs of the folder", async () => {
      await window.press("Escape", "F1");
      await window.type(">profd: Record");
      await until("an answer", async () => (await window.picks()).length > 0);
      assert.deepStrictEqual(
        (await window.picks()).filter((row) => /profd: Record/.test(row)),
        [],
      );
      await window.press("Escape");
    });

    await stage.step("does what the project file says when the folder is trusted", async () => {
      await window.command("Workspaces: Manage Workspace Trust");
      await window.page.getByRole("button", { name: "Trust", exact: true }).click();
      await window.openFile("parse.go", 45);
      await window.command("profd: Show Hot Spots");
      // Which of the two the code shows is the one that was read last.
      await until("the profile", async () => (await window.section("Profiles")).some((row) => /cpu\.pprof/.test(row)));
      await until("hints", async () => (await window.hints(stage.text(folder, "parse.go"))).size > 1, 15_000);
    });
  },
};
