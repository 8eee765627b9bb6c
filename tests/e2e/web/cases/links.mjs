// Links: good in another tab of their user, for the view that was looked at, whichever daemon runs.
import assert from "node:assert";
import { execFileSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { startDaemon, Views } from "../harness.mjs";

export default (test, { bridge, demo, profd, scratch }) => {
  test("copies a link that opens the same view in a new tab, once", async (views) => {
    const daemon = await startDaemon(profd, mkdtempSync(join(scratch, "daemon-")));
    const context = views.page.context();
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    try {
      const { address } = daemon.address({ open: [`file://${demo}`] });
      const token = new URLSearchParams(new URL(address).hash.slice(1)).get("t");
      await views.page.goto(address);
      await views.ready();
      await views.page.locator(".stage-tree").focus();
      for (let i = 0; i < 4; ++i) await views.page.keyboard.press("ArrowDown");
      await views.page.keyboard.press("Enter");
      await views.until("a zoom", () => views.fragment().get("zoom"));
      const zoomed = (page) => page.locator(".crumbs [aria-current]").textContent();
      await views.until("the zoom's name", async () => (await zoomed(views.page)) !== "all");
      const name = await zoomed(views.page);
      await views.page.getByRole("button", { name: "Export" }).click();
      await views.page.getByRole("menuitem", { name: "Copy the link" }).click();
      await views.until("that it was copied", async () =>
        /link was copied; it is good once/.test(await views.page.locator(".notices").textContent()),
      );
      const link = await views.page.evaluate(() => navigator.clipboard.readText());
      assert.ok(!link.includes(token), "it has not the token");
      const other = new Views(await context.newPage(), bridge);
      await other.page.goto(link);
      await other.ready();
      await other.until("the same view", async () => (await zoomed(other.page)) === name);
      assert.ok(!other.page.url().includes("c="));

      const late = new Views(await context.newPage(), bridge);
      await late.page.goto(link);
      await late.until("that it was used, and what to do", async () =>
        /profd view/.test(await late.page.locator(".bar.error").textContent()),
      );
      await late.page.getByRole("button", { name: "Copy the command" }).click();
      await late.until("the command", async () =>
        /command was copied/.test(await late.page.locator(".notices").textContent()),
      );
      const command = await late.page.evaluate(() => navigator.clipboard.readText());
      assert.match(command, /^profd view 'http:\/\/127\.0\.0\.1:\d+\/#open=.*zoom=.*'$/);
      await late.page.close();
      await other.page.close();

      // The daemon ends, another one takes over: the command leads there, to the same view.
      await daemon.stop();
      await views.until("what can be done", async () => {
        const said = await views.page.locator(".bar").textContent();
        assert.match(said, /daemon is gone.*profd view LINK, with the address of this page, opens this view/);
        return true;
      });
      const next = await startDaemon(profd, mkdtempSync(join(scratch, "daemon-")));
      try {
        const argument = /'(.*)'/.exec(command)[1];
        const fresh = execFileSync(profd, ["view", "--no-open", "--socket", next.socket, argument], {
          encoding: "utf8",
        }).trim();
        await views.page.goto("about:blank");
        await views.page.goto(fresh);
        await views.ready();
        await views.until("the same view", async () => (await zoomed(views.page)) === name);
      } finally {
        await next.stop();
      }
    } finally {
      await daemon.stop();
    }
    views.complaints.length = 0; // the daemons go
  });
};
