// A browser, a page on the views, and what went over the wire.
import assert from "node:assert";
import { execFile, execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { connect } from "node:net";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { until } from "../until.mjs";

/** The browser that PROFD_CHROMIUM names, or one that is installed. */
export function browserProgram() {
  const names = [process.env.PROFD_CHROMIUM, "chromium", "chromium-browser", "google-chrome"].filter(Boolean);
  const places = (process.env.PATH ?? "").split(delimiter);
  return names
    .flatMap((name) => (name.includes("/") ? [name] : places.map((place) => join(place, name))))
    .find((path) => existsSync(path));
}

const packagesOf = (root) => createRequire(join(root, "clients/web/package.json"));

export async function startBrowser(root, args = []) {
  return packagesOf(root)("playwright-core").chromium.launch({
    executablePath: browserProgram(),
    args: ["--no-sandbox", "--disable-gpu", ...args],
  });
}

/** All that another theme can change. */
export const RULES_OF_COLORS = ["color-contrast", "link-in-text-block"];

/** Looks for faults of accessibility that are serious or worse; `only`: by these rules. */
export function axeOf(root) {
  const source = readFileSync(packagesOf(root).resolve("axe-core/axe.min.js"), "utf8");
  return async ({ page }, only = undefined) => {
    await page.evaluate(source);
    const { violations } = await page.evaluate(
      (rules) =>
        // eslint-disable-next-line no-undef
        axe.run(document, {
          // Of what is right nothing is told, which is most of the work.
          resultTypes: ["violations"],
          ...(rules === undefined ? { rules: { "target-size": { enabled: true } } } : { runOnly: rules }),
        }),
      only,
    );
    const grave = violations.filter((v) => v.impact === "serious" || v.impact === "critical");
    assert.deepStrictEqual(
      grave.map((v) => `${v.id}: ${v.nodes.map((node) => node.html.slice(0, 160)).join(" | ")}`),
      [],
    );
  };
}

/** A socket has its name before somebody listens on it. */
function listens(socket) {
  return new Promise((resolve) => {
    const knock = connect(socket, () => {
      knock.destroy();
      resolve(true);
    });
    knock.on("error", () => resolve(false));
  });
}

/** A daemon with a socket of its own, and the address of its page. */
export async function startDaemon(profd, folder, args = []) {
  const socket = join(folder, "daemon.sock");
  const child = spawn(profd, ["serve", "--socket", socket, ...args], { stdio: ["ignore", "ignore", "inherit"] });
  const ended = new Promise((resolve) => child.on("exit", resolve));
  for (let i = 0; i < 1000 && !(await listens(socket)); ++i) await new Promise((resolve) => setTimeout(resolve, 5));
  return {
    socket,
    pid: child.pid,
    address: (params) =>
      JSON.parse(
        execFileSync(profd, ["query", "--socket", socket, "web/address", JSON.stringify(params)], { encoding: "utf8" }),
      ),
    /** Paths of what is open. */
    opened: () =>
      JSON.parse(
        execFileSync(profd, ["query", "--socket", socket, "profile/list", "{}"], { encoding: "utf8" }),
      ).profiles.map((profile) => decodeURIComponent(profile.uri.slice("file://".length))),
    alive: () => child.exitCode === null && child.signalCode === null,
    stop: () => {
      child.kill("SIGKILL");
      return ended;
    },
  };
}

/** What `profd view` prints. */
export async function viewAddress(profd, socket, file) {
  const { stdout } = await promisify(execFile)(profd, ["view", "--no-open", "--socket", socket, file]);
  return stdout.trim();
}

/** Bytes that a process has to itself, its share of what it has with others, and what is backed by no file (Linux). */
export function processMemory(pid) {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const kilobytes = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(text)?.[1] ?? 0);
  return {
    own: 1024 * (kilobytes("Private_Clean") + kilobytes("Private_Dirty")),
    share: 1024 * kilobytes("Pss"),
    anonymous: 1024 * kilobytes("Anonymous"),
  };
}

export class Views {
  constructor(page, bridge) {
    this.page = page;
    this.bridge = bridge;
    this.complaints = [];
    // Long, as the machine may do something else at the same time; what comes is taken when it comes.
    page.setDefaultTimeout(10_000);
    page.setDefaultNavigationTimeout(30_000);
    page.on("pageerror", (error) => this.complaints.push(error.stack ?? String(error)));
    page.on("console", (message) => {
      // A connection that is refused is the browser's own line, as is what it thinks of drivers; reading pixels is the test's.
      if (
        ["error", "warning"].includes(message.type()) &&
        !/WebSocket|ERR_CONNECTION|getImageData|GPU stall/.test(message.text())
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

  until(what, condition) {
    return until(what, condition, 15_000);
  }

  /** The system turns dark, and the page with it. */
  async darken() {
    await this.page.emulateMedia({ colorScheme: "dark" });
    await this.until("a dark page", () =>
      this.page.evaluate(
        () => document.documentElement.dataset.mode === "dark" && document.getAnimations().length === 0,
      ),
    );
  }

  /** What a screen reader finds: the names of the tree beside the canvas. No handles: some would hold what is gone. */
  items() {
    return this.page.evaluate(() =>
      [...document.querySelectorAll(".stage-tree [role=treeitem]")].map((item) => ({
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
    const room = await this.page.$eval(
      ".stage",
      (stage, middle) => {
        if (middle < stage.scrollTop || middle > stage.scrollTop + stage.clientHeight)
          stage.scrollTop = middle - stage.clientHeight / 2;
        return { width: stage.clientWidth, top: stage.scrollTop };
      },
      boxes.depth[at] * 18 + 9,
    );
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

/** Keeps the layouts that pass and what they hide of a search, by panel, and the methods that the page asks for, in order. */
export function watch(seen) {
  seen.layouts = new Map();
  seen.asked = [];
  const panels = new Map();
  const kept = ["view/flameGraph", "view/hiddenMatches"];
  return (direction, text) => {
    const message = JSON.parse(text);
    if (direction === "client" && message.method !== undefined) seen.asked.push(message.method);
    // Every page counts its requests from 1.
    if (direction === "client" && kept.includes(message.method)) panels.set(message.id, message.params.panelId);
    else if (direction === "client") panels.delete(message.id);
    const panel = panels.get(message.id);
    if (direction === "server" && panel !== undefined && message.result !== undefined)
      seen.layouts.set(panel, message.result);
  };
}
