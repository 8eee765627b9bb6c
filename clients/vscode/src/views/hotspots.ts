// The hottest places of what is shown, as a list or by file.
import * as vscode from "vscode";
import {
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
import { Tree, functionItem, treeLabel, type FunctionNode } from "./tree.js";

const LIMIT = 200;

interface Place extends FunctionNode {
  readonly kind: "place";
  readonly place: HotFunction;
  readonly sort: "self" | "total";
  /** Of the first in the list. */
  readonly part: number;
}
type Node =
  | Place
  | { readonly kind: "file"; readonly path: string; readonly description: string }
  | { readonly kind: "rest"; readonly text: string };

const { None, Collapsed } = vscode.TreeItemCollapsibleState;

export class HotspotsTree extends Tree<Node> {
  private byFile = false;
  private sort: "self" | "total" = "self";

  constructor(
    private readonly session: Session,
    private readonly filters: Filters,
    private readonly extensionUri: vscode.Uri,
  ) {
    super();
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
      const item = new vscode.TreeItem(node.path, Collapsed);
      item.description = node.description;
      item.iconPath = vscode.ThemeIcon.File;
      return item;
    }
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
    if (node === undefined) return this.byFile ? this.files() : this.places();
    if (node.kind !== "file") return [];
    return this.places(node.path);
  }

  private async files(): Promise<Node[]> {
    const answer = await this.session.request(TableRequest, {
      spec: this.filters.flatSpec("file"),
      sort: this.sort,
      limit: LIMIT,
    });
    return withRest(rowsOf(answer, this.sort), answer);
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

function rowsOf(answer: TableResult, sort: "self" | "total"): Node[] {
  const { rows, names } = answer;
  const [share, text] = sort === "self" ? [rows.selfShare, rows.selfText] : [rows.totalShare, rows.totalText];
  return rows.name.map((name, i) => ({
    kind: "file",
    path: names[name] ?? "",
    description: `${share[i] ?? ""}  ${text[i] ?? ""}`,
  }));
}
