// The project file changes while the folder is open, by other hands than the editor's: the code follows, and nothing is connected anew.
import assert from "node:assert";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../until.mjs";

export default {
  title: "A project file that changes",
  async run(stage) {
    const folder = stage.project("go-demo");
    const path = join(folder, ".profd.toml");
    const replace = (text) => {
      writeFileSync(`${path}.new`, text);
      renameSync(`${path}.new`, path);
    };
    writeFileSync(path, "threshold = 0.001\n");
    const window = await stage.open(folder);
    await window.openFile("parse.go", 45);
    const text = stage.text(folder, "parse.go");
    const hints = async () => (await window.hints(text)).size;
    let all = 0;

    await stage.step("shows what the project file comes to list", async () => {
      writeFileSync(path, 'profiles = ["cpu.pprof"]\nthreshold = 0.001\n');
      await until("hints", async () => (all = await hints()) > 2, 20_000);
    });

    await stage.step("silences lines below the threshold of a file that took its place", async () => {
      replace('profiles = ["cpu.pprof"]\nthreshold = 0.3\n');
      await until("fewer hints", async () => {
        const left = await hints();
        return left > 0 && left < all;
      });
    });

    await stage.step("says what is wrong in it, and keeps what held", async () => {
      writeFileSync(path, 'profiles = ["cpu.pprof"]\nthreshold = = 1\n');
      await window.page.getByText(/\.profd\.toml:2:13: /).first().waitFor();
      const left = await hints();
      assert.ok(left > 0 && left < all, `${left} of ${all}`);
    });

    await stage.step("closes what it listed when it is gone", async () => {
      rmSync(path);
      await until("no hints", async () => (await hints()) === 0);
    });
  },
};
