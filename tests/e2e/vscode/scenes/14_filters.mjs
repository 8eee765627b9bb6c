// Filters: a list for each profile, kept with its way back, and everything that is shown is shown under it.
import assert from "node:assert";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { until } from "../../until.mjs";

const FILTER = "drop function runtime.asyncPreempt";

export default {
  title: "Filters of a profile",
  async run(stage) {
    const folder = stage.project("go-demo");
    const window = await stage.open(folder);
    const view = window.view();
    const hints = (file) => window.hints(stage.text(folder, file));
    const filters = () => window.section("Filters");
    const addFilter = async (text) => {
      await window.command("profd: Add Filter");
      await window.type(text);
      await window.press("Enter");
      await until(`${text} in the list`, async () => (await filters()).includes(text));
    };
    const show = async (profile) => {
      await window.row("Profiles", profile).click();
      await window.status(profile).waitFor();
    };

    await window.explorer("heap.pprof").dblclick();
    await view.ready();
    await window.command("View: Show Explorer");
    await window.explorer("cpu.pprof").dblclick();
    await view.ready();
    await window.openFile("report.go", 91);
    await window.command("profd: Show Hot Spots");
    await window.page.locator(".pane-header", { hasText: "Filters" }).click();
    const whole = await until("hints", async () => (await hints("report.go")).size > 3 && (await hints("report.go")));

    let filtered;
    const underFilter = () =>
      until("hints under the filter", async () => {
        assert.deepStrictEqual(await hints("report.go"), filtered);
        return true;
      });

    await stage.step("hold in the glance of the status bar, total and hottest alike", async () => {
      await addFilter(FILTER);
      filtered = await until("other hints", async () => {
        const now = await hints("report.go");
        return now.size === whole.size && JSON.stringify([...now]) !== JSON.stringify([...whole]) && now;
      });
      const said = await until("the filter in the glance", async () => {
        const text = await window.statusHover("cpu.pprof");
        return text.includes(FILTER) && text;
      });
      const top = ["top", join(folder, "cpu.pprof"), "--filter", FILTER, "-n", "1"];
      const expected = execFileSync(stage.profd, top, { encoding: "utf8" });
      const [, total] = /^cpu ([\d.]+ s), /.exec(expected);
      const [, self, share] = /^\s+([\d.]+ m?s)\s+([\d.]+ %)/m.exec(expected);
      assert.ok(said.includes(`${total} of 8.34 s`), `${total} in ${said}`);
      // The entry itself has no number of the whole beside the sign of a filter.
      await window.status(`cpu.pprof · cpu ${total} of 8.34 s`).waitFor();
      assert.match(said, new RegExp(`${share}\\s+${self}`));
      assert.strictEqual(said.split("runtime.asyncPreempt").length, 2, said);
      await stage.picture(window, "status-filtered");
    });

    await stage.step("are of one profile: another one has its own", async () => {
      await show("heap.pprof");
      await until("none of it", async () => (await filters()).length === 0);
      await addFilter("hide function main.readOrders");
      await show("cpu.pprof");
      await until("its own", async () => (await filters()).join() === FILTER);
      await underFilter();
    });

    await stage.step("are there again after the window was loaded anew, with their way back", async () => {
      // The profile is behind the source, and is not looked at.
      await window.command("View: Show Explorer");
      await window.openFile("report.go", 91);
      const entry = await window.status("cpu.pprof").textContent();
      await window.reload();
      await underFilter();
      await window.status(entry.trim()).waitFor();
      assert.strictEqual(await window.webviews(), 0);
      await window.command("profd: Show Hot Spots");
      await until("its filter", async () => (await filters()).join() === FILTER);
      await window.command("profd: Undo Filter Change");
      await until("all of them again", async () => {
        assert.deepStrictEqual(await hints("report.go"), whole);
        return true;
      });
    });

    await stage.step("and with the profile and the metric that the code showed", async () => {
      await show("heap.pprof");
      await window.command("profd: Switch Metric");
      await window.choose("inuse_objects");
      const entry = window.status("heap.pprof · inuse_objects");
      await entry.waitFor();
      const text = await entry.textContent();
      await window.command("View: Show Explorer");
      await window.reload();
      await window.status(text.trim()).waitFor();
      assert.strictEqual(await window.webviews(), 0);
      // To look at a page that came back behind others changes nothing in the code.
      await window.openFile("cpu.pprof");
      await view.ready();
      await window.status(text.trim()).waitFor();
      await window.command("profd: Show Hot Spots");
      await show("cpu.pprof");
    });

    await stage.step("of a page can be undone after it was behind another editor", async () => {
      await window.openFile("cpu.pprof");
      await view.ready();
      const all = async () => (await view.items())[0];
      const before = await all();
      await view.clickBox("main.findSimilar", { button: "right" });
      await view.locator("[role=menuitem]").filter({ hasText: "Drop stacks with it" }).click();
      const smaller = await until("a smaller view", async () => (await all()) !== before && (await all()));
      await window.openFile("report.go", 91);
      await until("no page", async () => (await window.webviews()) === 0);
      await window.openFile("cpu.pprof");
      await view.ready();
      await until("the filter", async () => (await all()) === smaller);
      await view.focused();
      await window.press("u");
      await until("all of it", async () => (await all()) === before);
    });
  },
};
