// The entry in the status bar: what the code shows, and on hover the first glance at it.
import * as vscode from "vscode";
import {
  HotspotsRequest,
  ProfileSummaryRequest,
  TableRequest,
  type Filter,
  type HotspotsResult,
  type MissingPart,
  type ProfileListEntry,
  type ProfileSummary,
  type SideTotals,
} from "../../shared/ts/psp.js";
import { filterText } from "../../web/src/state/spec.js";
import type { Disposes } from "./later.js";
import type { Session } from "./session.js";
import { isDiff } from "./views/profiles.js";

export class Status implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("profd.status", vscode.StatusBarAlignment.Right, 90);
  private readonly subscriptions: readonly Disposes[];
  private told = "";
  /** The total of what passes the filters, of a diff both and the change, of which question. */
  private passing: { readonly telling: string; readonly total: string } | undefined;
  /** A profile, as it was read, much of whose code has no names. */
  private unnamed: string | undefined;

  constructor(
    private readonly session: Session,
    private readonly isOn: () => boolean,
    /** A sentence on what is not sure of the file that is looked at. */
    private readonly doubt: () => string | undefined,
    /** They hold in the code: what is shown is not all there is. */
    private readonly filters: () => readonly Filter[],
  ) {
    this.item.name = vscode.l10n.t("Profile in the code");
    this.item.command = "profd.switch";
    this.subscriptions = [
      this.item,
      session.onDidChange(() => this.update()),
      session.onDidChangeStatus(() => this.update()),
      vscode.window.onDidChangeActiveTextEditor(() => this.update()),
    ];
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  update(): void {
    const { shown, status, profiles } = this.session;
    if (profiles.length === 0 && status?.state !== "busy") {
      this.item.hide();
      return;
    }
    const busy = status?.state === "busy" ? status.text : undefined;
    const doubt = this.doubt();
    if (shown === undefined) this.item.text = `$(flame) ${busy ?? "profd"}`;
    else
      this.item.text = [
        busy !== undefined ? "$(sync~spin)" : this.isOn() ? "$(flame)" : "$(eye-closed)",
        shown.name,
        ...this.totalOf(shown),
        ...(this.unnamed === readingOf(shown) ? ["$(warning)"] : []),
        ...(doubt === undefined ? [] : ["$(history)"]),
        ...(this.filters().length === 0 ? [] : ["$(filter-filled)"]),
      ].join(" ");
    this.item.show();
    if (shown !== undefined) void this.tell(shown, doubt, busy);
  }

  /** The metric and its total; with filters on, what passes of the whole; of a diff both sides. */
  private totalOf(shown: ProfileListEntry): string[] {
    const filters = this.filters().map(filterText);
    const passing = this.passing?.telling === tellingOf(shown, filters) ? this.passing.total : undefined;
    if (isDiff(shown)) return passing === undefined ? [] : ["·", passing];
    const metric = shown.metric === undefined ? [] : ["·", shown.metric];
    if (shown.total === undefined) return metric;
    if (filters.length === 0) return [...metric, shown.total.text];
    // Nothing while that is asked for.
    return passing === undefined ? metric : [...metric, vscode.l10n.t("{0} of {1}", passing, shown.total.text)];
  }

  private async tell(shown: ProfileListEntry, doubt: string | undefined, busy: string | undefined): Promise<void> {
    const filters = this.filters();
    const texts = filters.map(filterText);
    const asked = tellingOf(shown, texts);
    const telling = [asked, doubt, busy].join("\n");
    if (telling === this.told) return;
    this.told = telling;
    try {
      const about = { profile: shown.profile, ...(shown.metric === undefined ? {} : { metric: shown.metric }) };
      const [summary, sides, hottest] = await Promise.all([
        this.session.ask(ProfileSummaryRequest, about),
        isDiff(shown) ? this.sidesOf(shown) : undefined,
        filters.length === 0
          ? undefined
          : this.session.ask(HotspotsRequest, { ...about, filters: [...filters], sort: "self", limit: HOTTEST }),
      ]);
      if (this.told !== telling) return;
      const before = [this.passing?.telling, this.unnamed].join();
      if (sides !== undefined) this.passing = { telling: asked, total: totalsOf(sides) };
      else if (hottest !== undefined) this.passing = { telling: asked, total: hottest.viewTotal.text };
      this.unnamed = summary?.missing?.some(isMuchUnnamed) === true ? readingOf(shown) : undefined;
      if (before !== [this.passing?.telling, this.unnamed].join()) this.update();
      if (summary !== undefined)
        this.item.tooltip = glance(
          summary,
          hottest,
          [...notesOf(sides), doubt, busy, ...texts].filter((text) => text !== undefined),
        );
    } catch {
      if (this.told === telling) this.told = "";
    }
  }

  private async sidesOf({ profile, metric }: ProfileListEntry): Promise<SideTotals | undefined> {
    const answer = await this.session.ask(TableRequest, {
      profile,
      spec: { shape: "flat", filters: [...this.filters()], ...(metric === undefined ? {} : { metric }) },
      limit: 1,
    });
    return answer?.sides;
  }
}

