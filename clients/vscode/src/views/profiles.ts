// The open profiles, each with its metrics and threads: this window's, and below them those of others of the daemon.
import * as vscode from "vscode";
import {
  MetricListRequest,
  ProfileThreadsRequest,
  type MetricInfo,
  type ProfileListEntry,
  type SampleGroupRow,
} from "../../../shared/ts/psp.js";
import type { Session } from "../session.js";
import { Tree } from "./tree.js";

type Node =
  | { readonly kind: "profile"; readonly entry: ProfileListEntry }
  | { readonly kind: "group"; readonly entry: ProfileListEntry; readonly group: "metrics" | "threads" }
  | { readonly kind: "metric"; readonly entry: ProfileListEntry; readonly metric: MetricInfo }
  | { readonly kind: "thread"; readonly entry: ProfileListEntry; readonly row: SampleGroupRow }
  | { readonly kind: "others" }
  | { readonly kind: "left"; readonly text: string };

export function profileOf(node: unknown): ProfileListEntry | undefined {
  return (node as { entry?: ProfileListEntry } | undefined)?.entry;
}

/** What became of another one: its rows have both sides. */
export function isDiff({ format }: ProfileListEntry): boolean {
  return format === "diff";
}

/** Where it came from: the path of a file, what a diff is put together of. */
export function whereOf({ uri }: ProfileListEntry): string {
  const parsed = vscode.Uri.parse(uri);
  return parsed.scheme === "file" ? vscode.workspace.asRelativePath(parsed) : decodeURIComponent(uri);
}

const { None, Collapsed } = vscode.TreeItemCollapsibleState;

export class ProfilesTree extends Tree<Node> implements vscode.TreeDragAndDropController<Node> {
  readonly dropMimeTypes = ["text/uri-list", "files"];
  readonly dragMimeTypes = [];

  constructor(
    private readonly session: Session,
    private readonly open: (uri: vscode.Uri) => void,
  ) {
    super();
  }

  getChildren(node?: Node): vscode.ProviderResult<Node[]> {
    const profilesOf = (mine: boolean): Node[] =>
      this.session.profiles.filter((entry) => entry.mine === mine).map((entry) => ({ kind: "profile", entry }));
    if (node === undefined)
      return [...profilesOf(true), ...(profilesOf(false).length === 0 ? [] : [{ kind: "others" } as const])];
    if (node.kind === "others") return profilesOf(false);
    if (node.kind === "profile") {
      const groups = ["metrics", "threads"] as const;
      return groups.map((group) => ({ kind: "group", entry: node.entry, group }));
    }
    if (node.kind === "group") return node.group === "metrics" ? this.metrics(node.entry) : this.threads(node.entry);
    return [];
  }

  getTreeItem(node: Node): vscode.TreeItem {
    switch (node.kind) {
      case "profile":
        return this.profileItem(node.entry);
      case "group": {
        const title = node.group === "metrics" ? vscode.l10n.t("Metrics") : vscode.l10n.t("Threads");
        return new vscode.TreeItem(title, Collapsed);
      }
      case "metric": {
        const { metric, entry } = node;
        const item = new vscode.TreeItem(metric.title ?? metric.name, None);
        item.description = metric.text;
        item.tooltip = metric.description;
        item.iconPath = new vscode.ThemeIcon(metric.name === entry.metric ? "check" : "blank");
        item.contextValue = "metric";
        item.command = {
          title: vscode.l10n.t("Show This Metric"),
          command: "profd.metric",
          arguments: [{ entry, metric: metric.name }],
        };
        return item;
      }
      case "thread": {
        const item = new vscode.TreeItem(node.row.name, None);
        item.description = [node.row.amount.shareText, node.row.amount.text].filter(Boolean).join("  ");
        item.iconPath = new vscode.ThemeIcon("circuit-board");
        item.tooltip = node.row.filter;
        item.command = {
          title: vscode.l10n.t("Show in Flame Graph"),
          command: "profd.revealInFlameGraph",
          arguments: [{ entry: node.entry, clause: node.row.filter }],
        };
        return item;
      }
      case "others": {
        const item = new vscode.TreeItem(vscode.l10n.t("Of Other Windows and Pages"), Collapsed);
        item.id = "others";
        item.iconPath = new vscode.ThemeIcon("multiple-windows");
        item.tooltip = vscode.l10n.t("The daemon has them open for somebody else. A click shows one here, too.");
        return item;
      }
      case "left":
        return new vscode.TreeItem(node.text, None);
    }
  }

  handleDrop(_target: Node | undefined, data: vscode.DataTransfer): void {
    void (async () => {
      const list = await data.get("text/uri-list")?.asString();
      for (const line of (list ?? "").split(/\r?\n/)) if (line.startsWith("file:")) this.open(vscode.Uri.parse(line));
    })();
  }

  private profileItem(entry: ProfileListEntry): vscode.TreeItem {
    const shown = this.session.shown?.profile === entry.profile;
    const item = new vscode.TreeItem(entry.name, Collapsed);
    item.id = entry.profile;
    item.description = [entry.total?.text, entry.metric].filter(Boolean).join("  ");
    item.tooltip = new vscode.MarkdownString().appendText([whereOf(entry), entry.format, entry.memory.text].join("\n"));
    item.iconPath = new vscode.ThemeIcon(
      entry.state === "opening" ? "loading~spin" : entry.state === "failed" ? "warning" : shown ? "eye" : "graph",
    );
    item.contextValue = ["profile", ...(shown ? ["shown"] : []), ...(isDiff(entry) ? ["diff"] : [])].join(" ");
    item.command = {
      title: vscode.l10n.t("Show in the Code"),
      command: "profd.select",
      arguments: [{ entry }],
    };
    return item;
  }

  private async metrics(entry: ProfileListEntry): Promise<Node[]> {
    const { metrics } = await this.session.request(MetricListRequest, { profile: entry.profile });
    return metrics.map((metric) => ({ kind: "metric", entry, metric }));
  }

  private async threads(entry: ProfileListEntry): Promise<Node[]> {
    const { threads } = await this.session.request(ProfileThreadsRequest, { profile: entry.profile });
    if (threads === undefined) return [{ kind: "left", text: vscode.l10n.t("The profile does not say.") }];
    const rows: Node[] = threads.rows.map((row) => ({ kind: "thread", entry, row }));
    return threads.left === undefined ? rows : [...rows, { kind: "left", text: threads.left.text }];
  }
}
