// What each command of package.json does. A test compares the two lists.
import * as vscode from "vscode";
import {
  MetricListRequest,
  ProfileListRequest,
  type AnalysisAnnotation,
  type ProfileListEntry,
} from "../../shared/ts/psp.js";
import type { Place } from "../../web/src/state/place.js";
import { parseClause } from "../../web/src/state/spec.js";
import type { BookmarkNode } from "./bookmarks.js";
import { exactly } from "./filters.js";
import { VIEWS } from "./ids.js";
import { stepFrom } from "./levels.js";
import type { Parts } from "./main.js";
import { profileOfTab } from "./editors.js";
import type { Frame } from "./reveal.js";
import { config } from "./settings.js";
import { analysisOf } from "./views/analyses.js";
import { frameOf } from "./views/tree.js";
import type { FilterNode } from "./views/filterstree.js";
import { profileOf, whereOf } from "./views/profiles.js";
import { functionFor, sayNone } from "./where.js";

type Deed = (...given: unknown[]) => unknown;

export function commandsOf(parts: Parts): Readonly<Record<string, Deed>> {
  const { session, filters, heat, pages, opening, calls, bookmarks, hotspots, comparing, analyses, recorder } = parts;

  /** The profile a command is about: the row's, the page's that is looked at, the one in the code. */
  const profileFor = async (given: unknown): Promise<ProfileListEntry | undefined> => {
    await session.ready();
    const page = pages.active;
    const entry = profileOf(given) ?? session.profiles.find(({ uri }) => uri === page) ?? session.shown;
    const meant = entry ?? session.profiles.filter(({ mine }) => mine).at(-1);
    if (meant === undefined) sayNone();
    return meant;
  };
  const onFunction = (run: (frame: Frame) => unknown) => async (given: unknown) => {
    const frame = await functionFor(session, given);
    if (frame !== undefined) await run(frame);
  };
  const pageOf = (entry: ProfileListEntry, change: Partial<Place> = {}) =>
    pages.show(
      filters.place({
        profile: entry.uri,
        member: entry.member?.number ?? 1,
        ...(entry.metric === undefined ? {} : { metric: entry.metric }),
        ...change,
      }),
    );
  const entryOf = (frame: Frame) => session.profiles.find(({ profile }) => profile === frame.profile) ?? session.shown;

  const revealInFlameGraph: Deed = async (given) => {
    const { entry, clause } = (given ?? {}) as { entry?: ProfileListEntry; clause?: string };
    if (entry !== undefined) {
      const parsed = clause === undefined ? undefined : parseClause(clause);
      const chips = parsed !== undefined && "filter" in parsed ? [{ filter: parsed.filter, on: true }] : [];
      const { chips: own } = filters.place({ profile: entry.uri });
      await pageOf(entry, { view: "flame", chips: [...own, ...chips] });
      return;
    }
    await onFunction(async (frame) => {
      const shown = entryOf(frame);
      if (shown !== undefined) await pageOf(shown, { view: "flame", search: exactly(frame.name) });
    })(given);
  };

  /** The function's source in the page of its profile, with something beside it; at the line of the cursor, if asked there. */
  const inSource =
    (beside: Partial<Place>): Deed =>
    async (given) => {
      const line = given === undefined || given instanceof vscode.Uri ? lineHere() : undefined;
      await onFunction(async (frame) => {
        const entry = entryOf(frame);
        const place = { fn: frame.name, file: frame.file ?? "", line: line ?? frame.line ?? 0 };
        if (entry !== undefined) await pageOf(entry, { view: "source", ...beside, ...place });
      })(given);
    };

  const switchMetric: Deed = async (given) => {
    const entry = await profileFor(given);
    if (entry === undefined) return;
    const named = (given as { metric?: string } | undefined)?.metric;
    const metric = named ?? (await askMetric(parts, entry));
    if (metric !== undefined) await session.setMetric(entry, metric);
  };

  const select: Deed = async (given) => {
    const entry = profileOf(given) ?? (await askProfile(parts));
    if (entry !== undefined) await session.select(entry);
  };

  const step = (forward: boolean) => () => {
    const editor = vscode.window.activeTextEditor;
    const lines = editor && parts.annotations.of(editor.document)?.hottest;
    const line = lines && stepFrom(lines, editor.selection.active.line, forward);
    if (editor === undefined || line === undefined) return;
    const at = new vscode.Position(line, editor.document.lineAt(line).firstNonWhitespaceCharacterIndex);
    editor.selection = new vscode.Selection(at, at);
    editor.revealRange(new vscode.Range(at, at), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  };

  const at = (given: unknown) => (given as FilterNode).at;
  const filterFunction = (op: "keep" | "drop" | "hide") =>
    onFunction((frame) => {
      filters.add(op, frame.name);
    });

  const deeds: Record<string, Deed> = {
    open: (given) => (given instanceof vscode.Uri ? opening.show(given) : opening.ask()),
    openRecent: () => opening.askRecent(),
    record: () => recorder.ask(),
    recordAgain: () => recorder.again(),
    recordTest: (given, name) =>
      recorder.test(given instanceof vscode.Uri ? given : undefined, typeof name === "string" ? name : undefined),
    openRecording: () => recorder.list(),
    openFile: async (given, all) => {
      const uris = Array.isArray(all) ? (all as vscode.Uri[]) : [given ?? uriOfTab()];
      for (const uri of uris) if (uri instanceof vscode.Uri) await opening.show(uri);
    },
    compare: () => comparing.ask(),
    compareFiles: (_given, all) => comparing.files((all as vscode.Uri[] | undefined) ?? []),
    compareHead: async (given) => {
      const uri = given instanceof vscode.Uri ? given : uriOfTab();
      if (uri?.scheme === "file") await comparing.withHead(uri);
      else void vscode.window.showInformationMessage(vscode.l10n.t("Open the file to compare first, or choose it."));
    },
    compareSelected: (_given, all) => comparing.profiles(profilesOf(all)),
    aggregateFiles: (_given, all) => comparing.aggregate((all as vscode.Uri[] | undefined) ?? []),
    aggregateSelected: (_given, all) => comparing.aggregate(profilesOf(all)),
    compareWith: async (given) => {
      const entry = await profileFor(given);
      if (entry !== undefined) await comparing.withBefore(entry);
    },
    close: async (given) => {
      const entry = await profileFor(given);
      if (entry !== undefined) await closeOne(parts, entry);
    },
    closeAll: async () => {
      for (const entry of session.profiles.filter(({ mine }) => mine)) await closeOne(parts, entry);
    },
    reload: async (given) => {
      const entry = await profileFor(given);
      if (entry !== undefined) await session.reload(entry);
    },
    switch: () => askSwitch(parts, deeds),
    select,
    metric: switchMetric,
    granularity: async () => {
      const items = [
        { label: vscode.l10n.t("Functions"), value: "function" },
        { label: vscode.l10n.t("Lines"), value: "line" },
      ];
      const chosen = await vscode.window.showQuickPick(items, {
        title: vscode.l10n.t("What lists of hot spots are made of"),
      });
      if (chosen === undefined) return;
      await set("granularity", chosen.value);
      hotspots.refresh();
    },
    threshold: askThreshold,
    toggleAnnotations: async () => {
      heat.toggle();
      parts.status.update();
      analyses.redraw();
      await session.configure();
    },
    toggleLenses: () => set("codeLens", !config().get<boolean>("codeLens", false)),
    nextHotLine: step(true),
    previousHotLine: step(false),
    revealInFlameGraph,
    callers: onFunction((frame) => calls.show(frame, "callers")),
    callees: onFunction((frame) => calls.show(frame, "callees")),
    hotPath: onFunction((frame) => calls.showHotPath(frame)),
    assembly: inSource({ asm: "beside" }),
    within: inSource({ within: "auto" }),
    goto: onFunction((frame) => parts.reveal.goTo(frame)),
    summary: async (given) => {
      const entry = await profileFor(given);
      if (entry !== undefined) await pageOf(entry, { view: "profile" });
    },
    find: () => pages.press("/"),
    openInBrowser: async (given) => {
      const entry = await profileFor(given);
      if (entry !== undefined) await openInBrowser(parts, entry);
    },
    hotspots: () => vscode.commands.executeCommand(`${VIEWS.hotspots}.focus`),
    "hotspots.group": () => hotspots.toggleGroup(),
    "hotspots.sort": () => hotspots.toggleSort(),
    "calls.toggle": () => calls.toggle(),
    "filters.add": () => filters.ask(session),
    "filters.edit": (given) => filters.ask(session, at(given)),
    "filters.remove": (given) => filters.remove(at(given)),
    "filters.moveUp": (given) => filters.move(at(given), at(given) - 1),
    "filters.moveDown": (given) => filters.move(at(given), at(given) + 1),
    "filters.undo": () => filters.undo(),
    "filters.redo": () => filters.redo(),
    "filters.clear": () => filters.clear(),
    mine: () => filters.toggleMine(),
    "filters.hideFunction": filterFunction("hide"),
    "filters.dropFunction": filterFunction("drop"),
    "filters.keepFunction": filterFunction("keep"),
    "analyses.run": async (given) => {
      await session.ready();
      await analyses.run(analysisOf(given));
    },
    "analyses.show": async (given) => {
      const info = analysisOf(given);
      if (info !== undefined) await analyses.showText(info.name);
    },
    "analyses.edit": async (given) => {
      const info = analysisOf(given);
      if (info !== undefined) await analyses.open(info);
    },
    "analyses.new": () => analyses.create(),
    "analyses.clear": () => analyses.clear(),
    "analyses.note": (given) => analyses.goTo(given as AnalysisAnnotation),
    "analyses.page": (given) => pages.openEditor(String(given)),
    "bookmarks.add": onFunction((frame) => bookmarks.add(frame, entryOf(frame)?.uri ?? "")),
    "bookmarks.edit": (given) => bookmarks.edit(given as BookmarkNode),
    "bookmarks.remove": (given) => bookmarks.remove(given as BookmarkNode),
    copyName: async (given) => {
      const name = frameOf(given)?.name;
      if (name !== undefined) await vscode.env.clipboard.writeText(name);
    },
    showLog: () => parts.output.show(),
    restart: () => session.restart(),
    setPath: async () => {
      const [chosen] = (await vscode.window.showOpenDialog({ title: vscode.l10n.t("Which program is profd?") })) ?? [];
      if (chosen !== undefined) await config().update("path", chosen.fsPath, vscode.ConfigurationTarget.Global);
    },
    walkthrough: () =>
      vscode.commands.executeCommand("workbench.action.openWalkthrough", `${parts.context.extension.id}#start`, false),
  };
  return Object.fromEntries(Object.entries(deeds).map(([name, deed]) => [`profd.${name}`, deed]));
}

/** Where the cursor is, from 1. */
function lineHere(): number | undefined {
  const editor = vscode.window.activeTextEditor;
  return editor && editor.selection.active.line + 1;
}

/** Of the tab that is looked at. */
function uriOfTab(): vscode.Uri | undefined {
  const tab = vscode.window.tabGroups.activeTabGroup.activeTab?.input as { uri?: vscode.Uri } | undefined;
  return tab?.uri;
}

/** Of rows of the side bar that are chosen together, the profiles. */
function profilesOf(rows: unknown): readonly ProfileListEntry[] {
  const entries = Array.isArray(rows) ? rows.map(profileOf).filter((entry) => entry !== undefined) : [];
  return [...new Map(entries.map((entry) => [entry.profile, entry])).values()];
}

function set(key: string, value: unknown): Thenable<void> {
  const inWorkspace = config().inspect(key)?.workspaceValue !== undefined;
  return config().update(
    key,
    value,
    inWorkspace ? vscode.ConfigurationTarget.Workspace : vscode.ConfigurationTarget.Global,
  );
}

async function closeOne({ session }: Parts, entry: ProfileListEntry): Promise<void> {
  const tabs = vscode.window.tabGroups.all
    .flatMap((group) => group.tabs)
    .filter((tab) => profileOfTab(tab) === entry.uri);
  await vscode.window.tabGroups.close(tabs);
  await session.close(entry);
}

async function askProfile({ session }: Parts): Promise<ProfileListEntry | undefined> {
  const { profiles } = await session.request(ProfileListRequest, {});
  const rowOf = (entry: ProfileListEntry) => ({
    label: `${entry.default ? "$(check) " : ""}${entry.name}`,
    description: [entry.total?.text, entry.metric].filter(Boolean).join("  "),
    detail: whereOf(entry),
    entry,
  });
  const others = profiles.filter(({ mine }) => !mine).map(rowOf);
  const heading = { label: vscode.l10n.t("Of Other Windows and Pages"), kind: vscode.QuickPickItemKind.Separator };
  const chosen = await vscode.window.showQuickPick<vscode.QuickPickItem & { readonly entry?: ProfileListEntry }>(
    [...profiles.filter(({ mine }) => mine).map(rowOf), ...(others.length === 0 ? [] : [heading, ...others])],
    { title: vscode.l10n.t("Show which profile in the code?") },
  );
  return chosen?.entry;
}

async function askMetric({ session }: Parts, entry: ProfileListEntry): Promise<string | undefined> {
  const { metrics } = await session.request(MetricListRequest, { profile: entry.profile });
  const chosen = await vscode.window.showQuickPick(
    metrics.map((metric) => ({
      label: `${metric.name === entry.metric ? "$(check) " : ""}${metric.title ?? metric.name}`,
      description: metric.text,
      detail: metric.description ?? "",
      name: metric.name,
    })),
    { title: vscode.l10n.t("Which metric of {0}?", entry.name) },
  );
  return chosen?.name;
}

async function askThreshold(): Promise<void> {
  const text = await vscode.window.showInputBox({
    title: vscode.l10n.t("Lines below which share of the total stay silent?"),
    prompt: vscode.l10n.t("A share from 0 to 1; nothing: what the project says, else 0.005"),
    value: String(config().get<number | null>("threshold", null) ?? ""),
    validateInput: (value) =>
      value.trim() === "" || (Number(value) >= 0 && Number(value) <= 1)
        ? undefined
        : vscode.l10n.t("A share from 0 to 1"),
  });
  if (text !== undefined) await set("threshold", text.trim() === "" ? undefined : Number(text));
}

async function askSwitch({ heat }: Parts, deeds: Readonly<Record<string, Deed>>): Promise<void> {
  const items = [
    { label: `$(graph) ${vscode.l10n.t("Profile…")}`, deed: "select" },
    { label: `$(symbol-number) ${vscode.l10n.t("Metric…")}`, deed: "metric" },
    { label: `$(list-tree) ${vscode.l10n.t("Granularity of Lists…")}`, deed: "granularity" },
    { label: `$(filter) ${vscode.l10n.t("Threshold…")}`, deed: "threshold" },
    {
      label: heat.on
        ? `$(eye-closed) ${vscode.l10n.t("Hide Costs in the Code")}`
        : `$(eye) ${vscode.l10n.t("Show Costs in the Code")}`,
      deed: "toggleAnnotations",
    },
    { label: "", kind: vscode.QuickPickItemKind.Separator, deed: "" },
    { label: `$(flame) ${vscode.l10n.t("Open the Page of the Profile")}`, deed: "summary" },
    { label: `$(folder-opened) ${vscode.l10n.t("Open Another Profile…")}`, deed: "open" },
    { label: `$(close) ${vscode.l10n.t("Close the Profile")}`, deed: "close" },
  ];
  const chosen = await vscode.window.showQuickPick(items, {
    title: vscode.l10n.t("What the code shows"),
  });
  if (chosen !== undefined) await deeds[chosen.deed]?.();
}

async function openInBrowser({ session }: Parts, entry: ProfileListEntry): Promise<void> {
  const address = (await session.execute("profd.openInBrowser", [entry.profile])) as { once?: string } | null;
  if (address?.once === undefined)
    void vscode.window.showInformationMessage(vscode.l10n.t("{0} is open in the browser.", entry.name));
}
