// Metrics by formula: defined on the page, as columns, as what rows are sorted by, as colours.
import assert from "node:assert";
import { join } from "node:path";

export default (test, { axe, root }) => {
  const matrix = join(root, "tests/fixtures/compare/counters/matrix-700.callgrind");
  const dialog = (views) => views.page.getByRole("dialog", { name: "A metric by formula" });
  const said = (views) => dialog(views).getByRole("status").textContent();
  const names = (views) => views.page.locator(".table-row .name:not(.muted)").allTextContents();
  const head = (views, name) => views.page.getByRole("columnheader", { name });
  const define = async (views, formula, name) => {
    await views.page.getByRole("button", { name: "Formula", exact: true }).click();
    await dialog(views).getByRole("combobox").fill(formula);
    await dialog(views).getByLabel("Name").fill(name);
    await dialog(views).getByRole("button", { name: "Add" }).click();
    await views.until("no dialog", async () => (await dialog(views).count()) === 0);
  };

  test("a formula is typed, told what is wrong with it, and is a column that sorts", async (views) => {
    // Functions that count: what runs once has any ratio.
    await views.open(matrix, "&tab=flat&search=sum|fill|count|main");
    await views.until("rows", async () => (await names(views)).length > 4);
    await views.page.getByRole("button", { name: "Formula", exact: true }).click();
    const formula = dialog(views).getByRole("combobox");
    await formula.pressSequentially("D1mr / Drr");
    await views.until("what is wrong", async () => /there is no metric Drr at character 8/.test(await said(views)));
    assert.strictEqual(await dialog(views).locator("mark").textContent(), "D", "its place");
    await formula.press("Backspace");
    await formula.press("Backspace");
    assert.deepStrictEqual(
      await dialog(views).getByRole("option").locator(".name").allTextContents(),
      ["Dr", "Dw", "D1mr", "D1mw", "DLmr", "DLmw"],
      "names that have it",
    );
    await formula.press("Enter");
    assert.strictEqual(await formula.inputValue(), "D1mr / Dr");
    await views.until("what it comes to", async () => /^0\.25 over the whole profile/.test(await said(views)));
    await axe(views);
    await dialog(views).getByLabel("Name").fill("miss");
    await dialog(views).getByLabel("Name").press("Enter");
    await views.until("its column", async () => (await head(views, "Self miss").count()) === 1);
    await head(views, "Self miss").getByRole("button").click();
    await views.until("its order", async () => /^sum_columns/.test((await names(views))[0]));
    assert.strictEqual(await head(views, "Self miss").getAttribute("aria-sort"), "descending");
    const cells = async () =>
      (await views.page.locator(".table-row").allTextContents()).filter((row) => row.includes("n/a"));
    assert.ok((await cells()).length > 0, "some have no value");
    await head(views, "Self miss").getByRole("button").click();
    await views.until("the other order", async () => !/^sum_columns/.test((await names(views))[0]));
    const first = await views.page.locator('.table-row[aria-rowindex="2"]').textContent();
    assert.doesNotMatch(first, /n\/a.*n\/a/, "what has no value is not first");

    await views.until("an address that has it", () => views.fragment().get("sortby") === "miss");
    const address = views.page.url();
    await views.page.goto("about:blank");
    await views.page.goto(address);
    await views.until("the column again", async () => (await head(views, "Self miss").count()) === 1);
    assert.strictEqual(views.fragment().get("derive"), "miss=D1mr / Dr");
    await views.page.getByRole("button", { name: "Formula", exact: true }).click();
    await dialog(views).getByRole("button", { name: "Remove miss" }).click();
    await views.page.keyboard.press("Escape");
    await views.until("no column", async () => (await head(views, "Self miss").count()) === 0);
    await views.until("an address without it", () => views.fragment().get("derive") === null);
  });

  test("a formula that adds up is a metric: chosen, as wide, and not a column twice", async (views) => {
    await views.open(matrix, "&tab=flat");
    await views.until("rows", async () => (await names(views)).length > 4);
    await define(views, "D1mr - DLmr", "held");
    await views.page.getByRole("button", { name: /^Metric/ }).click();
    await views.page.getByRole("menuitemradio", { name: /^held/ }).click();
    await views.until("its rows", async () => /^sum_columns/.test((await names(views))[0]));
    assert.strictEqual(await head(views, "Self held").count(), 1);
    await views.page.keyboard.press("1");
    await views.until("boxes as wide", () => views.layout().metric === "held");
    assert.match(views.fragment().get("view"), /metric held/);
  });

  test("a flame graph is coloured by a formula, with what the colours mean", async (views) => {
    await views.open(matrix, "&color=metric");
    await views.ready();
    await define(views, "Bim / Bi", "wrong");
    await views.until("its colours", () => views.layout().colorScale?.metric === "wrong");
    const legend = async () => (await views.page.locator(".legend").textContent()) ?? "";
    await views.until("a legend", async () => /wrong \S+ to \S+.*n\/a/.test(await legend()));
    const { x, y } = await views.place("main");
    await views.page.mouse.move(x, y);
    await views.until("a tooltip", async () =>
      /wrong0\.\d/.test((await views.page.locator(".tooltip").textContent()) ?? ""),
    );
    await views.clickBox("main");
    await views.until("the panel beside it", async () =>
      /wrong/.test((await views.page.locator(".details table").textContent()) ?? ""),
    );
  });
};
