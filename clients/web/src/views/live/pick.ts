// What is under the pointer: rays against what stands, then against the plates. On the CPU, as nothing is read back.
import { STEP, topOfBlock, topOfDistrict } from "./scale.js";
import type { City } from "./city.js";
import type { Ray } from "./orbit.js";

export interface Hit {
  /** Rows; -1: none. */
  readonly plot: number;
  readonly block: number;
  readonly district: number;
}

export const NOTHING: Hit = { plot: -1, block: -1, district: -1 };

/** The plot of a block at a point of the ground; -1: between plots. Needs plots in the order of the block's places. */
function plotIn(city: City, places: Places, block: number, x: number, y: number): number {
  const { blocks, pitch, side } = city;
  const fx = (x - blocks.x0[block]!) / pitch;
  const fy = (y - blocks.y0[block]!) / pitch;
  const column = Math.floor(fx);
  const row = Math.floor(fy);
  if (column < 0 || row < 0 || column >= blocks.columns[block]!) return -1;
  if ((fx - column) * pitch > side || (fy - row) * pitch > side) return -1;
  return places.plot[places.start[block]! + row * blocks.columns[block]! + column] ?? -1;
}

/** Plots by block and place in it; -1 where none is. */
export interface Places {
  readonly start: Uint32Array;
  readonly plot: Int32Array;
}

export function placesOf(city: City): Places {
  const { blocks, plots, pitch } = city;
  const place = (row: number) => {
    const block = plots.block[row]!;
    const column = Math.round((plots.x[row]! - blocks.x0[block]!) / pitch);
    const line = Math.round((plots.y[row]! - blocks.y0[block]!) / pitch);
    return line * blocks.columns[block]! + column;
  };
  const room = new Uint32Array(blocks.count);
  for (let row = 0; row < plots.count; ++row) {
    const block = plots.block[row]!;
    if (block >= 0) room[block] = Math.max(room[block]!, place(row) + 1);
  }
  const start = new Uint32Array(blocks.count + 1);
  for (let block = 0; block < blocks.count; ++block) start[block + 1] = start[block]! + room[block]!;
  const plot = new Int32Array(start[blocks.count]!).fill(-1);
  for (let row = 0; row < plots.count; ++row) {
    const block = plots.block[row]!;
    if (block >= 0) plot[start[block]! + place(row)] = row;
  }
  return { start, plot };
}

const inRect = (rects: City["blocks"] | City["districts"], row: number, x: number, y: number) =>
  x >= rects.x[row]! && y >= rects.y[row]! && x <= rects.x[row]! + rects.w[row]! && y <= rects.y[row]! + rects.h[row]!;

/** What lies at a point, seen from above. */
export function hitOnMap(city: City, places: Places, x: number, y: number): Hit {
  let district = -1;
  for (let row = 0; row < city.districts.count; ++row)
    if (
      inRect(city.districts, row, x, y) &&
      (district < 0 || city.districts.level[row]! > city.districts.level[district]!)
    )
      district = row;
  for (let row = 0; row < city.blocks.count; ++row)
    if (inRect(city.blocks, row, x, y)) return { plot: plotIn(city, places, row, x, y), block: row, district };
  return { plot: -1, block: -1, district };
}

/** How far along a ray the box is met; Infinity: it is not. */
export function rayToBox(
  { from, to }: Ray,
  x0: number,
  y0: number,
  z0: number,
  x1: number,
  y1: number,
  z1: number,
): number {
  let enter = 0;
  let leave = Infinity;
  const low = [x0, y0, z0];
  const high = [x1, y1, z1];
  for (let axis = 0; axis < 3; ++axis) {
    const d = to[axis]!;
    if (Math.abs(d) < 1e-12) {
      if (from[axis]! < low[axis]! || from[axis]! > high[axis]!) return Infinity;
      continue;
    }
    const a = (low[axis]! - from[axis]!) / d;
    const b = (high[axis]! - from[axis]!) / d;
    enter = Math.max(enter, Math.min(a, b));
    leave = Math.min(leave, Math.max(a, b));
  }
  return enter <= leave ? enter : Infinity;
}

/** `rows`: plots that stand; `tops`: how high above their block, in lengths of the city. */
export function hitInCity(city: City, places: Places, rows: Uint32Array, tops: Float32Array, ray: Ray): Hit {
  const { plots, blocks, districts, side } = city;
  let nearest = Infinity;
  let plot = -1;
  for (let i = 0; i < rows.length; ++i) {
    const row = rows[i]!;
    const block = plots.block[row]!;
    if (block < 0) continue;
    const base = topOfBlock(blocks.level[block]!);
    const x = plots.x[row]!;
    const y = plots.y[row]!;
    const t = rayToBox(ray, x, y, base, x + side, y + side, base + tops[i]!);
    if (t < nearest) {
      nearest = t;
      plot = row;
    }
  }
  // Plates, each by its top: what is nearer hides what is behind it.
  let block = -1;
  let district = -1;
  let plateAt = nearest;
  const meets = (rects: City["blocks"] | City["districts"], row: number, z: number): number => {
    if (ray.to[2] >= -1e-9) return Infinity;
    const t = (z - ray.from[2]) / ray.to[2];
    if (t < 0 || t >= plateAt) return Infinity;
    return inRect(rects, row, ray.from[0] + ray.to[0] * t, ray.from[1] + ray.to[1] * t) ? t : Infinity;
  };
  for (let row = 0; row < blocks.count; ++row) {
    const t = meets(blocks, row, topOfBlock(blocks.level[row]!));
    if (t < plateAt) {
      plateAt = t;
      block = row;
    }
  }
  if (block >= 0) {
    const at = (axis: 0 | 1) => ray.from[axis] + ray.to[axis] * plateAt;
    return { plot: plotIn(city, places, block, at(0), at(1)), block, district: blocks.district[block]! };
  }
  if (plot >= 0) {
    const its = plots.block[plot]!;
    return { plot, block: its, district: blocks.district[its]! };
  }
  for (let row = 0; row < districts.count; ++row) {
    const t = meets(districts, row, topOfDistrict(districts.level[row]!));
    if (t < plateAt) {
      plateAt = t;
      district = row;
    }
  }
  return district < 0 ? NOTHING : { plot: -1, block: -1, district };
}

/** How high a box is that stands for nothing but a mark. */
export const MARK_HEIGHT = STEP * 0.5;
