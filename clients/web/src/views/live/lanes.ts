// What threads did, and what a session has been through, as shapes.
import type { LiveThreadRow } from "../../../../shared/ts/psp.js";

export const LANE = { width: 240, height: 14 } as const;

/** What a thread did in the pictures that are kept, as runs of one state. */
export function laneOf(
  past: readonly { readonly time: number; readonly threads: readonly LiveThreadRow[] }[],
  thread: number,
): { readonly state: string; readonly from: number; readonly to: number }[] {
  const out: { state: string; from: number; to: number }[] = [];
  for (let i = 1; i < past.length; ++i) {
    const state = past[i]!.threads.find((row) => row.thread === thread)?.state;
    if (state === undefined) continue;
    const [from, to] = [past[i - 1]!.time, past[i]!.time];
    const last = out.at(-1);
    if (last?.state === state && last.to === from) last.to = to;
    else out.push({ state, from, to });
  }
  return out;
}

export const STRIP = { width: 1000, height: 34 } as const;

/** `most`: the value that is as high as the strip. */
export function stripPath(busy: readonly number[], most: number): string {
  const step = STRIP.width / Math.max(1, busy.length);
  const y = (value: number) => (STRIP.height - 2 - (value / most) * (STRIP.height - 6)).toFixed(1);
  const points = busy.map(
    (value, i) => `L${(i * step).toFixed(1)} ${y(value)}L${((i + 1) * step).toFixed(1)} ${y(value)}`,
  );
  return `M0 ${STRIP.height}${points.join("")}L${STRIP.width} ${STRIP.height}Z`;
}
