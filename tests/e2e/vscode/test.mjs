// clients/vscode in the real VS Code, used as a person uses it.
// Usage: node test.mjs PROFD SOURCE_ROOT VSIX [NAME...]; NAME picks scenes.
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { Stage, startEditor } from "./stage.mjs";

const [profd, root, vsix, ...wanted] = process.argv.slice(2);
const pictures = process.env.PROFD_VSCODE_PICTURES;
if (pictures) mkdirSync(pictures, { recursive: true });

const scenes = [];
for (const file of readdirSync(join(import.meta.dirname, "scenes")).sort()) {
  const { default: scene } = await import(`./scenes/${file}`);
  if (wanted.length === 0 || wanted.some((name) => file.includes(name))) scenes.push(scene);
}

let failed = 0;
let passed = 0;

class Scene extends Stage {
  /** One thing that must hold; the next is tried whatever came of it. */
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
}

const { editor, browser } = await startEditor(profd, root);
for (const { title, settings, run, installs = false } of scenes) {
  console.log(`# ${title}`);
  if (!installs && !editor.has("profd.profd")) await editor.install(vsix);
  editor.settings(settings);
  const scene = new Scene(profd, root, vsix, { editor, browser });
  await run(scene).catch((error) => scene.step(title, () => Promise.reject(error)));
  await scene.end();
}
await browser.close();
if (failed > 0) console.log(editor.logs());
console.log(failed === 0 ? `all ${passed} passed` : `${failed} of ${passed + failed} failed`);
process.exit(failed === 0 ? 0 : 1);
