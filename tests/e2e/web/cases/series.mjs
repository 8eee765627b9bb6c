// Several profiles on the page: aggregates as series, histograms and sparklines; a diff in three panes.
import assert from "node:assert";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { RULES_OF_COLORS } from "../harness.mjs";

export default (test, { axe, root }) => {
  const folder = join(root, "tests/fixtures/compare");
  const snapshots = Array.from({ length: 20 }, (_, i) =>
    join(folder, "heap-snapshots", `${String(i + 1).padStart(2, "0")}.pb.gz`),
  );
  const ranks = [0, 1, 2, 3].map((rank) => join(folder, "ranks", `rank-${rank}.perf.txt.gz`));
  const aggregate = (files) =>
    `aggregate://?${files.map((file) => `of=${encodeURIComponent(`file://${file}`)}`).join("&")}`;
  const diff = () =>
    `diff://?${["before", "after"]
      .map((side) => `${side}=${encodeURIComponent(`file://${join(folder, "before-after", `${side}-1.pb.gz`)}`)}`)
      .join("&")}`;
  const open = async (views, uri, more = "") => {
    await views.page.goto("about:blank");
    await views.page.goto(`${views.bridge.url}#open=${encodeURIComponent(uri)}${more}`);
  };
  const rowOf = (views, name) => views.page.locator(".table-row", { hasText: name }).first();
  const firstRow = (views) => views.page.locator(".table-row").first().textContent();
  const part = (views) => views.page.getByRole("region", { name: "By profile" });
  const said = async (views) => (await part(views).locator("p").first().textContent()) ?? "";
  /** Bytes of a function in each snapshot, as pprof has them. */
  const measured = (name) =>
    readFileSync(join(folder, "heap-snapshots/expected-inuse-space.txt"), "utf8")
      .split("\n")
      .filter((line) => line.includes(` ${name} flat `))
      .map((line) => Number(/cum (\d+)B/.exec(line)[1]));

  test("series: profiles of one side are put together on the page", async (views) => {
    const [first, ...others] = ranks;
    await views.open(first, others.map((file) => `&open=${encodeURIComponent(`file://${file}`)}`).join(""));
    await views.ready();
    await views.page.keyboard.press("9");
    await views.until(
      "all four",
      async () => (await views.page.locator(".entries").first().locator("li").count()) === 4,
    );
    await views.page.keyboard.press("D");
    const dialog = views.page.getByRole("dialog");
    const after = dialog.getByRole("region", { name: "After" });
    for (const rank of [0, 1, 2, 3]) await after.getByRole("checkbox", { name: new RegExp(`^rank-${rank}`) }).check();
    await axe(views);
    await dialog.getByRole("button", { name: "Put 4 together" }).click();
    await views.until("an aggregate", () => views.fragment().get("open")?.startsWith("aggregate://"));
    await views.ready();
    assert.match(await views.page.title(), /^4 profiles: rank-0\.perf\.txt\.gz and 3 more/);
    // It is no side of a comparison.
    await views.page.keyboard.press("D");
    assert.strictEqual(await dialog.locator("label", { hasText: "4 profiles" }).count(), 0);
  });

  test("series: the table of an aggregate says how its profiles lie", async (views) => {
    await open(views, aggregate(ranks), "&tab=flat&view=top-down+|+metric+samples");
    await views.until("rows", async () => (await views.page.locator(".table-row").count()) > 5);
    assert.strictEqual((await views.page.locator(".table-row svg.sparkline path").count()) > 5, true);
    await views.page.getByRole("combobox", { name: "Order" }).selectOption("lost");
    await views.until("the planted one", async () => /heat::refine/.test(await firstRow(views)));
    await views.until("an address that says so", () => views.fragment().get("sort") === "lost");
    const cells = await rowOf(views, "heat::refine").locator("[role=gridcell]").allTextContents();
    assert.ok(
      cells.some((text) => /^\d\d\.\d %$/.test(text)),
      cells.join(" | "),
    );
    await views.page.getByRole("columnheader", { name: /^Sum/ }).getByRole("button").click();
    await views.until("by sum", () => views.fragment().get("sort") === null);
    await views.page.getByRole("button", { name: "Total", exact: true }).first().click();
    await views.until("totals", () => views.fragment().get("of") === "total");
    await views.page.getByRole("searchbox").fill("refine|relax");
    await views.until(
      "what matches",
      async () => (await views.page.getByRole("grid").getAttribute("aria-rowcount")) === "3",
    );
    await axe(views);
  });

  test("series: any percentile is an order, a column and a colour, and conditions leave rows out", async (views) => {
    await open(views, aggregate(ranks), "&tab=flat&view=top-down+|+metric+samples");
    await views.until("rows", async () => (await views.page.locator(".table-row").count()) > 5);
    await views.page.getByRole("combobox", { name: "Order" }).selectOption("p95");
    await views.page.getByRole("columnheader", { name: /^95th pct/ }).waitFor();
    const where = views.page.getByRole("textbox", { name: "Only rows that hold" });
    await where.fill("uneven >= 10%");
    await where.press("Enter");
    await views.until("what holds it", async () => (await views.page.locator(".table-row").count()) === 1);
    assert.match(await firstRow(views), /heat::refine/);
    await views.page.getByText(/1 rows .* 10 left out/).waitFor();
    await where.fill("uneven > 10%");
    await where.press("Enter");
    await views.page.getByText(/after the statistic stands `>=` or `<=`.*\(at character 8\)$/).waitFor();
    await where.fill("");
    await where.press("Enter");
    await views.until("all rows", async () => (await views.page.locator(".table-row").count()) > 5);
    await open(views, aggregate(ranks), "&color=p95");
    await views.page.getByText(/^p95 0 to /).waitFor();
    assert.strictEqual(views.layout().colorScale.metric, "p95");
  });

  test("series: what is chosen has a plot, a histogram and words, of the profiler's own numbers", async (views) => {
    await open(views, aggregate(snapshots), "&tab=flat&of=total&view=top-down+|+metric+inuse_space");
    await views.until("rows", async () => (await views.page.locator(".table-row").count()) > 5);
    await rowOf(views, "main.subscribe").click();
    await views.until("its series", async () => (await part(views).locator(".plot").count()) === 2);
    const values = measured("main.subscribe");
    assert.strictEqual(values.length, 20);
    const mean = values.reduce((sum, value) => sum + value, 0) / 20 / 2 ** 20;
    const text = await said(views);
    assert.match(
      text,
      /^In 20 of 20 profiles: mean .* MiB, most .* in 20\.pb\.gz, .* above the mean\. It grows beyond chance, \+/,
    );
    assert.ok(Math.abs(Number(/mean ([\d.]+) MiB/.exec(text)[1]) - mean) < 0.06, `${mean}: ${text}`);
    // The picture says to those who do not see it what it shows.
    const label = await part(views).locator(".plot-box").first().getAttribute("aria-label");
    assert.ok(label.includes(text), label);
    assert.match(
      await part(views).locator(".plot-box").last().getAttribute("aria-label"),
      /\d profiles?: .* to .* MiB/,
    );
    const plot = await part(views).locator(".plot-box").first().boundingBox();
    await views.page.mouse.move(plot.x + plot.width - 12, plot.y + 40);
    await views.until("what is pointed at", async () =>
      /^20\.pb\.gz: /.test(await part(views).locator(".plot-says").first().textContent()),
    );
    await views.page.mouse.move(1, 1);
    await part(views).getByRole("button", { name: "Self" }).click();
    await views.until("nothing of its own", async () => /^In 0 of 20 profiles/.test(await said(views)));
    await axe(views);
  });

  test("series: a box has the series of its path, and boxes the colours of how uneven they are", async (views) => {
    await open(views, aggregate(ranks), "&view=top-down+|+metric+samples");
    await views.ready();
    await views.page.getByRole("combobox", { name: "Colours" }).selectOption("imbalance");
    await views.until("another colour", () => views.layout().boxes.color !== undefined);
    const { boxes, names } = views.layout();
    const at = boxes.name.findIndex((row) => names[row].startsWith("heat::refine"));
    assert.match(boxes.colorText[at], /^\d\d\.\d %$/);
    await views.clickBox(names[boxes.name[at]]);
    await views.until("its series", async () => /in 4 of 4|In 4 of 4/.test(await said(views)));
    assert.match(await said(views), /most 1\.04 k.* in rank-2\.perf\.txt\.gz|most 1,041.* in rank-2\.perf\.txt\.gz/);
  });

  test("panes: before, after and difference have the same boxes, linked", async (views) => {
    await open(views, diff());
    await views.ready();
    await views.page.keyboard.press("a");
    await views.until("panes", async () => (await views.page.locator(".pane").count()) === 3);
    await views.until("an address that says so", () => views.fragment().get("panes") === "1");
    const of = (id) => views.layout(`flame-${id}`);
    await views.until("three layouts", () => ["before", "after", "difference"].every((id) => of(id) !== undefined));
    assert.deepStrictEqual(
      ["before", "after", "difference"].map((id) => of(id).metric),
      ["cpu before", "cpu", "cpu difference"],
    );
    const find = (id, name) => of(id).boxes.name.findIndex((row) => of(id).names[row] === name);
    // The same key is the same function in all; what is gone is there before, and in the difference.
    const key = (id) => of(id).boxes.key[find(id, "main.parseRow")];
    assert.strictEqual(key("before"), key("after"));
    assert.strictEqual(key("before"), key("difference"));
    assert.deepStrictEqual(
      ["before", "after", "difference"].map((id) => find(id, "main.checkLegacyCodes") >= 0),
      [true, false, true],
    );
    assert.ok(find("after", "main.attachLabels") >= 0 && find("before", "main.attachLabels") < 0);
    await views.page.waitForTimeout(400);
    const canvas = (at) =>
      views.page
        .locator(".pane canvas")
        .nth(at)
        .evaluate((element) => element.toDataURL());
    // What the page remembers it does not ask for again.
    const whole = { before: of("before"), after: of("after") };
    const placeIn = async (at, id, name) => {
      const box = await views.page.locator(".pane .stage").nth(at).boundingBox();
      const { boxes, names, zoomTotal } = whole[id];
      const item = boxes.name.findIndex((row) => names[row] === name);
      const width = await views.page
        .locator(".pane .stage")
        .nth(at)
        .evaluate((stage) => stage.clientWidth);
      return {
        x: box.x + ((boxes.x[item] + boxes.width[item] / 2) / zoomTotal.value) * width,
        y: box.y + boxes.depth[item] * 18 + 9,
      };
    };
    const still = await canvas(1);
    const { x, y } = await placeIn(0, "before", "main.parseRow");
    await views.page.mouse.move(x, y);
    await views.until("it is marked in the other pane", async () => (await canvas(1)) !== still);
    await views.page.mouse.click(x, y);
    await views.until("a zoom", () => views.fragment().get("zoom"));
    await views.until("all three zoomed", () =>
      ["before", "after", "difference"].every((id) => {
        const { names, boxes } = of(id);
        return boxes.width[0] === boxes.width[find(id, "main.parseRow")] && names.length > 0;
      }),
    );
    assert.strictEqual(await views.chosen(), "main.parseRow");
    await axe(views);
    // What one side does not have says so, and the others stay where they are.
    await views.page.keyboard.press("0");
    await views.until("all of it", () => !views.fragment().get("zoom"));
    await views.page.waitForTimeout(500);
    const gone = await placeIn(0, "before", "main.checkLegacyCodes");
    await views.page.mouse.click(gone.x, gone.y);
    await views.until("a word on that", async () =>
      /not there: .* is shown/.test(await views.page.locator(".pane-title").nth(1).textContent()),
    );
    assert.ok(views.fragment().get("zoom"));
    await views.page.keyboard.press("a");
    await views.until("one picture", async () => (await views.page.locator(".pane").count()) === 0);
  });

  test("compare: a verdict, what grew most and what shrank most", async (views) => {
    await open(views, diff(), "&tab=profile");
    const card = views.page.locator(".card", { hasText: "What changed" });
    await views.until("both lists", async () => (await card.locator("ol.changes").count()) === 2);
    assert.match(await card.locator(".changes-verdict").textContent(), /beyond sampling noise: /);
    const [grew, shrank] = [
      card.getByRole("region", { name: "Grew most" }),
      card.getByRole("region", { name: "Shrank most" }),
    ];
    // What foldSum gained summarise lost: a cost that only moved is no regression.
    assert.match(await grew.locator("li").first().textContent(), /main\.parseRow.*\[\+\] \+1\.29 s/);
    assert.ok((await grew.locator("li").count()) <= 10);
    for (const text of await grew.locator(".glance-change").allTextContents()) assert.match(text, /\] (~ )?\+/);
    for (const text of await shrank.locator(".glance-change").allTextContents()) assert.match(text, /\] (~ )?-/);
    await axe(views);
    await grew.getByRole("button").first().click();
    await views.until("its callers", () => views.fragment().get("tab") === "sandwich");
    await views.page.keyboard.press("1");
    await views.page.keyboard.press("Escape");
    await views.until("the same beside the picture", async () =>
      /Grew most.*Shrank most/.test(await views.page.locator(".details").textContent()),
    );
  });

  for (const [what, uri, more] of [
    ["an aggregate", aggregate(ranks), ""],
    ["its table", aggregate(ranks), "&tab=flat"],
    ["its page", aggregate(ranks), "&tab=profile"],
    ["panes", diff(), "&panes=1"],
  ])
    test(`series: no serious accessibility fault: ${what}, light and dark`, async (views) => {
      await open(views, uri, more);
      await views.until(
        "it is there",
        async () => (await views.page.locator(".stage-tree [role=treeitem], .table-row, .card").count()) > 0,
      );
      await views.page.waitForTimeout(300);
      await axe(views);
      await views.darken();
      await axe(views, RULES_OF_COLORS);
    });
};
