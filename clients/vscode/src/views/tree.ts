// What the trees of the side bar share.
import * as vscode from "vscode";
import type { HotFunction } from "../../../shared/ts/psp.js";
import type { Frame } from "../reveal.js";

/** A row that stands for a function: the commands of functions take it. */
export interface FunctionNode {
  readonly frame: Frame;
}

export function frameOf(node: unknown): Frame | undefined {
  return (node as Partial<FunctionNode> | undefined)?.frame;
}

/**
 * What leaves a side bar room for numbers, which are behind a name and would be cut off: the longest form of it (`cuts`,
 * from the daemon) that does, else the beginning of its last. `depth`: how far the row is indented.
 */
export function treeLabel(place: Pick<HotFunction, "name" | "shortName" | "cuts">, depth = 0): string {
  const room = Math.max(18 - 2 * depth, 12);
  const text = place.shortName ?? place.name;
  const cuts = place.cuts ?? [];
  const from = [0, ...cuts].find((cut) => text.length - cut <= room) ?? cuts.at(-1) ?? 0;
  const end = text.slice(from);
  return end.length <= room ? end : `${end.slice(0, room - 1)}…`;
}

/** A row that goes to its source when it is chosen. */
export function functionItem(
  label: string,
  description: string,
  frame: Frame,
  collapsible: vscode.TreeItemCollapsibleState,
): vscode.TreeItem {
  const item = new vscode.TreeItem(label, collapsible);
  item.description = description;
  item.tooltip = new vscode.MarkdownString().appendText(
    [frame.name, frame.file === undefined ? "" : `${frame.file}${frame.line ? `:${frame.line}` : ""}`, description]
      .filter((line) => line !== "")
      .join("\n"),
  );
  item.contextValue = "function";
  item.command = { title: vscode.l10n.t("Go to Source"), command: "profd.goto", arguments: [{ frame }] };
  return item;
}

/** Base of the providers: they are told that everything may have changed. */
export abstract class Tree<Node> implements vscode.TreeDataProvider<Node> {
  private readonly changed = new vscode.EventEmitter<Node | undefined>();
  readonly onDidChangeTreeData = this.changed.event;

  refresh(node?: Node): void {
    this.changed.fire(node);
  }

  abstract getTreeItem(node: Node): vscode.TreeItem;
  abstract getChildren(node?: Node): vscode.ProviderResult<Node[]>;
}
