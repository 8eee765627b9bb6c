// What goes wrong: files that are no profiles, no daemon, a daemon that dies.
import assert from "node:assert";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../until.mjs";

export default {
  title: "Trouble",
  async run(stage) {
    const folder = stage.project("go-demo");
    writeFileSync(join(folder, "nothing.pprof"), "\u0000\u0001\u0002 no profile");
    const window = await stage.open(folder);
    const view = window.view();

    await stage.step("says what is wrong with a file that cannot be read, in its place", async () => {
      await window.explorer("nothing.pprof").dblclick();
      await until("the sentence", async () =>
        /nothing\.pprof cannot be opened/.test(await view.locator(".problem h1").textContent()),
      );
      await window.press("Control+F4");
    });

    await stage.step("goes on with a new daemon when the old one was killed", async () => {
      await window.explorer("cpu.pprof").dblclick();
      await view.ready();
      await window.openFile("parse.go", 41);
      const before = await until("hints", async () => {
        const hints = await window.hints(stage.text(folder, "parse.go"));
        return hints.size > 1 && hints;
      });
      const [pid, ...others] = stage.editor.daemons();
      assert.deepStrictEqual(others, []);
      process.kill(pid, "SIGKILL");
      await until("another daemon", () => stage.editor.daemons().some((other) => other !== pid), 15_000);
      await until("the hints again", async () => {
        assert.deepStrictEqual(await window.hints(stage.text(folder, "parse.go")), before);
        return true;
      });
      await window.tab("cpu.pprof").click();
      await view.ready();
      assert.match((await view.items())[0], /^all, 8\.34 s · 100 %$/);
    });
  },
};
