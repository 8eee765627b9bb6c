// Pictures of clients/vscode at work, for documents and for looking at.
// Usage: pictures.sh PROFD SOURCE_ROOT OUT [PROJECT...]; writes OUT/PROJECT-WHAT-THEME.png.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Stage, startEditor } from "./stage.mjs";
import { until } from "./until.mjs";

const THEMES = {
  dark: "Default Dark Modern",
  light: "Default Light Modern",
  contrast: "Default High Contrast",
  "contrast-light": "Default High Contrast Light",
};
const PROJECTS = {
  go: {
    fixture: "go-demo",
    profile: "cpu.pprof",
    file: "report.go",
    line: 78,
    word: "editsFrom",
  },
  cpp: {
    fixture: "cpp-demo",
    profile: "cpu.callgrind",
    file: "index.cpp",
    line: 20,
    word: "words_of",
  },
  python: {
    fixture: "python-demo",
    profile: "cpu.pstats",
    file: "maze.py",
    line: 18,
    word: "carve",
  },
  typescript: {
    fixture: "ts-demo",
    profile: "cpu.cpuprofile",
    file: "formula.ts",
    line: 14,
    word: "tokens",
  },
};

const [profd, root, vsix, out, ...wanted] = process.argv.slice(2);
mkdirSync(out, { recursive: true });
const started = await startEditor(profd, root);
await started.editor.install(vsix);

for (const [name, project] of Object.entries(PROJECTS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  for (const [theme, title] of Object.entries(THEMES)) {
    if (name !== "go" && theme.startsWith("contrast")) continue;
    started.editor.settings({
      "workbench.colorTheme": title,
      "window.commandCenter": false,
    });
    const stage = new Stage(profd, root, vsix, started);
    const window = await stage.open(stage.project(project.fixture), {
      colorScheme: theme.includes("light") ? "light" : "dark",
      viewport: { width: 1280, height: 800 },
    });
    const shot = (what) =>
      window.page.screenshot({
        path: join(out, `${name}-${what}-${theme}.png`),
      });
    await window.openProfile(project.profile);
    await window.view().ready();
    await window.page.waitForTimeout(600);
    await shot("picture");
    await window.openFile(project.file, project.line);
    await until("hints", async () => (await window.lines()).some(({ text }) => /%/.test(text)));
    await window.page.waitForTimeout(400);
    await shot("code");
    await window.hover(project.line, project.word);
    await window.page.waitForTimeout(300);
    await shot("hover");
    await window.press("Escape");
    await window.page.mouse.move(4, 4);
    await window.command("profd: Who Calls This (Measured)");
    await window.page.waitForTimeout(800);
    await shot("callers");
    await stage.end();
    console.log(`${name} ${theme}`);
  }
}
await started.browser.close();
process.exit(0);