/** How far the two can be compared, and by what scale. */
function notesOf(sides: SideTotals | undefined): readonly string[] {
  if (sides === undefined) return [];
  return [...sides.warnings, sides.scale];
}

function totalsOf({ before, after, change }: SideTotals): string {
  return vscode.l10n.t("{0} → {1}, {2}", before.text, after.text, change);
}

const HOTTEST = 10;

function readingOf({ profile, revision, metric }: ProfileListEntry): string {
  return [profile, revision, metric].join("\n");
}

/** Numbers are of a profile as it was read, of a metric, under filters. */
function tellingOf(shown: ProfileListEntry, filters: readonly string[]): string {
  return [readingOf(shown), ...filters].join("\n");
}

/** As much as every list of its functions says it of. */
function isMuchUnnamed({ kind, amount }: MissingPart): boolean {
  return kind === "symbols" && (amount.share ?? 0) >= 0.1;
}

/** The first glance, at what passes the filters where there are some. Names are appended as text: they are data. */
function glance(
  summary: ProfileSummary,
  filtered: HotspotsResult | undefined,
  notes: readonly string[],
): vscode.MarkdownString {
  const page = new vscode.MarkdownString("", true);
  page.isTrusted = { enabledCommands: ["profd.switch", "profd.summary", "profd.revealInFlameGraph", "profd.hotspots"] };
  const line = (text: string) => page.appendText(text).appendMarkdown("\n\n");
  page.appendMarkdown("**").appendText(summary.name).appendMarkdown("** ");
  line(
    [summary.program, summary.profiler, summary.when?.text, summary.duration?.text]
      .filter((text) => text !== undefined && text !== "")
      .join(" · "),
  );
  for (const note of notes) sentence(page, "$(info)", note);
  for (const { text, advice } of summary.missing ?? []) sentence(page, "$(warning)", `${text} ${advice}`);
  page.appendMarkdown("| | |\n|:--|--:|\n");
  const title = (name: string) => summary.metrics.find((metric) => metric.name === name)?.title ?? name;
  if (filtered === undefined) for (const metric of summary.metrics) row(page, title(metric.name), metric.text);
  else
    row(
      page,
      title(filtered.metric),
      vscode.l10n.t(
        "{0} of {1}",
        filtered.viewTotal.text,
        summary.metrics.find(({ name }) => name === filtered.metric)?.text ?? "?",
      ),
    );
  page
    .appendMarkdown("\n\n")
    .appendText(vscode.l10n.t("Hottest, by self"))
    .appendMarkdown("\n\n| | | |\n|:--|--:|--:|\n");
  for (const hot of filtered?.places ?? summary.hottest)
    row(page, hot.shortName ?? hot.name, hot.self.shareText ?? "", hot.self.text);
  const link = (title: string, command: string) => `[${title}](command:${command})`;
  page.appendMarkdown(
    "\n\n" +
      [
        link(vscode.l10n.t("Switch"), "profd.switch"),
        link(vscode.l10n.t("Flame graph"), "profd.revealInFlameGraph"),
        link(vscode.l10n.t("Hot spots"), "profd.hotspots"),
        link(vscode.l10n.t("Summary"), "profd.summary"),
      ].join(" · "),
  );
  return page;
}

/** Word by word: blanks of a text that is appended whole are no places to break a line at. */
function sentence(page: vscode.MarkdownString, icon: string, text: string): void {
  page.appendMarkdown(icon);
  for (const word of text.split(" ")) page.appendMarkdown(" ").appendText(word);
  page.appendMarkdown("\n\n");
}

function row(page: vscode.MarkdownString, ...cells: readonly string[]): void {
  for (const cell of cells) page.appendMarkdown("| ").appendText(cell.replaceAll("|", "¦")).appendMarkdown(" ");
  page.appendMarkdown("|\n");
}
