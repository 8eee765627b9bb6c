// From what stands to what the scene draws, easing from picture to picture.
import { FLAG, type City, type Standing, type Versions } from "./city.js";
import { STEP, fullHeight, topOfBlock } from "./scale.js";
import { LOOK, type Boxes } from "./looks.js";

/** How high a box is that is there for its mark alone. */
export const MARK = STEP * 0.3;

export interface BoxSet extends Boxes {
  /** Rows of the city's plots. */
  readonly rows: Uint32Array;
  /** Where heights go. */
  readonly goal: Float32Array;
}

export type ColorBy = "heat" | "change";

export interface LookAt {
  readonly chosen: number;
  readonly hovered: number;
  /** Rows that match a search; undefined: none is on. */
  readonly matches: ReadonlySet<number> | undefined;
  readonly colorBy: ColorBy;
  /** Of a pair beside each other: heights of what is compared with. */
  readonly ofBefore: boolean;
  readonly versions?: Versions | undefined;
}

/** Boxes for these rows; those that `old` has too begin at the height that they have there. */
export function boxSetOf(city: City, rows: Uint32Array, old: BoxSet | undefined): BoxSet {
  const count = rows.length;
  const place = new Float32Array(count * 3);
  const height = new Float32Array(count);
  const at = new Map<number, number>();
  if (old !== undefined) for (let i = 0; i < old.count; ++i) at.set(old.rows[i]!, old.height[i]!);
  for (let i = 0; i < count; ++i) {
    const row = rows[i]!;
    const block = city.plots.block[row]!;
    place[i * 3] = city.plots.x[row]!;
    place[i * 3 + 1] = city.plots.y[row]!;
    place[i * 3 + 2] = block < 0 ? 0 : topOfBlock(city.blocks.level[block]!);
    height[i] = at.get(row) ?? 0;
  }
  return {
    count,
    rows,
    place,
    height,
    goal: new Float32Array(count),
    look: new Float32Array(count * 4),
  };
}

/** Sets where heights go and how boxes look. */
export function lookAt(city: City, standing: Standing, set: BoxSet, look: LookAt): void {
  const full = fullHeight(city);
  for (let i = 0; i < set.count; ++i) {
    const row = set.rows[i]!;
    const now = (look.ofBefore ? standing.before : standing.height)[row]! / 65535;
    const before = standing.before[row]! / 65535;
    const flags = look.ofBefore ? 0 : standing.flags[row]!;
    set.goal[i] = Math.max(MARK, now * full);
    const byChange = look.colorBy === "change";
    const compared = byChange && !look.ofBefore;
    // Orange more, blue less, by as much as a fifth of the window; the ramp has no change in its middle.
    const part = byChange ? 0.5 + 0.5 * Math.max(-1, Math.min(1, (now - before) / 0.2)) : now;
    let bits = 0;
    if ((flags & FLAG.waits) !== 0) bits |= LOOK.waits;
    if ((flags & FLAG.demoted) !== 0) bits |= LOOK.demoted;
    if (look.versions?.added[row] === 1 && !look.ofBefore) bits |= LOOK.added;
    if (look.versions?.gone[row] === 1) bits |= LOOK.gone;
    if (row === look.chosen) bits |= LOOK.chosen;
    if (row === look.hovered) bits |= LOOK.hovered;
    if (look.matches?.has(row) === false) bits |= LOOK.dimmed;
    set.look[i * 4] = part;
    set.look[i * 4 + 1] = bits;
    set.look[i * 4 + 2] = compared ? before * full : -1;
    set.look[i * 4 + 3] = full;
  }
}

const TIME = 90;

/** Goes on towards the goal; `ms` since the last picture, Infinity: at once. True: there is more to go. */
export function ease(set: BoxSet, ms: number): boolean {
  const part = Number.isFinite(ms) ? 1 - Math.exp(-ms / TIME) : 1;
  let more = false;
  for (let i = 0; i < set.count; ++i) {
    const step = set.goal[i]! - set.height[i]!;
    if (Math.abs(step) < 0.02 || part === 1) set.height[i] = set.goal[i]!;
    else {
      set.height[i]! += step * part;
      more = true;
    }
  }
  return more;
}
