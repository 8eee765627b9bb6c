// Measured callers or callees of a function, as a tree that is asked for level by level.
import * as vscode from "vscode";
import { HotPathRequest, TableRequest, type HotPathResult, type TableResult } from "../../../shared/ts/psp.js";
import { exactly, type Filters } from "../filters.js";
import type { Frame } from "../reveal.js";
import type { Session } from "../session.js";
import { Tree, functionItem, treeLabel, type FunctionNode } from "./tree.js";

export type Direction = "callers" | "callees";

const LIMIT = 100;

interface Row extends FunctionNode {
  readonly kind: "row";
  readonly parent: Node | undefined;
  readonly path: readonly number[];
  readonly revision: number;
  readonly label: string;
  readonly text: string;
  readonly expandable: boolean;
}
type Node =
  | (FunctionNode & { readonly kind: "root"; readonly label: string; readonly text: string })
  | Row
  | { readonly kind: "rest"; readonly text: string; readonly parent: Node | undefined };

const { None, Collapsed, Expanded } = vscode.TreeItemCollapsibleState;

export class CallsTree extends Tree<Node> {
  private view: vscode.TreeView<Node> | undefined;
  private frame: Frame | undefined;
  private direction: Direction = "callers";
  private root: Node | undefined;

  constructor(
    private readonly session: Session,
    private readonly filters: Filters,
  ) {
    super();
  }

  attach(view: vscode.TreeView<Node>): void {
    this.view = view;
  }

  async show(frame: Frame, direction: Direction): Promise<void> {
    this.frame = frame;
    this.direction = direction;
    this.again();
    const [root] = await this.getChildren();
    if (root !== undefined) await this.view?.reveal(root, { focus: true, expand: true });
  }

  /** Down to where most of the cost is spread below, as the daemon says. */
  async showHotPath(frame: Frame): Promise<void> {
    await this.show(frame, "callees");
    const path = await this.session.request(HotPathRequest, { spec: this.specOf(frame) });
    let last = this.root;
    for (const at of path.rows.name.keys()) last = rowAt(path, at, last);
    if (last?.kind === "row") await this.view?.reveal(last, { select: true, focus: true, expand: last.expandable });
  }

  toggle(): void {
    this.direction = this.direction === "callers" ? "callees" : "callers";
    this.again();
  }

  /** What the profile is, or holds under the filters, changed: keys of before are void. */
  again(): void {
    this.root = undefined;
    if (this.view !== undefined && this.frame !== undefined)
      this.view.title = this.direction === "callers" ? vscode.l10n.t("Callers") : vscode.l10n.t("Callees");
    this.refresh();
  }

  getParent(node: Node): Node | undefined {
    return node.kind === "root" ? undefined : node.parent;
  }

  getTreeItem(node: Node): vscode.TreeItem {
    if (node.kind === "rest") {
      const item = new vscode.TreeItem("", None);
      item.description = node.text;
      return item;
    }
    if (node.kind === "root") return functionItem(node.label, node.text, node.frame, Expanded);
    const item = functionItem(node.label, node.text, node.frame, node.expandable ? Collapsed : None);
    item.iconPath = new vscode.ThemeIcon(this.direction === "callers" ? "call-incoming" : "call-outgoing");
    return item;
  }

  async getChildren(node?: Node): Promise<Node[]> {
    const shown = this.session.shown;
    if (this.frame === undefined || shown === undefined) return [];
    if (node === undefined) {
      this.root ??= { kind: "root", frame: this.frame, ...(await this.totalOf(this.frame)) };
      return [this.root];
    }
    if (node.kind === "rest") return [];
    return this.level(this.frame, node);
  }

  private async level(frame: Frame, parent: Node): Promise<Node[]> {
    const answer = await this.session.request(TableRequest, {
      spec: this.specOf(frame),
      sort: "total",
      limit: LIMIT,
      ...(parent.kind === "row" ? { expand: [...parent.path], revision: parent.revision } : {}),
    });
    const nodes: Node[] = answer.rows.name.map((_, at) => rowAt(answer, at, parent));
    if (answer.own !== undefined)
      nodes.push({
        kind: "rest",
        parent,
        text: vscode.l10n.t("itself: {0}", [answer.own.shareText, answer.own.text].filter(Boolean).join("  ")),
      });
    if (answer.remainder !== undefined) nodes.push({ kind: "rest", parent, text: answer.remainder.text });
    return nodes;
  }

  private specOf(frame: Frame) {
    return this.filters.spec({ shape: this.direction, focus: [frame.name] });
  }

  private async totalOf(frame: Frame): Promise<{ label: string; text: string }> {
    const { rows, labels, cuts } = await this.session.request(TableRequest, {
      spec: this.filters.flatSpec("function"),
      search: exactly(frame.name),
      limit: 1,
    });
    const at = rows.name[0] ?? -1;
    return {
      label: treeLabel({ name: frame.name, shortName: labels[at] ?? frame.name, cuts: cuts?.[at] ?? [] }),
      text: [rows.totalShare[0], rows.totalText[0]].filter(Boolean).join("  "),
    };
  }
}

function rowAt(answer: TableResult | HotPathResult, at: number, parent: Node | undefined): Row {
  const { rows, names, labels, cuts, files } = answer;
  const name = rows.name[at] ?? -1;
  const full = names[name] ?? "";
  const path = [...(parent?.kind === "row" ? parent.path : []), rows.key[at] ?? 0];
  return {
    kind: "row",
    parent,
    path,
    revision: answer.revision,
    label: treeLabel({ name: full, shortName: labels[name] ?? full, cuts: cuts?.[name] ?? [] }, path.length),
    text: `${rows.totalShare[at] ?? ""}  ${rows.totalText[at] ?? ""}`,
    expandable: rows.children[at] ?? false,
    frame: { name: full, profile: answer.profile, file: files[rows.file[at] ?? -1], line: rows.line[at] },
  };
}
