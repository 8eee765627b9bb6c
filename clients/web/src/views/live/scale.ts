// Heights in lengths of the city: terraces of districts and blocks, and what 100 % is.
import type { City } from "./city.js";

/** From one terrace to the next. */
export const STEP = 0.42;

/** Level 0 is the root: its ground is that of the city. */
export const topOfDistrict = (level: number) => level * STEP;
/** `level` of a block: one more than that of its district. */
export const topOfBlock = (level: number) => level * STEP;

/** How high a method stands that runs all the time: readable from afar, and never a needle in a small city. */
export function fullHeight(city: City): number {
  const size = Math.sqrt(city.width * city.depth);
  return Math.max(6, Math.min(14 + size * 0.08, size * 0.42));
}

export const extentOf = (city: City) => ({ width: city.width, depth: city.depth, height: fullHeight(city) + STEP });
