// When things ran: tracks, flame charts, and a window that is a filter.
import assert from "node:assert";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** Two threads of calls, 10 ms long: `main` parses and draws, `worker` loads in the middle. */
function trace(file) {
  const thread = (tid, name) => ({
    name: "thread_name",
    ph: "M",
    pid: 1,
    tid,
    ts: 0,
    args: { name },
  });
  const call = (tid, name, ts, dur) => ({
    name,
    ph: "X",
    pid: 1,
    tid,
    ts,
    dur,
  });
  const events = [
    thread(1, "main"),
    thread(2, "worker"),
    call(1, "run", 0, 10_000),
    call(2, "load", 4000, 1000),
  ];
  for (let i = 0; i < 500; ++i)
    events.push(call(1, i % 2 === 0 ? "parse" : "draw", i * 20, 18));
  writeFileSync(file, JSON.stringify(events));
  return file;
}

export default (test, { axe, demo, scratch }) => {
  const file = () => trace(join(scratch, "timeline.json"));
  const chips = (views) => views.page.locator(".chip-text").allTextContents();
  const open = async (views, more = "") => {
    await views.open(file(), `&tab=timeline${more}`);
    await views.until(
      "the tracks",
      async () => (await views.page.locator(".timeline-name").count()) === 2,
    );
    return views.page.locator(".timeline-plot").boundingBox();
  };

  test("shows the load of threads, and the flame chart of those that are chosen", async (views) => {
    await open(views);
    const names = await views.page.locator(".timeline-name").allTextContents();
    assert.match(names[0], /^main.*100 %$/);
    assert.match(names[1], /^worker.*10\.0 %$/);
    assert.match(
      await views.page.locator(".timeline-head").textContent(),
      /0 ms to 10\.00 ms.*elapsed time/,
    );
    const height = () =>
      views.page
        .locator(".timeline-track")
        .nth(1)
        .evaluate((track) => track.clientHeight);
    const closed = await height();
    await views.page.getByRole("button", { name: /^worker/ }).click();
    await views.until("its chart", async () => (await height()) > closed);
    await axe(views);
  });

  test("says what is under the pointer: one box, joined ones", async (views) => {
    const plot = await open(views);
    const tip = () => views.page.locator(".tooltip").textContent();
    await views.page.mouse.move(plot.x + plot.width / 2, plot.y + 24 + 26 + 8);
    await views.until("the call", async () => /^run10\.0 ms/.test(await tip()));
    await views.page.mouse.move(plot.x + plot.width / 2, plot.y + 24 + 26 + 26);
    await views.until("what is in it", async () =>
      /(parse|draw)18\.0 µs|boxes, /.test(await tip()),
    );
  });

  test("makes a filter of a window that is dragged, which holds in other views, and takes it back", async (views) => {
    const plot = await open(views);
    const y = plot.y + 24 + 10;
    await views.page.mouse.move(plot.x + plot.width * 0.2, y);
    await views.page.mouse.down();
    await views.page.mouse.move(plot.x + plot.width * 0.5, y, { steps: 4 });
    await views.page.mouse.up();
    await views.until("a chip", async () =>
      /^time \d+/.test((await chips(views))[0] ?? ""),
    );
    await views.page.keyboard.press("3");
    await views.until("the table of the window", async () =>
      /3\.0\d ms|2\.9\d ms/.test(
        await views.page.locator("main").textContent(),
      ),
    );
    await views.page.keyboard.press("8");
    await views.page.getByRole("button", { name: "No window" }).click();
    await views.until("no chip", async () => (await chips(views)).length === 0);
  });

  test("goes closer to single nanoseconds, moves, and keeps what it shows, by keys", async (views) => {
    await open(views);
    const head = () =>
      views.page.locator(".timeline-head strong").textContent();
    for (let i = 0; i < 30; ++i) await views.page.keyboard.press("+");
    await views.until("a nanosecond", async () =>
      /, 1(\.00)? ns long/.test(await head()),
    );
    await views.page.keyboard.press("?");
    await views.until("its keys", async () =>
      /Timeline.*closer/s.test(
        await views.page.getByRole("dialog", { name: "Keys" }).textContent(),
      ),
    );
    await views.page.keyboard.press("Escape");
    await views.page.keyboard.press("Home");
    await views.until("everything", async () =>
      /10(\.\d+)? ms long/.test(await head()),
    );
    await views.page.keyboard.press("+");
    await views.until("half", async () =>
      /5(\.\d+)? ms long/.test(await head()),
    );
    await views.page.keyboard.press("ArrowRight");
    await views.page.keyboard.press("Enter");
    await views.until("a filter", async () =>
      /^time 3500us\.\.8500us$/.test((await chips(views))[0] ?? ""),
    );
    await views.page.keyboard.press("Escape");
    await views.until("none", async () => (await chips(views)).length === 0);
  });

  test("says of a profile without times that there is none", async (views) => {
    await views.open(demo, "&tab=timeline");
    await views.until("why", async () =>
      /does not say when its samples were taken/.test(
        await views.page.locator("main").textContent(),
      ),
    );
  });
};
