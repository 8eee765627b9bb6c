// A browser, a page on the views, and what went over the wire.
import assert from "node:assert";
import { execFileSync, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

export async function startBrowser(root, program) {
  const { chromium } = createRequire(join(root, "clients/web/package.json"))("playwright-core");
  return chromium.launch({
    executablePath: program,
    args: ["--no-sandbox", "--disable-gpu"],
  });
}

/** A daemon with a socket of its own, and the address of its page. */
export async function startDaemon(profd, folder) {
  const socket = join(folder, "daemon.sock");
  const child = spawn(profd, ["serve", "--socket", socket], { stdio: ["ignore", "ignore", "inherit"] });
  for (let i = 0; i < 200 && !existsSync(socket); ++i) await new Promise((resolve) => setTimeout(resolve, 25));
  return {
    address: (params) =>
      JSON.parse(
        execFileSync(profd, ["query", "--socket", socket, "web/address", JSON.stringify(params)], { encoding: "utf8" }),
      ),
    stop: () => child.kill("SIGKILL"),
  };
}

export class Views {
  constructor(page, bridge) {
    this.page = page;
    this.bridge = bridge;
    this.complaints = [];
    page.setDefaultTimeout(3000);
    page.setDefaultNavigationTimeout(20_000);
    page.on("pageerror", (error) => this.complaints.push(error.stack ?? String(error)));
    page.on("console", (message) => {
      // A connection that is refused is the browser's own line, and reading pixels the test's.
      if (
        ["error", "warning"].includes(message.type()) &&
        !/WebSocket|ERR_CONNECTION|getImageData/.test(message.text())
      )
        this.complaints.push(message.text());
    });
  }

  async open(file, more = "") {
    await this.page.goto("about:blank");
    await this.page.goto(`${this.bridge.url}#open=${encodeURIComponent(`file://${file}`)}${more}`);
  }

  fragment() {
    return new URLSearchParams(new URL(this.page.url()).hash.slice(1));
  }

  /** Until `condition` holds; says what was there instead. */
  async until(what, condition) {
    let last;
    for (let i = 0; i < 120; ++i) {
      try {
        last = await condition();
        if (last) return last;
      } catch (error) {
        last = error;
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`never came: ${what}; last: ${last instanceof Error ? last.stack : JSON.stringify(last)}`);
  }

  /** What a screen reader finds: the names of the tree beside the canvas. */
  items() {
    return this.page.$$eval(".stage-tree [role=treeitem]", (all) =>
      all.map((item) => ({
        text: item.textContent,
        level: Number(item.getAttribute("aria-level")),
        selected: item.getAttribute("aria-selected") === "true",
        active: item.parentElement.getAttribute("aria-activedescendant") === item.id,
      })),
    );
  }

  async ready() {
    await this.until("a picture", async () => (await this.items()).length > 0);
    // What moves comes to rest.
    await this.page.waitForTimeout(350);
  }

  /** The last layout that the daemon answered for a panel. */
  layout(panel = "flame") {
    return this.bridge.layouts.get(panel);
  }

  /** The middle of a box on the screen; the first of its name, or the widest. */
  async place(name) {
    const answer = this.layout();
    const { boxes, names } = answer;
    let at = -1;
    for (let i = 0; i < boxes.depth.length; ++i)
      if (names[boxes.name[i]] === name && (at < 0 || boxes.width[i] > boxes.width[at])) at = i;
    assert.ok(at >= 0, `${name} is in the picture`);
    const box = await this.page.locator(".stage").first().boundingBox();
    const room = await this.page.$eval(".stage", (stage) => ({
      width: stage.clientWidth,
      top: stage.scrollTop,
    }));
    const span = answer.zoomTotal.value;
    return {
      x: box.x + ((boxes.x[at] + Math.min(boxes.width[at], span) / 2) / span) * room.width,
      y: box.y + boxes.depth[at] * 18 + 9 - room.top,
    };
  }

  async clickBox(name, options = {}) {
    const { x, y } = await this.place(name);
    await this.page.mouse.click(x, y, options);
  }

  async chosen() {
    return this.page.locator(".details h2").first().textContent();
  }
}

/** Keeps the layouts that pass, by panel. */
export function watch(bridge) {
  bridge.layouts = new Map();
  const asked = new Map();
  return (direction, text) => {
    const message = JSON.parse(text);
    if (direction === "client" && message.method === "view/flameGraph") asked.set(message.id, message.params.panelId);
    const panel = asked.get(message.id);
    if (direction === "server" && panel !== undefined && message.result?.boxes !== undefined)
      bridge.layouts.set(panel, message.result);
  };
}
