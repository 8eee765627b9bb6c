// Somebody who tries everything: the short form of soak.mjs.
import assert from "node:assert";
import { gaugeOf } from "../growth.mjs";
import { Wanderer } from "../wander.mjs";

const WARM = 40;
const STEPS = 160;

export default (test, { browser, demo }) => {
  test("complains of nothing and keeps nothing, whatever is done to it", async (views) => {
    await views.open(demo);
    await views.ready();
    const wanderer = new Wanderer(views.page, 15, views.page.url());
    await wanderer.begin();
    const gauge = await gaugeOf(browser, views.page);
    const held = async () => {
      await wanderer.home();
      await views.ready();
      await wanderer.letGo();
      return gauge();
    };
    for (let done = 0; done < WARM;) done += await wanderer.step();
    const before = await held();
    for (let done = 0; done < STEPS;) done += await wanderer.step();
    const after = await held();
    assert.ok(await wanderer.isSamePage(), "the page was loaded anew");
    // The browser holds what was dragged last, with the view that it was in.
    assert.ok(after.left <= before.left + 500, `${before.left} nodes left behind became ${after.left}`);
    assert.ok(after.listeners <= before.listeners + 80, `${before.listeners} listeners became ${after.listeners}`);
    assert.ok(after.heap <= before.heap + 40e6, `${before.heap} bytes became ${after.heap}`);
  });
};
