// A program that is recorded from the editor: its costs in the code, what became of it since the run before, and why nothing came.
import assert from "node:assert";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../until.mjs";

const WORK = `def work(n):
    total = 0
    for i in range(n):
        total += i * i
    return total


def main():
    for _ in range(ROUNDS):
        work(100000)


main()
`;

export default {
  title: "Recording",
  async run(stage) {
    const folder = join(stage.editor.scratch, "projects", "recorded");
    const owned = join(folder, "owned");
    // Newer than any: it came with the folder.
    const planted = join(folder, ".profd/recordings/20990101T000000Z-touch");
    mkdirSync(planted, { recursive: true });
    writeFileSync(join(folder, ".profd.toml"), "");
    writeFileSync(join(folder, "work.py"), WORK.replace("ROUNDS", "40"));
    writeFileSync(join(planted, "cpu.folded"), "main;work 10\n");
    writeFileSync(
      join(planted, "meta.json"),
      JSON.stringify({ argv: ["touch", owned], cwd: folder, tool: "perf", profile: "cpu.folded" }),
    );
    const window = await stage.open(folder, { viewport: { width: 1500, height: 860 } });
    const toast = (begin) =>
      until(`a message that begins ${begin}`, async () => {
        const text = (await window.toasts()).replaceAll("\u00a0", " ");
        return begin.test(text) ? text : "";
      });
    const button = (title) => window.page.locator(".notification-toast .monaco-button").filter({ hasText: title });
    await window.openFile("work.py", 4);

    await stage.step("records a command that is typed, and shows what it cost in the code", async () => {
      await window.command("profd: Record…");
      await window.type("python3 work.py");
      await window.press("Enter");
      await toast(/^python3 work\.py took /);
      await until(
        "costs in the code",
        async () => (await window.hints(readFileSync(join(folder, "work.py"), "utf8"))).size > 0,
      );
      await stage.picture(window, "recorded");
    });

    await stage.step("runs and opens nothing that came with the folder", async () => {
      assert.strictEqual(existsSync(owned), false);
      assert.deepStrictEqual(
        (await window.section("Profiles").catch(() => [])).filter((row) => /folded/.test(row)),
        [],
      );
      await window.dismissToasts();
    });

    await stage.step("records it again by a key, and says what became of it", async () => {
      writeFileSync(join(folder, "work.py"), WORK.replace("ROUNDS", "10"));
      await window.press("Control+K", "Alt+R");
      const text = await toast(/^python3 work\.py recorded again: /);
      assert.match(text, /→ .*-\d+ %/);
      assert.strictEqual(existsSync(owned), false);
      await stage.picture(window, "recorded-again-by-key");
    });

    await stage.step("opens both as a diff", async () => {
      await button("Show the Diff").click();
      await until("its page", async () => / → /.test(await window.activeTab()));
      await stage.picture(window, "recorded-diff");
    });

    await stage.step("says why nothing was recorded", async () => {
      await window.command("profd: Record…");
      await window.choose("Type a Command");
      await window.type("no-such-program");
      await window.press("Enter");
      await toast(/^Nothing was recorded: there is no program no-such-program/);
      await stage.picture(window, "recorded-nothing");
    });
  },
};
