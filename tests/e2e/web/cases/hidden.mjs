// A page that nobody can see.
import assert from "node:assert";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startTabs } from "../tabs.mjs";

const quiet = () => new Promise((resolve) => setTimeout(resolve, 1500));

export default (test, { bridge, root, scratch }) => {
  test("asks nothing behind another tab, and once when it is in front again", async (views) => {
    const file = join(scratch, "hidden.folded");
    const write = (round) => writeFileSync(file, `round${round};leaf ${10 + round}\n`);
    write(0);
    const tabs = await startTabs(root, scratch);
    try {
      const page = await tabs.open(`${bridge.url}#open=${encodeURIComponent(`file://${file}`)}`);
      const shows = (name) =>
        page.evaluate(
          `[...document.querySelectorAll(".stage-tree [role=treeitem]")].some((item) => item.textContent.includes("${name}"))`,
        );
      await views.until("the first picture", () => shows("round0"));
      const other = await tabs.open("about:blank");
      await other.toFront();
      await views.until("that it is behind", () => page.evaluate("document.hidden"));
      await quiet();
      const before = bridge.asked.length;
      await page.evaluate(
        "window.frames_drawn = 0; { const run = requestAnimationFrame; window.requestAnimationFrame = (f) => { ++window.frames_drawn; return run(f); }; }",
      );
      for (const round of [1, 2, 3]) {
        write(round);
        await quiet();
      }
      assert.deepStrictEqual(bridge.asked.slice(before), []);
      assert.strictEqual(await page.evaluate("window.frames_drawn"), 0);
      await page.toFront();
      await views.until("what is in the file now", () => shows("round3"));
      const asked = bridge.asked.slice(before).filter((method) => method === "profile/summary");
      assert.deepStrictEqual(asked, ["profile/summary"]);
    } finally {
      await tabs.stop();
    }
  });
};
