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

/** Index 0: lines that are stale; index n: those of level n. Only lines in `from` to `to`. */
export function byLevel(lines: AnnotationColumns, from: number, to: number): HeatedLine[][] {
  const levels: HeatedLine[][] = Array.from({ length: LEVELS + 1 }, () => []);
  lines.line.forEach((line, i) => {
    if (line < from || line > to) return;
    const level = lines.stale[i] === true ? 0 : levelOf(lines.heat[i] ?? 0);
    levels[level]?.push({ line, text: lines.text[i] ?? "" });
  });
  return levels;
}

/** The next line after (or before) one, going round; undefined: there is none. */
export function stepFrom(lines: readonly number[], line: number, forward: boolean): number | undefined {
  const sorted = [...lines].sort((a, b) => a - b);
  if (!forward) sorted.reverse();
  return sorted.find((other) => (forward ? other > line : other < line)) ?? sorted[0];
}
