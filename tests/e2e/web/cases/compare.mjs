// Comparisons: made on the page, looked at, turned round. What a number is is asked of the daemon's answers.
import assert from "node:assert";
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { RULES_OF_COLORS } from "../harness.mjs";

export default (test, { axe, root, scratch }) => {
  const fixture = (name) => join(root, "tests/fixtures/compare/before-after", `${name}.pb.gz`);
  const uri = (name) => `file://${fixture(name)}`;
  const diff = (before, after, more = "") =>
    `diff://?${before.map((name) => `before=${encodeURIComponent(uri(name))}`).join("&")}&${after
      .map((name) => `after=${encodeURIComponent(uri(name))}`)
      .join("&")}${more}`;

  /** A page on one diff. */
  const openDiff = async (views, more = "", of = diff(["before-1"], ["after-1"])) => {
    await views.page.goto("about:blank");
    await views.page.goto(`${views.bridge.url}#open=${encodeURIComponent(of)}${more}`);
  };
  /** A page with these profiles open; the first is shown. */
  const openAll = async (views, names) => {
    const [first, ...others] = names;
    await views.open(fixture(first), others.map((name) => `&open=${encodeURIComponent(uri(name))}`).join(""));
    await views.ready();
    await views.page.keyboard.press("9");
    await views.until(
      "all of them in the list",
      async () => (await views.page.locator(".entries").first().locator("li").count()) === names.length,
    );
  };
  const side = (views, title) => views.page.getByRole("dialog").getByRole("region", { name: title });
  const checkedOn = (views, title) =>
    side(views, title).locator("label:has(input:checked) .name:not(.muted)").allTextContents();
  const sides = (views) => views.page.locator(".sides").textContent();
  const compare = async (views) => {
    await views.page.getByRole("dialog").getByRole("button", { name: "Compare", exact: true }).click();
    await views.until("a diff", () => views.fragment().get("open")?.startsWith("diff://"));
    await views.until("its totals", async () => (await views.page.locator(".sides-totals").count()) === 1);
  };
  /** What the last answer says of a box, the widest of its name. */
  const changeOf = (views, name) => {
    const { boxes, names, changes } = views.layout();
    let at = -1;
    for (let i = 0; i < boxes.depth.length; ++i)
      if (names[boxes.name[i]] === name && (at < 0 || boxes.width[i] > boxes.width[at])) at = i;
    return at < 0
      ? undefined
      : { width: boxes.width[at], before: changes.before[at], after: changes.after[at], text: changes.text[at] };
  };
  const tooltipOf = async (views, name) => {
    const { x, y } = await views.place(name);
    await views.page.mouse.move(1, 1);
    await views.page.mouse.move(x, y);
    return (await views.page.locator(".tooltip").textContent()) ?? "";
  };
  /** The colour of the picture where a box is, right of its label. */
  const colorOf = async (views, name) => {
    const { y } = await views.place(name);
    const { boxes, names, zoomTotal } = views.layout();
    const at = boxes.name.findIndex((row) => names[row] === name);
    return views.page.$eval(
      ".stage canvas",
      (canvas, [share, line]) => {
        const box = canvas.getBoundingClientRect();
        const ratio = canvas.width / box.width;
        const x = Math.floor(share * canvas.width - 4 * ratio);
        return [
          ...canvas
            .getContext("2d")
            .getImageData(x, Math.floor((line - box.top) * ratio), 1, 1)
            .data.slice(0, 3),
        ];
      },
      [(boxes.x[at] + boxes.width[at]) / zoomTotal.value, y - 5],
    );
  };

  test("compare: two open profiles become a diff, with the numbers of the daemon", async (views) => {
    await openAll(views, ["before-1", "after-1"]);
    await views.page.getByRole("button", { name: "Compare…" }).click();
    await views.until("both sides chosen", async () => (await checkedOn(views, "After")).length === 1);
    assert.deepStrictEqual(
      [await checkedOn(views, "Before"), await checkedOn(views, "After")],
      [["before-1.pb.gz"], ["after-1.pb.gz"]],
    );
    const swap = views.page.getByRole("dialog").getByRole("button", { name: /^Swap/ });
    await swap.click();
    assert.deepStrictEqual(
      [await checkedOn(views, "Before"), await checkedOn(views, "After")],
      [["after-1.pb.gz"], ["before-1.pb.gz"]],
    );
    await axe(views);
    await swap.click();
    await compare(views);
    assert.strictEqual(views.fragment().get("open"), diff(["before-1"], ["after-1"]));
    await views.ready();
    const answer = views.layout();
    assert.strictEqual(answer.metric, "cpu larger");
    for (const text of [answer.sides.before.text, answer.sides.after.text, answer.sides.change, answer.sides.scale])
      assert.ok((await sides(views)).includes(text), text);
    for (const warning of answer.sides.warnings)
      assert.ok((await views.page.locator(".notes").textContent()).includes(warning), warning);
    const row = changeOf(views, "main.parseRow");
    assert.match(row.text, /^3\.47 s → 4\.76 s: \+1\.29 s \(\+37 %\)$/);
    assert.ok((await tooltipOf(views, "main.parseRow")).includes(`[+] ${row.text}`));
    // What is gone is drawn, in the width it had.
    const gone = changeOf(views, "main.checkLegacyCodes");
    assert.deepStrictEqual([gone.after, gone.width], [0, gone.before]);
    assert.ok((await tooltipOf(views, "main.checkLegacyCodes")).includes(`[D] ${gone.text}`));
    await views.page.mouse.move(1, 1);
    await views.page.waitForTimeout(100);
    const [red, , blue] = await colorOf(views, "main.checkLegacyCodes");
    assert.ok(blue > red + 20, `less is blue: ${red}, ${blue}`);
    const [warm, , cold] = await colorOf(views, "main.parseRow");
    assert.ok(warm > cold + 20, `more is orange: ${warm}, ${cold}`);
    await views.clickBox("main.parseRow");
    await views.until("it is chosen", async () => (await views.chosen()) === "main.parseRow");
    await views.until("both sides of it", async () =>
      /total3\.47 s4\.76 s\+1\.29 s \(\+37 %\)/.test(await views.page.locator(".details table").textContent()),
    );
    assert.match((await views.items()).find((item) => item.active).text, /main\.parseRow \[\+\], .*\+1\.29 s/);
    // The way back leads to where the comparison was made.
    await views.page.goBack();
    await views.page.goBack();
    await views.until("the list", () => views.fragment().get("tab") === "open");
  });

  test("compare: either side, the larger or the difference is wide", async (views) => {
    await openDiff(views);
    await views.ready();
    const widths = views.page.getByRole("group", { name: /What makes boxes wide/ });
    const now = () => widths.locator("[aria-pressed=true]").textContent();
    assert.strictEqual(await now(), "Larger");
    const row = changeOf(views, "main.parseRow");
    const press = async (key, metric) => {
      await views.page.keyboard.press(key);
      await views.until(metric, () => views.layout().metric === metric);
      await views.ready();
    };
    for (const [name, metric, width] of [
      ["Difference", "cpu difference", undefined],
      ["After", "cpu", row.after],
      ["Before", "cpu before", row.before],
    ]) {
      await press("d", metric);
      assert.strictEqual(await now(), name);
      if (width !== undefined) assert.strictEqual(changeOf(views, "main.parseRow").width, width);
      const gone = changeOf(views, "main.checkLegacyCodes");
      assert.strictEqual(gone === undefined, name === "After", `checkLegacyCodes, ${name}`);
    }
    await press("m", "samples before");
    assert.strictEqual(await now(), "Before");
    await widths.getByRole("button", { name: "Difference" }).click();
    await views.until("the other width", () => views.layout().metric === "samples difference");
    assert.strictEqual(await now(), "Difference");
  });

  test("compare: the table has both sides, orders by change and leaves out what is the same", async (views) => {
    await openDiff(views, "&tab=flat");
    const rowOf = (name) => views.page.locator(".table-row", { hasText: name }).first();
    const firstChange = () => views.page.locator(".table-row").first().locator("[role=gridcell]").first().textContent();
    await views.until("rows", async () => (await views.page.locator(".table-row").count()) > 5);
    for (const text of ["[+] +1.29 s (+37 %)", "3.47 s", "4.76 s"])
      assert.ok((await rowOf("main.parseRow").textContent()).includes(text), text);
    assert.match(await rowOf("main.checkLegacyCodes").textContent(), /\[D\]/);
    // What is beyond noise is strong, and a sentence says how much that is.
    assert.match(await sides(views), /beyond sampling noise: .*main\.checkLegacyCodes/);
    assert.strictEqual(await rowOf("main.parseRow").locator("b").first().textContent(), "+1.29 s (+37 %)");
    assert.match(await rowOf("main.heavier").locator("[title='It may be noise']").first().textContent(), /^~ -/);
    const all = Number(await views.page.getByRole("grid").getAttribute("aria-rowcount"));
    await views.page.getByRole("button", { name: "Only changes" }).click();
    await views.until(
      "fewer rows",
      async () => Number(await views.page.getByRole("grid").getAttribute("aria-rowcount")) < all,
    );
    await views.until("an address that says so", () => views.fragment().get("changed") === "1");
    const left = Number(await views.page.getByRole("grid").getAttribute("aria-rowcount"));
    const said = await views.page.locator(".toolbar").textContent();
    assert.match(said, new RegExp(`${all - left} unchanged left out · `), said);
    const header = views.page.getByRole("columnheader", { name: /^Self change/ });
    await header.getByRole("button").click();
    await views.until("what grew first", async () => (await firstChange()).startsWith("+"));
    await header.getByRole("button").click();
    await views.until("what shrank first", async () => (await firstChange()).startsWith("-"));
    await views.until("an address that says so", () => views.fragment().get("sort") === "-better");
    await views.page.getByRole("combobox", { name: "Order" }).selectOption("name");
    await views.until(
      "all rows, as names have no change",
      async () => Number(await views.page.getByRole("grid").getAttribute("aria-rowcount")) === all,
    );
    await views.page.getByRole("button", { name: "Only changes" }).click();
    await views.until(
      "changes again",
      async () => Number(await views.page.getByRole("grid").getAttribute("aria-rowcount")) === left,
    );
    await views.page.keyboard.press("2");
    await views.until("the tree", async () => (await views.page.getByRole("treegrid").count()) === 1);
    await views.until("both sides of its root", async () => /\[\+\]/.test(await rowOf("runtime.main").textContent()));
    await rowOf("runtime.main").click();
    await views.until("both sides of what is chosen", async () =>
      /13\.0 s → 13\.8 s: \+785 ms \(\+6\.0 %\)/.test(await views.page.locator(".details").textContent()),
    );
  });

  test("compare: costs that moved are said, and what is perhaps renamed is taken for one", async (views) => {
    await openDiff(views, "&tab=flat");
    const moved = () => views.page.locator(".sides-moved").textContent();
    const rows = (name) => views.page.locator(".table-row", { hasText: name });
    await views.until("what moved", async () => (await views.page.locator(".sides-moved").count()) === 1);
    assert.match(await moved(), /moved from main\.summarise to main\.foldSum, net [+-]/);
    assert.match(await moved(), /perhaps renamed: main\.rankByWeight → main\.orderByWeight \(/);
    assert.strictEqual(await rows("main.rankByWeight").count(), 1);
    await views.page.getByRole("button", { name: "Take for one" }).first().click();
    await views.until("what came of it", async () => /1 name renamed by 1 rule/.test(await moved()));
    assert.strictEqual(
      views.fragment().get("open"),
      diff(["before-1"], ["after-1"], `&rename=${encodeURIComponent("main.rankByWeight=main.orderByWeight")}`),
    );
    await views.until("one row", async () => (await rows("main.rankByWeight").count()) === 0);
    assert.doesNotMatch(await moved(), /perhaps renamed: main\.rankByWeight/);
  });

  test("compare: a diff is turned round where it is", async (views) => {
    await openDiff(views);
    await views.ready();
    await views.clickBox("main.parseRow");
    await views.until("a zoom", () => views.fragment().get("zoom"));
    const zoom = views.fragment().get("zoom");
    const { before, after } = views.layout().sides;
    await views.page.getByRole("button", { name: /^Swap/ }).click();
    await views.until("the other way round", () => views.layout().sides.before.text === after.text);
    assert.strictEqual(views.layout().sides.after.text, before.text);
    assert.strictEqual(views.fragment().get("open"), diff(["after-1"], ["before-1"]));
    assert.strictEqual(views.fragment().get("zoom"), zoom);
    await views.ready();
    assert.match(changeOf(views, "main.parseRow").text, /^4\.76 s → 3\.47 s: -1\.29 s \(-27 %\)$/);
    assert.match(await views.page.title(), /^after-1\.pb\.gz → before-1\.pb\.gz/);
  });

  test("compare: several runs on a side, scaled", async (views) => {
    await openAll(views, ["before-1", "after-1", "before-2", "after-2"]);
    await views.page.keyboard.press("D");
    for (const [title, name] of [
      ["Before", "before-1"],
      ["Before", "before-2"],
      ["Before", "after-1"],
      ["After", "after-1"],
      ["After", "after-2"],
    ])
      await side(views, title)
        .getByRole("checkbox", { name: new RegExp(`^${name}`) })
        .check();
    assert.deepStrictEqual(await checkedOn(views, "Before"), ["before-1.pb.gz", "before-2.pb.gz"]);
    await views.page.getByRole("dialog").getByRole("combobox", { name: "Scale" }).selectOption("totals");
    await compare(views);
    const open = diff(["before-1", "before-2"], ["after-1", "after-2"], "&scale=totals");
    assert.strictEqual(views.fragment().get("open"), open);
    await views.until("the means of both", async () => /mean of 2 runs.*mean of 2 runs/.test(await sides(views)));
    assert.match(await sides(views), /both sides come to as much/);
    // The same again, with one run less.
    await views.page.keyboard.press("D");
    await views.until(
      "what was compared",
      async () => (await checkedOn(views, "After")).join() === "after-1.pb.gz,after-2.pb.gz",
    );
    assert.strictEqual(await views.page.getByRole("combobox", { name: "Scale" }).inputValue(), "totals");
    await side(views, "After")
      .getByRole("checkbox", { name: /^after-2/ })
      .uncheck();
    await views.page.getByRole("combobox", { name: "Scale" }).selectOption("automatic");
    await compare(views);
    await views.until(
      "the other diff",
      () => views.fragment().get("open") === diff(["before-1", "before-2"], ["after-1"]),
    );
  });

  test("compare: what cannot be read is said, and what is shown stays", async (views) => {
    await views.open(fixture("after-1"));
    await views.ready();
    await views.page.getByRole("button", { name: /^Profile after-1/ }).click();
    await views.page.getByRole("menuitem", { name: /^Compare with/ }).click();
    await views.until("the dialog", async () => (await checkedOn(views, "After")).join() === "after-1.pb.gz");
    assert.ok(await views.page.getByRole("button", { name: "Compare", exact: true }).isDisabled());
    await side(views, "Before").getByRole("textbox").fill("/nowhere/at-all.pprof");
    await views.page.keyboard.press("Enter");
    await views.until("it is ticked", async () => (await checkedOn(views, "Before")).join() === "at-all.pprof");
    await views.page.getByRole("button", { name: "Compare", exact: true }).click();
    await views.until("what is wrong", async () =>
      /at-all\.pprof/.test(await views.page.locator(".notice.error").textContent()),
    );
    assert.match(views.fragment().get("open"), /after-1\.pb\.gz$/);
    await views.page.getByRole("button", { name: "Choose others" }).click();
    await side(views, "Before").getByRole("textbox").fill(fixture("before-1"));
    await views.page.keyboard.press("Enter");
    await side(views, "Before")
      .getByRole("checkbox", { name: /^at-all/ })
      .uncheck();
    await compare(views);
    assert.match(await views.page.title(), /^before-1\.pb\.gz → after-1\.pb\.gz/);
  });

  test("compare: two files that are dropped can be compared", async (views) => {
    await views.open(fixture("before-3"));
    await views.ready();
    const data = await views.page.evaluateHandle(
      (files) => {
        const transfer = new DataTransfer();
        for (const [name, bytes] of files) transfer.items.add(new File([new Uint8Array(bytes)], name));
        return transfer;
      },
      ["before-1", "after-1"].map((name) => [`${name}.pb.gz`, [...readFileSync(fixture(name))]]),
    );
    await views.page.dispatchEvent("main", "drop", { dataTransfer: data });
    await views.page.getByRole("button", { name: "Compare them" }).click();
    await views.until("both sides chosen", async () => (await checkedOn(views, "After")).join() === "after-1.pb.gz");
    assert.strictEqual((await checkedOn(views, "Before")).join(), "before-1.pb.gz");
    await compare(views);
    await views.ready();
    assert.match(changeOf(views, "main.parseRow").text, /\+1\.29 s \(\+37 %\)$/);
  });

  test("compare: a diff follows its files, and comes back with its address", async (views) => {
    const changing = join(scratch, "compare-after.pb.gz");
    copyFileSync(fixture("after-1"), changing);
    const of = diff(["before-1"], ["after-1"]).replace(
      encodeURIComponent(uri("after-1")),
      encodeURIComponent(`file://${changing}`),
    );
    await openDiff(views, "&tab=flat&sort=worse", of);
    await views.until("what grew", async () => /\+780 ms/.test(await sides(views)));
    copyFileSync(fixture("before-1"), changing);
    await views.until("nothing, as both are the same", async () => /±0 s/.test(await sides(views)));
    await views.page.reload();
    await views.until("the same again", async () => /±0 s/.test(await sides(views)));
    assert.strictEqual(views.fragment().get("open"), of);
    assert.strictEqual(views.fragment().get("sort"), "worse");
    await views.page.getByRole("button", { name: "Only changes" }).click();
    await views.until("a word on that", async () =>
      /Nothing became of any row/.test(await views.page.locator(".empty").textContent()),
    );
  });

  for (const tab of ["flame", "tree", "flat", "sandwich", "profile"])
    test(`compare: a diff has no serious accessibility fault: ${tab}, light and dark`, async (views) => {
      await openDiff(views, `&tab=${tab}`);
      await views.page.waitForTimeout(900);
      await axe(views);
      await views.darken();
      await axe(views, RULES_OF_COLORS);
    });
};
