// What a profile does not know about its code is said in the code, too, where nothing else would be shown.
import assert from "node:assert";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../until.mjs";

const sample = (address, time) =>
  `shop 100 ${time}: 1000000 cpu-clock:\n\t    ${address} [unknown] (/usr/bin/shop)\n\t    55aa40 main.main+0x10 (/usr/bin/shop)\n\n`;
const METHOD = "<built-in method of a class with a long name>";

export default {
  title: "What a profile does not know, and long names",
  async run(stage) {
    const folder = stage.project("go-demo");
    writeFileSync(join(folder, "stripped.perf"), sample("55aa01", "10.000") + sample("55ab01", "10.001"));
    writeFileSync(join(folder, "names.folded"), `main;${METHOD} 60\nmain 40\n`);
    const window = await stage.open(folder);
    const view = window.view();

    await stage.step("code without names is said by the status bar, with what would bring them", async () => {
      await window.openProfile("stripped.perf");
      await view.ready();
      await window.openFile("main.go", 30);
      const entry = window.status("stripped.perf");
      await entry.locator(".codicon-warning").waitFor();
      const said = await until("the share", async () => {
        const text = await window.statusHover("stripped.perf");
        return text.includes("100 % of cpu-clock is in code without function names.") && text;
      });
      assert.match(said, /Binaries that are not stripped, or their debug files, bring names/);
      await stage.picture(window, "missing-names");
    });

    await stage.step("a profile with names has no such sign", async () => {
      await window.command("View: Show Explorer");
      await window.openProfile("cpu.pprof");
      await view.ready();
      const entry = window.status("cpu.pprof · cpu 8.34 s");
      await entry.waitFor();
      assert.strictEqual(await entry.locator(".codicon-warning").count(), 0);
    });

    await stage.step("long names leave the side bar's rows their numbers", async () => {
      await window.command("View: Show Explorer");
      await window.openProfile("names.folded");
      await view.ready();
      await window.command("profd: Show Hot Spots");
      const row = window.row("Hot Spots", "60.0 %");
      const text = row.locator(".label-description");
      await text.waitFor();
      assert.match(await text.textContent(), /60\.0 %\s+60/);
      // None of it is cut off at the edge.
      const fits = () =>
        row.locator(".monaco-icon-label-container").evaluate((box) => box.scrollWidth <= box.clientWidth + 1);
      await until("all of the row", fits);
      await stage.picture(window, "long-names");
    });
  },
};
