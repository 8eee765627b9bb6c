// States of threads: the card on the profile's page, the wall tree and the chains.
import assert from "node:assert";
import { join } from "node:path";

export default (test, { axe, root }) => {
  const waits = join(root, "formats/perf_script/testdata/recorded-waits.txt.gz");

  test("the profile's page says what threads did off the processor, and leads to the wall tree and the chains", async (views) => {
    await views.open(waits, "&tab=profile");
    const card = views.page.locator("section", { has: views.page.getByRole("heading", { name: "On and off the processor" }) });
    await views.until("threads", async () => (await card.locator("tbody tr").count()) === 4);
    assert.match(await card.locator("p").first().textContent(), /waits in the end for read_slowly of io\.$/);
    await axe(views);
    await card.getByRole("button", { name: "Chains" }).click();
    await views.until("chains", () => /metric chains/.test(views.fragment().get("view") ?? ""));
    await views.until("what is hottest in them", async () => (await views.page.getByText("(interrupt)").count()) > 0);
    await views.open(waits, "&tab=profile");
    await card.getByRole("button", { name: /^io/ }).click();
    await views.until("the wall tree of a thread", () =>
      /thread \d+ \| metric wall/.test(views.fragment().get("view") ?? ""),
    );
  });
};
