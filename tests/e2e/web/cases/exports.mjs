// What leaves profd as a file: each is opened, by a browser or by who reads its format.
import assert from "node:assert";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** Opens a page of the flame graph from its file and zooms in it; nothing may be complained of. */
async function usePage(context, path) {
  const page = await context.newPage();
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  await page.goto(pathToFileURL(path).href);
  const width = (name) =>
    page.evaluate((label) => {
      const box = [...document.querySelectorAll(".b")].find(
        (each) => each.querySelector("title").textContent.split("\n")[0] === label,
      );
      return box.querySelector("rect").getBoundingClientRect().width;
    }, name);
  const before = await width("main.parseOrders");
  assert.ok(before > 100, "boxes are drawn");
  await page.locator(".b", { hasText: "main.parseOrders" }).first().click();
  assert.ok((await width("main.parseOrders")) > before * 1.5, "a click zooms");
  await page.locator("#find").fill("json");
  assert.match(await page.locator("#share").textContent(), /%/);
  assert.strictEqual(
    await page.evaluate(() => document.scrollingElement.scrollHeight > innerHeight),
    false,
    "it fits the window",
  );
  assert.deepStrictEqual(complaints, []);
  await page.close();
}

export default (test, { demo, profd, scratch }) => {
  test("writes exports that open: pictures, pages, tables, and every format", async (views) => {
    const folder = mkdtempSync(join(scratch, "exports-"));
    const context = views.page.context();
    await views.open(demo);
    await views.ready();
    const button = views.page.getByRole("button", { name: "Export" });
    await button.click();
    const items = (await views.page.getByRole("menuitem").allTextContents()).filter((text) => !/^Copy/.test(text));
    await views.page.keyboard.press("Escape");
    assert.ok(items.length >= 12, items.join());
    for (const item of items) {
      await button.click();
      const coming = views.page.waitForEvent("download", { timeout: 20_000 });
      const refused = views.page.locator(".notice.error").first();
      await views.page.getByRole("menuitem", { name: item, exact: true }).click();
      if (/^Chrome trace/.test(item)) {
        // Go's profile has no times, and a trace is nothing else.
        coming.catch(() => undefined);
        await refused.waitFor();
        assert.match(await refused.textContent(), /time/);
        await refused.getByRole("button").click();
        continue;
      }
      const download = await coming;
      const path = join(folder, download.suggestedFilename());
      await download.saveAs(path);
      if (item === "Picture, SVG") {
        const page = await context.newPage();
        await page.goto(pathToFileURL(path).href);
        assert.strictEqual(await page.evaluate(() => document.documentElement.localName), "svg");
        assert.ok(await page.evaluate(() => document.querySelectorAll("rect").length > 50));
        assert.strictEqual(await page.locator("parsererror").count(), 0);
        await page.close();
      } else if (item === "Picture, PNG") {
        assert.match(path, /\.png$/);
        const page = await context.newPage();
        await page.goto(pathToFileURL(path).href);
        assert.ok(await page.evaluate(() => document.images[0].naturalWidth > 500));
        await page.close();
      } else if (/HTML/.test(item)) {
        assert.match(path, /\.html$/);
        await usePage(context, path);
      } else if (/CSV/.test(item)) {
        const [head, ...rows] = readFileSync(path, "utf8").trimEnd().split("\n");
        assert.match(head, /^name,file,line/);
        assert.ok(rows.length > 100);
      } else if (/\.json$/.test(path) && /view|table|rows/i.test(item)) {
        assert.ok(Object.keys(JSON.parse(readFileSync(path, "utf8"))).length > 0);
      } else {
        const read = spawnSync(profd, ["summary", "--json", path], {
          encoding: "utf8",
        });
        assert.strictEqual(read.status, 0, `${item}: ${download.suggestedFilename()}: ${read.stderr}`);
        assert.match(read.stdout, /8\.34 s|8340000000|834|"?name"?/, item);
      }
      await views.page.waitForTimeout(20);
    }
    for (let i = await views.page.locator(".notice button").count(); i > 0; --i)
      await views.page.locator(".notice button").first().click();
  });

  test("writes pages by the name of the file, and refuses names of what it cannot write", async (views) => {
    const folder = mkdtempSync(join(scratch, "flame-"));
    for (const name of ["x.svg", "x.html", "x.htm", "plain"]) {
      const path = join(folder, name);
      execFileSync(profd, ["flame", "-o", path, demo]);
      const isHtml = /^<!doctype html>/.test(readFileSync(path, "utf8"));
      assert.strictEqual(isHtml, /htm/.test(name), name);
      if (name !== "plain") await usePage(views.page.context(), path);
    }
    execFileSync(profd, ["convert", demo, join(folder, "converted.html")], {
      stdio: "ignore",
    });
    await usePage(views.page.context(), join(folder, "converted.html"));
    for (const [name, said] of [
      ["x.png", /\.png; a browser makes that/],
      ["x.folded", /profd convert/],
      ["x.txt", /\.svg or \.html, not \.txt/],
    ]) {
      const refused = spawnSync(profd, ["flame", "-o", join(folder, name), demo], { encoding: "utf8" });
      assert.strictEqual(refused.status, 2, name);
      assert.match(refused.stderr, said);
      assert.ok(!existsSync(join(folder, name)));
    }
  });
};
