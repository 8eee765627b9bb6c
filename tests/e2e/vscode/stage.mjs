// What scenes and pictures work with: an editor, a browser, windows, copies of the fixtures.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Editor } from "./editor.mjs";
import { Window } from "./window.mjs";

/** `PROFD_CHROMIUM` and `PROFD_VSCODE` name the programs; run.sh finds them. */
export async function startEditor(profd, root) {
  const { chromium } = createRequire(join(root, "clients/web/package.json"))("playwright-core");
  const scratch = mkdtempSync(join(tmpdir(), "profd-vscode-"));
  const editor = new Editor(process.env.PROFD_VSCODE, scratch, { profd });
  process.on("SIGTERM", () => process.exit(143));
  process.on("exit", () => {
    editor.stop();
    rmSync(scratch, { recursive: true, force: true });
  });
  const quiet = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"];
  const browser = await chromium.launch({
    executablePath: process.env.PROFD_CHROMIUM,
    args: [...quiet, "--disable-background-networking", "--disable-component-update"],
  });
  await editor.start();
  return { editor, browser };
}

export class Stage {
  constructor(profd, root, vsix, { editor, browser }) {
    Object.assign(this, { profd, root, vsix, editor, browser, windows: [] });
  }

  async open(folder, options) {
    const window = await Window.open(this.browser, this.editor, folder, options);
    this.windows.push(window);
    return window;
  }

  /** A copy of a fixture, whose sources are older than their profiles, as they were. */
  project(name) {
    return this.editor.project(join(this.root, "tests/fixtures", name), name);
  }

  /** For looking at, where PROFD_VSCODE_PICTURES names a folder. */
  async picture(window, name) {
    const folder = process.env.PROFD_VSCODE_PICTURES;
    if (folder) await window.page.screenshot({ path: join(folder, `${name.toLowerCase().replaceAll(" ", "-")}.png`) });
  }

  text(folder, file) {
    return readFileSync(join(folder, file), "utf8");
  }

  async end() {
    for (const window of this.windows) await window.close().catch(() => undefined);
    this.windows.length = 0;
  }
}
