// The filters of the side bar: what they are, in which order, which are on; with undo; a list for each profile. The
// steps themselves are those of the page (clients/web), which has the same list as chips.
import * as vscode from "vscode";
import { TableRequest, type Filter } from "../../shared/ts/psp.js";
import { START, filtersOf, specOf, startOf, type Chip, type Place } from "../../web/src/state/place.js";
import { chipsFrom, keptChips, keptSteps, stepsFrom, type KeptChip, type KeptSteps } from "../../web/src/state/kept.js";
import { filterText, parseClause, specText } from "../../web/src/state/spec.js";
import { isWindow } from "../../web/src/state/windows.js";
import {
  INITIAL,
  addFilter,
  clearFilters,
  moveFilter,
  redoFilters,
  removeFilter,
  replaceFilter,
  toggleFilter,
  toggleMine,
  undoFilters,
  type State,
} from "../../web/src/state/state.js";
import { CONTEXT } from "./ids.js";
import { explain, showWarning } from "./problems.js";
import type { Session } from "./session.js";

const KEY = "profd.filtersByProfile";
const MAX_PROFILES = 50;

interface Kept extends KeptSteps {
  readonly profile: string;
  readonly chips: readonly KeptChip[];
}

export class Filters {
  /** By profile, the one changed last at the end. */
  private readonly states: Map<string, State>;
  private current: string | undefined;
  private readonly changed = new vscode.EventEmitter<void>();
  /** What is listed is another: it was changed, or is of another profile. */
  readonly onDidChange = this.changed.event;
  private readonly edited = new vscode.EventEmitter<void>();
  /** The list of the profile in the code was changed. */
  readonly onDidEdit = this.edited.event;

  constructor(private readonly memento: vscode.Memento) {
    this.states = new Map(memento.get<readonly Kept[]>(KEY, []).map((kept) => [kept.profile, restored(kept)]));
  }

  /** Which profile the code shows: its URI. */
  follow(profile: string | undefined): void {
    const key = profile === undefined ? undefined : keyOf(profile);
    if (key === this.current) return;
    this.current = key;
    this.tell();
  }

  get chips(): readonly Chip[] {
    return this.state.place.chips;
  }

  /** Those that are on. */
  get on(): readonly Filter[] {
    return filtersOf(this.state.place);
  }

  /** Those that are on, as text, by the URI of their profile. */
  get clauses(): Readonly<Record<string, readonly string[]>> {
    const all = [...this.states].map(([uri, { place }]) => [uri, filtersOf(place).map(filterText)] as const);
    return Object.fromEntries(all.filter(([, clauses]) => clauses.length > 0));
  }

  /** A place in a page, with the list of its profile as its chips. */
  place(change: Partial<Place>): Place {
    const profile = change.profile ?? this.current;
    const { chips } = this.stateOf(profile).place;
    const { color, sort } = startOf(profile);
    return { ...START, color, sort, chips, ...change };
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

  /** The window of time that is kept of a profile, as text; none: all of it. */
  windowOf(profile: string): string | undefined {
    const chip = this.stateOf(profile).place.chips.find(({ filter, on }) => on && isWindow(filter));
    return chip && filterText(chip.filter);
  }

  /** A page of the profile keeps another window. */
  keepWindow(profile: string, text: string | undefined): void {
    const clause = text === undefined ? undefined : parseClause(text);
    if (text === this.windowOf(profile) || (clause !== undefined && !("filter" in clause && isWindow(clause.filter))))
      return;
    let state = this.stateOf(profile);
    for (const [i, { filter }] of [...state.place.chips.entries()].reverse())
      if (isWindow(filter)) state = removeFilter(state, i);
    if (clause !== undefined && "filter" in clause) state = addFilter(state, clause.filter);
    this.to(state, profile);
  }

  /** Asks for a filter, or for another text of one. */
  async ask(session: Session, at?: number): Promise<void> {
    const profile = this.current;
    if (profile === undefined) return;
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
    // The code shows another one by now, whose list is another.
    if (this.current !== profile) return;
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

  private get state(): State {
    return this.stateOf(this.current);
  }

  private stateOf(profile: string | undefined): State {
    return (profile === undefined ? undefined : this.states.get(keyOf(profile))) ?? INITIAL;
  }

  private to(state: State, profile = this.current): void {
    if (profile === undefined || state === this.stateOf(profile)) return;
    this.states.delete(keyOf(profile));
    this.states.set(keyOf(profile), state);
    for (const profile of [...this.states.keys()].slice(0, -MAX_PROFILES)) this.states.delete(profile);
    void this.memento.update(
      KEY,
      [...this.states].map(([profile, state]): Kept => ({
        profile,
        chips: keptChips(state.place.chips),
        ...keptSteps(state),
      })),
    );
    this.tell();
    this.edited.fire();
  }

  private tell(): void {
    void vscode.commands.executeCommand("setContext", CONTEXT.canUndo, this.state.undo.length > 0);
    void vscode.commands.executeCommand("setContext", CONTEXT.canRedo, this.state.redo.length > 0);
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

/** The editor and the daemon spell one URI in several ways. */
function keyOf(uri: string): string {
  return vscode.Uri.parse(uri).toString();
}

function restored({ chips, ...steps }: Kept): State {
  return { ...INITIAL, ...stepsFrom(steps), place: { ...INITIAL.place, chips: chipsFrom(chips) } };
}
