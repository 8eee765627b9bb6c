// Where within a function its cost is, beside its source.
import assert from "node:assert";
import { join } from "node:path";

export default (test, { axe, demo, root }) => {
  const symbols = join(root, "tests/fixtures/symbols");
  const open = (views, file, folder, more) =>
    views.open(file, `&root=${encodeURIComponent(`file://${folder}`)}&tab=source${more}`);
  const cells = (views) =>
    views.page
      .locator(".within .table-row")
      .evaluateAll((all) =>
        all.map((row) => [...row.querySelectorAll("[role=gridcell]")].map((cell) => cell.textContent.trim())),
      );
  const filled = (views, what = () => true) =>
    views.until("the rows", async () => {
      const all = await cells(views);
      return all.length > 0 && what(all);
    });
  const selected = (views) => views.page.locator(".source-line.selected .source-number").textContent();

  test("divides a function beside its source, and leads to its lines", async (views) => {
    const folder = join(root, "tests/fixtures/go-demo");
    await open(views, demo, folder, `&function=${encodeURIComponent("main.editsFrom")}`);
    await views.until("the source", async () => (await views.page.locator(".source-line").count()) > 5);
    await views.page.keyboard.press("w");
    await filled(views);
    assert.strictEqual(views.fragment().get("within"), "auto");
    const rows = await cells(views);
    assert.match(rows[0][0], /^\w+\.go:\d+$/);
    // The running sum of the last row is all of it.
    assert.strictEqual(rows.at(-1)[2], "100 %");
    assert.match(await views.page.locator(".within-head").textContent(), /editsFrom.*self \d/);
    await axe(views);
    // The pointer and the keys go to a row's line.
    await views.page.locator(".within .table-row").first().click();
    await views.until("its line", async () => (await selected(views)) === rows[0][0].split(":")[1]);
    if (rows.length > 1) {
      await views.page.keyboard.press("j");
      await views.until("the next line", async () => (await selected(views)) === rows[1][0].split(":")[1]);
    }
    assert.strictEqual(views.fragment().get("function"), "main.editsFrom");
    await views.page.keyboard.press("w");
    await views.until("no panel", async () => (await views.page.locator(".within").count()) === 0);
  });

  test("divides the function of the line that is chosen", async (views) => {
    const folder = join(root, "tests/fixtures/go-demo");
    await open(views, demo, folder, "&within=auto");
    await views.page.locator(".sandwich-list .table-row", { hasText: "digest.go" }).click();
    await views.until("the source", async () => (await views.page.locator(".source-line").count()) > 5);
    await views.until(
      "the hottest line",
      async () => (await views.page.locator(".source-line.selected").count()) === 1,
    );
    await views.page.locator(".source").focus();
    await views.page.keyboard.press("Home");
    for (let line = 1; line < 13; ++line) await views.page.keyboard.press("j");
    await views.until("its function", async () => /sign/.test(await views.page.locator(".within-head").textContent()));
  });

  test("divides by instruction, and marks it in the assembly", async (views) => {
    await open(views, join(symbols, "addresses.pprof"), symbols, "&function=fill&asm=beside&within=address");
    await filled(views, (all) => /^app\+0x/.test(all[0][0]));
    const hot = (await cells(views)).findIndex(([, share]) => share === "66.7 %");
    const row = hot < 0 ? 0 : hot;
    await views.page.locator(".within .table-row").nth(row).click();
    await views.until("the instruction", async () => (await views.page.locator(".asm-row.linked").count()) === 1);
    await views.page.getByRole("button", { name: "Line", exact: true }).click();
    await filled(views, (all) => /^app\.c:\d+$/.test(all[0][0]));
    assert.strictEqual(views.fragment().get("within"), "line");
    await axe(views);
  });

  test("shows ranges of bytecodes of a function whose file is not known", async (views) => {
    const report = join(root, "formats/vm_profiler/testdata/report.txt");
    await views.open(report, `&tab=source&function=${encodeURIComponent("Object>>at:put:")}`);
    await views.until("why there is no source", async () =>
      /does not say where/.test(await views.page.locator(".sandwich-main").textContent()),
    );
    await views.page.keyboard.press("w");
    await filled(views, (all) => all.length === 8);
    assert.deepStrictEqual((await cells(views))[1].slice(0, 3), ["26->29", "5.9 %", "63.8 %"]);
    await axe(views);
  });
};
