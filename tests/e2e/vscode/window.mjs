// A window of VS Code, used as a person uses it: keys, clicks, and what stands on the screen.
import assert from "node:assert";
import { PATIENCE, until } from "../until.mjs";

const quick = ".quick-input-widget:visible";

export class Window {
  static async open(browser, editor, folder, { files = [], colorScheme = "dark", viewport, installed = true } = {}) {
    const context = await browser.newContext({
      viewport: viewport ?? { width: 1280, height: 860 },
      colorScheme,
    });
    await context.addInitScript(keepLayouts);
    const page = await context.newPage();
    const window = new Window(page, editor, folder);
    const host = new URL(editor.url).host;
    const open = files.map((file) => ["openFile", `vscode-remote://${host}${file}`]);
    const payload = open.length === 0 ? "" : `&payload=${encodeURIComponent(JSON.stringify(open))}`;
    await page.goto(`${editor.url}/?folder=${encodeURIComponent(folder)}${payload}`, { waitUntil: "commit" });
    await window
      .explorer()
      .first()
      .waitFor({ timeout: 60_000 * PATIENCE });
    await window.ready(installed);
    return window;
  }

  async ready(installed = true) {
    await this.page.locator(".monaco-workbench .part.editor").waitFor({ timeout: 60_000 * PATIENCE });
    // Files that are opened before the editor knows its extensions are text to it. It takes their editors up when it is idle.
    if (!installed) return;
    await this.page.locator(".activitybar .action-label[aria-label^='profd']").waitFor({ timeout: 60_000 * PATIENCE });
    await this.page.evaluate(() => new Promise((resolve) => requestIdleCallback(resolve)));
  }

  constructor(page, editor, folder) {
    this.page = page;
    this.editor = editor;
    this.folder = folder;
    page.setDefaultTimeout(20_000 * PATIENCE);
    page.setDefaultNavigationTimeout(60_000 * PATIENCE);
  }

  /**
   * The window anew. By its command, which waits until the editor has written down what is open: a browser's own reload ends the
   * page while that is being written, and a busy machine then brings back the tabs of a minute ago.
   */
  async reload() {
    const anew = this.page.waitForNavigation({ waitUntil: "commit" });
    await this.command("Developer: Reload Window");
    await anew;
    await this.ready();
  }

  close() {
    return this.page.context().close();
  }

  press(...keys) {
    return keys.reduce((before, key) => before.then(() => this.page.keyboard.press(key)), Promise.resolve());
  }

  /** Rows of the file tree, one by name. */
  explorer(name) {
    const rows = this.page.locator(".explorer-folders-view .monaco-list-row");
    return name === undefined ? rows : rows.filter({ has: this.page.getByText(name, { exact: true }) });
  }

  /** From the command palette, by the beginning of its title. A window that has just come knows its commands a little later. */
  async command(title) {
    const row = this.page.locator(`${quick} .monaco-list-row`).filter({ hasText: title }).first();
    await until(`the command ${title}`, async () => {
      await this.press("Escape", "F1");
      const input = this.page.locator(`${quick} input.input`);
      await input.fill(`>${title}`, { timeout: 3000 * PATIENCE });
      await row.click({ timeout: 3000 * PATIENCE });
      return true;
    });
  }

  /** A row of the quick pick that is open. */
  async choose(text) {
    const row = this.page.locator(`${quick} .monaco-list-row`).filter({ hasText: text }).first();
    await row.click();
  }

  picks() {
    return this.page.locator(`${quick} .monaco-list-row`).allTextContents();
  }

  async type(text) {
    await this.page.locator(`${quick} input.input`).fill(text);
  }

  /** Into the dialog for files that is open. It writes where it begins when it has listed that, over what was typed before. */
  async typePath(path) {
    const input = this.page.locator(`${quick} input.input`);
    const rows = this.page.locator(`${quick} .monaco-list-row`);
    await rows.filter({ hasText: ".." }).waitFor();
    await until(`${path} in the dialog`, async () => {
      if ((await input.inputValue()) !== path) await input.fill(path);
      return (await rows.filter({ hasText: path.split("/").at(-1) }).count()) > 0;
    });
    await this.press("Enter");
  }

  async openFile(name, line) {
    const base = name.split("/").at(-1);
    await until(name, async () => {
      if ((await this.activeTab()) === base) return true;
      await this.press("Escape", "Control+P");
      await this.page.locator(`${quick} input.input`).fill(name, { timeout: 3000 * PATIENCE });
      await this.page
        .locator(`${quick} .monaco-list-row[aria-label^="${base}"]`)
        .first()
        .click({ timeout: 3000 * PATIENCE });
      return false;
    });
    if (line !== undefined) await this.goToLine(line);
  }

