// Everything that is loaded with the first profile, or a project file.
import * as vscode from "vscode";
import type { Selection, SelectionChangedParams } from "../../shared/ts/psp.js";
import type { Place } from "../../web/src/state/place.js";
import { Analyses } from "./analyses.js";
import { Annotations } from "./annotations.js";
import { Bookmarks } from "./bookmarks.js";
import { CallHierarchy } from "./callhierarchy.js";
import { commandsOf } from "./commands.js";
import { Comparing } from "./comparing.js";
import { pagesOf } from "./editors.js";
import { Filters } from "./filters.js";
import { Heat, type InCode } from "./heat.js";
import { middleware } from "./hover.js";
import { VIEWS } from "./ids.js";
import { isInside, parseLink } from "./link.js";
import { Opening } from "./opening.js";
import { Pages } from "./pages.js";
import { explain, showError } from "./problems.js";
import { Recent } from "./recent.js";
import { Recorder } from "./record/recorder.js";
import { RecordedAgain } from "./recordedagain.js";
import { Reveal } from "./reveal.js";
import { NoDaemon, Session } from "./session.js";
import { config } from "./settings.js";
import { Status } from "./status.js";
import { AnalysesTree } from "./views/analyses.js";
import { CallsTree } from "./views/calls.js";
import { FiltersTree } from "./views/filterstree.js";
import { HotspotsTree } from "./views/hotspots.js";
import { ProfilesTree } from "./views/profiles.js";

/** What commands reach. */
export interface Parts {
  readonly context: vscode.ExtensionContext;
  readonly output: vscode.LogOutputChannel;
  readonly session: Session;
  readonly filters: Filters;
  readonly annotations: Annotations;
  readonly heat: Heat;
  readonly status: Status;
  readonly reveal: Reveal;
  readonly pages: Pages;
  readonly opening: Opening;
  readonly recent: Recent;
  readonly comparing: Comparing;
  readonly recorder: Recorder;
  readonly bookmarks: Bookmarks;
  readonly analyses: Analyses;
  readonly hotspots: HotspotsTree;
  readonly calls: CallsTree;
}

export class Main {
  private readonly parts: Parts;
  private readonly commands: ReturnType<typeof commandsOf>;

  constructor(context: vscode.ExtensionContext) {
    const output = vscode.window.createOutputChannel("profd", { log: true });
    const filters = new Filters(context.workspaceState);
    const inCode: InCode = { on: true };
    const session = new Session({
      context,
      output,
      middleware: middleware(inCode),
      filters: () => filters.clauses,
    });
    context.subscriptions.push(session.onDidChange(() => filters.follow(session.shown?.uri)));
    const annotations = new Annotations(session);
    const heat = new Heat(annotations, inCode);
    const recent = new Recent(context.globalState);
    const reveal = new Reveal(session);
    const pages = new Pages(context, session, output, {
      onOpened: (uri) => void recent.add(uri.toString()),
      begin: (uri) => filters.place({ profile: uri }),
      windowOf: (uri) => filters.windowOf(uri),
      onWindow: (uri, text) => void this.guarded(() => filters.keepWindow(uri, text)),
      onLine: (uri, line) => {
        if (config().get<string>("openSource", "views") !== "never")
          void this.guarded(() => reveal.showLine(uri, line));
      },
    });
    const opening = new Opening(session, recent, (profile, options) => pages.openEditor(profile, options));
    const comparing = new Comparing(
      session,
      (uri) => pages.openEditor(uri, { preview: false }),
      context.storageUri ?? context.globalStorageUri,
    );
    const recorder = new Recorder(
      context,
      session,
      (uri) => pages.openEditor(uri, { preview: false }),
      (again) => comparing.withPrevious(again),
      () => pagesOf(vscode.window.tabGroups.all.flatMap((group) => group.tabs)),
    );
    const doubt = () => {
      const document = vscode.window.activeTextEditor?.document;
      const text = document === undefined ? undefined : annotations.of(document)?.evidence?.text;
      return text === "" ? undefined : text;
    };
    const status = new Status(
      session,
      () => inCode.on,
      doubt,
      () => filters.on,
    );
    const bookmarks = new Bookmarks(context.workspaceState);
    const analyses = new Analyses(session, comparing, inCode, (uri) => pages.openEditor(uri, { preview: false }));
    const hotspots = new HotspotsTree(session, filters, context.extensionUri);
    const calls = new CallsTree(session, filters);
    this.parts = {
      context,
      output,
      session,
      filters,
      annotations,
      heat,
      status,
      reveal,
      pages,
      opening,
      recent,
      comparing,
      recorder,
      bookmarks,
      analyses,
      hotspots,
      calls,
    };
    this.commands = commandsOf(this.parts);
    this.register();
  }

  async run(command: string, given: readonly unknown[]): Promise<unknown> {
    const deed = this.commands[command];
    return deed === undefined ? undefined : this.guarded(() => deed(...given));
  }

  showProfile(uri: vscode.Uri, panel: vscode.WebviewPanel): Promise<void> {
    return this.parts.pages.resolve(uri, panel);
  }

  /** The daemon reads the project file. */
  async openProject(): Promise<void> {
    await this.guarded(() => this.parts.session.watch());
  }

  /** A recording of this project has ended, before there was a daemon to say so. */
  async recorded(meta: vscode.Uri): Promise<void> {
    await this.guarded(() => this.parts.recorder.found(meta));
  }

  /** Tabs of profiles came back with the window. */
  async restore(uris: readonly string[]): Promise<void> {
    await this.guarded(() => this.parts.pages.restore(uris));
  }

