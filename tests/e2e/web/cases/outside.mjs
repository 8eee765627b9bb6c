// Sources that a profile names and that are in no folder of the workspace: after one question, and not without.
import assert from "node:assert";
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { startDaemon } from "../harness.mjs";

export default (test, { profd, scratch }) => {
  test("shows sources outside of the workspace after one question for their folder", async (views) => {
    const folder = mkdtempSync(join(scratch, "outside-"));
    const library = join(folder, "lib/python3.99/site-packages");
    const hidden = join(folder, ".keys");
    for (const each of [join(library, "one"), join(library, "two"), hidden, join(folder, "own")])
      mkdirSync(each, { recursive: true });
    const write = (path, name) => {
      writeFileSync(path, `def ${name}():\n    return "${name} is seen"\n`);
      return path;
    };
    const files = {
      first: write(join(library, "one/first.py"), "first"),
      second: write(join(library, "two/second.py"), "second"),
      other: write(join(folder, "own/other.py"), "other"),
      secret: write(join(hidden, "secret.py"), "secret"),
      link: join(library, "one/link.py"),
    };
    symlinkSync(files.secret, files.link);
    const all = {
      ...files,
      shadow: "/etc/shadow",
      home: join(homedir(), ".bashrc"),
    };
    const names = Object.keys(all);
    const profile = join(folder, "outside.speedscope.json");
    writeFileSync(
      profile,
      JSON.stringify({
        $schema: "https://www.speedscope.app/file-format-schema.json",
        shared: {
          frames: names.map((name) => ({ name, file: all[name], line: 2 })),
        },
        profiles: [
          {
            type: "sampled",
            name: "p",
            unit: "none",
            startValue: 0,
            endValue: names.length * 10,
            samples: names.map((_, i) => [i]),
            weights: names.map(() => 10),
          },
        ],
      }),
    );
    const daemon = await startDaemon(profd, mkdtempSync(join(scratch, "daemon-")));
    try {
      const { address } = daemon.address({ open: [`file://${profile}`] });
      await views.page.goto(address);
      await views.ready();
      const goTo = async (name) => {
        const hash = new URL(views.page.url()).hash.replace(/&(tab|function|file|line)=[^&]*/g, "");
        await views.page.evaluate(
          (to) => {
            location.hash = to;
          },
          `${hash}&tab=source&function=${name}&file=${encodeURIComponent(all[name])}&line=2`,
        );
        await views.until(`something of ${name}`, async () =>
          (await views.page.locator(".sandwich-main").textContent()).includes(all[name]),
        );
      };
      const text = () => views.page.locator(".sandwich-main").textContent();
      const asks = () => views.page.getByRole("button", { name: "Show these sources" });

      await goTo("first");
      await asks().waitFor();
      assert.match(await text(), /first\.py is outside of the workspace/);
      assert.ok((await text()).includes(`Show the sources below ${join(folder, "lib/python3.99")}?`));
      // What a script does is no answer.
      await asks().evaluate((button) => button.click());
      await views.page.waitForTimeout(200);
      assert.doesNotMatch(await text(), /is seen/);
      await asks().click();
      await views.until("the file", async () => /first is seen/.test(await text()));
      await views.until("its costs", async () =>
        /14\.3 %/.test((await views.page.locator(".source-cost").allTextContents()).join()),
      );
      await goTo("second");
      await views.until("what is in the same folder", async () => /second is seen/.test(await text()));
      await goTo("other");
      await asks().waitFor();
      assert.doesNotMatch(await text(), /other is seen/);
      for (const name of ["secret", "link", "shadow", "home"]) {
        await goTo(name);
        await views.until(`that ${name} is not shown, and why`, async () =>
          /outside of the workspace, where profd shows|is not on this machine/.test(await text()),
        );
        assert.strictEqual(await asks().count(), 0, name);
      }
      await views.page.reload();
      await views.until("the page again", async () => (await views.page.title()).startsWith("outside"));
      await goTo("first");
      await asks().waitFor();
      views.complaints.length = 0;
    } finally {
      await daemon.stop();
    }
    views.complaints.length = 0; // the daemon goes
  });
};
