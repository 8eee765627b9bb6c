import assert from "node:assert";
import { until } from "../../until.mjs";

export default {
  title: "No daemon",
  settings: { "profd.path": "/nowhere/profd" },
  async run(stage) {
    const folder = stage.project("go-demo");
    const window = await stage.open(folder);
    await stage.step("says that the program is not there, and what to do", async () => {
      await window.explorer("cpu.pprof").dblclick();
      const said = await until("a message", async () => {
        const view = await window
          .view()
          .locator("body")
          .textContent({ timeout: 200 })
          .catch(() => "");
        const all = `${await window.toasts()}\n${view}`;
        return /\/nowhere\/profd/.test(all) && all;
      });
      assert.doesNotMatch(said, /undefined|ENOENT|Error:/);
    });
    await stage.step("comes back by itself when the path is set right", async () => {
      stage.editor.settings({});
      await window.view().ready();
    });
  },
};
