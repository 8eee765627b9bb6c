// A frame of which the profile knows no file.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../until.mjs";

export default {
  title: "Functions without a file",
  async run(stage) {
    await stage.step("finds a function without a file among the symbols of its language", async () => {
      const folder = stage.project("ts-demo");
      writeFileSync(join(folder, "names.folded"), "start;tokens 60\nstart 40\n");
      const window = await stage.open(folder);
      await window.openFile("sheet.ts");
      await window.explorer("names.folded").dblclick();
      await window.view().ready();
      await window.command("profd: Show Hot Spots");
      await window.page.locator(".sidebar .monaco-list-row").filter({ hasText: "tokens" }).first().click();
      await until("its file", async () => (await window.shownTabs()).includes("formula.ts"));
    });
  },
};
