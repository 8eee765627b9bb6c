// What is pointed at and what is chosen, drawn above the picture.
import { rowTop, visibleRows, type Frame } from "../../draw/paint.js";

export function paintOverlay(
  context: CanvasRenderingContext2D,
  frame: Frame,
  hovered: number,
  cursor: number,
  accent: string,
  text: string,
): void {
  const { layout, placed, rowHeight, width, height } = frame;
  context.clearRect(0, 0, width, height);
  const outline = (i: number, color: string, line: number) => {
    const x0 = Math.max(-2, placed.x[i]!);
    const x1 = Math.min(width + 2, placed.x[i]! + placed.w[i]!);
    const y = rowTop(frame, layout.depth[i]!);
    if (x1 < 0 || x0 > width || y + rowHeight < 0 || y > height) return;
    context.strokeStyle = color;
    context.lineWidth = line;
    context.strokeRect(x0 + line / 2, y + line / 2, Math.max(1, x1 - x0 - line - 0.5), rowHeight - 1 - line);
  };
  // All boxes of a function light up with the one that is pointed at.
  const shine = (name: number, color: string, alpha: number) => {
    const [low, high] = visibleRows(frame);
    context.globalAlpha = alpha;
    context.fillStyle = color;
    for (let i = 0; i < layout.boxes; ++i) {
      const row = layout.depth[i]!;
      if (layout.name[i] !== name || row < low || row > high || placed.w[i]! < 0.5) continue;
      context.fillRect(placed.x[i]!, rowTop(frame, row), Math.max(1, placed.w[i]! - 1), rowHeight - 1);
    }
    context.globalAlpha = 1;
  };
  if (hovered >= 0 && hovered < layout.boxes && layout.name[hovered]! >= 0) shine(layout.name[hovered]!, text, 0.16);
  if (hovered >= 0 && hovered < layout.size) outline(hovered, text, 1);
  if (cursor >= 0 && cursor < layout.size) outline(cursor, accent, 2);
}
