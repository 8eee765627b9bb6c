// What is pointed at and what is chosen, drawn above the picture; with either, all boxes of the same function.
import { rowTop, visibleRows, type Frame } from "../../draw/paint.js";

/** Narrower boxes are too small for an outline. */
const OUTLINED = 3;

export function paintOverlay(
  context: CanvasRenderingContext2D,
  frame: Frame,
  hovered: number,
  cursor: number,
  accent: string,
  text: string,
): void {
  const { layout, placed, rowHeight, width, height } = frame;
  const outline = (i: number, color: string, line: number) => {
    const x0 = Math.max(-2, placed.x[i]!);
    const x1 = Math.min(width + 2, placed.x[i]! + placed.w[i]!);
    const y = rowTop(frame, layout.depth[i]!);
    if (x1 < 0 || x0 > width || y + rowHeight < 0 || y > height) return;
    context.strokeStyle = color;
    context.lineWidth = line;
    context.strokeRect(x0 + line / 2, y + line / 2, Math.max(1, x1 - x0 - line - 0.5), rowHeight - 1 - line);
  };
  const [low, high] = visibleRows(frame);
  const sameFunction = (item: number, least: number, draw: (i: number) => void) => {
    if (item < 0 || item >= layout.boxes) return;
    const name = layout.name[item];
    for (let i = 0; i < layout.boxes; ++i)
      if (layout.name[i] === name && layout.depth[i]! >= low && layout.depth[i]! <= high && placed.w[i]! >= least)
        draw(i);
  };
  context.globalAlpha = 0.16;
  context.fillStyle = text;
  sameFunction(hovered, 0.5, (i) =>
    context.fillRect(placed.x[i]!, rowTop(frame, layout.depth[i]!), Math.max(1, placed.w[i]! - 1), rowHeight - 1),
  );
  context.globalAlpha = 1;
  if (hovered >= 0 && hovered < layout.size) outline(hovered, text, 1);
  sameFunction(cursor, OUTLINED, (i) => outline(i, accent, 1));
  if (cursor >= 0 && cursor < layout.size) outline(cursor, accent, 2);
}
