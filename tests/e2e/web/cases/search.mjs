// Searching: shares, steps, highlighted sets.
import assert from "node:assert";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

export default (test, { bridge, demo, scratch }) => {
  test("searches, tells an honest share, and steps through what matches", async (views) => {
    await views.open(demo);
    await views.ready();
    await views.page.keyboard.press("Control+f");
    await views.page.keyboard.type("json");
    await views.until("the share", async () =>
      /^36\.6 %/.test(await views.page.locator(".search-share").textContent()),
    );
    await views.until("the share in words", async () =>
      /36\.6 %/.test(await views.page.locator("[role=status][aria-live]").textContent()),
    );
    await views.page.keyboard.press("Enter");
    await views.until("a match", async () => /json/.test(await views.chosen()));
    const first = await views.page.locator(".details .stack").textContent();
    await views.page.keyboard.press("Enter");
    await views.until(
      "another match",
      async () => (await views.page.locator(".details .stack").textContent()) !== first,
    );
    await views.page.keyboard.press("Escape");
    assert.strictEqual(views.fragment().get("search"), "json", "what was found is still lit");
    await views.page.keyboard.press("Escape");
    await views.until("no search", () => views.fragment().get("search") === null);
    await views.page.locator("[role=search] input").fill("(");
    await views.until("what is wrong", async () =>
      /regular expression/.test(await views.page.locator(".search-wrong").textContent()),
    );
  });

  test("keeps searches as highlighted sets", async (views) => {
    await views.open(demo, "&search=json");
    await views.ready();
    await views.page.getByLabel("Keep this search highlighted").click();
    await views.until("a set", async () => /json.*36\.6 %/.test(await views.page.locator(".search-set").textContent()));
    await views.page.locator("[role=search] input").fill("sha256");
    await views.until("two at once", async () => /^1/.test(await views.page.locator(".search-share").textContent()));
    await views.page.getByLabel("Highlight json no more").click();
    assert.strictEqual(await views.page.locator(".search-set").count(), 0);
  });

  test("reaches every match with n, those too narrow to be seen, too, and says what the picture hides of them", async (views) => {
    // Twelve matches: two that can be read, ten that are joined with three thousand others.
    const lines = ["main;wide;needle 40000", "main;needle_too;below 9000"];
    for (let i = 0; i < 3000; ++i)
      lines.push(`main;crowd;f${String(i).padStart(4, "0")}${i % 300 === 7 ? ";needle" : ""} 1`);
    const file = join(scratch, "needles.folded");
    writeFileSync(file, lines.join("\n") + "\n");
    await views.open(file, "&search=needle");
    await views.ready();
    assert.strictEqual(views.layout().search.amount.value, 40000 + 9000 + 10);
    const counted = () => views.layout("flame matches");
    await views.until("what is counted behind the boxes", () => counted()?.hidden.value === 10);
    assert.ok(
      counted().matchedText.some((text) => text !== ""),
      "a remainder says that it holds some",
    );
    await views.until("how much is hidden", async () =>
      /[0-9] % hidden/.test(await views.page.locator(".search-share").textContent()),
    );
    await views.page.locator(".stage-tree").focus();
    const found = new Set();
    for (let steps = 0; steps < 12; ++steps) {
      const asked = bridge.asked.filter((method) => method === "view/match").length;
      const before = (await views.page.locator(".details .stack").allTextContents()).join();
      await views.page.keyboard.press("n");
      await views.until("an answer", () => bridge.asked.filter((method) => method === "view/match").length > asked);
      await views.until("another match", async () => {
        const stack = await views.page.locator(".details .stack").textContent();
        return stack !== before && /needle/.test(stack);
      });
      found.add(await views.page.locator(".details .stack").textContent());
      // It is on the screen, wide enough to be read.
      await views.until("the match in the picture", async () =>
        (await views.items()).some((item) => item.selected && item.text.startsWith("needle")),
      );
    }
    assert.strictEqual(found.size, 12);
    await views.page.keyboard.press("n");
    await views.until("the first again", async () =>
      found.has(await views.page.locator(".details .stack").textContent()),
    );
    await views.until("that it began anew", async () =>
      /from the beginning/.test(await views.page.locator("[role=status][aria-live]").textContent()),
    );
  });
};
