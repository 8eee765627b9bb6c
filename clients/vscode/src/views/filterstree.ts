// The list of filters: a box switches one off, dragging moves it.
import * as vscode from "vscode";
import { filterText } from "../../../web/src/state/spec.js";
import type { Filters } from "../filters.js";
import { Tree } from "./tree.js";

export interface FilterNode {
  readonly at: number;
}

const MIME = "application/vnd.code.tree.profd.filters";

export class FiltersTree extends Tree<FilterNode> implements vscode.TreeDragAndDropController<FilterNode> {
  readonly dragMimeTypes = [MIME];
  readonly dropMimeTypes = [MIME];

  constructor(private readonly filters: Filters) {
    super();
    filters.onDidChange(() => this.refresh());
  }

  getChildren(node?: FilterNode): FilterNode[] {
    return node === undefined ? this.filters.chips.map((_, at) => ({ at })) : [];
  }

  getTreeItem({ at }: FilterNode): vscode.TreeItem {
    const chip = this.filters.chips[at];
    const item = new vscode.TreeItem(chip === undefined ? "" : filterText(chip.filter));
    item.checkboxState =
      chip?.on === true ? vscode.TreeItemCheckboxState.Checked : vscode.TreeItemCheckboxState.Unchecked;
    item.contextValue = "filter";
    return item;
  }

  handleDrag([node]: readonly FilterNode[], data: vscode.DataTransfer): void {
    if (node !== undefined) data.set(MIME, new vscode.DataTransferItem(node.at));
  }

  handleDrop(target: FilterNode | undefined, data: vscode.DataTransfer): void {
    const from: unknown = data.get(MIME)?.value;
    if (typeof from === "number") this.filters.move(from, target?.at ?? this.filters.chips.length - 1);
  }
}
