// More than two profiles at once: runs of either side of a comparison, and one profile of all.
import assert from "node:assert";
import { copyFileSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../until.mjs";

const FILES = ["before-1.pb.gz", "before-2.pb.gz", "after-1.pb.gz", "after-2.pb.gz"];

export default {
  title: "Several profiles",
  async run(stage) {
    const recorded = join(stage.root, "tests/fixtures/compare/before-after");
    const folder = stage.editor.project(join(recorded, "after"), "several");
    for (const [i, name] of FILES.entries()) {
      copyFileSync(join(recorded, name), join(folder, name));
      utimesSync(join(folder, name), new Date(2020, 0, 1 + i), new Date(2020, 0, 1 + i));
    }
    const window = await stage.open(folder, { viewport: { width: 1500, height: 860 } });
    const view = window.view();
    const select = async (rows) => {
      await rows[0].click();
      for (const row of rows.slice(1)) await row.click({ modifiers: ["Control"] });
    };
    const fromMenu = async (row, title) => {
      await row.click({ button: "right" });
      const item = window.page.getByRole("menuitem", { name: title });
      await item.waitFor();
      // A menu takes no click in its first tenth of a second.
      await window.page.waitForTimeout(150);
      await item.click();
    };
    const shown = (name) => until(`the page ${name}`, async () => (await window.activeTab()) === name);
    const picks = () => until("rows", async () => (await window.picks()).length === 4 && window.picks());

    await stage.step("compares runs of both sides: which are before is chosen, the oldest first", async () => {
      // A page that comes to the front makes its file the one that is chosen.
      await window.explorer(FILES[0]).click();
      await view.ready();
      await select(FILES.map((name) => window.explorer(name)));
      await fromMenu(window.explorer("after-2.pb.gz"), "Compare with profd");
      assert.deepStrictEqual(await picks(), FILES);
      await stage.picture(window, "several-choose");
      await window.page.locator(".quick-input-widget:visible .monaco-list-row").nth(1).click();
      await window.press("Enter");
      await shown("before-1.pb.gz and 1 more → after-1.pb.gz and 1 more");
      await until("what changed", async () => await view.place("main.parseRow"));
      // The means of go tool pprof's totals: 13.095 and 13.215 s, 13.875 and 14.30 s.
      await window.status("13.2 s → 14.1 s, +935 ms (+7.1 %)").waitFor();
      await stage.picture(window, "several-diff");
    });

    await stage.step("says that nothing is compared where all are on one side", async () => {
      await select(FILES.map((name) => window.explorer(name)));
      await fromMenu(window.explorer("after-2.pb.gz"), "Compare with profd");
      await picks();
      await window.page.locator(".quick-input-widget:visible .monaco-list-row").first().click();
      await window.press("Enter");
      await until("a sentence", async () =>
        (await window.toasts()).includes("Nothing to compare: one is before at least, and one after."),
      );
      await window.dismissToasts();
    });

    await stage.step("puts files together as one profile, which comes back with its window", async () => {
      await select(FILES.map((name) => window.explorer(name)));
      await fromMenu(window.explorer("after-2.pb.gz"), "Aggregate with profd");
      const name = "4 profiles: before-1.pb.gz and 3 more";
      await shown(name);
      await until("its picture", async () => await view.place("main.parseRow"));
      const total = /^all, (\S+ s) /.exec((await view.items())[0])?.[1];
      await window.status(`${name} · cpu ${total}`).waitFor();
      await stage.picture(window, "several-aggregate");
      // The editor writes down a little later which tabs there are.
      await window.page.waitForTimeout(6000);
      await window.reload();
      await window.status(`${name} · cpu ${total}`).waitFor();
    });

    await stage.step("compares and puts together what is chosen in the side bar", async () => {
      await window.command("View: Close All Editors");
      await window.command("View: Show Explorer");
      for (const name of ["before-1.pb.gz", "after-1.pb.gz"]) {
        await window.explorer(name).dblclick();
        await view.ready();
      }
      await window.command("profd: Show Hot Spots");
      const row = (name) => window.sectionRows("Profiles").filter({ hasText: new RegExp(`^${name.replaceAll(".", "\\.")}\\d`) });
      await select([row("after-1.pb.gz"), row("before-1.pb.gz")]);
      await fromMenu(row("before-1.pb.gz"), "Compare with profd");
      await until("orders", async () => (await window.picks()).length === 2);
      await window.choose("before-1.pb.gz → after-1.pb.gz");
      await shown("before-1.pb.gz → after-1.pb.gz");
      // A page takes the keyboard when it is there, which closes a menu.
      await view.ready();
      await select([row("after-1.pb.gz"), row("before-1.pb.gz")]);
      await fromMenu(row("before-1.pb.gz"), "Aggregate with profd");
      await shown("2 profiles: after-1.pb.gz and 1 more");
      await stage.picture(window, "several-side");
    });
  },
};