  async goToLine(line) {
    await this.press("Control+G");
    const input = this.page.locator(`${quick} input.input`);
    await input.waitFor();
    await input.fill(`:${line}`);
    await this.press("Enter");
    await until(`the cursor in line ${line}`, async () => {
      if (!(await input.isVisible())) return (await this.cursor()).line === line;
      // It closes a little later; one of a busy editor may have had the key before the text.
      await this.page.waitForTimeout(500);
      if (await input.isVisible()) await input.press("Enter", { timeout: 1000 * PATIENCE });
      return false;
    });
  }

  /** Also where another extension, or the editor's own text, is asked first. */
  async openProfile(name) {
    await this.explorer(name).click({ button: "right" });
    const item = this.page.getByRole("menuitem", { name: "Open with profd" });
    await item.waitFor();
    // A menu takes no click in its first tenth of a second.
    await this.page.waitForTimeout(150);
    await item.click();
  }

  /** With the mouse, slowly enough to be seen as a drag. */
  async dragToEditors(name) {
    const from = await this.explorer(name).boundingBox();
    const to = await this.page.locator(".part.editor").boundingBox();
    const { mouse } = this.page;
    await mouse.move(from.x + 40, from.y + from.height / 2);
    await mouse.down();
    await mouse.move(from.x + 60, from.y + from.height, { steps: 5 });
    await mouse.move(to.x + to.width / 2, to.y + to.height / 2, { steps: 10 });
    await mouse.move(to.x + to.width / 2 + 5, to.y + to.height / 2, { steps: 3 });
    await mouse.up();
  }

  /** Of the group of editors in front. */
  tab(name) {
    return this.page.locator(".editor-group-container.active .tab").filter({ hasText: name });
  }

  /** What is open in each group of editors. */
  async allTabs() {
    const groups = await this.page.locator(".editor-group-container").all();
    const named = (group) =>
      group.locator(".tab").evaluateAll((tabs) => tabs.map((tab) => tab.dataset.resourceName));
    return Promise.all(groups.map(named));
  }

  async goToGroup(number) {
    await this.press(`Control+${number}`);
  }

  /** What stands in front in each group of editors. */
  shownTabs() {
    return this.page
      .locator(".editor-group-container .tab.active")
      .evaluateAll((tabs) => tabs.map((tab) => tab.dataset.resourceName));
  }

  activeTab() {
    return this.page
      .locator(".editor-group-container.active .tab.active")
      .getAttribute("data-resource-name", { timeout: 1000 * PATIENCE })
      .catch(() => undefined);
  }

  /** Lines on the screen of the editor in front: number, text with hints, distance from the top. */
  lines() {
    return this.page.evaluate(() => {
      const editor = document.querySelector(".editor-group-container.active .editor-instance .monaco-editor");
      if (editor === null) return [];
      const top = (element) => Math.round(element.getBoundingClientRect().top);
      const numbers = new Map();
      for (const number of editor.querySelectorAll(".margin-view-overlays .line-numbers"))
        numbers.set(top(number), Number(number.textContent));
      return [...editor.querySelectorAll(".view-lines > .view-line")]
        .map((line) => ({
          line: numbers.get(top(line)),
          text: line.textContent.replaceAll("\u00a0", " ").replaceAll("\u200b", "").replaceAll("\u200c", ""),
          top: top(line),
        }))
        .filter(({ line }) => line !== undefined)
        .sort((a, b) => a.line - b.line);
    });
  }

  /** What stands behind the code of each line on the screen: `source` is the text of the file. */
  async hints(source) {
    const text = source.split("\n");
    const found = new Map();
    for (const { line, text: shown } of await this.lines()) {
      const code = (text[line - 1] ?? "").trim();
      const hint = shown.trimStart().slice(code.length).trim();
      if (hint !== "") found.set(line, hint);
    }
    return found;
  }

