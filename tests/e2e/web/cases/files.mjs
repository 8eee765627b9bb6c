// Files: hostile, changing, broken, dropped, exported.
import assert from "node:assert";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

export default (test, { axe, demo, scratch }) => {
  test("treats hostile names as data, everywhere", async (views) => {
    const file = join(scratch, "hostile.folded");
    const names = [
      "<script>window.harm=1</script>",
      "<img src=x onerror=window.harm=1>",
      "[l](javascript:window.harm=1)",
      "a\u202eb\u2066c",
      "\u001b[31mred\u001b[0m",
      "&lt;b&gt;",
    ];
    writeFileSync(
      file,
      names.map((name, i) => `main;${names.slice(0, i).concat(name).join(";")} ${10 + i}`).join("\n") + "\n",
    );
    for (const tab of ["flame", "tree", "flat", "sandwich", "source", "threads", "profile", "timeline", "open"]) {
      await views.open(file, `&tab=${tab}`);
      await views.page.waitForTimeout(500);
      if (tab === "flame") {
        await views.ready();
        for (let i = 0; i < 5; ++i) await views.page.keyboard.press("ArrowDown");
        await views.clickBox(names[1], { button: "right" });
        await views.page.getByRole("menu").waitFor();
        await views.page.keyboard.press("Escape");
      }
      assert.strictEqual(await views.page.evaluate(() => window.harm), undefined);
      assert.strictEqual(await views.page.locator("main img, main script").count(), 0);
      // eslint-disable-next-line no-control-regex
      assert.doesNotMatch(
        await views.page.locator("#app").textContent(),
        /[\u0000-\u0008\u001b\u202a-\u202e\u2066-\u2069]/,
      );
    }
  });

  test("follows a file that changes, and keeps zoom and choice by names", async (views) => {
    const file = join(scratch, "changing.folded");
    writeFileSync(file, "main;work;inner 10\nmain;other 5\n");
    await views.open(file);
    await views.ready();
    await views.clickBox("work");
    await views.until("a zoom", () => views.fragment().get("zoom"));
    for (let round = 1; round <= 5; ++round) {
      writeFileSync(file, `main;work;inner ${10 + round}\nmain;other 5\nmain;new${round};x 3\n`);
      await views.until("the new numbers", async () =>
        new RegExp(`^work, ${10 + round} `).test(
          (await views.items()).find((item) => /^work/.test(item.text))?.text ?? "",
        ),
      );
      assert.strictEqual(await views.page.locator(".crumbs [aria-current]").textContent(), "work");
      assert.strictEqual(await views.chosen(), "work");
    }
    writeFileSync(file, "main;other 5\n");
    await views.until("the nearest ancestor, said", async () =>
      /not in this view; main is shown/.test(await views.page.locator(".notices").textContent()),
    );
  });

  test("says what is wrong with a file, and what to do", async (views) => {
    const file = join(scratch, "nothing.pprof");
    writeFileSync(file, "\u0000\u0001\u0002 no profile");
    await views.open(file);
    await views.until("the error", async () =>
      /nothing\.pprof cannot be opened/.test(await views.page.locator(".problem h1").textContent()),
    );
    await axe(views);
    await views.open(join(scratch, "absent.pprof"));
    await views.until("the error", async () =>
      /absent\.pprof cannot be opened/.test(await views.page.locator(".problem h1").textContent()),
    );
    copyFileSync(demo, join(scratch, "absent.pprof"));
    await views.page.getByRole("button", { name: "Try again" }).click();
    await views.ready();
  });

  test("takes pictures, tables and Markdown along", async (views) => {
    await views.page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await views.open(demo);
    await views.ready();
    const saved = async (name) => {
      await views.page.getByRole("button", { name: "Export" }).click();
      const [download] = await Promise.all([
        views.page.waitForEvent("download", { timeout: 20_000 }),
        views.page.getByRole("menuitem", { name }).click(),
      ]);
      const path = join(scratch, download.suggestedFilename());
      await download.saveAs(path);
      return { name: download.suggestedFilename(), bytes: readFileSync(path) };
    };
    const svg = await saved("Picture, SVG");
    assert.strictEqual(svg.name, "cpu.pprof.svg");
    assert.match(svg.bytes.toString(), /^<svg[^]*main\.parseOrders/);
    const png = await saved("Picture, PNG");
    assert.strictEqual(png.bytes.subarray(1, 4).toString(), "PNG");
    const page = await saved(/HTML/);
    assert.match(page.bytes.toString(), /^<!doctype html>[^]*<svg/);
    const csv = await saved("Table, CSV");
    assert.match(csv.bytes.toString(), /^name,file,line/);
    await views.page.getByRole("button", { name: "Export" }).click();
    await views.page.getByRole("menuitem", { name: /Markdown/ }).click();
    await views.until("a table", async () =>
      /\| 670 ms \| 8\.0 % \|/.test(await views.page.evaluate(() => navigator.clipboard.readText())),
    );
  });

  test("opens files that are dropped on it, in pieces", async (views) => {
    const large = join(scratch, "large.folded");
    // More than two pieces.
    writeFileSync(
      large,
      Array.from({ length: 60_000 }, (_, i) => `main;function_${i % 700};leaf_${i} ${1 + (i % 9)}\n`).join(""),
    );
    await views.open(demo);
    await views.ready();
    await views.page.keyboard.press("9");
    await views.page.locator("input[type=file]").setInputFiles(large);
    await views.until("the dropped file", async () => /^large\.folded/.test(await views.page.title()));
    await views.ready();
    assert.match((await views.items())[0].text, /^all, 300 k/);
  });

  test("keeps what is shown when a dropped file is no profile, and says so by its name", async (views) => {
    await views.open(demo);
    await views.ready();
    await views.clickBox("main.parseOrders");
    await views.until("a zoom", () => views.fragment().get("zoom"));
    const before = views.page.url();
    const drop = async (name, bytes) => {
      const data = await views.page.evaluateHandle(
        ([called, content]) => {
          const transfer = new DataTransfer();
          transfer.items.add(new File([new Uint8Array(content)], called));
          return transfer;
        },
        [name, [...bytes]],
      );
      await views.page.dispatchEvent("main", "drop", { dataTransfer: data });
    };
    await drop("holiday.bin", Buffer.from([0, 1, 2, 255, 254, 0, 0, 7, 7, 7]));
    await views.until("what is wrong with it", async () =>
      /holiday\.bin/.test(await views.page.locator(".notices").textContent()),
    );
    assert.doesNotMatch(await views.page.locator("#app").textContent(), /uploads|\/run\/|\/tmp\/profd/);
    assert.strictEqual(views.page.url(), before);
    assert.ok((await views.items()).length > 0, "the picture stays");
    assert.strictEqual(await views.chosen(), "main.parseOrders");
    const whole = Array.from(
      { length: 20_000 },
      (_, i) => `main;step_${i % 97};leaf_${(i * 7919) % 20_011} ${1 + (i % 9)}\n`,
    );
    await drop("cut.folded.gz", gzipSync(whole.join("")).subarray(0, 60_000));
    await views.page.getByRole("button", { name: "Open what can be read" }).click();
    await views.until("the beginning of it", async () => /^cut\.folded/.test(await views.page.title()));
    await views.ready();
  });

  test("opens a file that is dropped anywhere on the page, and says so when it is gone with a reload", async (views) => {
    await views.open(demo);
    await views.ready();
    const data = await views.page.evaluateHandle(() => {
      const transfer = new DataTransfer();
      transfer.items.add(new File(["main;dropped 7\nmain;other 3\n"], "dropped.folded"));
      return transfer;
    });
    await views.page.dispatchEvent("main", "dragover", { dataTransfer: data });
    await views.page.dispatchEvent("main", "drop", { dataTransfer: data });
    await views.until("the dropped file", async () => /^dropped\.folded/.test(await views.page.title()));
    await views.ready();
    await views.page.reload();
    await views.until("what happened, and what to do", async () =>
      /drop(ped)? .*again/i.test(await views.page.locator(".problem").textContent()),
    );
  });
};
