// Kinds of work, tips, and several highlighted sets at once.
import assert from "node:assert";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

export default (test, { scratch }) => {
  const file = join(scratch, "kinds.folded");
  writeFileSync(
    file,
    [
      "main.main;main.load;main.parse;runtime.mallocgc;runtime.gcAssistAlloc 5",
      "main.main;main.load;main.parse;runtime.mallocgc 15",
      "main.main;main.load;main.parse 30",
      "main.main;main.draw 48",
      "runtime.gcBgMarkWorker;runtime.gcDrain 2",
    ].join("\n") + "\n",
  );

  test("highlights several sets at once, each with its share, and says what they come to together", async (views) => {
    await views.open(file, "&search=parse");
    await views.ready();
    const keep = async (text, share) => {
      await views.until("what is found", async () => (await views.page.locator(".search-share").count()) === 1);
      await views.page.getByLabel("Keep this search highlighted").click();
      await views.until(`the set ${text}`, async () =>
        share.test(await views.page.locator(".search-set").last().textContent()),
      );
    };
    await keep("parse", /parse.*50\.0 %/);
    await views.page.locator("[role=search] input").fill("main.main > main.draw");
    await keep("the run", /main\.main > main\.draw.*48\.0 %/);
    await views.until("together", async () =>
      /together 98\.0 %/.test(await views.page.locator(".search-union").textContent()),
    );
    await views.until("boxes of both", () => {
      const { names, boxes } = views.layout();
      return names.some((name, i) => name === "main.draw" && boxes.highlights?.[boxes.name.indexOf(i)] === 2);
    });
  });

  test("colours by kind of work, and keeps the kind of a row of the legend", async (views) => {
    await views.open(file, "&color=work");
    await views.ready();
    const row = views.page.locator(".legend-row", { hasText: "allocation" });
    await views.until("the legend", async () => (await row.count()) === 1);
    await row.getByRole("button").click();
    await views.until("the filter", () => /keep kind allocation/.test(views.fragment().get("view") ?? ""));
    await views.until("what it leaves", () => views.layout().viewTotal.value === 20);
  });

  test("says on the profile's page how much is which kind of work, and what stands out", async (views) => {
    await views.open(file, "&tab=profile");
    const kinds = views.page.locator("table.kinds");
    await views.until("the kinds", async () => /garbage collection7\.0 %/.test(await kinds.textContent()));
    const tips = views.page.locator(".tips");
    await views.until("a tip", async () =>
      /Allocating and freeing memory is 20\.0 % of samples, 20\.0 % from main\.parse\. Gone entirely/.test(
        await tips.textContent(),
      ),
    );
    await tips.getByRole("button", { name: "Show these stacks" }).click();
    await views.until("its stacks", () => /keep work allocation/.test(views.fragment().get("view") ?? ""));
    assert.strictEqual(views.fragment().get("tab"), null);
  });

  test("of filters the profile's page says what they are, and tips and kinds are of what they leave, of this profile alone", async (views) => {
    await views.open(file, `&tab=profile&view=${encodeURIComponent("top-down by function | drop kind allocation")}`);
    const cards = () => views.page.locator(".cards").textContent();
    await views.until("the kinds under the filter", async () =>
      /Kinds of work of what the filters leave.*garbage collection2\.5 %/s.test(await cards()),
    );
    assert.deepStrictEqual(await views.page.locator(".chip-text").allTextContents(), ["drop kind allocation"]);
    assert.doesNotMatch(await cards(), /Allocating and freeing/);
    await views.page.locator(".chip").getByRole("button").last().click();
    await views.until("all of it", async () => /Allocating and freeing memory is 20\.0 %/.test(await cards()));
    const other = join(scratch, "other.folded");
    writeFileSync(other, "a;b 40\n");
    await views.open(other, "&tab=profile");
    await views.until("the other one", async () => /other\.folded/.test(await views.page.locator("h1").textContent()));
    assert.doesNotMatch(await cards(), /garbage collection|Allocating/);
  });
};
