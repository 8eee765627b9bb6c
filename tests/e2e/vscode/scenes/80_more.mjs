// What is done less often: the editor's own call hierarchy, links, bookmarks, dragging.
import assert from "node:assert";
import { join } from "node:path";
import { until } from "../../until.mjs";

export default {
  title: "What is done less often",
  settings: { "profd.callHierarchy": true },
  async run(stage) {
    const folder = stage.project("go-demo");
    const window = await stage.open(folder);
    const view = window.view();
    const rows = () => window.page.locator(".call-hierarchy .monaco-list-row").allTextContents();

    await stage.step("opens a profile that is dragged into the editor", async () => {
      await window.dragToEditors("cpu.pprof");
      await view.ready();
      assert.match((await view.items())[0], /^all, 8\.34 s · 100 %$/);
    });

    await stage.step("has measured calls in the editor's call hierarchy", async () => {
      await window.openFile("report.go", 91);
      await until("hints", async () => (await window.hints(stage.text(folder, "report.go"))).size > 1);
      await window.command("Peek Call Hierarchy");
      await until("the caller", async () => (await rows()).some((row) => /main\.distance\s*32\.4 %/.test(row)));
      const title = window.page.locator(".call-hierarchy .view-line").filter({ hasText: "func distance" });
      await title.waitFor();
      await stage.picture(window, "call-hierarchy");
      await window.press("Escape");
    });

    await stage.step("has them in the side bar, too", async () => {
      // The editor asks where the cursor is on a word.
      await window.openFile("report.go", 91);
      await window.press("Home", "ArrowRight");
      await window.command("Calls: Show Call Hierarchy");
      const calls = window.page.locator(".sidebar .monaco-list-row");
      await until("the caller", async () =>
        (await calls.allTextContents()).some((row) => /main\.distance\s*32\.4 %/.test(row)),
      );
      await stage.picture(window, "call-hierarchy-side");
    });

    await stage.step("keeps a place with its note", async () => {
      await window.openFile("report.go", 91);
      await window.command("profd: Bookmark This Place");
      await window.type("too many edits");
      await window.press("Enter");
      await window.status("main.editsFrom is among the bookmarks").waitFor();
      await window.command("profd: Show Hot Spots");
      await window.page.locator(".pane-header", { hasText: "Bookmarks" }).click();
      await until("the note", async () =>
        (await window.section("Bookmarks")).some((row) => /too many edits/.test(row)),
      );
      await stage.picture(window, "bookmark");
    });

    await stage.step("asks before a link opens a profile, and opens none outside the folders", async () => {
      const follow = async (file) => {
        await window.command("Developer: Open URL");
        await window.type(`${await scheme(window)}://profd.profd/open?file=${encodeURIComponent(file)}`);
        await window.press("Enter");
        // The editor's own question.
        await answer(/open this URI/);
      };
      const answer = async (question) => {
        await window.dialog().filter({ hasText: question }).getByRole("button", { name: "Open" }).click();
      };
      await window.command("View: Close All Editors");
      await follow("/etc/passwd");
      await until("a refusal", async () => /\/etc\/passwd is outside the open folders/.test(await window.toasts()));
      await window.dismissToasts();
      await follow(join(folder, "heap.pprof"));
      await answer(/A link asks to open heap\.pprof/);
      await view.ready();
      assert.strictEqual(await window.activeTab(), "heap.pprof");
    });

    await stage.step("shows a profile in another theme after all was closed", async () => {
      await window.command("View: Close All Editors");
      await window.theme("Light Modern");
      await window.command("View: Show Explorer");
      await window.openProfile("cpu.pprof");
      await view.ready();
      await stage.picture(window, "after-all-was-closed");
    });
  },
};

/** The scheme that this editor's links have. */
async function scheme(window) {
  return window.page.evaluate(() => {
    const settings = document.getElementById("vscode-workbench-web-configuration").dataset.settings;
    return JSON.parse(settings).productConfiguration?.urlProtocol ?? "code-oss";
  });
}
