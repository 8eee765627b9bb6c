// What changes while a profile is open: its file, the editor's theme.
import assert from "node:assert";
import { execFileSync } from "node:child_process";
import { renameSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../until.mjs";

const THEMES = [
  { name: "Dark Modern", mode: "dark", contrast: "standard" },
  { name: "Light Modern", mode: "light", contrast: "standard" },
  { name: "Dark High Contrast", mode: "dark", contrast: "more" },
  { name: "Light High Contrast", mode: "light", contrast: "more" },
];

/** In the page: its colours, and how far text stands out from the ground. */
function looks() {
  const rgb = (color) =>
    color
      .match(/\d+(\.\d+)?/g)
      .slice(0, 3)
      .map(Number);
  const luminance = (color) => {
    const [r, g, b] = rgb(color).map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const { color, backgroundColor } = getComputedStyle(document.body);
  const [dark, bright] = [luminance(color), luminance(backgroundColor)].sort((a, b) => a - b);
  const probe = document.createElement("i");
  probe.style.color = "var(--vscode-editor-background)";
  document.body.append(probe);
  const editor = getComputedStyle(probe).color;
  probe.remove();
  const { mode, contrast } = document.documentElement.dataset;
  return { mode, contrast, ground: backgroundColor, editor, ratio: (bright + 0.05) / (dark + 0.05) };
}

export default {
  title: "What changes",
  async run(stage) {
    const folder = stage.project("go-demo");
    const window = await stage.open(folder);
    const view = window.view();
    await window.explorer("cpu.pprof").dblclick();
    await view.ready();

    await stage.step("follows the editor's theme, picture and all: dark, light, high contrast", async () => {
      const pixels = () =>
        view
          .locator(".stage canvas")
          .first()
          .evaluate((canvas) => canvas.toDataURL().slice(-4000));
      for (const { name, mode, contrast } of THEMES) {
        const before = await pixels();
        await window.theme(name);
        const now = await until(name, async () => {
          const now = await view.evaluate(looks);
          return now.mode === mode && now.contrast === contrast && now.ground === now.editor && now;
        });
        assert.ok(now.ratio >= 4.5, `${name}: ${now.ratio}`);
        await until("another picture", async () => (await pixels()) !== before);
        await stage.picture(window, `theme-${name}`);
      }
    });

    await stage.step("reads a profile again that was recorded again: picture, place and hints", async () => {
      await view.clickBox("main.parseOrders");
      await until("the zoom", async () => (await view.crumb()) === "main.parseOrders");
      await window.command("View: Close Editors in Other Groups");
      const next = join(stage.editor.scratch, "next.pprof");
      execFileSync(stage.profd, [
        ...["convert", "--filter", "drop function main.findSimilar", "--to", "pprof"],
        ...[join(folder, "cpu.pprof"), next],
      ]);
      renameSync(next, join(folder, "cpu.pprof"));
      await until("the new total", async () => /^all, 5\.63 s/.test((await view.items())[0]));
      assert.strictEqual(await view.crumb(), "main.parseOrders", "where it was");
      await window.status("cpu 5.63 s").waitFor();
      await window.openFile("parse.go", 52);
      await until("new hints", async () =>
        /^54\.2 %/.test((await window.hints(stage.text(folder, "parse.go"))).get(52)),
      );
    });
  },
};
