// Tables, trees, the profile, sources, threads.
import assert from "node:assert";
import { mkdtempSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export default (test, { axe, demo, root, scratch }) => {
  test("sorts the table, scrolls it and opens a row", async (views) => {
    await views.open(demo, "&tab=flat");
    const names = () => views.page.locator(".table-row .name:not(.muted)").allTextContents();
    await views.until("rows", async () => (await names()).length > 10);
    const bySelf = await names();
    await views.page
      .getByRole("columnheader", { name: /^Total/ })
      .getByRole("button")
      .click();
    await views.until(
      "another order",
      async () => /^(runtime|main)\.main$/.test((await names())[0]) && (await names())[0] !== bySelf[0],
    );
    const [heaviest] = await names();
    assert.strictEqual(
      await views.page.getByRole("columnheader", { name: /^Total/ }).getAttribute("aria-sort"),
      "descending",
    );
    await views.page.getByRole("grid").focus();
    await views.page.keyboard.press("End");
    await views.until(
      "the last row",
      async () => (await views.page.locator('.table-row[aria-rowindex="423"]').count()) === 1,
    );
    await views.page.keyboard.press("Home");
    await views.page.keyboard.press("Enter");
    await views.until("the sandwich", () => views.fragment().get("tab") === "sandwich");
    assert.strictEqual(views.fragment().get("function"), heaviest);
  });

  test("tells functions of one name apart, in the tree and between callers and callees", async (views) => {
    const profile = join(scratch, "same.speedscope.json");
    const frames = [
      ["<module>", "a.py"],
      ["<module>", "b.py"],
      ["parse", "a.py"],
      ["parse", "b.py"],
      ["of_a", "a.py"],
      ["of_b", "b.py"],
    ].map(([name, file]) => ({ name, file, line: 3 }));
    const stacks = [
      [0, 2, 4],
      [1, 3, 5],
    ];
    writeFileSync(
      profile,
      JSON.stringify({
        $schema: "https://www.speedscope.app/file-format-schema.json",
        shared: { frames },
        profiles: [
          {
            type: "sampled",
            name: "p",
            unit: "none",
            startValue: 0,
            endValue: 100,
            samples: stacks,
            weights: [70, 30],
          },
        ],
      }),
    );
    await views.open(profile, "&tab=tree");
    const rows = async () => (await views.page.locator(".table-row .name:not(.muted)").allTextContents()).join();
    await views.until("both", async () => (await rows()) === "<module>,<module>");
    await views.page.locator(".table-row .twist").nth(1).click();
    await views.until("what is below the second one", async () => (await rows()) === "<module>,<module>,parse");
    await views.page.locator(".table-row .twist").nth(2).click();
    await views.until("its own callee", async () => (await rows()) === "<module>,<module>,parse,of_b");

    await views.page.keyboard.press("4");
    await views.page.locator(".sandwich-list .table-row", { hasText: "parse (b.py)" }).click();
    await views.until("its facts", async () =>
      /30\.0 % total.*b\.py/.test(await views.page.locator(".sandwich-middle").textContent()),
    );
    await views.until("its callees", async () =>
      /of_b/.test(await views.page.locator(".sandwich-half.callees .stage-tree").textContent()),
    );
    assert.doesNotMatch(await views.page.locator(".sandwich-main").textContent(), /is the name of|of_a/);
  });

  test("opens the hottest path of the tree", async (views) => {
    await views.open(demo, "&tab=tree");
    await views.until("rows", async () => (await views.page.locator(".table-row").count()) > 3);
    await views.page.getByRole("button", { name: "Hottest path" }).click();
    await views.until("main.handle", async () => (await views.chosen()) === "main.handle");
    const row = views.page.locator(".table-row.selected");
    assert.strictEqual(await row.getAttribute("aria-level"), "6");
    await views.page.getByRole("treegrid").focus();
    await views.page.keyboard.press("ArrowRight");
    await views.page.keyboard.press("ArrowRight");
    await views.until(
      "its first child",
      async () => (await views.page.locator(".table-row.selected").getAttribute("aria-level")) === "7",
    );
    await views.page.keyboard.press("Enter");
    await views.until("the flame graph, zoomed there", () => views.fragment().get("zoom")?.split(".").length === 7);
  });

  // "crypto/internal/fips140/sha256.blockSHANI" is not "crypto/internal/fips140/sh…", in a column of any width.
  for (const width of [390, 1280])
    test(
      `keeps the useful end of names that do not fit a column, ${width} pixels wide`,
      async (views) => {
        /** Of each name what is seen of it, and whether that is cut. */
        const ends = (selector) =>
          views.page.locator(`.table-row ${selector}`).evaluateAll((all) =>
            all.map((name) => {
              const inside = name.closest("[role=gridcell]").getBoundingClientRect();
              const right = Math.min(inside.right, innerWidth) + 0.5;
              const isSeen = (form) => {
                const { top, width } = form.getBoundingClientRect();
                return width > 2 && top < inside.bottom - 4;
              };
              const form = [...name.querySelectorAll(".form")].reverse().find(isSeen) ?? name;
              return {
                text: name.textContent,
                end: form.dataset.text ?? name.textContent,
                // What alone is too long for the column shows its beginning.
                cut: !form.matches(".last") && form.getBoundingClientRect().right > right,
              };
            }),
          );
        const check = async (selector, wanted) => {
          await views.until(`names of ${selector}`, async () => (await ends(selector)).length > 10);
          const all = await ends(selector);
          for (const each of all) assert.ok(each.text.endsWith(each.end) && !each.cut, JSON.stringify(each));
          for (const [name, end] of wanted) assert.strictEqual(all.find(({ text }) => text === name)?.end, end);
        };
        await views.open(demo, "&tab=flat");
        const long = "crypto/internal/fips140/sha256.blockSHANI";
        await check(".name:not(.muted)", [[long, "sha256.blockSHANI"]]);
        if (width > 1000) await check(".name.muted", [["internal/runtime/maps/group.go:152", "maps/group.go:152"]]);
        await views.open(demo, "&tab=tree");
        await views.until("rows", async () => (await views.page.locator(".table-row").count()) > 3);
        await views.page.getByRole("button", { name: "Hottest path" }).click();
        await views.until("a deep row", async () => (await views.page.locator('[aria-level="7"]').count()) > 0);
        await check(".name:not(.muted)", []);
        const wider = await views.page.locator(".table").evaluate((table) => table.scrollWidth - table.clientWidth);
        assert.ok(wider <= 0, `${wider} pixels too wide`);
      },
      { viewport: { width, height: 800 } },
    );

  test("shows the profile, its lines and what is open", async (views) => {
    await views.open(demo, "&tab=profile");
    await views.until("facts", async () => /Hottest functions/.test(await views.page.locator("main").textContent()));
    await views.page.keyboard.press("9");
    await views.until("the list", async () => (await views.page.locator(".entries li").count()) > 0);
    await views.page.keyboard.press("5");
    await views.until("files", async () =>
      /parse\.go|mgcmark|report\.go/.test(await views.page.locator("main").textContent()),
    );
  });

  test("shows the text of a source beside what its lines cost", async (views) => {
    const folder = `file://${join(root, "tests/fixtures/go-demo")}`;
    await views.open(demo, `&root=${encodeURIComponent(folder)}&tab=source&function=main.parseOrder`);
    await views.until("the costly line", async () =>
      /36\.6 %\s+3\.05 s/.test(await views.page.locator("#line-51 .source-cost").textContent()),
    );
    assert.match(await views.page.locator("#line-51 code").textContent(), /json\.Unmarshal\(line, &order\)/);
    await axe(views);
  });

  test("marks what a changed source costs once, and says why", async (views) => {
    const folder = mkdtempSync(join(scratch, "changed-"));
    const source = join(folder, "late.py");
    const profile = join(folder, "late.speedscope.json");
    writeFileSync(
      profile,
      JSON.stringify({
        $schema: "https://www.speedscope.app/file-format-schema.json",
        shared: { frames: [{ name: "late", file: source, line: 2 }] },
        profiles: [
          { type: "sampled", name: "p", unit: "none", startValue: 0, endValue: 10, samples: [[0]], weights: [10] },
        ],
      }),
    );
    const before = new Date(Date.now() - 3600_000);
    utimesSync(profile, before, before);
    writeFileSync(source, "def late():\n    return 1\n");
    await views.open(profile, `&root=${encodeURIComponent(`file://${folder}`)}&tab=source&function=late`);
    await views.until("the cost", async () =>
      /100 %/.test(await views.page.locator("#line-1 .source-cost").textContent()),
    );
    assert.match(await views.page.locator("#line-1 .source-cost").textContent(), /^~100 %/);
    assert.match(await views.page.locator(".sandwich-main").textContent(), /Recorded before the last change/);
  });

  test("says that another metric is shown where the file's first one is 0", async (views) => {
    const number = (value) => (value < 128 ? [value] : [(value & 127) | 128, ...number(value >> 7)]);
    const plain = (field, value) => [...number(field << 3), ...number(value)];
    const bytes = (field, ...parts) => [...number((field << 3) | 2), ...number(parts.flat().length), ...parts.flat()];
    const strings = ["", "alloc_space", "bytes", "inuse_space", "leak"];
    const pprof = [
      ...[1, 3].flatMap((type) => bytes(1, plain(1, type), plain(2, 2))),
      ...bytes(2, bytes(1, number(1)), bytes(2, number(4096), number(0))),
      ...bytes(4, plain(1, 1), bytes(4, plain(1, 1), plain(2, 1))),
      ...bytes(5, plain(1, 1), plain(2, 4)),
      ...strings.flatMap((text) => bytes(6, [...Buffer.from(text)])),
      ...plain(14, 3),
    ];
    const file = join(scratch, "empty.heap.pprof");
    writeFileSync(file, Buffer.from(pprof));
    await views.open(file);
    await views.ready();
    const notes = () => views.page.locator("main .notes").allTextContents();
    const sentence = /alloc_space is shown: inuse_space, which the file shows first, is 0 everywhere/;
    assert.match((await notes()).join(), sentence);
    await views.page.keyboard.press("3");
    await views.until("the table says it, too", async () => sentence.test((await notes()).join()));
    await views.page.keyboard.press("m");
    await views.until("nothing of it beside what was chosen", async () => (await notes()).length === 0);
    await views.until("that there is nothing", async () =>
      /inuse_space is 0 everywhere/.test(await views.page.locator("main").textContent()),
    );
  });

  test("lists threads and labels, and one that is chosen is a filter", async (views) => {
    await views.open(demo, "&tab=threads");
    await views.until("the labels", async () =>
      /57\.2 %4\.77 s\/report/.test(await views.page.locator("main").textContent()),
    );
    await views.page.getByRole("button", { name: /4\.77 s/ }).click();
    await views.until(
      "a chip",
      async () => (await views.page.locator(".chip-text").allTextContents())[0] === 'label endpoint = "/report"',
    );
    await views.page.keyboard.press("1");
    await views.ready();
    await views.until("its share", async () => /^all, 4\.77 s/.test((await views.items())[0].text));
  });
};
