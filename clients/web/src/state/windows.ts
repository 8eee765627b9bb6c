// Windows of time as filters: the one that is kept, another one in its place, and two of them to be compared.
import type { Filter } from "../../../shared/ts/psp.js";
import type { Chip } from "./place.js";
import { filterText } from "./spec.js";
import { addFilter, removeFilter, type State } from "./state.js";

export interface Span {
  readonly from: number;
  readonly to: number;
}

export const isWindow = (filter: Filter) => filter.by === "time" && filter.op === "keep" && filter.every === undefined;

/** Filters of all but the window, which is drawn over the picture and not cut out of it. */
export const withoutWindows = (filters: readonly Filter[]) => filters.filter((filter) => !isWindow(filter));

/** The window that the filters keep, where one does; with `all` for an end that is open. */
export function keptOf(chips: readonly Chip[], all: Span): Span | undefined {
  const chip = chips.find(({ filter, on }) => on && isWindow(filter));
  if (chip === undefined) return undefined;
  const from = Math.max(all.from, chip.filter.from ?? all.from);
  const to = Math.min(all.to, chip.filter.to ?? all.to);
  return from < to ? { from, to } : undefined;
}

export const windowOf = ({ from, to }: Span): Filter => ({ op: "keep", by: "time", from, to });

/** The window in place of all that are kept; undefined: none. */
export function keepWindow(state: State, window: Span | undefined): State {
  let next = state;
  for (let i = state.place.chips.length - 1; i >= 0; --i)
    if (isWindow(state.place.chips[i]!.filter)) next = removeFilter(next, i);
  return window === undefined ? next : addFilter(next, windowOf(window));
}

/** What one side of a comparison of windows keeps: the filters that are on, and the window. What only a workspace decides
 * is no part of a file, so that it is left out. */
export function sideFilter(filters: readonly Filter[], window: Filter): string {
  const own = withoutWindows(filters).filter(({ by }) => by !== "mine" && by !== "kind" && by !== "work");
  return [...own, window].map(filterText).join(" | ");
}
