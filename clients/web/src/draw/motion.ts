// From the picture on the screen to the next one: boxes that both have glide, new ones unfold inside their parents.
import { join, type Layout } from "./layout.js";

/** Left edges and widths in pixels. */
export interface Placed {
  readonly x: Float64Array;
  readonly w: Float64Array;
}

export interface Motion {
  readonly from: Placed;
  /** 1: the item was on the screen before; 0: it fades in. */
  readonly known: Uint8Array;
  readonly start: number;
  readonly duration: number;
}

/** `seen`: where the items of `before` are on the screen now. `goal`: where those of `after` will be. */
export function motionBetween(
  before: Layout,
  seen: Placed,
  after: Layout,
  goal: Placed,
  start: number,
  duration: number,
): Motion {
  const same = join(before, after);
  const x = new Float64Array(after.size);
  const w = new Float64Array(after.size);
  const known = new Uint8Array(after.size);
  for (let i = 0; i < after.size; ++i) {
    const old = same[i]!;
    if (old >= 0) {
      x[i] = seen.x[old]!;
      w[i] = seen.w[old]!;
      known[i] = 1;
      continue;
    }
    const parent = after.parent[i]!;
    const room = parent >= 0 ? goal.w[parent]! : 0;
    if (parent < 0 || room <= 0) {
      x[i] = goal.x[i]!;
      w[i] = goal.w[i]!;
      continue;
    }
    // Parents come before their children; remainders after all boxes.
    const scale = w[parent]! / room;
    x[i] = x[parent]! + (goal.x[i]! - goal.x[parent]!) * scale;
    w[i] = goal.w[i]! * scale;
  }
  return { from: { x, w }, known, start, duration };
}

/** Where items are at `t` of the way, written to `out`. */
export function along(motion: Motion, goal: Placed, t: number, out: Placed): void {
  for (let i = 0; i < goal.x.length; ++i) {
    out.x[i] = motion.from.x[i]! + (goal.x[i]! - motion.from.x[i]!) * t;
    out.w[i] = motion.from.w[i]! + (goal.w[i]! - motion.from.w[i]!) * t;
  }
}