  async reconnect(): Promise<void> {
    await this.guarded(() => this.parts.session.reconnect());
  }

  /** A link comes from anywhere: it opens files of the workspace alone, and asks. */
  async handleUri(uri: vscode.Uri): Promise<void> {
    const link = parseLink(uri.path, uri.query);
    if (typeof link === "string") {
      await showError(
        link === "unknown"
          ? vscode.l10n.t("profd knows no link {0}; it opens with /open?file=PATH.", uri.path)
          : vscode.l10n.t("The link names no file: /open?file=PATH, with an absolute path."),
      );
      return;
    }
    const folders = (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.path);
    if (!isInside(link.path, folders)) {
      await showError(vscode.l10n.t("{0} is outside the open folders: a link may not open it.", link.path), {
        title: vscode.l10n.t("Open Another File"),
        run: () => this.run("profd.open", []),
      });
      return;
    }
    const yes = vscode.l10n.t("Open");
    const answer = await vscode.window.showInformationMessage(
      vscode.l10n.t("A link asks to open {0}.", vscode.workspace.asRelativePath(vscode.Uri.file(link.path))),
      { modal: true },
      yes,
    );
    if (answer !== yes) return;
    const place: Partial<Place> = link.function === undefined ? {} : { view: "sandwich", fn: link.function };
    await this.guarded(() =>
      this.parts.pages.show(this.parts.filters.place({ profile: vscode.Uri.file(link.path).toString(), ...place })),
    );
  }

  /** Errors become sentences; what was said already is not said again. */
  private async guarded<T>(deed: () => T | Thenable<T>): Promise<T | undefined> {
    try {
      return await deed();
    } catch (error) {
      const text = error instanceof NoDaemon ? undefined : explain(error);
      if (text !== undefined)
        await showError(text, {
          title: vscode.l10n.t("Show Log"),
          run: () => this.parts.output.show(),
        });
      return undefined;
    }
  }

  private register(): void {
    const { context, session, filters, annotations, heat, status, reveal, pages, bookmarks, hotspots, calls, opening } =
      this.parts;
    const { analyses } = this.parts;
    const analysesTree = new AnalysesTree(session, analyses);
    const profiles = new ProfilesTree(session, (uri) => void this.guarded(() => opening.show(uri)));
    const filterList = new FiltersTree(filters);
    const callsView = vscode.window.createTreeView(VIEWS.calls, { treeDataProvider: calls });
    calls.attach(callsView);
    const filtersView = vscode.window.createTreeView(VIEWS.filters, {
      treeDataProvider: filterList,
      dragAndDropController: filterList,
      manageCheckboxStateManually: true,
    });
    const hotspotsView = vscode.window.createTreeView(VIEWS.hotspots, { treeDataProvider: hotspots });
    hotspots.attach(hotspotsView);
    const recordedAgain = new RecordedAgain(session, async (again) => {
      await this.guarded(() => this.parts.comparing.withPrevious(again));
    });
    context.subscriptions.push(
      session,
      annotations,
      heat,
      status,
      reveal,
      callsView,
      filtersView,
      filtersView.onDidChangeCheckboxState(({ items }) => {
        for (const [{ at }] of items) filters.toggle(at);
      }),
      vscode.window.createTreeView(VIEWS.profiles, {
        treeDataProvider: profiles,
        dragAndDropController: profiles,
        canSelectMany: true,
      }),
      hotspotsView,
      analyses,
      vscode.window.createTreeView(VIEWS.analyses, { treeDataProvider: analysesTree }),
      vscode.window.createTreeView(VIEWS.bookmarks, { treeDataProvider: bookmarks }),
      new CallHierarchy(this.parts),
      filters.onDidEdit(() => {
        pages.tellWindows();
        void this.guarded(() => session.configure());
      }),
      session.onDidChange(() => {
        filtersView.description = session.shown?.name ?? "";
        profiles.refresh();
        hotspots.refresh();
        calls.again();
        analysesTree.refresh();
      }),
      session.onDidRecordAgain((entry) => {
        // Of several profiles in a file the one that is looked at.
        if (entry.member === undefined || entry.profile === session.shown?.profile)
          void this.guarded(() => recordedAgain.tell(entry.profile));
      }),
      session.onDidRecord((recording) => void this.guarded(() => this.parts.recorder.tell(recording))),
      annotations.onDidChange(() => status.update()),
      session.onDidSelect((params) => void this.guarded(() => this.follow(params))),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (!event.affectsConfiguration("profd")) return;
        if (
          ["profd.path", "profd.arguments", "profd.openProjectProfiles"].some((key) => event.affectsConfiguration(key))
        )
          void this.guarded(() => session.reconnect().then(() => pages.again()));
        else void this.guarded(() => session.configure());
      }),
      vscode.workspace.onDidChangeWorkspaceFolders(() => void this.guarded(() => session.reconnect())),
    );
  }

  /** A frame was chosen elsewhere: its source is shown beside. */
  private async follow({ selection }: SelectionChangedParams): Promise<void> {
    if (selection === null) return;
    const when = config().get<string>("openSource", "views");
    if (when === "never" || (when === "views" && !this.isOwn(selection))) return;
    if (selection.uri !== undefined) await this.parts.reveal.showSelection(vscode.Uri.parse(selection.uri), selection);
    else if (this.isOwn(selection)) await this.parts.reveal.offerOutside(selection);
  }

  private isOwn(selection: Selection): boolean {
    return this.parts.pages.isOwn(selection);
  }
}

export function start(context: vscode.ExtensionContext): Main {
  return new Main(context);
}
