import assert from "node:assert";
import { PATIENCE } from "../../until.mjs";

export default {
  title: "Installing",
  installs: true,
  async run(stage) {
    const folder = stage.project("go-demo");
    const window = await stage.open(folder, { installed: false });
    await stage.step("is installed from its package, and is there at once", async () => {
      await window.command("Extensions: Install from VSIX...");
      await window.typePath(stage.vsix);
      await window.command("Extensions: Show Installed Extensions");
      const row = window.page.locator(".extensions-list .monaco-list-row").filter({ hasText: "profd" });
      await row.waitFor({ timeout: 30_000 * PATIENCE });
      await window.press("F1");
      await window.type(">profd: Open Profile");
      assert.match((await window.picks()).join("\n"), /profd: Open Profile…/);
      await window.press("Escape");
    });
  },
};
