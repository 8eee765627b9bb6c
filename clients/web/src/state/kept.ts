// Lists of filters, with the way back through their changes, as texts that are kept where a page or a window is not.
import type { Chip } from "./place.js";
import { filterText, parseClause } from "./spec.js";
import type { State } from "./state.js";

export interface KeptChip {
  readonly clause: string;
  readonly on: boolean;
}

export interface KeptSteps {
  readonly undo: readonly (readonly KeptChip[])[];
  readonly redo: readonly (readonly KeptChip[])[];
}

export function keptChips(chips: readonly Chip[]): KeptChip[] {
  return chips.map(({ filter, on }) => ({ clause: filterText(filter), on }));
}

/** What another version kept and this one cannot read is left out. */
export function chipsFrom(kept: readonly KeptChip[]): Chip[] {
  return kept.flatMap(({ clause, on }) => {
    try {
      const parsed = parseClause(clause);
      return "filter" in parsed ? [{ filter: parsed.filter, on }] : [];
    } catch {
      return [];
    }
  });
}

export function keptSteps({ undo, redo }: Pick<State, "undo" | "redo">): KeptSteps {
  return { undo: undo.map(keptChips), redo: redo.map(keptChips) };
}

export function stepsFrom({ undo, redo }: KeptSteps): Pick<State, "undo" | "redo"> {
  return { undo: undo.map(chipsFrom), redo: redo.map(chipsFrom) };
}
