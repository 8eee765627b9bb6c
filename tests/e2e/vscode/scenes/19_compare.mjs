// What became of a program: two profiles as one, in a page, the status bar and the side bar.
import assert from "node:assert";
import { copyFileSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../until.mjs";

const NAME = "before-1.pb.gz → after-1.pb.gz";
const TOTALS = "13.1 s → 13.9 s, +780 ms (+6.0 %)";

export default {
  title: "Comparing",
  async run(stage) {
    // The program as it is after the change, and both profiles, of which one was written a day later.
    const recorded = join(stage.root, "tests/fixtures/compare/before-after");
    const folder = stage.editor.project(join(recorded, "after"), "parcels");
    for (const [name, day] of [
      ["before-1.pb.gz", "2020-01-01"],
      ["after-1.pb.gz", "2020-01-02"],
    ]) {
      copyFileSync(join(recorded, name), join(folder, name));
      utimesSync(join(folder, name), new Date(day), new Date(day));
    }
    const window = await stage.open(folder, { viewport: { width: 1500, height: 860 } });
    const view = window.view();

    /** The page of the diff, which has one tab, with the function that changed in its picture. */
    const shown = async () => {
      await until("its page", async () => (await window.activeTab()) === NAME);
      await until("what changed", async () => await view.place("main.parseRow"));
      const looks = await view.evaluate(() => [...document.querySelectorAll("select")].map(({ value }) => value));
      assert.ok(looks.includes("change"), `coloured by change: ${looks}`);
      assert.strictEqual((await window.allTabs()).flat().filter((name) => name === NAME).length, 1);
      await window.status(`${NAME} · ${TOTALS}`).waitFor();
      await until("no message", async () => (await window.toasts()) === "");
    };
    const fromMenu = async (row, title) => {
      await row.click({ button: "right" });
      const item = window.page.getByRole("menuitem", { name: title });
      await item.waitFor();
      // A menu takes no click in its first tenth of a second.
      await window.page.waitForTimeout(150);
      await item.click();
    };
    const picks = (count) => until("rows", async () => (await window.picks()).length === count && window.picks());

    await stage.step(
      "compares two files of the explorer; the older one is before unless it is said otherwise",
      async () => {
        await window.explorer("after-1.pb.gz").click();
        await view.ready();
        await window.explorer("before-1.pb.gz").click({ modifiers: ["Control"] });
        await fromMenu(window.explorer("before-1.pb.gz"), "Compare with profd");
        assert.deepStrictEqual(await picks(2), [NAME, "after-1.pb.gz → before-1.pb.gz"]);
        await window.choose(NAME);
        await shown();
        await stage.picture(window, "compare-page");
      },
    );

    await stage.step("tells on hover of the status bar what is compared, and how", async () => {
      const text = await window.statusHover(NAME);
      assert.match(text, /values are as measured/);
      assert.match(text, /main\.parseRow/);
      await window.press("Escape");
    });

    await stage.step("lists functions by what became of them, and goes to their source", async () => {
      await window.command("profd: Show Hot Spots");
      const rows = await until("changes", async () => {
        const all = await window.section("Hot Spots");
        return all.some((row) => row.includes("parseRow")) && all.map((row) => row.replaceAll("\u00a0", " "));
      });
      // By go tool pprof -top -diff_base: 1.41 s, -1.32 s, -1.32 s, 1.29 s.
      assert.match(rows[0], /^main\.foldSum\[A\] \+1\.41 s$/);
      assert.match(rows[1], /^checkLegacyCodes\[D\] -1\.32 s \(-100 %\)$/);
      assert.match(rows[3], /^main\.parseRow\+1\.29 s \(\+37 %\)$/);
      await window.row("Hot Spots", "main.parseRow").click();
      await until("its source", async () => (await window.activeTab()) === "batch.go");
      await until("its line", async () => (await window.cursor()).line === 25);
      await stage.picture(window, "compare-side");
    });

    await stage.step("says in the code what became of each line, with both sides on hover", async () => {
      await window.openFile("batch.go", 27);
      const text = await until("hints", async () => {
        const all = await window.hints(stage.text(folder, "batch.go"));
        return all.has(19) && [...all.values()].map((hint) => hint.replaceAll("\u00a0", " "));
      });
      // parseRow is called here. Which text was measured before is not known: functions below it moved.
      assert.ok(
        text.some((hint) => /^~\+37\.2 % +\+1\.29 s/.test(hint)),
        JSON.stringify(text),
      );
      const hover = await window.hover(25, "parseRow");
      assert.match(hover, /main\.parseRow/);
      assert.match(hover, /cpu\s+3\.47 s\s+4\.76 s\s+\+1\.29 s \(\+37 %\)/);
      assert.match(hover, /before-1\.pb\.gz → after-1\.pb\.gz/);
      await stage.picture(window, "compare-code");
      await window.press("Escape");
      assert.strictEqual(await window.toasts(), "");
    });

    await stage.step("warns at functions that became slower, while that is wanted", async () => {
      const hover = async () => {
        const text = await window.hover(25, "parseRow");
        await window.press("Escape");
        return text;
      };
      stage.editor.settings({ "profd.diagnostics": true });
      await window.openFile("batch.go", 25);
      const warning = /main\.parseRow: self \+1\.29 s \(\+37 %\).*beyond sampling noise/;
      await until("a warning", async () => warning.test(await hover()));
      stage.editor.settings();
      await until("none", async () => !(await hover()).includes("beyond sampling noise"));
      assert.strictEqual(await window.toasts(), "");
    });

    await stage.step("compares a profile of the side bar with what was before it", async () => {
      await window.command("View: Close All Editors");
      // A diff is compared with nothing.
      await window.row("Profiles", NAME).click({ button: "right" });
      await window.page.getByRole("menuitem", { name: "Show Summary" }).waitFor();
      assert.strictEqual(await window.page.getByRole("menuitem", { name: "Compare with…" }).count(), 0);
      await window.press("Escape");
      // There is no other one open: a file is asked for at once.
      await fromMenu(window.sectionRows("Profiles").filter({ hasText: /^after-1\.pb\.gz/ }), "Compare with…");
      await window.typePath(join(folder, "before-1.pb.gz"));
      await shown();
    });

    await stage.step("asks for both by its command, and shows a page that is open where it is", async () => {
      await window.openFile("batch.go");
      await window.command("profd: Compare…");
      const rows = await picks(2);
      assert.match(rows[0], /^after-1\.pb\.gz/);
      assert.match(rows[1], /A File…/);
      await window.choose("A File…");
      await window.typePath(join(folder, "before-1.pb.gz"));
      await window.page.getByText("Compare before-1.pb.gz with what is after?").waitFor();
      await window.choose(/^after-1\.pb\.gz/);
      await shown();
      assert.deepStrictEqual(await window.allTabs(), [[NAME, "batch.go"]]);
    });

    await stage.step("comes back with its window", async () => {
      await window.reload();
      // The code shows it before its page is looked at.
      await window.status(`${NAME} · ${TOTALS}`).waitFor();
      await window.tab(NAME).click();
      await shown();
    });

    await stage.step("is closed with its page", async () => {
      await window.command("profd: Close Profile");
      await until("no page", async () => !(await window.allTabs()).flat().includes(NAME));
      await until("another one in the status bar", async () => (await window.status(NAME).count()) === 0);
      assert.strictEqual(await window.toasts(), "");
    });
  },
};
