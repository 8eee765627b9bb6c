// Files that are written by others while they are open: costs stand on the lines that were measured.
import assert from "node:assert";
import { execFileSync } from "node:child_process";
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../until.mjs";

const FIRST = 45;
const SECOND = 52;

export default {
  title: "Files that others write",
  async run(stage) {
    const folder = stage.project("go-demo");
    const path = join(folder, "parse.go");
    const original = stage.text(folder, "parse.go");
    const moved = (n) => "// by another program\n".repeat(n) + original;
    const window = await stage.open(folder, { viewport: { width: 1280, height: 1800 } });

    /** A profile of two lines, written as by a profiler that is run again. */
    const record = (shift, share) => {
      const next = join(stage.editor.scratch, "next.folded");
      const line = (at, value) => `main.parse (${path}:${at + shift}) ${value}\n`;
      writeFileSync(next, line(FIRST, share) + line(SECOND, 100 - share));
      renameSync(next, join(folder, "lines.folded"));
    };
    /** What stands where, as soon as it stands there, nowhere else, and without a doubt. */
    const costs = (what, text, shift, share) =>
      until(what, async () => {
        assert.deepStrictEqual(
          [...(await window.hints(text))].map(([line, hint]) => [line, hint.split(" ")[0]]),
          [
            [FIRST + shift, share.toFixed(1)],
            [SECOND + shift, (100 - share).toFixed(1)],
          ],
        );
        return true;
      });

    record(0, 60);
    await window.openFile("parse.go");
    await window.explorer("lines.folded").dblclick();
    await window.view().ready();
    await window.openFile("parse.go");
    await costs("what was recorded", original, 0, 60);

    await stage.step("follows a file that another program wrote, recorded before and after", async () => {
      writeFileSync(path, moved(3));
      await costs("the same, three lines below", moved(3), 3, 60);
      record(3, 70);
      await costs("what was recorded of the new text", moved(3), 3, 70);
    });

    await stage.step("follows what git checks out", async () => {
      const git = (...what) =>
        execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...what], { cwd: folder, stdio: "ignore" });
      git("init", "-q");
      git("add", "parse.go");
      git("commit", "-qm", "three lines");
      writeFileSync(path, moved(5));
      await costs("five lines below", moved(5), 5, 70);
      git("commit", "-qam", "five lines");
      record(5, 80);
      await costs("recorded of five lines", moved(5), 5, 80);
      git("checkout", "-q", "HEAD~1");
      await costs("three lines below", moved(3), 3, 80);
      record(3, 65);
      await costs("recorded of three lines", moved(3), 3, 65);
    });

    await stage.step("keeps costs where they belong in a text that was changed and not saved", async () => {
      await window.goToLine(1);
      await window.press("Home");
      await window.page.keyboard.insertText("var typed = 0");
      await window.press("Escape", "Enter");
      const typed = `var typed = 0\n${moved(3)}`;
      await costs("below what was typed", typed, 4, 65);
      writeFileSync(path, moved(5));
      await costs("as before", typed, 4, 65);
      record(5, 55);
      await costs("recorded of the text on disk", typed, 4, 55);
      await stage.picture(window, "written-by-others");
    });
  },
};
