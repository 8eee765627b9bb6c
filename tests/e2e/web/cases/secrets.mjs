// The token and who may come in, as a browser sees it.
import assert from "node:assert";
import { mkdtempSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { startDaemon } from "../harness.mjs";

async function withDaemon(profd, scratch, use) {
  const folder = mkdtempSync(join(scratch, "daemon-"));
  const log = join(folder, "log");
  const daemon = await startDaemon(profd, folder, ["--log", log]);
  try {
    await use(daemon, log);
  } finally {
    await daemon.stop();
  }
}

const tokenOf = (address) => new URLSearchParams(new URL(address).hash.slice(1)).get("t");

export default (test, { demo, heap, profd, scratch }) => {
  test("has the token in no title, link, export, log or store that outlives the tab", (views) =>
    withDaemon(profd, scratch, async (daemon, log) => {
      const { address } = daemon.address({ open: [`file://${demo}`] });
      const token = tokenOf(address);
      await views.page.goto(address);
      await views.ready();
      const seen = [];
      for (const tab of "12345678") {
        await views.page.keyboard.press(tab);
        await views.page.waitForTimeout(150);
        seen.push(await views.page.title(), views.page.url(), await views.page.content());
      }
      await views.page.keyboard.press("1");
      await views.ready();
      for (const name of ["Picture, SVG", /HTML/, "Table, CSV"]) {
        await views.page.getByRole("button", { name: "Export" }).click();
        const [download] = await Promise.all([
          views.page.waitForEvent("download", { timeout: 20_000 }),
          views.page.getByRole("menuitem", { name }).click(),
        ]);
        seen.push(readFileSync(await download.path(), "latin1"), download.url());
      }
      seen.push(
        await views.page.evaluate(() => JSON.stringify({ ...localStorage }) + document.cookie + document.referrer),
      );
      seen.push(readFileSync(log, "utf8"));
      for (const text of seen) assert.ok(!text.includes(token), text.slice(0, 200));
      views.complaints.length = 0; // the daemon goes
    }));

  test("asks before it opens a file that a link from elsewhere names, once", (views) =>
    withDaemon(profd, scratch, async (daemon) => {
      const { page } = views;
      const { address } = daemon.address({ open: [`file://${demo}`] });
      await page.goto(address);
      await views.ready();
      await page.reload();
      await views.ready();
      // As a link does on another page: this tab has the token.
      await page.goto("about:blank");
      await page.goto(
        `${new URL(address).origin}/#open=${encodeURIComponent(`file://${heap}`)}&open=file:///etc/hostname`,
      );
      const question = page.getByRole("heading", { name: "Open heap.pprof?" });
      await question.waitFor();
      const text = await page.locator("[role=alert]").first().textContent();
      assert.ok(text.includes(heap) && text.includes("It names 1 more."), text);
      assert.ok(!daemon.opened().includes(heap), "it is not opened yet");
      if (process.env.PROFD_WEB_PICTURES)
        await page.screenshot({ path: join(process.env.PROFD_WEB_PICTURES, "question.png") });
      await page.getByRole("button", { name: "Open it" }).click();
      await views.ready();
      assert.ok(daemon.opened().includes(heap), "it is opened now");
      await page.reload();
      await views.ready();
      assert.strictEqual(await question.count(), 0);
      views.complaints.length = 0; // the daemon goes
    }));

  test("shows nothing to a page of another port: no answer, no socket, no frame", (views) =>
    withDaemon(profd, scratch, async (daemon) => {
      const { address } = daemon.address({ open: [`file://${demo}`] });
      const target = new URL(address).origin;
      const stranger = createServer((_, response) => {
        response.writeHead(200, { "Content-Type": "text/html" });
        response.end("<!doctype html><title>another page</title>");
      });
      await new Promise((resolve) => stranger.listen(0, "127.0.0.1", resolve));
      try {
        await views.page.goto(`http://127.0.0.1:${stranger.address().port}/`);
        const found = await views.page.evaluate(
          async ([origin, token]) => {
            const fetched = await fetch(`${origin}/`).then(
              (answer) => `answered ${answer.status}`,
              () => "refused",
            );
            const socket = new WebSocket(`${origin.replace("http", "ws")}/psp`, ["profd.v1", `profd.t.${token}`]);
            const connected = await new Promise((resolve) => {
              socket.onopen = () => resolve("open");
              socket.onclose = () => resolve("refused");
            });
            const frame = document.createElement("iframe");
            frame.src = `${origin}/#t=${token}`;
            document.body.append(frame);
            await new Promise((resolve) => (frame.onload = resolve));
            return [fetched, connected];
          },
          [target, tokenOf(address)],
        );
        assert.deepStrictEqual(found, ["refused", "refused"], "even with the token");
        for (const frame of views.page.frames().slice(1))
          assert.strictEqual(await frame.locator("#app").count(), 0, "framed");
      } finally {
        stranger.close();
      }
      views.complaints.length = 0; // the browser's own lines say what was refused
    }));
};
