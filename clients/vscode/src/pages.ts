// Profiles as editors: the page of clients/web in a web view, each a client of the daemon of its own.
import * as vscode from "vscode";
import type { Selection } from "../../shared/ts/psp.js";
import { toAddress, type Place } from "../../web/src/state/place.js";
import { editorFor, partsOfPage, profileOfPage, profileOfTab, type EditorManifest } from "./editors.js";
import { explain } from "./problems.js";
import { Relay } from "./relay.js";
import { NoDaemon, type Session } from "./session.js";
import { daemonSettings } from "./settings.js";

export interface PageHooks {
  /** The page of a file came. */
  readonly onOpened: (uri: vscode.Uri) => void;
  /** Where a page begins that is opened without a place: the filters of the side bar hold in it. */
  readonly begin: (uri: string) => Place;
  /** The window of time that is kept everywhere else; undefined: all of it. */
  readonly windowOf: (uri: string) => string | undefined;
  /** Another window is kept in a page. */
  readonly onWindow: (uri: string, clause: string | undefined) => void;
  /** A line of a source was chosen in a page. */
  readonly onLine: (uri: vscode.Uri, line: number) => void;
}

interface Page {
  /** Of the profile. */
  readonly uri: string;
  readonly panel: vscode.WebviewPanel;
  readonly relay: Relay;
  /** It is on the screen and has said its first word. */
  listening: boolean;
  /** The code may show its profile, too. */
  attached: boolean;
}

/** What a page sends. */
type FromPage =
  | { readonly type: "rpc"; readonly text: string }
  | { readonly type: "setPath" }
  /** The clause of the window of time that it keeps; empty: none. */
  | { readonly type: "window"; readonly uri: string; readonly clause: string }
  /** A line, from 1, that was chosen in a source. */
  | { readonly type: "source"; readonly uri: string; readonly line: number };