  /** How many characters of the code would stand between it and its hint, by line. */
  async gapsBeforeHints(source) {
    const code = source.split("\n").map((line) => line.trimEnd().replaceAll("\t", "    ").length);
    const hinted = [...(await this.hints(source)).keys()];
    const tops = (await this.lines()).filter(({ line }) => hinted.includes(line));
    return this.page.evaluate(
      ([tops, code]) => {
        const rows = [...document.querySelectorAll(".editor-group-container.active .view-lines > .view-line")];
        return tops.flatMap(({ line, top }) => {
          const row = rows.find((candidate) => Math.round(candidate.getBoundingClientRect().top) === top);
          const edges = [];
          const walker = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
          const range = document.createRange();
          for (let node = walker.nextNode(); node !== null; node = walker.nextNode())
            for (let i = 0; i < node.length; ++i) {
              range.setStart(node, i);
              range.setEnd(node, i + 1);
              const { left, right } = range.getBoundingClientRect();
              edges.push({ left, right, blank: /[\s\u200b\u200c]/.test(node.data[i]) });
            }
          const last = edges[code[line - 1] - 1];
          const hint = edges.slice(code[line - 1]).find(({ blank }) => !blank);
          if (last === undefined || hint === undefined) return [];
          return [{ line, characters: (hint.left - last.right) / (last.right - last.left) }];
        });
      },
      [tops, code],
    );
  }

  /** Lines on the screen that are drawn as hot: how strongly, and whether the gutter has a mark. */
  async heat() {
    const lines = await this.lines();
    const drawn = await this.page.evaluate(() => {
      const editor = document.querySelector(".editor-group-container.active .editor-instance .monaco-editor");
      const place = (element) => Math.round(element.getBoundingClientRect().top);
      const strength = (color) => Number(/rgba\(.*, ([\d.]+)\)/.exec(color)?.[1] ?? 0);
      const backgrounds = [...editor.querySelectorAll(".view-overlays .cdr[style*='width:100%']")].map((mark) => ({
        top: place(mark),
        strength: strength(getComputedStyle(mark).backgroundColor),
      }));
      const marks = [...editor.querySelectorAll(".glyph-margin-widgets .cgmr")]
        .filter((mark) => getComputedStyle(mark).backgroundImage.startsWith("url"))
        .map(place);
      return { backgrounds: backgrounds.filter((mark) => mark.strength > 0), marks };
    });
    const found = new Map();
    for (const { top, strength } of drawn.backgrounds) {
      const line = lines.find((candidate) => candidate.top === top)?.line;
      if (line !== undefined) found.set(line, { strength, gutter: drawn.marks.includes(top) });
    }
    return found;
  }

  sectionRows(title) {
    return this.page
      .locator(".split-view-view .pane")
      .filter({ has: this.page.locator(".pane-header", { hasText: title }) })
      .locator(".pane-body .monaco-list-row");
  }

  /** Rows of a section of the side bar. */
  section(title) {
    return this.sectionRows(title).allTextContents();
  }

  row(title, text) {
    return this.sectionRows(title).filter({ hasText: text }).first();
  }

  /** Line and column of the cursor by the status bar, and where it is on the screen. */
  async cursor() {
    const text = await this.page.locator("#status\\.editor\\.selection").textContent();
    const [, line, column] = /Ln ([\d,]+), Col ([\d,]+)/.exec(text) ?? [];
    const box = await this.page
      .locator(".editor-group-container.active .monaco-editor .cursors-layer .cursor")
      .first()
      .boundingBox();
    return {
      line: Number(line),
      column: Number(column),
      top: box === null ? undefined : Math.round(box.y),
    };
  }

  /** The middle of a word of a line on the screen, when it has come to rest. */
  async wordAt(line, word) {
    const find = async () => {
      const top = (await this.lines()).find((candidate) => candidate.line === line)?.top;
      const rows = this.page.locator(".editor-group-container.active .view-lines > .view-line");
      return rows.evaluateAll(
        (all, [top, word]) => {
          const row = all.find((candidate) => Math.round(candidate.getBoundingClientRect().top) === top);
          if (row === undefined) return null;
          const walker = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
          for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
            const start = node.textContent.indexOf(word);
            if (start < 0) continue;
            const range = document.createRange();
            range.setStart(node, start);
            range.setEnd(node, start + word.length);
            const { left, top, width, height } = range.getBoundingClientRect();
            return { x: left + width / 2, y: top + height / 2 };
          }
          return null;
        },
        [top, word],
      );
    };
    return until(`${word} in line ${line}`, async () => {
      const one = await find();
      const other = await find();
      return one !== null && one.y === other?.y && one;
    });
  }

  /** Rests on a word of a line and reads what is told about it. */
  async hover(line, word) {
    const { x, y } = await this.wordAt(line, word);
    await this.page.mouse.move(4, 4);
    await this.page.mouse.move(x, y, { steps: 3 });
    const hover = this.page.locator(".monaco-hover:visible .hover-contents");
    return until("a hover", async () => {
      const text = (await hover.allTextContents()).join("\n").replaceAll("\u00a0", " ");
      return text !== "" && !text.includes("Loading...") && text;
    });
  }

  /** What the entry of the status bar tells on hover. */
  async statusHover(text) {
    const box = await this.status(text).first().boundingBox();
    await this.page.mouse.move(4, 4);
    await this.page.mouse.move(box.x + box.width / 2, box.y + box.height / 2, { steps: 3 });
    const hover = this.page.locator(".monaco-hover:visible .hover-contents");
    return until("a hover", async () => (await hover.allTextContents()).join("\n").replaceAll("\u00a0", " "));
  }

  status(text) {
    return this.page.locator(".statusbar-item").filter({ hasText: text });
  }

  async toasts() {
    return (await this.page.locator(".notification-toast .notification-list-item-message").allTextContents()).join(
      "\n",
    );
  }

  async dismissToasts() {
    await this.command("Notifications: Clear All Notifications");
  }

  dialog() {
    return this.page.locator(".monaco-dialog-box");
  }

  async theme(name) {
    await this.command("Preferences: Color Theme");
    await this.type(name);
    await this.choose(name);
  }

  /** The view in front. */
  view() {
    return new View(this);
  }

  /** How many web views there are, in front or behind. */
  webviews() {
    return this.page.locator("iframe.webview").count();
  }
}

