// The daemon: lost and back, the token, pages beside each other.
import assert from "node:assert";
import { startDaemon, Views } from "../harness.mjs";

export default (test, { bridge, browser, demo, profd, scratch }) => {
  test("loses the daemon and comes back, the picture staying", async (views) => {
    await views.open(demo);
    await views.ready();
    await views.clickBox("main.parseOrders");
    await views.until(
      "crumbs",
      async () => (await views.page.locator(".crumbs [aria-current]").textContent()) !== "all",
    );
    bridge.killDaemons();
    await views.until("what happened", async () =>
      /daemon is gone/.test(await views.page.locator(".bar").textContent()),
    );
    assert.ok((await views.items()).length > 0, "the picture stays");
    await views.until("back by itself", async () => (await views.page.locator(".bar").count()) === 0);
    await views.until(
      "the zoom again",
      async () => (await views.page.locator(".crumbs [aria-current]").textContent()) === "main.parseOrders",
    );
    await views.page.keyboard.press("t");
    await views.until("answers", async () => (await views.page.locator(".table-row").count()) > 3);
  });

  test("is served by the daemon, and the token leaves no trace", async (views) => {
    const daemon = await startDaemon(profd, scratch);
    try {
      const { address, once } = daemon.address({ open: [`file://${demo}`] });
      const token = new URLSearchParams(new URL(address).hash.slice(1)).get("t");
      assert.ok(token.length > 20);
      await views.page.goto(address);
      await views.ready();
      assert.ok(!views.page.url().includes(token));
      assert.strictEqual(views.fragment().get("open"), `file://${demo}`);
      assert.ok(!(await views.page.content()).includes(token));
      await views.page.reload();
      await views.ready();

      const other = new Views(await views.page.context().newPage(), bridge);
      await other.page.goto(once);
      await other.ready();
      // What is chosen on one page is chosen on the other.
      await other.page.locator(".stage-tree").focus();
      await other.page.keyboard.press("ArrowDown");
      await other.page.keyboard.press("ArrowDown");
      await views.until("the shared choice", async () => (await views.chosen()) === (await other.chosen()));
      assert.match(await views.page.locator(".details").textContent(), /chosen in client/);
      await other.page.close();

      const third = new Views(await (await browser.newContext()).newPage(), bridge);
      await third.page.goto(once);
      await third.until("that the code was used", async () =>
        /was used already/.test(await third.page.locator(".notices").textContent()),
      );
      await third.page.goto("about:blank");
      await third.page.goto(address.replace(token, "A".repeat(token.length)));
      await third.until("that it is not let in", async () =>
        /did not let this page in/.test(await third.page.locator(".bar.error").textContent()),
      );
      await third.page.context().close();
    } finally {
      daemon.stop();
    }
    await views.until("what happened", async () =>
      /daemon is gone/.test(await views.page.locator(".bar").textContent()),
    );
    views.complaints.length = 0;
  });
};
