// What a choice leads to: the views of it, its lines, the room it leaves, what a remainder opens.
import assert from "node:assert";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export default (test, { demo, root, scratch }) => {
  test("goes to callers and source of the chosen box by keys and tabs", async (views) => {
    await views.open(demo, `&root=${encodeURIComponent(`file://${join(root, "tests/fixtures/go-demo")}`)}`);
    await views.ready();
    await views.clickBox("main.parseOrders");
    await views.until("the choice", async () => (await views.chosen()) === "main.parseOrders");
    await views.page.keyboard.press("4");
    await views.until("its callers", async () =>
      /main\.parseOrders/.test(await views.page.locator(".sandwich-middle button").textContent()),
    );
    await views.page.keyboard.press("5");
    await views.until("its source", async () =>
      /parseOrders/.test(await views.page.locator(".source-line.selected").textContent()),
    );
    await views.page.keyboard.press("1");
    await views.ready();
    await views.clickBox("main.main");
    await views.page.locator(".tabs button[title^=Callers]").click();
    await views.until("another one's", async () => views.fragment().get("function") === "main.main");
  });

  test("leaves the search with Escape, keeps what was found, and hears keys again", async (views) => {
    await views.open(demo);
    await views.ready();
    await views.page.keyboard.press("/");
    await views.page.keyboard.type("json");
    await views.page.keyboard.press("Escape");
    await views.page.keyboard.press("3");
    await views.until("the table", () => views.fragment().get("tab") === "flat");
    assert.strictEqual(views.fragment().get("search"), "json");
    assert.strictEqual(await views.page.locator("[role=search] input").inputValue(), "json");
    await views.page.keyboard.press("Escape");
    await views.until("no search", () => views.fragment().get("search") === null);
    assert.strictEqual(await views.page.locator("[role=search] input").inputValue(), "");
  });

  test(
    "takes no room from the picture with a click, on a narrow page",
    async (views) => {
      await views.open(demo);
      await views.ready();
      const height = () => views.page.$eval(".stage", (stage) => stage.clientHeight);
      const before = await height();
      await views.clickBox("main.parseOrders");
      await views.until("the choice", async () =>
        /main\.parseOrders.*%/.test(await views.page.locator(".details-line").textContent()),
      );
      assert.strictEqual(await height(), before);
      await views.page.locator(".details-line").click();
      await views.until("more of it", async () => (await views.chosen()) === "main.parseOrders");
      await views.page.keyboard.press("p");
      await views.until("the picture whole again", async () => (await height()) === before);
    },
    { viewport: { width: 700, height: 700 } },
  );

  test("shows the hot lines of a function, where its beginning is far from them", async (views) => {
    const folder = join(scratch, "far");
    mkdirSync(folder, { recursive: true });
    const source = join(folder, "far.py");
    const lines = Array.from({ length: 400 }, (_, i) => `    x = ${i + 1}`);
    lines[0] = "def far():";
    lines[300] = "def near():";
    writeFileSync(source, lines.join("\n") + "\n");
    const profile = join(folder, "far.speedscope.json");
    const frame = (name, line) => ({ name, file: source, line });
    // Lines of `far` from 250 on, and of `near` right behind its beginning.
    writeFileSync(
      profile,
      JSON.stringify({
        $schema: "https://www.speedscope.app/file-format-schema.json",
        shared: {
          frames: [frame("far", 1), frame("far", 250), frame("near", 301), frame("near", 304)],
        },
        profiles: [
          {
            type: "sampled",
            name: "p",
            unit: "none",
            startValue: 0,
            endValue: 100,
            samples: [[0], [1], [2], [3]],
            weights: [1, 60, 1, 38],
          },
        ],
      }),
    );
    const seen = async (line) => {
      const row = await views.page.locator(`#line-${line - 1}`).boundingBox();
      const frame = await views.page.locator(".source").boundingBox();
      return row !== null && row.y >= frame.y && row.y + row.height <= frame.y + frame.height;
    };
    const from = `&tab=source&file=${encodeURIComponent(source)}&root=${encodeURIComponent(`file://${folder}`)}`;
    await views.open(profile, `${from}&line=1`);
    await views.until("the hot line", () => seen(250));
    await views.open(profile, `${from}&line=301`);
    await views.until("where it begins", () => seen(301));
    assert.ok(await seen(304));
  });

  test("says on the graph and in the code that names and lines are missing, how much, and what brings them", async (views) => {
    const file = join(scratch, "stripped.script");
    const sample = (i) =>
      `prog 100 ${i}.000000: 10 cycles: \n\t    55000000${1000 + i} [unknown] (/usr/bin/prog)\n\t    550000001000 main (/usr/bin/prog)\n\n`;
    writeFileSync(file, Array.from({ length: 30 }, (_, i) => sample(i)).join(""));
    await views.open(file);
    await views.ready();
    const notes = () => views.page.locator(".view .notes").allTextContents();
    await views.until("names, on the graph", async () =>
      /100 % of cycles is in code without function names\..*debug files/.test((await notes()).join()),
    );
    const note = await views.page.locator(".view .notes").last().boundingBox();
    assert.ok(note.y + note.height <= (await views.page.locator(".stage").boundingBox()).y, "above the picture");
    await views.page.keyboard.press("5");
    await views.until("lines, in the code", async () =>
      /100 % of cycles is in code without line numbers\..*srcline/.test((await notes()).join()),
    );
    await views.open(demo);
    await views.ready();
    assert.doesNotMatch((await notes()).join(), /without/);
  });

  test("cuts no head of a table and no toolbar, and names the views where there is room", async (views) => {
    const cut = () =>
      views.page.evaluate(() =>
        [...document.querySelectorAll(".top, .tabs, .toolbar, .toolbar > *, .chips, .table-head > div, .crumbs")]
          .filter(
            (each) =>
              each.scrollWidth > each.clientWidth + 1 ||
              (each.matches(".toolbar > *, .chips") && each.getBoundingClientRect().right > innerWidth),
          )
          .map((each) => `${each.className}: ${each.textContent.slice(0, 40)}`),
      );
    const named = () =>
      views.page.evaluate(() => [...document.querySelectorAll(".tabs span")].filter((s) => s.offsetWidth > 0).length);
    await views.open(join(root, "tests/fixtures/go-demo/heap.pprof"));
    await views.ready();
    for (const [width, count] of [
      [1600, 10],
      [1280, undefined],
      [900, undefined],
      [700, undefined],
      [390, undefined],
    ]) {
      await views.page.setViewportSize({ width, height: 800 });
      for (const tab of "12345") {
        await views.page.keyboard.press(tab);
        await views.until(`nothing cut at ${width} in view ${tab}`, async () => (await cut()).length === 0);
      }
      if (count !== undefined) assert.strictEqual(await named(), count, `${width}`);
    }
  });

  test("opens a remainder that fills the picture, or lists what is in it", async (views) => {
    const write = (name, count) => {
      const file = join(scratch, name);
      const line = (i) => `main;work;f${String(i).padStart(6, "0")} 1\n`;
      writeFileSync(file, Array.from({ length: count }, (_, i) => line(i)).join(""));
      return file;
    };
    const remainder = async () => {
      const { remainder: rest, zoomTotal } = views.layout();
      const box = await views.page.locator(".stage").boundingBox();
      const width = (rest.width[0] / zoomTotal.value) * box.width;
      return {
        x: box.x + Math.min(width / 2, box.width / 2),
        y: box.y + rest.depth[0] * 18 + 9,
      };
    };
    await views.open(write("few.folded", 1400), "&zoom=");
    await views.ready();
    if (views.layout().remainder.count.length > 0) {
      const at = await remainder();
      await views.page.mouse.move(at.x, at.y);
      await views.until("what a click does", async () =>
        /Click to open/.test(await views.page.locator(".tooltip").textContent()),
      );
    }
    await views.open(write("some.folded", 5200));
    await views.ready();
    await views.clickBox("work");
    await views.ready();
    const at = await remainder();
    await views.page.mouse.move(at.x, at.y);
    await views.until("what a click does", async () =>
      /Click to list them/.test(await views.page.locator(".tooltip").textContent()),
    );
    await views.page.mouse.click(at.x, at.y);
    await views.until("the list", async () => views.fragment().get("tab") === "tree");
    await views.until("what is in it", async () =>
      /f000000/.test((await views.page.locator(".table-row").allTextContents()).join(" ")),
    );
  });
};
