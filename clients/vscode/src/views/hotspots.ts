// The hottest places of what is shown, as a list or by file.
import * as vscode from "vscode";
import {
  ChangeKind,
  HotspotsRequest,
  TableRequest,
  type HotFunction,
  type HotspotsResult,
  type TableResult,
} from "../../../shared/ts/psp.js";
import { filtersOf } from "../../../web/src/state/place.js";
import type { Filters } from "../filters.js";
import { levelOf } from "../levels.js";
import type { Session } from "../session.js";
import { config } from "../settings.js";
import { isDiff } from "./profiles.js";
import { Tree, functionItem, treeLabel, type FunctionNode } from "./tree.js";

const LIMIT = 200;

interface Place extends FunctionNode {
  readonly kind: "place";
  readonly place: HotFunction;
  readonly sort: "self" | "total";
  /** Of the first in the list. */
  readonly part: number;
}
/** A function of a diff. */
interface Change extends FunctionNode {
  readonly kind: "change";
  readonly label: string;
  readonly description: string;
}
type Node =
  | Place
  | Change
  | { readonly kind: "file"; readonly path: string; readonly description: string }
  | { readonly kind: "rest"; readonly text: string };

const { None, Collapsed } = vscode.TreeItemCollapsibleState;

export class HotspotsTree extends Tree<Node> {
  private byFile = false;
  private sort: "self" | "total" = "self";
  private view: vscode.TreeView<Node> | undefined;

  constructor(
    private readonly session: Session,
    private readonly filters: Filters,
    private readonly extensionUri: vscode.Uri,
  ) {
    super();
  }

  attach(view: vscode.TreeView<Node>): void {
    this.view = view;
    this.refresh();
  }

  override refresh(): void {
    if (this.view !== undefined) this.view.description = this.about();
    super.refresh();
  }

  /** What its numbers are of. */
  private about(): string {
    const shown = this.session.shown;
    if (shown === undefined) return "";
    const what = isDiff(shown) ? vscode.l10n.t("change of self") : [this.sort, shown.metric].filter(Boolean).join(" ");
    return this.filters.on.length === 0 ? what : vscode.l10n.t("{0}, filtered", what);
  }

  toggleGroup(): void {
    this.byFile = !this.byFile;
    this.refresh();
  }

  toggleSort(): void {
    this.sort = this.sort === "self" ? "total" : "self";
    this.refresh();
  }

  getTreeItem(node: Node): vscode.TreeItem {
    if (node.kind === "rest") {
      const item = new vscode.TreeItem("", None);
      item.description = node.text;
      return item;
    }
    if (node.kind === "file") {
      const end = node.path.lastIndexOf("/") + 1;
      const item = new vscode.TreeItem(treeLabel({ name: node.path.slice(end) }, 1), Collapsed);
      item.description = [node.description, node.path.slice(0, end)].filter(Boolean).join("  ");
      item.tooltip = new vscode.MarkdownString().appendText([node.path, node.description].join("\n"));
      item.iconPath = vscode.ThemeIcon.File;
      return item;
    }
    if (node.kind === "change") return functionItem(node.label, node.description, node.frame, None);
    const amount = node.place[node.sort];
    const item = functionItem(
      treeLabel(node.place),
      [amount.shareText, amount.text].filter(Boolean).join("  "),
      node.frame,
      None,
    );
    item.iconPath = vscode.Uri.joinPath(this.extensionUri, "media", "icons", `heat${levelOf(node.part)}.svg`);
    return item;
  }

  async getChildren(node?: Node): Promise<Node[]> {
    const shown = this.session.shown;
    if (shown === undefined) return [];
    const list = isDiff(shown) ? (file?: string) => this.changes(file) : (file?: string) => this.places(file);
    if (node === undefined) return this.byFile ? this.files(isDiff(shown)) : list();
    if (node.kind !== "file") return [];
    return list(node.path);
  }

  private async files(ofDiff: boolean): Promise<Node[]> {
    const answer = await this.session.request(TableRequest, {
      spec: this.filters.flatSpec("file"),
      sort: ofDiff ? "change" : this.sort,
      changedOnly: ofDiff,
      limit: LIMIT,
    });
    return withRest(rowsOf(answer, this.sort), answer);
  }

  /** By what became of their self values. */
  private async changes(file?: string): Promise<Node[]> {
    const answer = await this.session.request(TableRequest, {
      spec: this.filters.flatSpec("function"),
      sort: "change",
      changedOnly: true,
      limit: LIMIT,
      ...(file === undefined ? {} : { file }),
    });
    return withRest(changesOf(answer), answer);
  }

  private async places(file?: string): Promise<Node[]> {
    const granularity = config().get("granularity", "function");
    const answer = await this.session.request(HotspotsRequest, {
      granularity,
      sort: this.sort,
      filters: filtersOf(this.filters.place({})),
      limit: file === undefined ? LIMIT : 1000,
    });
    const places = answer.places
      .filter((place) => file === undefined || place.file === file)
      .map((place): Node => ({
        kind: "place",
        place,
        sort: this.sort,
        part: partOf(place, answer.places[0], this.sort),
        frame: { ...place, profile: answer.profile },
      }));
    return file === undefined ? withRest(places, answer) : places;
  }
}

/** How long a bar is beside the longest. */
function partOf(place: HotFunction, first: HotFunction | undefined, sort: "self" | "total"): number {
  const longest = Math.abs(first?.[sort].value ?? 0);
  return longest === 0 ? 0 : Math.abs(place[sort].value) / longest;
}

function withRest(nodes: Node[], { remainder }: HotspotsResult | TableResult): Node[] {
  return remainder === undefined ? nodes : [...nodes, { kind: "rest", text: remainder.text }];
}

function rowsOf({ rows, names, changes }: TableResult, sort: "self" | "total"): Node[] {
  const [share, text] = sort === "self" ? [rows.selfShare, rows.selfText] : [rows.totalShare, rows.totalText];
  return rows.name.map((name, i) => ({
    kind: "file",
    path: names[name] ?? "",
    description: changes === undefined ? `${share[i] ?? ""}  ${text[i] ?? ""}` : (changes.selfChange[i] ?? ""),
  }));
}

function changesOf({ profile, rows, names, labels, cuts, files, changes }: TableResult): Node[] {
  const marks: Readonly<Partial<Record<ChangeKind, string>>> = {
    [ChangeKind.added]: "[A]",
    [ChangeKind.deleted]: "[D]",
  };
  return rows.name.map((at, i) => {
    const name = names[at] ?? "";
    const mark = marks[changes?.change[i] ?? ChangeKind.same];
    return {
      kind: "change",
      label: treeLabel({ name, shortName: labels[at] ?? name, cuts: cuts?.[at] ?? [] }, 1),
      description: [mark, changes?.selfChange[i]].filter(Boolean).join(" "),
      frame: { name, profile, file: files[rows.file[i] ?? -1], line: rows.line[i] },
    };
  });
}
