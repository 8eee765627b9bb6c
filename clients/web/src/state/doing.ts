// What can be done with a frame, wherever it is shown: the same menu everywhere.
import type { Filter } from "../../../shared/ts/psp.js";
import { addFilter, go, setShape, type State } from "./state.js";

export interface Deed {
  readonly id: string;
  readonly text: string;
  readonly keys?: string;
  readonly apply: (state: State) => State;
}

const byName = (op: Filter["op"], name: string): Filter => ({ op, by: "function", pattern: name });

/** Filters are by function names; in a view of files or modules the names are those. */
function filterBy(state: State, op: Filter["op"], name: string): Filter {
  const { granularity } = state.place;
  if (granularity === "file" || granularity === "module") return { op, by: granularity, pattern: name };
  return byName(op, name);
}

/** `frames`: from below the root to the frame; empty where it was chosen in a list. */
export function deedsOf(state: State, name: string, frames: readonly string[], module: string | undefined): Deed[] {
  const functions = state.place.granularity === "function";
  const deeds: Deed[] = [
    {
      id: "callers",
      text: "Callers of it",
      keys: "c",
      apply: (s) => go(setShape(s, "callers", [name]), { view: "flame" }),
    },
    {
      id: "callees",
      text: "Callees of it",
      keys: "C",
      apply: (s) => go(setShape(s, "callees", [name]), { view: "flame" }),
    },
    { id: "sandwich", text: "Callers and callees side by side", apply: (s) => go(s, { view: "sandwich", fn: name }) },
  ];
  if (functions && frames.length > 1)
    deeds.push({
      id: "path",
      text: "Keep only stacks with this path",
      keys: "f",
      apply: (s) => addFilter(s, { op: "keep", by: "fragment", frames: [...frames] }),
    });
  deeds.push(
    { id: "keep", text: "Keep only stacks with it", apply: (s) => addFilter(s, filterBy(s, "keep", name)) },
    { id: "drop", text: "Drop stacks with it", keys: "X", apply: (s) => addFilter(s, filterBy(s, "drop", name)) },
    {
      id: "hide",
      text: "Hide it, its value stays on the caller",
      keys: "x",
      apply: (s) => addFilter(s, filterBy(s, "hide", name)),
    },
    {
      id: "collapse",
      text: "Collapse recursion",
      keys: "z",
      apply: (s) => addFilter(s, { op: "collapse", by: "recursion" }),
    },
  );
  if (module !== undefined && module !== "")
    deeds.push(
      {
        id: "keep-module",
        text: `Keep only stacks with module ${module}`,
        apply: (s) => addFilter(s, { op: "keep", by: "module", pattern: module }),
      },
      {
        id: "hide-module",
        text: `Hide module ${module}`,
        apply: (s) => addFilter(s, { op: "hide", by: "module", pattern: module }),
      },
      {
        id: "collapse-module",
        text: `Collapse module ${module}`,
        apply: (s) => addFilter(s, { op: "collapse", by: "module", pattern: module }),
      },
    );
  return deeds;
}
