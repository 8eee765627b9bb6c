// Records of several contexts: roles beside each other, choices, pairs.
import assert from "node:assert";
import { join } from "node:path";

export default (test, { axe, root }) => {
  const reuse = join(root, "formats/easyview/testdata/reuse.ezview");
  const pane = (views, name) => views.page.getByRole("region", { name, exact: true });
  const box = (views, name, text) => pane(views, name).getByRole("treeitem", { name: text }).first();
  const head = (views) => views.page.locator(".correlate-head").textContent();
  const rows = (views) => views.page.locator(".correlate-table tbody tr").allTextContents();

  test("the profile's page leads to its records, and a choice in one role keeps what belongs to it in the others", async (views) => {
    await views.open(reuse, "&tab=profile");
    await views.page.getByRole("button", { name: "Show them side by side" }).click();
    for (const role of ["allocation", "use", "reuse"])
      await views.until(`${role} has a picture`, async () => (await box(views, role, /all/).count()) > 0);
    assert.match(await head(views), /^8 counts\./);
    await axe(views);
    // The hottest functions beside them are by the records' metric, of the pane that is worked in.
    const glance = views.page.locator(".details");
    await views.until("the records' metric", async () =>
      /by self counts of allocation/.test(await glance.textContent()),
    );
    await pane(views, "use").getByRole("tree").focus();
    await views.until("those of the other pane", async () => /by self counts of use/.test(await glance.textContent()));

    await pane(views, "allocation").getByRole("tree").focus();
    for (const key of ["ArrowDown", "ArrowDown", "Enter"]) await views.page.keyboard.press(key);
    await views.until("an address with the choice", () => /linked allocation/.test(views.fragment().get("link") ?? ""));
    const chosen = views.fragment().get("link");
    const wanted = /table/.test(chosen) ? /^2 of 8 counts\./ : /^6 of 8 counts\./;
    await views.until("what belongs to it", async () => wanted.test(await head(views)));
    await views.page.keyboard.press("0");
    await views.until("all again", async () => /^8 counts/.test(await head(views)));
  });

  test("pairs of two roles, most first, with the function that calls both", async (views) => {
    await views.open(reuse, "&tab=correlate");
    await views.until("pairs", async () => (await rows(views)).length > 0);
    const sides = views.page.locator(".correlate-sides select");
    await sides.first().selectOption("allocation");
    await sides.nth(1).selectOption("use");
    await views.until("others", async () => /make/.test((await rows(views))[0] ?? ""));
    assert.match((await rows(views))[0], /^6.*make.*work.*main$/);
    assert.match((await rows(views))[1], /nothing$/);
  });

  test("what has no such records says so", async (views) => {
    await views.open(join(root, "tests/fixtures/go-demo/heap.pprof"), "&tab=correlate");
    await views.until("the sentence", async () =>
      /has no records of several contexts/.test(await views.page.locator("main").textContent()),
    );
  });
};
