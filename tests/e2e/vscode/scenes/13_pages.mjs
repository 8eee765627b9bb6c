// A profile beside its source: commands that go to its page go to the one that is there.
import assert from "node:assert";
import { until } from "../../until.mjs";

export default {
  title: "One page for a profile",
  async run(stage) {
    const folder = stage.project("go-demo");
    const window = await stage.open(folder, { viewport: { width: 1500, height: 860 } });
    const view = window.view();
    await window.explorer("cpu.pprof").dblclick();
    await view.ready();
    await view.clickBox("main.parseOrders");
    await until("the source beside", async () => (await window.shownTabs()).includes("parse.go"));
    const tabs = () => window.allTabs();
    const beside = async () => {
      assert.deepStrictEqual(await tabs(), [["cpu.pprof"], ["parse.go"]]);
      assert.strictEqual(await window.webviews(), 1);
      await view.locator("#main").waitFor();
      return true;
    };
    await until("the source beside its profile", beside);

    for (const [command, shown] of [
      ["profd: Reveal in Flame Graph", () => view.locator(".search-share").textContent()],
      ["profd: Show Summary", () => view.locator("h1").first().textContent()],
      ["profd: Reveal in Flame Graph", () => view.locator(".search-share").textContent()],
    ])
      await stage.step(`${command} shows it where it is`, async () => {
        await window.goToGroup(2);
        await window.openFile("parse.go", 52);
        await window.command(command);
        await until("the page has the focus", async () => (await window.activeTab()) === "cpu.pprof");
        await until("what was asked for", async () => (await shown()) !== "");
        await until("one page, one source", beside);
        await stage.picture(window, command.replace("profd: ", "beside-"));
      });

    await stage.step("a page behind others comes to the front of its own group", async () => {
      await window.goToGroup(1);
      await window.openFile("report.go");
      await window.goToGroup(2);
      await window.openFile("parse.go", 52);
      await window.command("profd: Reveal in Flame Graph");
      await view.ready();
      await until("its group", async () => {
        assert.deepStrictEqual(await window.shownTabs(), ["cpu.pprof", "parse.go"]);
        return true;
      });
      assert.strictEqual((await tabs()).flat().filter((name) => name === "cpu.pprof").length, 1);
    });

    await stage.step("the side panel counts the metric that is shown, under the filters that hold", async () => {
      const by = () => view.locator(".details p.muted").first().textContent();
      await window.command("View: Close Editors in Other Groups");
      await view.focused();
      await window.press("Escape", "Escape");
      await until("the panel", async () => (await by()) === "by self cpu");
      await window.press("m");
      await until("another metric", async () => (await by()) === "by self samples");
      await until("functions", async () => (await view.locator(".glance li").count()) > 4);
      await stage.picture(window, "panel-metric");
    });
  },
};
