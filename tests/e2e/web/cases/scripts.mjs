// Scripts: written beside the flame graph, run, with what they give in the views.
import assert from "node:assert";

export default (test, { axe, demo }) => {
  const editor = (views) =>
    views.page.getByRole("textbox", { name: "Script", exact: true });
  const run = (views) =>
    views.page.getByRole("button", { name: "Run", exact: true });
  const side = (views) => views.page.locator(".analyses-side");

  test("a script is written and run, its error is at its line, and its profile is in the flame graph beside", async (views) => {
    await views.open(demo, "&tab=analyses");
    await views.until(
      "the editor",
      async () => (await editor(views).count()) === 1,
    );
    await editor(views).fill("-- @title Mine\nlocal x\nprint(x.y)\n");
    await run(views).click();
    const wrong = side(views).getByRole("alert");
    await views.until("the error", async () => (await wrong.count()) === 1);
    assert.match(
      await wrong.textContent(),
      /^draft, line 3: attempt to index a nil value \(local 'x'\)$/,
    );
    assert.strictEqual(
      await side(views).locator(".script-lines .wrong").textContent(),
      "3",
    );
    await axe(views);

    await editor(views).fill("");
    await editor(views).pressSequentially("profile:add");
    const offers = side(views)
      .getByRole("listbox", { name: "Completions" })
      .getByRole("option");
    assert.deepStrictEqual(await offers.allTextContents(), [
      "profile:add_metric(name, column)",
    ]);
    await axe(views);
    await editor(views).press("Tab");
    assert.strictEqual(
      await editor(views).inputValue(),
      "profile:add_metric(name, column)",
    );
    // By the keyboard alone: asked for, moved in, taken, let go of; the field's own undo knows of it.
    await editor(views).press("Enter");
    await editor(views).pressSequentially("pro");
    await editor(views).press("Control+Space");
    const second = await offers.nth(1).textContent();
    await editor(views).press("ArrowDown");
    await editor(views).press("Enter");
    assert.strictEqual(
      await editor(views).inputValue(),
      `profile:add_metric(name, column)\n${second}`,
    );
    await editor(views).press("Control+z");
    assert.strictEqual(
      await editor(views).inputValue(),
      "profile:add_metric(name, column)\npro",
    );
    // Lines go in with what begins in them, and are coloured.
    await editor(views).fill("");
    await editor(views).pressSequentially("if true then");
    await editor(views).press("Enter");
    assert.strictEqual(await editor(views).inputValue(), "if true then\n  ");
    assert.strictEqual(
      await side(views).locator(".script-colours .hljs-keyword").count(),
      2,
    );

    await editor(views).fill(
      "profile:visit(function(node)\n  if node.name:find('^runtime') then node:elide() end\nend, {min_share = 0})\n" +
        "print('elided')\nshow_table {title = 'T', columns = {'a', {'b', 'ns'}}, rows = {{'<b>', 1500000}}}\n",
    );
    await editor(views).press("Control+Enter");
    await views.until("what it printed", async () =>
      /elided/.test(await side(views).textContent()),
    );
    assert.strictEqual(await wrong.count(), 0);
    assert.deepStrictEqual(await side(views).locator("td").allTextContents(), [
      "<b>",
      "1.50 ms",
    ]);
    await views.until("its profile", async () =>
      /Shown is what the script made of cpu\.pprof/.test(
        await side(views).textContent(),
      ),
    );
    assert.match(
      views.fragment().get("open") ?? "",
      /^script:\/\/\?run=draft&given=/,
    );
    // A second run is of the profile itself again.
    await editor(views).fill("print(profile.name)\n");
    await run(views).click();
    await views.until("the name", async () =>
      /cpu\.pprof\s*Ran/.test(
        await side(views).locator(".script-result").textContent(),
      ),
    );
    await side(views)
      .getByRole("button", { name: "Show the profile itself" })
      .click();
    await views.until("the profile itself", () =>
      /cpu\.pprof$/.test(views.fragment().get("open") ?? ""),
    );
  });

  test("an example is a script to start from", async (views) => {
    await views.open(demo, "&tab=analyses");
    await views.page.reload(); // what is written lives as long as the page
    const examples = side(views).getByRole("group", { name: "Examples" });
    await views.until(
      "the examples",
      async () => (await examples.getByRole("button").count()) > 3,
    );
    for (const title of [
      "A table of functions",
      "Without libraries",
      "Recursion as one call",
      "Threads side by side",
      "Notes on lines",
    ]) {
      await side(views)
        .getByRole("combobox", { name: "Script" })
        .selectOption("gc_share");
      await views.until("another", async () =>
        /garbage/i.test(await editor(views).inputValue()),
      );
      await side(views)
        .getByRole("combobox", { name: "Script" })
        .selectOption("");
      await examples.getByRole("button", { name: title }).click();
      await run(views).click();
      await views.until(`${title} has run`, async () =>
        /Ran \d/.test(
          await side(views)
            .locator(".script-result")
            .textContent({ timeout: 100 })
            .catch(() => ""),
        ),
      );
      assert.strictEqual(await side(views).getByRole("alert").count(), 0);
    }
  });

  test("a script that profd brings is an example to start from, with its arguments", async (views) => {
    await views.open(demo, "&tab=analyses");
    const choice = side(views).getByRole("combobox", { name: "Script" });
    await views.until(
      "the scripts",
      async () => (await choice.locator("option").count()) > 10,
    );
    await choice.selectOption("gc_share");
    await views.until("its text", async () =>
      /garbage collection/i.test(await editor(views).inputValue()),
    );
    await side(views).getByLabel("rows", { exact: true }).fill("1");
    await run(views).click();
    await views.until(
      "its table",
      async () => (await side(views).locator("tbody tr").count()) === 1,
    );
    assert.match(
      await side(views).locator(".script-result").textContent(),
      /garbage collection: \d/,
    );
    await axe(views);
  });
};