export class Pages {
  private readonly pages = new Set<Page>();
  /** Places for pages that are about to open. */
  private readonly wanted = new Map<string, Place>();
  private ownSelection: string | undefined;
  /** Profiles that came back with the window, and were opened before anybody looked at their pages. */
  private restored: Promise<Set<string>> = Promise.resolve(new Set<string>());

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly session: Session,
    private readonly output: vscode.LogOutputChannel,
    private readonly hooks: PageHooks,
  ) {}

  editorFor(uri: vscode.Uri): string {
    return editorFor(this.context.extension.packageJSON as EditorManifest, uri.path);
  }

  /** The profile of the page that is looked at. */
  get active(): string | undefined {
    return [...this.pages].find(({ panel }) => panel.active)?.uri;
  }

  /** Whether a selection that the daemon tells of was made in a page of this window. */
  isOwn(selection: Selection): boolean {
    return this.ownSelection === keyOf(selection);
  }

  /** The code shows what these tabs have, as before the window was loaded anew, whichever of them are looked at. */
  restore(uris: readonly string[]): Promise<unknown> {
    return (this.restored = this.session.restore(uris));
  }

  /** Shows a place: in the page of the profile that is there, else in a new one. */
  async show(place: Place): Promise<void> {
    const uri = place.profile;
    if (uri === undefined) return;
    const page = [...this.pages].find((other) => other.uri === uri);
    if (page?.listening === true && page.panel.visible)
      void page.panel.webview.postMessage({ type: "address", address: toAddress(place) });
    else this.wanted.set(uri, place);
    await this.openEditor(uri);
  }

  /** Brings its page to the front, in the group of editors where it is; else in the active one. */
  async openEditor(profile: string, options: vscode.TextDocumentShowOptions = {}): Promise<void> {
    const tabs = vscode.window.tabGroups.all
      .flatMap((group) => group.tabs)
      .filter((tab) => profileOfTab(tab) === profile);
    const tab = tabs.find(({ isActive }) => isActive) ?? tabs[0];
    const input = tab?.input instanceof vscode.TabInputCustom ? tab.input : undefined;
    const uri = input?.uri ?? this.uriFor(profile);
    await vscode.commands.executeCommand("vscode.openWith", uri, input?.viewType ?? this.editorFor(uri), {
      ...options,
      viewColumn: tab?.group.viewColumn ?? vscode.ViewColumn.Active,
    });
  }

  private uriFor(profile: string): vscode.Uri {
    const uri = vscode.Uri.parse(profile);
    if (uri.scheme === "file") return uri;
    const name = this.session.profiles.find((entry) => entry.uri === profile)?.name;
    return vscode.Uri.from(partsOfPage(profile, name ?? uri.scheme));
  }

  /** There may be a daemon now: what pages show, the code is to show, too. */
  async again(): Promise<void> {
    for (const { panel } of this.pages) void panel.webview.postMessage({ type: "again" });
    for (const page of this.pages) await this.attachOne(page);
  }

  /** A key that the editor keeps to itself, pressed in the page that is looked at. */
  press(key: string): void {
    const page = [...this.pages].find(({ panel }) => panel.active);
    void page?.panel.webview.postMessage({ type: "key", key });
  }

  async resolve(uri: vscode.Uri, panel: vscode.WebviewPanel): Promise<void> {
    const { webview } = panel;
    const profile = profileOfPage(uri);
    if (profile === undefined) {
      webview.html = refusal(
        vscode.l10n.t("profd reads files on a disk; this one is at {0}. Save it, then open the copy.", uri.scheme),
      );
      return;
    }
    const media = vscode.Uri.joinPath(this.context.extensionUri, "media", "web");
    webview.options = { enableScripts: true, localResourceRoots: [media] };
    const relay = this.relayFor(panel, () => void this.attachOne(page));
    const page: Page = { uri: profile, panel, relay, listening: false, attached: false };
    this.pages.add(page);
    webview.onDidReceiveMessage((message: FromPage) => this.receive(page, message));
    panel.onDidChangeViewState(() => {
      // A hidden page is no page: it comes back with its address, and connects again.
      if (panel.visible) {
        page.relay.prepare();
        return;
      }
      page.listening = false;
      page.relay.close();
    });
    panel.onDidDispose(() => {
      this.pages.delete(page);
      page.relay.close();
    });
    const place = this.wanted.get(page.uri) ?? this.hooks.begin(page.uri);
    this.wanted.delete(page.uri);
    webview.html = html(webview, media, toAddress(place));
    if (uri.scheme === "file") this.hooks.onOpened(uri);
    await this.attachOne(page);
  }

  /** Filters changed elsewhere: the window of time is one for all. */
  tellWindows(): void {
    for (const page of this.pages) if (page.listening) this.tellWindow(page);
  }

  private tellWindow({ uri, panel }: Page): void {
    void panel.webview.postMessage({ type: "window", uri, clause: this.hooks.windowOf(uri) ?? "" });
  }

  private async attachOne(page: Page): Promise<void> {
    if (page.attached) return;
    page.attached = true;
    if ((await this.restored).delete(page.uri)) return;
    try {
      await this.session.open(page.uri);
    } catch (error) {
      page.attached = !(error instanceof NoDaemon);
      // The page says what is wrong with the file; here is what else there is.
      if (page.attached) this.output.warn(explain(error) ?? "");
    }
  }

  private relayFor(panel: vscode.WebviewPanel, onDaemon: () => void): Relay {
    return new Relay({
      onDaemon,
      missing: () => this.session.missing(),
      command: () => this.session.command(),
      post: (message) => void panel.webview.postMessage(message),
      introduce: (params) => ({
        ...params,
        workspaceFolders: vscode.workspace.workspaceFolders?.map(({ uri, name }) => ({ uri: uri.toString(), name })),
        initializationOptions: { ...daemonSettings({}), projectFile: false },
      }),
      onSelection: (selection) => (this.ownSelection = selection === null ? undefined : keyOf(selection)),
      log: (text) => this.output.info(text),
    });
  }

  private receive(page: Page, message: FromPage): void {
    if (message.type === "setPath") {
      void vscode.commands.executeCommand("profd.setPath");
      return;
    }
    if (message.type === "source") {
      const uri = vscode.Uri.parse(message.uri);
      if (uri.scheme === "file") this.hooks.onLine(uri, message.line);
      return;
    }
    if (message.type === "window") {
      this.hooks.onWindow(message.uri, message.clause === "" ? undefined : message.clause);
      return;
    }
    page.relay.send(message.text);
    if (page.listening) return;
    page.listening = true;
    this.tellWindow(page);
    const place = this.wanted.get(page.uri);
    this.wanted.delete(page.uri);
    if (place !== undefined) void page.panel.webview.postMessage({ type: "address", address: toAddress(place) });
  }
}

function keyOf(selection: Selection): string {
  return [selection.profile, selection.function, ...(selection.frames ?? [])].join("\0");
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (ch) => `&#${ch.charCodeAt(0)};`);
}

function html(webview: vscode.Webview, media: vscode.Uri, address: string): string {
  const file = (name: string) => webview.asWebviewUri(vscode.Uri.joinPath(media, name)).toString();
  const policy = [
    "default-src 'none'",
    `script-src ${webview.cspSource}`,
    `style-src ${webview.cspSource}`,
    `img-src ${webview.cspSource} data: blob:`,
    `font-src ${webview.cspSource}`,
  ].join("; ");
  return `<!doctype html>
<html lang="${escaped(vscode.env.language)}">
  <head>
    <meta charset="utf-8" />
    <meta http-equiv="Content-Security-Policy" content="${policy}" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>profd</title>
    <link rel="stylesheet" href="${file("app.css")}" />
    <script src="${file("app.js")}" defer></script>
  </head>
  <body data-address="${escaped(address)}">
    <div id="app"></div>
  </body>
</html>`;
}

function refusal(text: string): string {
  return `<!doctype html><meta http-equiv="Content-Security-Policy" content="default-src 'none'"><p>${escaped(text)}</p>`;
}
