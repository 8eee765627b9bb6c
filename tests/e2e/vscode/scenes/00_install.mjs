import assert from "node:assert";
import { until } from "../until.mjs";

export default {
  title: "Installing",
  always: true,
  async run(stage) {
    const folder = stage.project("go-demo");
    const window = await stage.open(folder, { installed: false });
    await stage.step("is installed from its package, and is there at once", async () => {
      await window.command("Extensions: Install from VSIX...");
      await window.typePath(stage.vsix);
      await until("that it is installed", async () => /Completed installing/.test(await window.toasts()), 30_000);
      await window.dismissToasts();
      await window.press("F1");
      await window.type(">profd: Open Profile");
      assert.match((await window.picks()).join("\n"), /profd: Open Profile…/);
      await window.press("Escape");
    });
    // What else is tried does not depend on this.
    if (!stage.editor.has("profd.profd")) await stage.editor.install(stage.vsix);
  },
};
