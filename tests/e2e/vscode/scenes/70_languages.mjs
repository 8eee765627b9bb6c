// Other languages, their profilers, their projects.
import assert from "node:assert";
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "../daemon.mjs";
import { until } from "../../until.mjs";

const PROJECTS = [
  {
    name: "cpp-demo",
    profile: "cpu.callgrind",
    files: ["index.cpp", "query.cpp"],
  },
  // cProfile knows functions, not lines: they stand on the lines they begin on.
  { name: "python-demo", profile: "cpu.pstats", files: ["maze.py"] },
  {
    name: "ts-demo",
    profile: "cpu.cpuprofile",
    files: ["formula.ts", "sheet.ts"],
  },
];

export default {
  title: "C++, Python and TypeScript",
  async run(stage) {
    for (const { name, profile, files } of PROJECTS) {
      await stage.step(`${name}: the profile opens, its lines are those of source/annotations`, async () => {
        const folder = stage.project(name);
        const window = await stage.open(folder);
        await window.openProfile(profile);
        await window.view().ready();
        const client = await Client.connect(stage, folder);
        for (const file of files) {
          await window.openFile(file);
          await window.page.setViewportSize({ width: 1280, height: 1800 });
          const expected = await client.annotations(folder, file);
          assert.ok(expected.size > 1, `${file} has hints`);
          await until(`the hints of ${file}`, async () => {
            assert.deepStrictEqual([...(await window.hints(stage.text(folder, file)))], [...expected]);
            return true;
          });
          await stage.picture(window, `${name}-${file}`);
        }
        client.close();
        await window.close();
      });
    }

    await stage.step("profiles of cProfile and of perf open by a double click, whatever ending is usual there", async () => {
      const folder = stage.project("python-demo");
      copyFileSync(join(folder, "cpu.pstats"), join(folder, "out.prof"));
      const script = "work 1 10.5: 1000 cpu-clock:\n\t 401000 main+0x1 (/bin/work)\n\n";
      for (const name of ["out.script", "out.perf"]) writeFileSync(join(folder, name), script);
      const window = await stage.open(folder);
      for (const name of ["out.prof", "out.script", "out.perf"]) {
        await window.explorer(name).dblclick();
        await window.status(name).waitFor();
        await window.view().ready();
        assert.strictEqual(await window.activeTab(), name);
      }
      await window.close();
    });

    await stage.step("a sampler of Python that writes lines has lenses where functions are defined", async () => {
      const folder = stage.project("python-demo");
      const text = stage.text(folder, "maze.py").split("\n");
      const defined = text.findIndex((line) => /^\s*def \w+/.test(line)) + 1;
      const name = /def (\w+)/.exec(text[defined - 1])[1];
      // As `py-spy record --format raw` writes it.
      writeFileSync(join(folder, "spy.folded"), `<module> (main.py:1);${name} (maze.py:${defined + 2}) 60\n`);
      stage.editor.settings({ "profd.codeLens": true });
      const window = await stage.open(folder);
      await window.explorer("spy.folded").dblclick();
      await window.view().ready();
      await window.openFile("maze.py", defined);
      const lens = window.page.locator(".codelens-decoration").filter({ hasText: /total 100 %/ });
      await lens.waitFor();
      const line = (await window.lines()).find((shown) => shown.line === defined);
      const { y, height } = await lens.boundingBox();
      assert.ok(Math.abs(y + height - line.top) <= 4, `${y} + ${height} is above ${line.top}`);
      await stage.picture(window, "lens-py-spy");
      await window.close();
    });
  },
};
