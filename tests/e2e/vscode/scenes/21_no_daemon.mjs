import assert from "node:assert";
import { until } from "../../until.mjs";

export default {
  title: "No daemon",
  settings: { "profd.path": "/nowhere/profd" },
  async run(stage) {
    const folder = stage.project("go-demo");
    const window = await stage.open(folder);
    const view = window.view();
    await stage.step("says that the program is not there, and what to do", async () => {
      await window.explorer("cpu.pprof").dblclick();
      await until("a message", async () => /\/nowhere\/profd/.test(await window.toasts()));
      const said = await until("the page's word", async () => {
        const text = await view.locator("body").textContent();
        return /\/nowhere\/profd/.test(text) && text;
      });
      assert.match(said, /Set Path/);
      assert.doesNotMatch(`${await window.toasts()}\n${said}`, /undefined|ENOENT|Error:|is gone/);
      assert.strictEqual(await view.locator(".spinner").count(), 0, "nothing goes on");
      await stage.picture(window, "no-daemon");
    });
    await stage.step("comes back by itself when the path is set right: the page, the code, the status bar", async () => {
      stage.editor.settings({});
      await view.ready();
      await window.status("cpu.pprof · cpu 8.34 s").waitFor();
      await view.clickBox("main.parseOrders");
      await until("the source beside", async () => (await window.shownTabs()).includes("parse.go"));
      await window.openFile("parse.go", 52);
      await until("hints", async () => (await window.hints(stage.text(folder, "parse.go"))).size > 1);
    });
  },
};
