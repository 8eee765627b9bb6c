// A frame whose file is on this machine and outside the workspace: nothing of it is opened without a question.
import assert from "node:assert";
import { mkdirSync, writeFileSync } from "node:fs";
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
    writeFileSync(
      join(folder, "lines.folded"),
      `main.main (${folder}/main.go:30);library.Sort (${library}/library.go:4);library.Merge (${library}/other.go:3) 60\n`,
    );
    const window = await stage.open(folder);
    const view = window.view();
    await window.explorer("lines.folded").dblclick();
    await view.ready();

    await stage.step("are asked about when their box is clicked, and opened beside then", async () => {
      await view.clickBox("library.Sort");
      await until("the question", async () => /library\.go is outside the workspace/.test(await window.toasts()));
      assert.deepStrictEqual(await window.shownTabs(), ["lines.folded"]);
      await stage.picture(window, "outside-question");
      await window.page.getByRole("button", { name: "Open Files of This Folder" }).click();
      await until("the source", async () => (await window.shownTabs()).includes("library.go"));
      assert.strictEqual(await window.activeTab(), "lines.folded");
    });

    await stage.step("of a folder that was allowed are opened at once", async () => {
      await view.clickBox("library.Merge");
      await until("the other source", async () => (await window.shownTabs()).includes("other.go"));
    });
  },
};
