// A running program: its city and its map, by pointer and by keys, held and played, and what leads from it. The program is
// a stream that was recorded.
import assert from "node:assert";
import { join } from "node:path";
import { startBrowser, Views } from "../harness.mjs";

// The processor draws, where there is no card.
const DRAWN_ANYWHERE = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"];

export default (test, { axe, bridge, root }) => {
  const stream = join(root, "tests/fixtures/live/tetris.plive");

  /** The view of a replay, as it was at its end. */
  async function replay(views) {
    const { page } = views;
    await page.goto("about:blank");
    await page.goto(`${bridge.url}#tab=live`);
    await page.getByRole("heading", { name: "No program is attached" }).waitFor();
    await play(page, stream);
  }

  async function play(page, path) {
    await page.getByLabel("Path of a recorded stream").fill(path);
    await page.getByLabel("Speed").selectOption("0");
    await page.getByRole("button", { name: "Play", exact: true }).click();
    await page.locator(".live-hot tbody tr").first().waitFor();
    await page.evaluate(() => document.activeElement?.blur());
  }

  const drawn = (views) => views.page.locator(".city-stage").getAttribute("data-drawn");
  const hottest = (views) => views.page.locator(".live-hot tbody tr").first();
  const card = (views) => views.page.getByRole("region", { name: "Chosen method" });

  test("a running program: a map says it all, by keys", async (views) => {
    const { page } = views;
    await replay(views);
    // Without WebGL it is there by itself, and the page says why.
    if ((await drawn(views)) === "city") await page.keyboard.press("v");
    await views.until("the map", async () => (await drawn(views)) === "map");
    assert.match(await hottest(views).textContent(), /^100 %Game\.run/);
    await views.until("names on the map", async () => (await page.locator(".city-label:visible").count()) > 2);
    // The hottest, then the next one, then all threads.
    await page.keyboard.press("n");
    await card(views).waitFor();
    const first = await card(views).locator("h2").textContent();
    await page.keyboard.press("n");
    await views.until("another one", async () => (await card(views).locator("h2").textContent()) !== first);
    await page.getByRole("button", { name: /^Threads \(/ }).click();
    await page.getByRole("region", { name: "Threads" }).getByText("game-1").waitFor();
    await page.getByRole("button", { name: "Hottest" }).click();
    // Time: held at its end, then before the worker was restarted.
    const strip = page.getByRole("slider", { name: "Time that is looked at" });
    await strip.focus();
    await page.keyboard.press("Home");
    await views.until("the first window", async () =>
      /^3/.test(await strip.getAttribute("aria-valuetext").then((t) => t.split(" to ")[1] ?? "")),
    );
    await page.getByText("held").waitFor();
    await page.locator(".live-hot").getByText("Board.drop", { exact: true }).waitFor();
    await page.evaluate(() => document.activeElement?.blur());
    await page.keyboard.press(" ");
    await views.until("no more held", async () => (await page.getByText("held").count()) === 0);
    await axe(views);
    // From there to its callers, and back.
    await page.keyboard.press("c");
    await views.until("callers", () => views.fragment().get("tab") === "sandwich");
    await page.keyboard.press("Backspace");
    await views.until("the city again", () => views.fragment().get("tab") === "live");
  });

  test("who comes back from a profile finds the city as it was left: held, chosen, seen from the same place", async (views) => {
    const { page } = views;
    await replay(views);
    if ((await drawn(views)) === "city") await page.keyboard.press("v");
    await views.until("the map", async () => (await drawn(views)) === "map");
    await page.keyboard.press("n");
    await card(views).waitFor();
    const name = await card(views).locator("h2").textContent();
    const said = page.locator(".live-says");
    await page.keyboard.press(",");
    await views.until("a window before the last", async () => /^[\d.]+ s to /.test(await said.textContent()));
    await views.until("it in the address", () => /^live-\d+ \d+$/.test(views.fragment().get("held") ?? ""));
    await page.keyboard.press("+");
    const [time, held] = [await said.textContent(), views.fragment().get("held")];
    const places = () => page.$$eval(".city-label:not([hidden])", (all) => all.map((one) => one.style.transform).join());
    let seen = await places();
    await views.until("names at rest", async () => seen === (seen = await places()));
    const same = async () => {
      await card(views).waitFor();
      assert.equal(await card(views).locator("h2").textContent(), name);
      await views.until("the time that was held", async () => (await said.textContent()) === time);
      await page.getByText("held", { exact: true }).waitFor();
      assert.equal(views.fragment().get("held"), held);
      await views.until("the same places", async () => (await places()) === seen);
    };
    // By the browser's way back, and by the key that leads to running programs.
    await page.keyboard.press("f");
    await views.until("its flame graph", () => (views.fragment().get("open") ?? "").includes("to="));
    await views.ready();
    await page.goBack();
    await same();
    await page.keyboard.press("c");
    await views.until("its callers", () => views.fragment().get("tab") === "sandwich");
    await page.keyboard.press("L");
    await views.until("the city", () => views.fragment().get("tab") === "live");
    await card(views).waitFor();
    await views.until("the time of the window", async () => (await said.textContent()) === time);
    // Then it goes on.
    await page.getByRole("button", { name: "Live", exact: true }).click();
    await views.until("nothing held", () => views.fragment().get("held") === null && !page.url().includes("to%3D"));
  });

  test("two versions of a program are one city: what is new, what is gone, what stays", async (views) => {
    const { page } = views;
    await page.goto("about:blank");
    await page.goto(`${bridge.url}#tab=live`);
    await play(page, join(root, "tests/fixtures/live/tetris-before.plive"));
    // The same daemon plays the version after as well.
    await page.evaluate(() => (location.hash = "#open=live%3A%2F%2Fnobody&tab=live"));
    await play(page, join(root, "tests/fixtures/live/tetris-after.plive"));
    const choices = page.getByLabel("Compare with");
    await choices.getByRole("option", { name: "with tetris.app.Main (live-1)" }).waitFor({ state: "attached" });
    await choices.selectOption("session live-1");
    await page.getByText("[D] 47 methods are gone").waitFor();
    // What is gone has a place, a card of its own, and source and callers in the session that has it.
    await page.keyboard.press("/");
    await page.keyboard.type("tetris.util.Pause milliseconds");
    await page.keyboard.press("Enter");
    await card(views).getByText("[D] Only the version before has it.").waitFor();
    assert.match(await card(views).locator("h2").textContent(), /tetris\.util\.Pause\.milliseconds$/);
    await page.keyboard.press("Escape");
    await page.evaluate(() => document.activeElement?.blur());
    await page.keyboard.press("c");
    await views.until("callers", () => views.fragment().get("tab") === "sandwich");
    assert.equal(views.fragment().get("open"), "live://live-1");
  });

  test("a running program: a city is drawn, tells what is under the pointer and leads to its source", async () => {
    const browser = await startBrowser(root, DRAWN_ANYWHERE);
    try {
      const context = await browser.newContext({
        viewport: { width: 1280, height: 800 },
        reducedMotion: "reduce",
      });
      const views = new Views(await context.newPage(), bridge);
      const { page } = views;
      await replay(views);
      await views.until("the city", async () => (await drawn(views)) === "city");
      // The label of the highest stands over it: what is under its foot is that.
      const label = page.locator(".city-label.plot:visible").first();
      await label.waitFor();
      const name = (await label.textContent()).split(" ")[0];
      const box = await label.boundingBox();
      const tooltip = page.locator(".tooltip");
      await views.until("its tooltip", async () => {
        for (let y = 6; y < 40; y += 3) {
          await page.mouse.move(box.x + box.width / 2, box.y + box.height + y);
          if ((await tooltip.count()) > 0 && /Thread Num/.test(await tooltip.textContent())) return true;
        }
        return false;
      });
      assert.match(await tooltip.textContent(), /elevation/);
      await page.mouse.down();
      await page.mouse.up();
      await card(views).waitFor();
      assert.ok((await card(views).locator("h2").textContent()).endsWith(name), name);
      // Turned and moved by keys it is another picture; home is the first one again.
      const before = await page.locator(".city-stage").screenshot();
      await page.keyboard.press("]");
      await page.keyboard.press("ArrowRight");
      await views.until("another picture", async () => !before.equals(await page.locator(".city-stage").screenshot()));
      await page.keyboard.press("v");
      await views.until("the map", async () => (await drawn(views)) === "map");
      await page.keyboard.press("v");
      await views.until("the city", async () => (await drawn(views)) === "city");
      await page.keyboard.press("g");
      await views.until("its source", () => views.fragment().get("tab") === "source");
      assert.equal(views.fragment().get("open")?.startsWith("live://"), true);
      assert.deepStrictEqual(views.complaints, []);
    } finally {
      await browser.close();
    }
  });
};
