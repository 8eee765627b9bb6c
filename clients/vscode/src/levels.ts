// Lines by how strongly they are drawn. Pure: what an answer of the daemon becomes on the screen.
import type { AnnotationColumns } from "../../shared/ts/psp.js";

export const LEVELS = 10;

export interface HeatedLine {
  readonly line: number;
  readonly text: string;
}

/** Which of the equally wide steps a part of 1 is on, from 1. */
export function levelOf(part: number): number {
  return Math.min(LEVELS, Math.max(1, Math.ceil(part * LEVELS)));
}

/** Lines by how they are drawn; in each list index n is level n, 0 is empty. */
export interface Drawn {
  readonly stale: readonly HeatedLine[];
  /** Hot; in a diff, more. */
  readonly hot: readonly (readonly HeatedLine[])[];
  /** In a diff: less. */
  readonly less: readonly (readonly HeatedLine[])[];
  /** In a diff: the same, or within noise. */
  readonly quiet: readonly HeatedLine[];
}

/** Only lines in `from` to `to`. */
export function drawnLines(lines: AnnotationColumns, from: number, to: number): Drawn {
  const make = (): HeatedLine[][] => Array.from({ length: LEVELS + 1 }, () => []);
  const stale: HeatedLine[] = [];
  const quiet: HeatedLine[] = [];
  const hot = make();
  const less = make();
  lines.line.forEach((line, i) => {
    if (line < from || line > to) return;
    const change = lines.strength?.[i];
    const drawn = { line, text: lines.text[i] ?? "" };
    // The lines of a diff are of two texts, and often not certain: their texts say so, and colour says which way.
    if (lines.stale[i] === true && change === undefined) stale.push(drawn);
    else if (change === 0) quiet.push(drawn);
    else
      (change !== undefined && change < 0 ? less : hot)[levelOf(Math.abs(change ?? lines.heat[i] ?? 0))]?.push(drawn);
  });
  return { stale, hot, less, quiet };
}

/** The next line after (or before) one, going round; undefined: there is none. */
export function stepFrom(lines: readonly number[], line: number, forward: boolean): number | undefined {
  const sorted = [...lines].sort((a, b) => a - b);
  if (!forward) sorted.reverse();
  return sorted.find((other) => (forward ? other > line : other < line)) ?? sorted[0];
}
