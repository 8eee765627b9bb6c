// From box to box: where a key leads.
import { BoxFlag } from "../../../../shared/ts/psp.js";
import { childrenOf, type Layout } from "../../draw/layout.js";

export type Move = "out" | "in" | "left" | "right";

/** The box a move leads to; where there is none, the one it began at. */
export function moved(layout: Layout, at: number, move: Move): number {
  if (move === "out") return Math.max(0, layout.parent[at]!);
  if (move === "in") {
    // To the widest: where most of it goes.
    const widest = childrenOf(layout, at).reduce(
      (best, i) => (best < 0 || layout.w[i]! > layout.w[best]! ? i : best),
      -1,
    );
    return widest < 0 ? at : widest;
  }
  const row = layout.rowItems.subarray(layout.rowStart[layout.depth[at]!], layout.rowStart[layout.depth[at]! + 1]);
  return row[row.indexOf(at) + (move === "right" ? 1 : -1)] ?? at;
}

/** The next box of the picture that a search matches, in rows from left to right and round again; -1: there is none. */
export function nextMatch(layout: Layout, at: number, direction: "next" | "previous"): number {
  const matches = layout.rowItems.filter((i) => (layout.flags[i]! & BoxFlag.matched) !== 0);
  const here = matches.indexOf(at);
  const next = direction === "next" ? here + 1 : here < 0 ? matches.length - 1 : here - 1;
  return matches.at(next % Math.max(1, matches.length)) ?? -1;
}
