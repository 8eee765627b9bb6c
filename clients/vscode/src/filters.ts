// The filters of the side bar: what they are, in which order, which are on; with undo. The steps themselves are those
// of the page (clients/web), which has the same list as chips.
import * as vscode from "vscode";
import { TableRequest } from "../../shared/ts/psp.js";
import { START, filtersOf, specOf, type Chip, type Place } from "../../web/src/state/place.js";
import { filterText, parseClause, specText } from "../../web/src/state/spec.js";
import {
  INITIAL,
  addFilter,
  clearFilters,
  moveFilter,
  redoFilters,
  removeFilter,
  replaceFilter,
  setFilters,
  toggleFilter,
  toggleMine,
  undoFilters,
  type State,
} from "../../web/src/state/state.js";
import { CONTEXT } from "./ids.js";
import { explain, showWarning } from "./problems.js";
import type { Session } from "./session.js";

const KEY = "profd.filters";

interface Kept {
  readonly clause: string;
  readonly on: boolean;
}

export class Filters {
  private state: State;
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;

  constructor(private readonly memento: vscode.Memento) {
    this.state = restored(memento.get<readonly Kept[]>(KEY, []));
  }

  get chips(): readonly Chip[] {
    return this.state.place.chips;
  }

  /** Those that are on, as text. */
  get clauses(): readonly string[] {
    return filtersOf(this.state.place).map(filterText);
  }

  /** A place in a page, with the list as its chips. */
  place(change: Partial<Place>): Place {
    return { ...START, chips: this.chips, ...change };
  }

  /** The text of a view of the profile under the filters that are on. */
  spec(change: Partial<Place>): string {
    const place = this.place(change);
    return specText({ ...specOf(place), focus: place.focus });
  }

  flatSpec(granularity: Place["granularity"]): string {
    return specText({ ...specOf(this.place({ granularity })), shape: "flat" });
  }

  toggle(at: number): void {
    this.to(toggleFilter(this.state, at));
  }
  remove(at: number): void {
    this.to(removeFilter(this.state, at));
  }
  move(from: number, to: number): void {
    this.to(moveFilter(this.state, from, to));
  }
  clear(): void {
    this.to(clearFilters(this.state));
  }
  toggleMine(): void {
    this.to(toggleMine(this.state));
  }
  undo(): void {
    this.to(undoFilters(this.state));
  }
  redo(): void {
    this.to(redoFilters(this.state));
  }

  add(op: "keep" | "drop" | "hide", name: string): void {
    this.to(addFilter(this.state, { op, by: "function", pattern: name }));
  }

  /** Asks for a filter, or for another text of one. */
  async ask(session: Session, at?: number): Promise<void> {
    const old = at === undefined ? undefined : this.chips[at];
    const text = await vscode.window.showInputBox({
      title: at === undefined ? vscode.l10n.t("Add a filter") : vscode.l10n.t("Edit a filter"),
      prompt: vscode.l10n.t("For example: drop module libc.so.6 · hide function /^std::/ · collapse recursion"),
      value: old === undefined ? "" : filterText(old.filter),
      validateInput: (value) => (value.trim() === "" ? undefined : problemOf(value)),
    });
    if (text === undefined || text.trim() === "") return;
    const clause = parseClause(text);
    if (!("filter" in clause)) return;
    const before = await this.warnings(session).catch((): string[] => []);
    this.to(at === undefined ? addFilter(this.state, clause.filter) : replaceFilter(this.state, at, clause.filter));
    // The daemon alone knows whether it matches anything.
    try {
      // Those of the profile itself stood there before.
      const warning = (await this.warnings(session)).find((said) => !before.includes(said));
      if (warning !== undefined) void showWarning(warning, { title: vscode.l10n.t("Undo"), run: () => this.undo() });
    } catch (error) {
      const message = explain(error);
      if (message !== undefined) void showWarning(message, { title: vscode.l10n.t("Undo"), run: () => this.undo() });
    }
  }

  private async warnings(session: Session): Promise<string[]> {
    const answer = await session.request(TableRequest, { spec: this.flatSpec("function"), limit: 1 });
    return answer.warnings ?? [];
  }

  private to(state: State): void {
    if (state === this.state) return;
    this.state = state;
    const kept: Kept[] = this.chips.map(({ filter, on }) => ({ clause: filterText(filter), on }));
    void this.memento.update(KEY, kept);
    void vscode.commands.executeCommand("setContext", CONTEXT.canUndo, state.undo.length > 0);
    void vscode.commands.executeCommand("setContext", CONTEXT.canRedo, state.redo.length > 0);
    this.changed.fire();
  }
}

/** A regular expression for one name. */
export function exactly(name: string): string {
  return `^${name.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")}$`;
}

function problemOf(text: string): string | undefined {
  try {
    return "filter" in parseClause(text)
      ? undefined
      : vscode.l10n.t("A filter begins with keep, drop, hide, collapse, thread, label or time, or is mine.");
  } catch (error) {
    return explain(error);
  }
}

function restored(kept: readonly Kept[]): State {
  const chips = kept.flatMap(({ clause, on }) => {
    try {
      const parsed = parseClause(clause);
      return "filter" in parsed ? [{ filter: parsed.filter, on }] : [];
    } catch {
      return []; // of another version
    }
  });
  const state = setFilters(INITIAL, []);
  return { ...state, undo: [], place: { ...state.place, chips } };
}
