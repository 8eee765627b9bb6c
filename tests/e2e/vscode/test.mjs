// clients/vscode in the real VS Code, used as a person uses it.
// Usage: node test.mjs PROFD SOURCE_ROOT CHROMIUM CODE_SERVER VSIX [NAME...]; NAME picks scenes.
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startBrowser } from "../web/harness.mjs";
import { Editor } from "./editor.mjs";
import { Window } from "./window.mjs";

const [profd, root, chromium, runner, vsix, ...wanted] = process.argv.slice(2);
const pictures = process.env.PROFD_VSCODE_PICTURES;
if (pictures) mkdirSync(pictures, { recursive: true });

const scenes = [];
for (const file of readdirSync(join(import.meta.dirname, "scenes")).sort()) {
  const { default: scene } = await import(`./scenes/${file}`);
  if (wanted.length === 0 || wanted.some((name) => file.includes(name) || scene.install))
    scenes.push({ file, ...scene });
}

let failed = 0;
let passed = 0;

/** What a scene works with. */
class Stage {
  constructor(scene, editor, browser) {
    Object.assign(this, { scene, editor, browser, profd, root, vsix, windows: [] });
  }

  async open(folder, options) {
    const window = await Window.open(this.browser, this.editor, folder, options);
    this.windows.push(window);
    return window;
  }

  /** A copy of a fixture, whose sources are older than their profiles, as they were. */
  project(name) {
    return this.editor.project(join(root, "tests/fixtures", name), name);
  }

  text(folder, file) {
    return readFileSync(join(folder, file), "utf8");
  }

  async step(name, run) {
    const begin = Date.now();
    try {
      await run();
      ++passed;
      console.log(`ok ${name} (${((Date.now() - begin) / 1000).toFixed(1)} s)`);
    } catch (error) {
      ++failed;
      console.log(`FAILED ${name}\n${error.stack}`);
      for (const [i, window] of this.windows.entries()) {
        const said = await window.toasts().catch(() => "");
        if (said !== "") console.log(`# on the screen: ${said}`);
        if (pictures)
          await window.page.screenshot({ path: join(pictures, `failed-${failed}-${i}.png`) }).catch(() => undefined);
      }
    }
  }

  async end() {
    for (const window of this.windows) await window.close().catch(() => undefined);
  }
}

const scratch = mkdtempSync(join(tmpdir(), "profd-vscode-"));
const editor = new Editor(runner, scratch, { profd });
const browser = await startBrowser(root, chromium);
const end = () => {
  editor.stop();
  rmSync(scratch, { recursive: true, force: true });
};
process.on("SIGTERM", () => process.exit(143));
process.on("exit", end);

await editor.start();
for (const scene of scenes) {
  console.log(`# ${scene.title}`);
  const stage = new Stage(scene, editor, browser);
  editor.settings(scene.settings);
  // A scene that cannot go on says so in a step of its own.
  await scene.run(stage).catch((error) => stage.step(scene.title, () => Promise.reject(error)));
  await stage.end();
}
await browser.close();
if (failed > 0) console.log(editor.logs());
console.log(failed === 0 ? `all ${passed} passed` : `${failed} of ${passed + failed} failed`);
process.exit(failed === 0 ? 0 : 1);
