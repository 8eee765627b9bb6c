// A profile that is recorded again: what became of it, in one quiet message with the way to the diff.
import assert from "node:assert";
import { copyFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../until.mjs";

export default {
  title: "Recorded again",
  async run(stage) {
    const recorded = join(stage.root, "tests/fixtures/compare/before-after");
    const folder = stage.editor.project(join(recorded, "after"), "again");
    copyFileSync(join(recorded, "before-1.pb.gz"), join(folder, "cpu.pb.gz"));
    const window = await stage.open(folder, { viewport: { width: 1500, height: 860 } });
    const view = window.view();
    /** As profilers do it: another file, moved into place. */
    const record = (name) => {
      copyFileSync(join(recorded, name), join(folder, "next"));
      renameSync(join(folder, "next"), join(folder, "cpu.pb.gz"));
    };
    const toast = () => until("a message", async () => (await window.toasts()).replaceAll("\u00a0", " "));
    const button = (title) => window.page.locator(".notification-toast .monaco-button").filter({ hasText: title });

    await window.explorer("cpu.pb.gz").click();
    await view.ready();
    await window.openFile("batch.go", 25);
    await window.status("cpu 13.1 s").waitFor();

    await stage.step("says what got slower or faster, by the functions that stand out from noise", async () => {
      record("after-1.pb.gz");
      const text = await toast();
      assert.match(text, /^cpu\.pb\.gz recorded again: cpu 13\.1 s → 13\.9 s, \+780 ms \(\+6\.0 %\)\. /);
      // By go tool pprof -top -diff_base: 1.41 s, -1.32 s, -1.32 s, 1.29 s.
      assert.match(text, /\[A\] main\.foldSum \+1\.41 s/);
      assert.match(text, /\[D\] main\.checkLegacyCodes -1\.32 s \(-100 %\)/);
      assert.match(text, /beyond sampling noise\.$/);
      await window.status("cpu 13.9 s").waitFor();
      await stage.picture(window, "recorded-again");
    });

    await stage.step("shows one message at a time, and the newest of those that came meanwhile", async () => {
      record("before-2.pb.gz");
      await window.status("cpu 13.9 s").waitFor({ state: "detached" });
      record("after-1.pb.gz");
      await window.status("cpu 13.9 s").waitFor();
      assert.strictEqual((await toast()).split("\n").length, 1);
      assert.match(await toast(), /13\.1 s → 13\.9 s/);
      await window.dismissToasts();
      assert.match(await toast(), /→ 13\.9 s/);
      await window.dismissToasts();
    });

    await stage.step("opens the diff of the two recordings that it speaks of, in the page and the code", async () => {
      record("before-1.pb.gz");
      await toast();
      await button("Show the Diff").click();
      await until("its page", async () => /^cpu\.pb\.gz \(recording \d\) → cpu\.pb\.gz$/.test(await window.activeTab()));
      await until("what changed", async () => await view.place("main.parseRow"));
      await window.status("13.9 s → 13.1 s").waitFor();
      await stage.picture(window, "recorded-again-diff");
    });

    await stage.step("goes on comparing with the same recording when there is another one", async () => {
      record("after-1.pb.gz");
      await window.status("13.9 s → 13.9 s").waitFor();
      await window.dismissToasts();
    });

    await stage.step("says nothing where the setting is off", async () => {
      stage.editor.settings({ "profd.recordedAgain": false });
      await window.page.waitForTimeout(1500);
      record("before-1.pb.gz");
      await window.status("13.9 s → 13.1 s").waitFor();
      await window.page.waitForTimeout(1500);
      assert.strictEqual(await window.toasts(), "");
    });

    await stage.step("says of a diff that came back without its recording that it is kept no more", async () => {
      stage.editor.settings();
      await window.reload();
      await until("a sentence", async () =>
        /recording \d of cpu\.pb\.gz is kept no more/.test(await view.locator("body").textContent()),
      );
      await stage.picture(window, "recorded-again-gone");
    });
  },
};
