// Pictures of clients/vscode at work, for documents and for looking at. By hand:
// PROFD_VSCODE_SCRIPT=pictures.mjs run.sh PROFD SOURCE_ROOT OUT [PROJECT...] writes OUT/PROJECT-WHAT-THEME.png.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Stage, startEditor } from "./stage.mjs";
import { until } from "../until.mjs";

const THEMES = { dark: "Dark 2026", light: "Light 2026", contrast: "Dark High Contrast" };
const PROJECTS = {
  go: {
    fixture: "go-demo",
    profile: "cpu.pprof",
    file: "report.go",
    line: 91,
    word: "editsFrom",
    box: "main.findSimilar",
  },
  cpp: { fixture: "cpp-demo", profile: "cpu.callgrind", file: "index.cpp", line: 31, word: "words_of" },
  python: { fixture: "python-demo", profile: "cpu.pstats", file: "maze.py", line: 18, word: "carve" },
  typescript: { fixture: "ts-demo", profile: "cpu.cpuprofile", file: "formula.ts", line: 13, word: "TOKEN" },
};

const [profd, root, vsix, out, ...wanted] = process.argv.slice(2);
mkdirSync(out, { recursive: true });
const started = await startEditor(profd, root);
process.on("uncaughtException", async (error) => {
  for (const context of started.browser.contexts())
    for (const page of context.pages()) await page.screenshot({ path: join(out, "failed.png") });
  console.error(error.stack);
  process.exit(1);
});
await started.editor.install(vsix);

for (const [name, project] of Object.entries(PROJECTS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  // The theme that was chosen last is kept with the settings.
  started.editor.settings({ "workbench.colorTheme": THEMES.dark, "window.commandCenter": false });
  const stage = new Stage(profd, root, vsix, started);
  const window = await stage.open(stage.project(project.fixture), { viewport: { width: 1280, height: 800 } });
  const view = window.view();
  for (const [theme, title] of Object.entries(THEMES)) {
    if (theme === "contrast" && name !== "go") continue;
    const shot = async (what) => {
      await window.page.mouse.move(640, 796);
      await window.page.waitForTimeout(900);
      await window.page.screenshot({ path: join(out, `${name}-${what}-${theme}.png`) });
      console.log(`${name} ${what} ${theme}`);
    };
    if (theme !== "dark") await window.theme(title);
    await window.command("View: Close All Editors");
    await window.command("View: Show Explorer");
    await window.openProfile(project.profile);
    await view.ready();
    await shot("flame");
    if (project.box !== undefined) {
      await view.clickBox(project.box);
      await until("the source", async () => (await window.shownTabs()).includes(project.file));
      await shot("both");
      await window.command("View: Close Editors in Other Groups");
    }
    await window.openFile(project.file, project.line);
    await until("hints", async () => (await window.lines()).some(({ text }) => /%/.test(text)));
    await window.command("profd: Who Calls This (Measured)");
    await window.page.waitForTimeout(2000);
    await shot("code");
    await window.hover(project.line, project.word);
    await window.page.waitForTimeout(900);
    await window.page.screenshot({ path: join(out, `${name}-hover-${theme}.png`) });
    await window.press("Escape");
  }
  await stage.end();
}
await started.browser.close();
process.exit(0);
