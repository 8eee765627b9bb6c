// A frame whose file is on this machine and outside the workspace: nothing of it is opened without a question.
import assert from "node:assert";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../until.mjs";

export default {
  title: "Files outside the workspace",
  async run(stage) {
    const folder = stage.project("go-demo");
    const library = join(stage.editor.scratch, "library");
    mkdirSync(library, { recursive: true });
    writeFileSync(join(library, "library.go"), "package library\n\nfunc Sort() {\n\tmerge()\n}\n");
    writeFileSync(join(library, "other.go"), "package library\n\nfunc Merge() {\n}\n");
    const far = join(stage.editor.scratch, "far");
    mkdirSync(far);
    writeFileSync(join(far, "far.go"), "package far\n\nfunc Work() {\n}\n");
    mkdirSync(join(library, ".kept"));
    writeFileSync(join(library, ".kept", "work.go"), "package kept\n\nfunc Work() {\n}\n");
    writeFileSync(
      join(folder, "lines.folded"),
      `main.main (${folder}/main.go:30);library.Sort (${library}/library.go:4);library.Merge (${library}/other.go:3) 60\n` +
        `main.main (${folder}/main.go:30);hidden.Work (${library}/.kept/work.go:3) 30\n` +
        `main.main (${folder}/main.go:30);far.Work (${far}/far.go:3) 20\n`,
    );
    // What the daemon says to every client.
    const question =
      `${library}/library.go is outside of the workspace; only the profile says that it is meant. ` +
      `Show the sources below ${library}?`;
    const window = await stage.open(folder);
    const view = window.view();
    await window.explorer("lines.folded").dblclick();
    await view.ready();

    await stage.step("are asked about when their box is clicked, and opened beside then", async () => {
      await view.clickBox("library.Sort");
      await until("the question", async () => (await window.toasts()).includes(question));
      assert.deepStrictEqual(await window.shownTabs(), ["lines.folded"]);
      await stage.picture(window, "outside-question");
      await window.page.getByRole("button", { name: "Show Sources" }).click();
      await until("the source", async () => (await window.shownTabs()).includes("library.go"));
      assert.strictEqual(await window.activeTab(), "lines.folded");
    });

    await stage.step("of a folder that was allowed are opened at once", async () => {
      await view.clickBox("library.Merge");
      await until("the other source", async () => (await window.shownTabs()).includes("other.go"));
    });

    await stage.step("have the costs of their lines beside them", async () => {
      await window.goToGroup(2);
      const other = readFileSync(join(library, "other.go"), "utf8");
      await until("a hint", async () => /54\.5 %/.test((await window.hints(other)).get(3)));
      await stage.picture(window, "outside-hints");
    });

    await stage.step("are asked about where they are asked for, and a no is taken", async () => {
      await window.command("profd: Show Hot Spots");
      await window.row("Hot Spots", "hidden.Work").click();
      await until("why not", async () =>
        /library\/\.kept\/work\.go is outside of the workspace, where/.test(await window.toasts()),
      );
      await window.dismissToasts();
      await window.row("Hot Spots", "far.Work").click();
      await window
        .dialog()
        .filter({ hasText: `Show the sources below ${far}?` })
        .waitFor();
      await stage.picture(window, "outside-dialog");
      await window.press("Escape");
      await window.dialog().waitFor({ state: "detached" });
      assert.ok(!(await window.shownTabs()).includes("far.go"));
      await window.row("Hot Spots", "far.Work").click();
      await window.dialog().getByRole("button", { name: "Show Sources" }).click();
      await until("the source", async () => (await window.shownTabs()).includes("far.go"));
    });
  },
};
