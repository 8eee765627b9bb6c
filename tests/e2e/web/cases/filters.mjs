// Filters: made, switched, moved, undone, and what is said of wrong ones.
import assert from "node:assert";

export default (test, { demo }) => {
  test("filters by menu and by words, switches, moves, undoes and redoes", async (views) => {
    await views.open(demo);
    await views.ready();
    await views.clickBox("main.findSimilar", { button: "right" });
    await views.page.getByRole("menuitem", { name: /^Drop stacks with it/ }).click();
    await views.until("the filter in the address", () =>
      /drop function main\.findSimilar/.test(views.fragment().get("view") ?? ""),
    );
    await views.until("a smaller view", async () => /5\.63 s/.test((await views.items())[0].text));
    await views.page.getByRole("button", { name: "Filter", exact: true }).click();
    await views.page.keyboard.type("hi");
    await views.until("what can follow", async () =>
      (await views.page.locator("#clause-list [role=option]").allTextContents()).includes("hide"),
    );
    await views.page.keyboard.press("Tab");
    await views.page.keyboard.type("function main.par");
    await views.until("names", async () =>
      (await views.page.locator("#clause-list [role=option]").allTextContents()).includes("main.parseOrders"),
    );
    await views.page.keyboard.press("ArrowDown");
    await views.page.keyboard.press("Enter");
    await views.page.keyboard.press("Enter");
    await views.until("two chips", async () => (await views.page.locator(".chip").count()) === 2);
    const chips = () => views.page.locator(".chip-text").allTextContents();
    const before = await chips();
    await views.page.locator(".chip-text").first().focus();
    await views.page.keyboard.press("Alt+ArrowRight");
    assert.deepStrictEqual(await chips(), [before[1], before[0]]);
    await views.page.locator(".chip-text").nth(1).click();
    await views.until("all of it again", async () => /8\.34 s/.test((await views.items())[0].text));
    assert.match(views.page.url(), /off=/);
    const link = views.page.url();
    await views.page.locator("main .stage-tree").focus();
    await views.page.keyboard.press("u");
    await views.page.keyboard.press("u");
    assert.deepStrictEqual(await chips(), before);
    await views.page.keyboard.press("u");
    await views.page.keyboard.press("u");
    await views.until("no filter", async () => (await views.page.locator(".chip").count()) === 0);
    for (let i = 0; i < 4; ++i) await views.page.keyboard.press("U");
    assert.deepStrictEqual(await chips(), [before[1], before[0]]);
    await views.page.goto("about:blank");
    await views.page.goto(link);
    await views.until("the chips of the link", async () => (await views.page.locator(".chip").count()) === 2);
    assert.strictEqual(await views.page.locator(".chip.off").count(), 1);
  });

  test("says what is wrong with a filter, and keeps what was typed", async (views) => {
    await views.open(demo);
    await views.ready();
    await views.page.keyboard.press("F");
    await views.page.keyboard.type("drop colour red");
    await views.page.keyboard.press("Enter");
    assert.match(await views.page.locator(".clause-wrong").textContent(), /drop is followed by function, module/);
    assert.strictEqual(await views.page.getByRole("combobox", { name: "Filter" }).inputValue(), "drop colour red");
    await views.page.keyboard.press("Escape");
    assert.strictEqual(await views.page.locator(".clause").count(), 0);
  });
};
