// Somebody who tries everything on the page, seeded: clicks, wheels, keys, menus, words, filters, views, sizes, themes.
import { Hands, randomOf } from "./hands.mjs";

const PATTERNS = ["main", "json", "(?i)sort", "^runtime", "Write|Read", "zzz", "e", "("];
const KEYS = [
  ..."hjkl0+-<>.bcCdfxXzuUmsionNytp?",
  ..."12345678",
  "ArrowUp",
  "ArrowDown",
  "ArrowLeft",
  "ArrowRight",
  "Enter",
  "Backspace",
  "Escape",
  "Tab",
  "Home",
  "End",
  "PageDown",
];
const SIZES = [
  [1280, 800],
  [1600, 900],
  [700, 900],
  [400, 740],
];
/** What leaves the page, or what is looked at, behind. */
const NOT_FOR_WANDERERS = /^(Close |Choose some|Cancel|Export)/i;

export class Wanderer extends Hands {
  /** `address`: of a profile, where to come back to when there is none on the page. */
  constructor(page, seed, address) {
    super(page, randomOf(seed));
    this.address = address;
    this.searched = 0;
    this.deeds = [
      [20, () => this.click(".stage, .table, .source, .minimap")],
      [10, () => this.moveTo("main")],
      [8, () => this.lookAround("main")],
      [24, () => this.page.keyboard.press(this.oneOf(KEYS))],
      [8, () => this.menu()],
      [6, () => this.search()],
      [8, () => this.button()],
      [5, () => this.wheel(undefined, this.between(1, 6), this.oneOf([-400, 400]))],
      [3, () => this.page.evaluate(`history.${this.oneOf(["back", "forward"])}()`)],
      [2, () => this.resize()],
      [1, () => this.page.emulateMedia({ colorScheme: this.oneOf(["light", "dark"]) })],
      [2, () => this.home()],
    ];
    this.weight = this.deeds.reduce((sum, [weight]) => sum + weight, 0);
  }

  /** The page is not to be left: one that is loaded anew holds nothing of before. */
  begin() {
    return this.page.evaluate(() => {
      window.wandered = true;
      const back = history.back.bind(history);
      history.back = () => {
        if (window.navigation.canGoBack) back();
      };
    });
  }

  /** Whether it is still the page that it was at the beginning. */
  isSamePage() {
    return this.page.evaluate(() => window.wandered === true);
  }

  /** Back to the address it began with. */
  home() {
    const { hash } = new URL(this.address);
    return this.page.evaluate((to) => {
      if (location.hash !== to) location.hash = to;
    }, hash);
  }

  /**
   * The browser holds all that lay under the pointer when a menu was opened last, and the view that something was dragged
   * in last: now that is what is here, and nothing.
   */
  async letGo() {
    await this.click(".stage", { button: "right" });
    await this.page.keyboard.press("Escape");
    await this.page.evaluate(() => {
      const handle = document.createElement("div");
      handle.id = "dragged";
      handle.draggable = true;
      handle.style.cssText = "position:fixed;inset:0 auto auto 0;width:40px;height:40px;z-index:1000";
      document.body.append(handle);
    });
    await this.page.mouse.move(10, 10);
    await this.page.mouse.down();
    await this.page.mouse.move(30, 30, { steps: 3 });
    await this.page.mouse.up();
    await this.page.evaluate(() => document.getElementById("dragged").remove());
  }

  /** Nodes that the browser keeps to undo what was typed: one each time, of the last thousand. */
  keptToUndo() {
    return Math.min(1000, this.searched);
  }

  /** Something that is tried; gives how many interactions that took. */
  async step() {
    let at = this.random() * this.weight;
    const [, deed] = this.deeds.find(([weight]) => (at -= weight) < 0) ?? this.deeds[0];
    const took = await deed();
    if (this.random() < 0.1) await this.bound();
    return typeof took === "number" ? took : 1;
  }

  /** What would grow by being used: filters that leave nothing, highlighted sets, no profile at all. */
  async bound() {
    await this.page.keyboard.press("Escape");
    if ((await this.page.locator(".chip").count()) > 3 || (await this.page.locator(".search-set").count()) > 3)
      await this.home();
    if (!(await this.page.title()).includes(" · ")) await this.home();
  }

  async click(selector, options = {}) {
    const at = await this.place(selector);
    if (at !== undefined) await this.page.mouse.click(at.x, at.y, options);
  }

  async menu() {
    await this.click(".stage, .table", { button: "right" });
    return 1 + (await this.press('[role="menuitem"]'));
  }

  async search() {
    await this.page.keyboard.press("Escape");
    await this.page.keyboard.press("/");
    ++this.searched;
    await this.page.keyboard.type(this.oneOf(PATTERNS));
    const steps = this.between(0, 3);
    for (let i = 0; i < steps; ++i) await this.page.keyboard.press("Enter");
    if (this.random() < 0.5) await this.page.keyboard.press("Escape");
    return 1 + steps;
  }

  button() {
    return this.press("button");
  }

  /** One of what `selector` names, if it is on the page. */
  press(selector) {
    return this.page.evaluate(
      ([found, share, not]) => {
        const all = [...document.querySelectorAll(found)].filter(
          (each) => !new RegExp(not, "i").test(each.getAttribute("aria-label") ?? each.textContent),
        );
        const chosen = all[Math.floor(share * all.length)];
        chosen?.click();
        return chosen === undefined ? 0 : 1;
      },
      [selector, this.random(), NOT_FOR_WANDERERS.source],
    );
  }

  async resize() {
    const [width, height] = this.oneOf(SIZES);
    await this.page.setViewportSize({ width, height });
  }
}
