// Files that were opened, newest first.
import type * as vscode from "vscode";

const KEY = "profd.recent";
const MAX = 20;

export class Recent {
  constructor(private readonly memento: vscode.Memento) {}

  get all(): readonly string[] {
    return this.memento.get<readonly string[]>(KEY, []);
  }

  add(uri: string): Thenable<void> {
    return this.memento.update(KEY, [uri, ...this.all.filter((other) => other !== uri)].slice(0, MAX));
  }

  remove(uri: string): Thenable<void> {
    return this.memento.update(
      KEY,
      this.all.filter((other) => other !== uri),
    );
  }
}