/** The page in an editor's web view. */
export class View {
  constructor(window) {
    this.window = window;
    this.page = window.page;
    this.frame = window.page.frameLocator("iframe.webview.ready:visible").frameLocator("iframe#active-frame");
  }

  locator(selector) {
    return this.frame.locator(selector);
  }

  evaluate(run, argument) {
    return this.locator("body").evaluate(run, argument);
  }

  items() {
    return this.locator(".stage-tree [role=treeitem]").allTextContents();
  }

  /** The first box of the picture. */
  item() {
    return this.locator(".stage-tree [role=treeitem]").first();
  }

  async ready() {
    await this.item().waitFor({ state: "attached" });
  }

  /** Keys go to it. */
  focused() {
    return until("the focus", () => this.evaluate(() => document.hasFocus()));
  }

  async chosen() {
    // A narrow page has a line in place of the panel.
    return this.locator(".details h2, .details-line .name").first().textContent();
  }

  crumb() {
    return this.locator(".crumbs [aria-current]").textContent();
  }

  /** The middle of a box on the screen; the widest of its name. */
  async place(name) {
    const at = await this.evaluate((_, wanted) => {
      const { boxes, names, zoomTotal } = globalThis.profdLayouts.flame;
      let found = -1;
      for (let i = 0; i < boxes.depth.length; ++i)
        if (names[boxes.name[i]] === wanted && (found < 0 || boxes.width[i] > boxes.width[found])) found = i;
      if (found < 0) return null;
      const stage = document.querySelector(".stage");
      const span = zoomTotal.value;
      return {
        x: ((boxes.x[found] + Math.min(boxes.width[found], span) / 2) / span) * stage.clientWidth,
        y: boxes.depth[found] * 18 + 9 - stage.scrollTop,
      };
    }, name);
    assert.ok(at !== null, `${name} is in the picture`);
    const stage = await this.locator(".stage").first().boundingBox();
    return { x: stage.x + at.x, y: stage.y + at.y };
  }

  async clickBox(name, options = {}) {
    const { x, y } = await this.place(name);
    await this.page.mouse.click(x, y, options);
  }
}

/** In every frame: keeps the last layout of each panel that the editor hands to its page. */
function keepLayouts() {
  const layouts = (globalThis.profdLayouts = {});
  const asked = new Map();
  let acquire;
  Object.defineProperty(globalThis, "acquireVsCodeApi", {
    configurable: true,
    set: (given) => (acquire = given),
    get: () =>
      acquire &&
      (() => {
        const api = acquire();
        return {
          ...api,
          postMessage: (message, ...rest) => {
            const { id, method, params } = typeof message?.text === "string" ? JSON.parse(message.text) : {};
            if (method === "view/flameGraph") asked.set(id, params.panelId);
            api.postMessage(message, ...rest);
          },
        };
      }),
  });
  const add = window.addEventListener;
  // A web view's document is written anew, which ends all listeners: this one comes with the page's own.
  window.addEventListener = function (type, listener, ...rest) {
    if (type !== "message") return add.call(this, type, listener, ...rest);
    const hear = function (event) {
      if (event.data?.type === "rpc") {
        const { id, result } = JSON.parse(event.data.text);
        if (asked.has(id) && result?.boxes !== undefined) layouts[asked.get(id)] = result;
      }
      return typeof listener === "function" ? listener.call(this, event) : listener.handleEvent(event);
    };
    return add.call(this, type, hear, ...rest);
  };
}
