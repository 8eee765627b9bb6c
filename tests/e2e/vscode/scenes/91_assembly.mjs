// A function as instructions, in the page of its profile: from the code and back.
import assert from "node:assert";
import { until } from "../../until.mjs";

export default {
  title: "Assembly",
  settings: { "profd.assemblyLens": true },
  async run(stage) {
    const folder = stage.project("symbols");
    const window = await stage.open(folder, { viewport: { width: 1600, height: 860 } });
    const view = window.view();
    await window.explorer("addresses.pprof").dblclick();
    await view.ready();
    const line =
      stage
        .text(folder, "app.c")
        .split("\n")
        .findIndex((text) => text.includes("s = round2(s + 17)")) + 1;

    await stage.step("of the function at the cursor is shown by a command", async () => {
      await window.openFile("app.c", line);
      await window.command("profd: Show Assembly");
      await view.locator(".asm-row.linked, .asm-row.selected").first().waitFor();
      await until("its name", async () => (await view.locator(".asm-name").textContent()) === "fill");
      await until("the line of the cursor", async () =>
        (await view.locator(".source-line.linked .source-number").allTextContents()).includes(String(line)),
      );
      await stage.picture(window, "assembly");
    });

    await stage.step("a lens says how much code a function has, and opens it", async () => {
      await window.openFile("app.c", line);
      const lens = window.page.locator(".codelens-decoration a").filter({ hasText: /^asm \d+ B/ });
      await lens.first().waitFor();
      await stage.picture(window, "assembly-lens");
      await window.command("View: Close Editors in Other Groups");
      await lens.first().click();
      await view.locator(".asm-row").first().waitFor();
    });

    await stage.step("leads to the source: a click on a line opens it in an editor", async () => {
      await window.command("View: Close Editors in Other Groups");
      await view.locator(".source-line code").filter({ hasText: "out[i] = s" }).click();
      await until("the editor", async () => (await window.allTabs()).flat().includes("app.c"));
      await stage.picture(window, "assembly-source");
    });

    await stage.step("goes back with a key", async () => {
      await view.locator(".asm-target").filter({ hasText: "fill" }).count();
      await view.locator(".asm").focus();
      await view.locator(".source-modes button").filter({ hasText: "Assembly" }).click();
      await until("it alone", async () => (await view.locator(".source").count()) === 0);
      await view.locator(".asm").focus();
      await window.press("Backspace");
      await view.locator(".source").waitFor();
      assert.strictEqual(await view.locator(".asm-name").textContent(), "fill");
    });
  },
};
