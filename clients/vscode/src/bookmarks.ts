// Places with notes, kept in the workspace.
import * as vscode from "vscode";
import type { Frame } from "./reveal.js";
import { Tree, functionItem, type FunctionNode } from "./views/tree.js";

const KEY = "profd.bookmarks";
const SAID_MS = 5000;

export interface Bookmark {
  readonly id: number;
  readonly frame: Frame;
  readonly note: string;
  /** The file of the profile it was made in. */
  readonly profile: string;
}

export interface BookmarkNode extends FunctionNode {
  readonly bookmark: Bookmark;
}

export class Bookmarks extends Tree<BookmarkNode> {
  constructor(private readonly memento: vscode.Memento) {
    super();
  }

  get all(): readonly Bookmark[] {
    return this.memento.get<readonly Bookmark[]>(KEY, []);
  }

  getChildren(node?: BookmarkNode): BookmarkNode[] {
    // A handle is good for one daemon: the frame goes by its names alone.
    return node === undefined
      ? this.all.map((bookmark) => ({ bookmark, frame: { ...bookmark.frame, profile: undefined } }))
      : [];
  }

  getTreeItem({ bookmark, frame }: BookmarkNode): vscode.TreeItem {
    const item = functionItem(
      bookmark.note === "" ? frame.name : bookmark.note,
      bookmark.note === "" ? "" : frame.name,
      frame,
      vscode.TreeItemCollapsibleState.None,
    );
    item.iconPath = new vscode.ThemeIcon("bookmark");
    item.contextValue = "function bookmark";
    return item;
  }

  async add(frame: Frame, profile: string): Promise<void> {
    const note = await askNote(frame, "");
    if (note === undefined) return;
    const id = Math.max(0, ...this.all.map((bookmark) => bookmark.id)) + 1;
    await this.keep([...this.all, { id, frame, note, profile }]);
    // Its list may be folded away.
    vscode.window.setStatusBarMessage(vscode.l10n.t("{0} is among the bookmarks", frame.name), SAID_MS);
  }

  async edit({ bookmark }: BookmarkNode): Promise<void> {
    const note = await askNote(bookmark.frame, bookmark.note);
    if (note !== undefined)
      await this.keep(this.all.map((other) => (other.id === bookmark.id ? { ...other, note } : other)));
  }

  async remove({ bookmark }: BookmarkNode): Promise<void> {
    await this.keep(this.all.filter((other) => other.id !== bookmark.id));
  }

  private async keep(all: readonly Bookmark[]): Promise<void> {
    await this.memento.update(KEY, all);
    this.refresh();
  }
}

function askNote(frame: Frame, value: string): Thenable<string | undefined> {
  return vscode.window.showInputBox({ title: frame.name, prompt: vscode.l10n.t("A note, or nothing"), value });
}
