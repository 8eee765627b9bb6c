// Other languages, their profilers, their projects.
import assert from "node:assert";
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
  },
};
