// The grid of a heat map: where its cells are on the screen, and in time.
import type { HeatMapResult } from "../../../../shared/ts/psp.js";
import type { Ink, Surface } from "../../draw/paint.js";
import type { Span } from "../../state/windows.js";

export interface Grid {
  readonly answer: HeatMapResult;
  readonly cellWidth: number;
  readonly cellHeight: number;
}

const LEAST_WIDTH = 3;
const MOST_WIDTH = 40;

/** How many columns there is room for. */
export const columnsIn = (width: number) => Math.max(10, Math.min(1200, Math.floor(width / LEAST_WIDTH)));

export function gridOf(answer: HeatMapResult, width: number, height: number): Grid {
  return {
    answer,
    cellWidth: Math.max(1, Math.min(MOST_WIDTH, Math.floor(width / answer.columns))),
    cellHeight: Math.max(4, Math.min(28, Math.floor(height / answer.rows))),
  };
}

export const widthOf = ({ answer, cellWidth }: Grid) => cellWidth * answer.columns;
export const heightOf = ({ answer, cellHeight }: Grid) => cellHeight * answer.rows;

/** Where a cell begins in time; of the one behind the last, where that ends. */
export function momentOf({ answer }: Grid, cell: number): number {
  const row = cell % answer.rows;
  return answer.from + Math.floor(cell / answer.rows) * answer.column + Math.ceil((answer.column * row) / answer.rows);
}

/** From the first of two cells to the last, in time. */
export function spanOf(grid: Grid, one: number, other: number): Span {
  return { from: momentOf(grid, Math.min(one, other)), to: momentOf(grid, Math.max(one, other) + 1) };
}

/** The nearest cell: time goes up. */
export function cellAt({ answer, cellWidth, cellHeight }: Grid, x: number, y: number): number {
  const column = Math.max(0, Math.min(answer.columns - 1, Math.floor(x / cellWidth)));
  const row = Math.max(0, Math.min(answer.rows - 1, answer.rows - 1 - Math.floor(y / cellHeight)));
  return column * answer.rows + row;
}

export function cornerOf({ answer, cellWidth, cellHeight }: Grid, cell: number): { x: number; y: number } {
  return {
    x: Math.floor(cell / answer.rows) * cellWidth,
    y: (answer.rows - 1 - (cell % answer.rows)) * cellHeight,
  };
}

export function paintGrid(
  grid: Grid,
  surface: Surface,
  look: {
    readonly ink: Ink;
    readonly color: string;
    readonly kept: Span | undefined;
    readonly cursor: number | undefined;
  },
): void {
  const { answer, cellWidth, cellHeight } = grid;
  const { ink } = look;
  const gapX = cellWidth > 4 ? 1 : 0;
  const gapY = cellHeight > 5 ? 1 : 0;
  surface.rect(0, 0, widthOf(grid), heightOf(grid), ink.faint);
  answer.values.forEach((value, cell) => {
    const { x, y } = cornerOf(grid, cell);
    const from = momentOf(grid, cell);
    // What the profile does not reach to.
    if (from >= answer.end || momentOf(grid, cell + 1) <= answer.begin) {
      surface.hatch(x, y, cellWidth, cellHeight, ink.hatch, ink.ground);
      return;
    }
    if (!(value > 0)) return;
    const inside = look.kept === undefined || (from >= look.kept.from && from < look.kept.to);
    const strength = Math.max(0.12, Math.sqrt(Math.min(1, value / Math.max(1e-300, answer.full))));
    surface.alpha(inside ? strength : strength * 0.3);
    surface.rect(x, y, cellWidth - gapX, cellHeight - gapY, ink.forced ? ink.edge : look.color);
    surface.alpha(1);
  });
  if (look.cursor !== undefined) {
    const { x, y } = cornerOf(grid, look.cursor);
    for (const [left, top, width, height] of [
      [x, y, cellWidth, 2],
      [x, y + cellHeight - 2, cellWidth, 2],
      [x, y, 2, cellHeight],
      [x + cellWidth - 2, y, 2, cellHeight],
    ] as const)
      surface.rect(left, top, width, height, ink.edge);
  }
}
