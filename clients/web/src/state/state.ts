// One readonly value and pure functions over it. Nothing here knows of the page, the daemon or the canvas.
import type { Filter, ViewShape } from "../../../shared/ts/psp.js";
import { isAggregate, isDiff } from "./compared.js";
import { START, startOf, type Chip, type Place, type ViewId } from "./place.js";
import { filterText } from "./spec.js";

export type Theme = "system" | "light" | "dark" | "contrast";
export type Palette = "standard" | "safe";

/** What a person likes; kept on this machine, not in the address. */
export interface Settings {
  readonly theme: Theme;
  readonly palette: Palette;
  readonly motion: boolean;
  readonly compact: boolean;
  readonly details: boolean;
  /** Names that do not fit keep their end. */
  readonly keepEnds: boolean;
  /** Instructions as AT&T writes them. */
  readonly att: boolean;
  /** Filters that were named to be used again. */
  readonly saved: readonly { readonly name: string; readonly clauses: readonly string[] }[];
}

export const SETTINGS: Settings = {
  theme: "system",
  palette: "standard",
  motion: true,
  compact: false,
  details: true,
  keepEnds: false,
  att: false,
  saved: [],
};

export interface State {
  readonly place: Place;
  readonly undo: readonly (readonly Chip[])[];
  readonly redo: readonly (readonly Chip[])[];
  readonly settings: Settings;
}

export const INITIAL: State = { place: START, undo: [], redo: [], settings: SETTINGS };

const MAX_UNDO = 100;

/** A change of the place that is no change of the filters. Another function has pieces of its own. */
export function go(state: State, change: Partial<Place>): State {
  const first = change.fn === undefined ? {} : { piece: 0 };
  const place = { ...state.place, ...first, ...change };
  return { ...state, place };
}

export function show(state: State, view: ViewId): State {
  return go(state, { view });
}

/** Another profile: what belongs to the old one alone is dropped, and how one looks stays. */
export function openPlace(state: State, profile: string | undefined, member = 1): State {
  const { granularity, order, color, upward, sort, changedOnly, panes, ofTotals } = state.place;
  const view = state.place.view === "open" ? "flame" : state.place.view;
  // What a diff or an aggregate is looked at by says nothing of another profile, and the other way round.
  const before = state.place.profile;
  const alike = isDiff(profile) === isDiff(before) && isAggregate(profile) === isAggregate(before);
  const looks = alike ? { color, sort, changedOnly, panes, ofTotals } : {};
  return {
    ...state,
    place: { ...startOf(profile, member), granularity, order, upward, view, ...looks },
    undo: [],
    redo: [],
  };
}

function withChips(state: State, chips: readonly Chip[]): State {
  const undo = [...state.undo, state.place.chips].slice(-MAX_UNDO);
  return { ...state, place: { ...state.place, chips }, undo, redo: [] };
}

export function addFilter(state: State, filter: Filter): State {
  const text = filterText(filter);
  const { chips } = state.place;
  // The same filter again switches it on, and twice the same says nothing more.
  const known = chips.findIndex((chip) => filterText(chip.filter) === text);
  if (known < 0) return withChips(state, [...chips, { filter, on: true }]);
  return chips[known]!.on ? state : toggleFilter(state, known);
}

/** "My code only", and back. */
export function toggleMine(state: State): State {
  const at = state.place.chips.findIndex((chip) => chip.filter.by === "mine");
  return at < 0 ? addFilter(state, { op: "collapse", by: "mine" }) : toggleFilter(state, at);
}

export function replaceFilter(state: State, at: number, filter: Filter): State {
  return withChips(
    state,
    state.place.chips.map((chip, i) => (i === at ? { ...chip, filter } : chip)),
  );
}

export function removeFilter(state: State, at: number): State {
  return withChips(
    state,
    state.place.chips.filter((_, i) => i !== at),
  );
}

export function toggleFilter(state: State, at: number): State {
  return withChips(
    state,
    state.place.chips.map((chip, i) => (i === at ? { ...chip, on: !chip.on } : chip)),
  );
}

export function moveFilter(state: State, from: number, to: number): State {
  const chips = [...state.place.chips];
  const moved = chips.splice(from, 1)[0];
  if (moved === undefined || to < 0 || to > chips.length || from === to) return state;
  chips.splice(to, 0, moved);
  return withChips(state, chips);
}

export function clearFilters(state: State): State {
  return state.place.chips.length === 0 ? state : withChips(state, []);
}

export function setFilters(state: State, filters: readonly Filter[]): State {
  return withChips(
    state,
    filters.map((filter) => ({ filter, on: true })),
  );
}

export function undoFilters(state: State): State {
  const chips = state.undo.at(-1);
  if (chips === undefined) return state;
  return {
    ...state,
    place: { ...state.place, chips },
    undo: state.undo.slice(0, -1),
    redo: [...state.redo, state.place.chips],
  };
}

export function redoFilters(state: State): State {
  const chips = state.redo.at(-1);
  if (chips === undefined) return state;
  return {
    ...state,
    place: { ...state.place, chips },
    undo: [...state.undo, state.place.chips],
    redo: state.redo.slice(0, -1),
  };
}

/** Other paths are another picture, too. */
export function setProven(state: State, proven: boolean): State {
  return state.place.proven === proven ? state : go(state, { proven, zoom: [] });
}

/** Another shape is another picture: the zoom of the old one leads nowhere in it. */
export function setShape(state: State, shape: ViewShape, focus: readonly string[] = state.place.focus): State {
  const { place } = state;
  if (place.shape === shape && place.focus.join("\0") === focus.join("\0")) return state;
  return go(state, { shape, focus, zoom: [] });
}

export function setSettings(state: State, change: Partial<Settings>): State {
  return { ...state, settings: { ...state.settings, ...change } };
}

/** Settings as they were kept, whatever has become of them since. */
export function settingsFrom(text: string | null): Settings {
  let kept: unknown;
  try {
    kept = JSON.parse(text ?? "{}");
  } catch {
    return SETTINGS;
  }
  if (typeof kept !== "object" || kept === null) return SETTINGS;
  const value = kept as Record<string, unknown>;
  const flag = (key: keyof Settings) => (typeof value[key] === "boolean" ? value[key] : (SETTINGS[key] as boolean));
  const saved = Array.isArray(value.saved) ? (value.saved as unknown[]) : [];
  return {
    theme: (["system", "light", "dark", "contrast"] as const).find((t) => t === value.theme) ?? SETTINGS.theme,
    palette: value.palette === "safe" ? "safe" : "standard",
    motion: flag("motion"),
    compact: flag("compact"),
    details: flag("details"),
    keepEnds: flag("keepEnds"),
    att: flag("att"),
    saved: saved.flatMap((item) => {
      const { name, clauses } = (item ?? {}) as { name?: unknown; clauses?: unknown };
      return typeof name === "string" && Array.isArray(clauses)
        ? [{ name, clauses: clauses.filter((c): c is string => typeof c === "string") }]
        : [];
    }),
  };
}
