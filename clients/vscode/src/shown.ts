// What the code showed, kept in the workspace: a window that comes back with its tabs shows it again.
import type * as vscode from "vscode";
import type { OpenOptions, ProfileListEntry } from "../../shared/ts/psp.js";

const KEY = "profd.shown";
const MAX = 50;

interface Kept {
  readonly uri: string;
  readonly how: OpenOptions;
}

export class Shown {
  constructor(private readonly memento: vscode.Memento) {}

  /** The one shown last at the end. */
  get all(): readonly Kept[] {
    return this.memento.get<readonly Kept[]>(KEY, []);
  }

  add({ uri, member, metric }: ProfileListEntry): void {
    const how = {
      ...(member === undefined ? {} : { profile: String(member.number) }),
      ...(metric === undefined ? {} : { metric }),
    };
    const last = this.all.at(-1);
    if (last?.uri === uri && last.how.metric === how.metric && last.how.profile === how.profile) return;
    this.keep([...this.without(uri), { uri, how }].slice(-MAX));
  }

  remove(uri: string): void {
    this.keep(this.without(uri));
  }

  private without(uri: string): Kept[] {
    return this.all.filter((other) => other.uri !== uri);
  }

  private keep(all: readonly Kept[]): void {
    void this.memento.update(KEY, all);
  }
}
