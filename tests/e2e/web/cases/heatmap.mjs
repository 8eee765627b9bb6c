// Markers, counters and heat maps: what a person does with them.
import assert from "node:assert";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** Twelve seconds of calls: `work` in every second, `stall` in the eighth alone, with markers, a counter and a request. */
function recording(file) {
  const events = [{ name: "thread_name", ph: "M", pid: 1, tid: 1, ts: 0, args: { name: "main" } }];
  const at = { pid: 1, tid: 1 };
  for (let second = 0; second < 12; ++second) {
    const ts = second * 1e6;
    events.push({ ...at, name: second === 7 ? "stall" : "work", ph: "X", ts: ts + 100_000, dur: 400_000 });
    events.push({ ...at, name: "heap", ph: "C", ts, args: { bytes: 1000 * (second + 1) } });
    events.push({ ...at, name: "tick", ph: "I", s: "t", ts, args: { number: second } });
  }
  const request = { ...at, name: "GET /slow", cat: "net", id: 9 };
  events.push({ ...request, ph: "b", ts: 7_000_000 }, { ...request, ph: "e", ts: 7_900_000 });
  writeFileSync(file, JSON.stringify(events));
  return file;
}

export default (test, { axe, scratch }) => {
  const file = () => recording(join(scratch, "heat.json"));
  const chips = (views) => views.page.locator(".chip-text").allTextContents();
  const text = (views) => views.page.locator("main").textContent();

  test("draws markers and counters above the threads, and lists markers to be searched", async (views) => {
    await views.open(file(), "&tab=timeline");
    await views.until("both", async () => (await views.page.locator(".timeline-note").count()) === 3);
    await axe(views);
    await views.page.getByRole("button", { name: "Markers", exact: true }).click();
    await views.until("all", async () => /13 markers/.test(await text(views)));
    await views.page.getByRole("searchbox", { name: "Search markers" }).fill("slow");
    await views.until("one", async () => /1 of 13 markers, 900 ms in all/.test(await text(views)));
    await axe(views);
    await views.page.getByText("GET /slow").first().click();
    await views.page.getByRole("button", { name: "Only while such run" }).click();
    await views.until("the filter", async () => (await chips(views))[0] === 'marker "GET /slow"');
    await views.page.keyboard.press("3");
    await views.until("what ran meanwhile", async () => {
      const shown = await text(views);
      return shown.includes("stall") && !shown.includes("work");
    });
  });

  test("leads from a marker to its place in time", async (views) => {
    await views.open(file(), "&tab=markers");
    await views.page.getByRole("searchbox", { name: "Search markers" }).fill("slow");
    await views.until("one", async () => /1 of 13/.test(await text(views)));
    await views.page.getByText("GET /slow").first().click();
    await views.page.getByRole("button", { name: "To its place in time" }).click();
    await views.until("its place", async () =>
      /5\.20\d* s to 9\.70\d* s/.test(await views.page.locator(".timeline-head strong").textContent()),
    );
  });

  test("keeps what is dragged over a heat map, and by keys; compares it with the rest", async (views) => {
    await views.open(file(), "&tab=heatmap");
    const cells = views.page.locator(".heatmap-cells");
    await cells.waitFor();
    await axe(views);
    await cells.focus();
    // To the eighth column, then all of it.
    for (let i = 0; i < 8; ++i) await views.page.keyboard.press("ArrowRight");
    await views.page.keyboard.press("Shift+ArrowRight");
    await views.page.keyboard.press("Shift+ArrowDown");
    await views.page.keyboard.press("Enter");
    await views.until("a window of a second", async () => (await chips(views))[0] === "time 7100ms..8100ms");
    await views.page.getByRole("button", { name: "Compare with another window" }).click();
    await views.page.getByRole("button", { name: "the rest" }).click();
    await views.until("a diff", async () => /^Comparing|stall/.test(await text(views)));
    await views.page.keyboard.press("3");
    await views.until("what is there alone", async () => {
      const shown = await text(views);
      return shown.includes("stall") && shown.includes("[A]");
    });
    assert.match(decodeURIComponent(await views.page.evaluate(() => location.hash)), /filter=/);
  });
};
