// The city from above, drawn in two dimensions: the same places, the same colours, the same marks. It says as much as the
// other one and needs no WebGL.
import { css, type Rgb } from "../../draw/colors.js";
import { LOOK, type Boxes } from "./looks.js";
import type { City } from "./city.js";
import type { CityPaints } from "./paints.js";

export interface MapAt {
  /** Middle of the picture. */
  readonly x: number;
  readonly y: number;
  /** Pixels of one length. */
  readonly scale: number;
}

export interface Frame {
  readonly width: number;
  readonly height: number;
}

export function mapHome(city: City, { width, height }: Frame): MapAt {
  const scale = Math.max(
    0.01,
    Math.min((width - 32) / Math.max(1, city.width), (height - 32) / Math.max(1, city.depth)),
  );
  return { x: city.width / 2, y: city.depth / 2, scale };
}

/** North is up. */
export const toMap = (at: MapAt, { width, height }: Frame, x: number, y: number): readonly [number, number] => [
  width / 2 + (x - at.x) * at.scale,
  height / 2 - (y - at.y) * at.scale,
];

export const fromMap = (at: MapAt, { width, height }: Frame, px: number, py: number): readonly [number, number] => [
  at.x + (px - width / 2) / at.scale,
  at.y - (py - height / 2) / at.scale,
];

export function mapKept(at: MapAt, city: City, frame: Frame): MapAt {
  const least = mapHome(city, frame).scale * 0.6;
  return {
    x: Math.min(city.width, Math.max(0, at.x)),
    y: Math.min(city.depth, Math.max(0, at.y)),
    scale: Math.min(90, Math.max(least, at.scale)),
  };
}

export function mapScaled(at: MapAt, factor: number, city: City, frame: Frame, px: number, py: number): MapAt {
  const [x, y] = fromMap(at, frame, px, py);
  const next = mapKept({ ...at, scale: at.scale * factor }, city, frame);
  const part = 1 - at.scale / next.scale;
  return mapKept({ x: at.x + (x - at.x) * part, y: at.y + (y - at.y) * part, scale: next.scale }, city, frame);
}

export interface MapColors {
  readonly paints: CityPaints;
  readonly ramp: readonly Rgb[];
  readonly mark: string;
}

/** Flat plots are drawn one by one from this many pixels on; below, their block has their colour. */
const LEAST_PLOT = 3;
/** Marks are drawn from this many pixels on. */
const LEAST_MARK = 5;

export function drawMap(
  context: CanvasRenderingContext2D,
  city: City,
  boxes: Boxes,
  rows: Uint32Array,
  at: MapAt,
  frame: Frame,
  { paints, ramp, mark }: MapColors,
): void {
  const { width, height } = frame;
  context.fillStyle = css(paints.ground);
  context.fillRect(0, 0, width, height);
  const put = (x: number, y: number, w: number, h: number) => {
    const [left, bottom] = toMap(at, frame, x, y);
    const [right, top] = toMap(at, frame, x + w, y + h);
    if (right < 0 || left > width || bottom < 0 || top > height) return undefined;
    const x0 = Math.round(left);
    const y0 = Math.round(top);
    return { x: x0, y: y0, w: Math.max(1, Math.round(right) - x0), h: Math.max(1, Math.round(bottom) - y0) };
  };
  const { districts, blocks, plots, side } = city;
  // Parents come first.
  for (let row = 0; row < districts.count; ++row) {
    const box = put(districts.x[row]!, districts.y[row]!, districts.w[row]!, districts.h[row]!);
    if (box === undefined) continue;
    context.fillStyle = css(paints.district(districts.level[row]!));
    context.fillRect(box.x, box.y, box.w, box.h);
    if (box.w > 12 && box.h > 12) {
      context.lineWidth = 1;
      context.strokeStyle = css(paints.line);
      context.globalAlpha = 0.35;
      context.strokeRect(box.x + 0.5, box.y + 0.5, box.w - 1, box.h - 1);
      context.globalAlpha = 1;
    }
  }
  const plain = side * at.scale >= LEAST_PLOT;
  const plotColor = css(paints.plot);
  const blockColor = css(paints.block);
  for (let row = 0; row < blocks.count; ++row) {
    const box = put(blocks.x[row]!, blocks.y[row]!, blocks.w[row]!, blocks.h[row]!);
    if (box === undefined) continue;
    context.fillStyle = blockColor;
    context.fillRect(box.x, box.y, box.w, box.h);
    context.fillStyle = plotColor;
    if (!plain) {
      if (box.w > 3 && box.h > 3) context.fillRect(box.x + 1, box.y + 1, box.w - 2, box.h - 2);
      continue;
    }
    const columns = blocks.columns[row]!;
    for (let i = 0; i < blocks.plots[row]!; ++i) {
      const spot = put(
        blocks.x0[row]! + (i % columns) * city.pitch,
        blocks.y0[row]! + Math.floor(i / columns) * city.pitch,
        side,
        side,
      );
      if (spot !== undefined) context.fillRect(spot.x, spot.y, spot.w, spot.h);
    }
  }
  const fills = ramp.map(css);
  for (let i = 0; i < boxes.count; ++i) {
    const row = rows[i]!;
    const box = put(plots.x[row]!, plots.y[row]!, side, side);
    if (box === undefined) continue;
    // What is too small to be seen is drawn a little larger: hot spots are what one looks for.
    if (box.w < 3) {
      box.x -= 1;
      box.y -= 1;
      box.w = box.h = 3;
    }
    const look = boxes.look[i * 4 + 1]!;
    const has = (bit: number) => (look & bit) !== 0;
    context.globalAlpha = has(LOOK.dimmed) ? 0.2 : 1;
    context.fillStyle = fills[Math.round(Math.min(1, Math.max(0, boxes.look[i * 4]!)) * (fills.length - 1))]!;
    context.fillRect(box.x, box.y, box.w, box.h);
    if (box.w >= LEAST_MARK && (has(LOOK.waits) || has(LOOK.demoted) || has(LOOK.added) || has(LOOK.gone))) {
      context.save();
      context.beginPath();
      context.rect(box.x, box.y, box.w, box.h);
      context.clip();
      context.strokeStyle = mark;
      context.lineWidth = Math.max(1, box.w / 12);
      context.beginPath();
      const step = Math.max(3, box.w / 4);
      for (let d = -box.h; d < box.w; d += step) {
        if (!has(LOOK.waits) && !has(LOOK.demoted)) break;
        context.moveTo(box.x + d, box.y + box.h);
        context.lineTo(box.x + d + box.h, box.y);
        if (!has(LOOK.demoted)) continue;
        context.moveTo(box.x + d, box.y);
        context.lineTo(box.x + d + box.h, box.y + box.h);
      }
      context.stroke();
      if (has(LOOK.added)) {
        context.lineWidth = Math.max(2, box.w / 6);
        context.strokeRect(box.x, box.y, box.w, box.h);
      }
      if (has(LOOK.gone)) {
        context.beginPath();
        context.moveTo(box.x, box.y);
        context.lineTo(box.x + box.w, box.y + box.h);
        context.moveTo(box.x, box.y + box.h);
        context.lineTo(box.x + box.w, box.y);
        context.stroke();
      }
      context.restore();
    }
    context.globalAlpha = 1;
    if (has(LOOK.chosen) || has(LOOK.hovered)) {
      context.strokeStyle = css(paints.chosen);
      context.lineWidth = has(LOOK.chosen) ? 3 : 2;
      context.strokeRect(box.x - 1.5, box.y - 1.5, box.w + 3, box.h + 3);
    }
  }
}
