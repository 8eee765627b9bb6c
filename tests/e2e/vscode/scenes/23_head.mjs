// A profile beside itself in the commit that is checked out.
import assert from "node:assert";
import { execFileSync } from "node:child_process";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../until.mjs";

export default {
  title: "Compared with HEAD",
  settings: { "git.enabled": true, "git.openRepositoryInParentFolders": "never" },
  async run(stage) {
    const recorded = join(stage.root, "tests/fixtures/compare/before-after");
    const folder = stage.editor.project(join(recorded, "after"), "committed");
    copyFileSync(join(recorded, "before-1.pb.gz"), join(folder, "cpu.pb.gz"));
    const git = (...what) =>
      execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...what], { cwd: folder, encoding: "utf8" });
    const window = await stage.open(folder, { viewport: { width: 1500, height: 860 } });
    const view = window.view();
    const said = (text) => until(`"${text}"`, async () => (await window.toasts()).includes(text));

    await stage.step("says where there is no repository, and where nothing is committed", async () => {
      await window.explorer("cpu.pb.gz").click();
      await view.ready();
      await window.command("profd: Compare Profile with HEAD");
      await said("cpu.pb.gz is in no Git repository.");
      await window.dismissToasts();
      git("init", "-q");
      await window.command("profd: Compare Profile with HEAD");
      await said("Nothing is committed yet where cpu.pb.gz is.");
      await window.dismissToasts();
      git("add", "batch.go");
      git("commit", "-qm", "the program");
      const commit = git("rev-parse", "HEAD").slice(0, 8);
      await window.command("profd: Compare Profile with HEAD");
      await said(`cpu.pb.gz is not in the commit that is checked out, ${commit}.`);
      await window.dismissToasts();
    });

    await stage.step("compares a file of the explorer with what it is at HEAD, by its bytes", async () => {
      git("add", "cpu.pb.gz");
      git("commit", "-qm", "its profile");
      const commit = git("rev-parse", "HEAD").slice(0, 8);
      copyFileSync(join(recorded, "after-1.pb.gz"), join(folder, "cpu.pb.gz"));
      await window.explorer("cpu.pb.gz").click({ button: "right" });
      const item = window.page.getByRole("menuitem", { name: "Compare Profile with HEAD" });
      await item.waitFor();
      // A menu takes no click in its first tenth of a second.
      await window.page.waitForTimeout(150);
      await item.click();
      const name = `HEAD-${commit}-cpu.pb.gz → cpu.pb.gz`;
      await until("its page", async () => (await window.activeTab()) === name);
      await until("what changed", async () => await view.place("main.parseRow"));
      await window.status("13.1 s → 13.9 s, +780 ms (+6.0 %)").waitFor();
      await stage.picture(window, "head");
    });

    await stage.step("comes back with its window", async () => {
      // The editor writes down a little later which tabs there are.
      await window.page.waitForTimeout(6000);
      await window.reload();
      await window.status("13.1 s → 13.9 s, +780 ms (+6.0 %)").waitFor();
      assert.strictEqual(await window.toasts(), "");
    });
  },
};
