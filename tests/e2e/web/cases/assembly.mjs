// A function as instructions, beside its source and alone.
import assert from "node:assert";
import { join } from "node:path";

export default (test, { axe, demo, root }) => {
  const folder = join(root, "tests/fixtures/symbols");
  const open = (views, more) =>
    views.open(join(folder, "addresses.pprof"), `&root=${encodeURIComponent(`file://${folder}`)}&tab=source${more}`);
  const texts = (views, selector) => views.page.locator(selector).allTextContents();
  /** The instructions on the screen, as they are read. */
  const rows = (views) =>
    views.page.locator(".asm-row[id]").evaluateAll((all) =>
      all.map((row) => ({
        id: Number(row.id.slice("asm-".length)),
        self: row.querySelector(".asm-self").textContent,
        text: row.querySelector("code").textContent,
        linked: row.classList.contains("linked"),
        selected: row.classList.contains("selected"),
      })),
    );
  const marked = (views) =>
    views.page
      .locator(".source-line.linked .source-number")
      .allTextContents()
      .then((all) => all.map(Number));
  const hottest = async (views) =>
    views.until("the hottest row", async () => (await rows(views)).some(({ self }) => self === "60.0 %"));

  test("shows the instructions of a function beside its source, with what each costs", async (views) => {
    await open(views, "&function=fill");
    await views.until("the source", async () => (await texts(views, ".source-line code")).join().includes("round2"));
    await views.page.keyboard.press("A");
    await hottest(views);
    const all = await rows(views);
    const hot = all.find(({ self }) => self === "60.0 %");
    assert.ok(hot.selected, "the hottest row is chosen");
    assert.match(
      await views.page.locator(".asm-head").textContent(),
      /fill.*self 90\.0 %.*app\+0x[0-9a-f]+, \d+ bytes/,
    );
    assert.ok(
      (await texts(views, ".asm-chain")).some((text) => /^mix app\.c:\d+ > round2 app\.c:\d+ > app\.c:\d+$/.test(text)),
    );
    assert.ok((await views.page.locator(".asm-arrows path").count()) > 2, "arrows of the loop");
    assert.ok((await views.page.locator(".asm-row.begins").count()) > 0, "blocks");
    assert.match(await views.page.locator(".asm-notes").textContent(), /samples may skid/);
    assert.match(await views.page.locator(".asm-facts").textContent(), /self 60 \(60\.0 %\).*in a loop/);
    assert.strictEqual(views.fragment().get("asm"), "beside");
    await axe(views);
  });

  test("marks what belongs together on both sides", async (views) => {
    await open(views, "&function=fill&asm=beside");
    await hottest(views);
    const source = await views.page.locator(".source-line code").allTextContents();
    const lineOf = (text) => source.findIndex((line) => line.includes(text));
    const call = lineOf("s = round2(s + 17)");
    const multiply = lineOf("v *= 0x");
    assert.ok(call > 0 && multiply > 0);
    // What is inlined is of the line that calls it, too.
    await views.until("lines of the hottest row", async () => (await marked(views)).includes(call + 1));
    await views.page.locator(`#line-${call}`).hover();
    await views.until("rows", async () => (await rows(views)).some(({ linked, text }) => linked && /imul/.test(text)));
    const ofCall = (await rows(views)).filter(({ linked }) => linked).length;
    await views.page.locator(`#line-${multiply}`).click();
    await views.until("fewer of them", async () => {
      const linked = (await rows(views)).filter((row) => row.linked);
      return linked.length > 0 && linked.length < ofCall;
    });
    const store = (await rows(views)).find(({ text }) => /^mov .*\[.*\],/.test(text));
    const stored = lineOf("out[i] = s");
    if (store !== undefined) {
      await views.page.locator(`#asm-${store.id}`).click();
      await views.page.mouse.move(2, 2);
      await views.until("its line", async () => (await marked(views)).includes(stored + 1));
    }
  });

  test("follows a call, and comes back", async (views) => {
    await open(views, "&function=_start&asm=only");
    await views.until("the call", async () => (await texts(views, ".asm-target")).some((text) => text === "fill"));
    assert.strictEqual(await views.page.locator(".source").count(), 0);
    await views.page.locator(".asm-target", { hasText: "fill" }).click();
    await hottest(views);
    assert.strictEqual(views.fragment().get("function"), "fill");
    await views.page.keyboard.press("Backspace");
    await views.until("the caller", async () => (await texts(views, ".asm-name"))[0] === "_start");
    await views.page.getByRole("grid").focus();
    await views.page.keyboard.press("Home");
    for (let i = 0; i < 40; ++i) {
      const chosen = (await rows(views)).find(({ selected }) => selected);
      if (/^call/.test(chosen?.text ?? "")) break;
      await views.page.keyboard.press("ArrowDown");
    }
    await views.page.keyboard.press("Enter");
    await hottest(views);
  });

  test("writes instructions as the reader likes, and remembers it", async (views) => {
    await open(views, "&function=fill&asm=only");
    await hottest(views);
    assert.ok(!(await rows(views)).some(({ text }) => /%r/.test(text)));
    await views.page.keyboard.press("i");
    await views.until("AT&T", async () => (await rows(views)).some(({ text }) => /%r/.test(text)));
    await views.page.reload();
    await views.until("AT&T again", async () => (await rows(views)).some(({ text }) => /%r/.test(text)));
    await views.page.getByRole("button", { name: "Intel" }).click();
    await views.until("Intel", async () => (await rows(views)).some(({ text }) => /^imul r/.test(text)));
  });

  test("goes with filters, and is opened from the menu of a box and by its key", async (views) => {
    await views.open(join(folder, "addresses.pprof"));
    await views.ready();
    await views.until("names", () => views.layout().names.includes("fill"));
    await views.clickBox("fill", { button: "right" });
    await views.page.getByRole("menuitem", { name: /Show assembly/ }).click();
    await hottest(views);
    await views.page.keyboard.press("1");
    await views.ready();
    await views.clickBox("_start");
    await views.page.keyboard.press("A");
    await views.until("its code", async () => (await texts(views, ".asm-name"))[0] === "_start");
    await open(
      views,
      `&function=fill&asm=only&view=${encodeURIComponent("top-down by function | drop function round2")}`,
    );
    await views.until("what is left", async () => {
      const costly = (await rows(views)).filter(({ self }) => self !== "");
      return costly.length === 1 && costly[0].self !== "60.0 %";
    });
  });

  test("says why there are no instructions, and what brings them", async (views) => {
    await open(views, `&function=${encodeURIComponent("[gone.so]")}&asm=beside`);
    await views.until("why", async () => /its binary has not been read/i.test((await texts(views, ".asm-why")).join()));
    await views.until("the binary", async () => /gone\.so/.test((await texts(views, ".asm-module")).join()));
    await axe(views);
    await views.open(demo, "&tab=source&function=main.parseOrder&asm=only");
    await views.until("why", async () => (await texts(views, ".asm-why")).join() !== "");
  });
};
