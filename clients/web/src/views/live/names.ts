// Sessions by address, methods by words.
import type { City } from "./city.js";

export const LIVE = "live://";

/** The session that an address names: `live://live-1`, or a part of it. */
export const sessionOf = (uri: string | undefined): string | undefined =>
  uri?.startsWith(LIVE) === true ? uri.slice(LIVE.length).split(/[?#]/)[0] : undefined;

/** Rows of which the name or the class holds all the words. */
export function matchesOf(city: City | undefined, search: string): readonly number[] | undefined {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (city === undefined || words.length === 0) return undefined;
  const blocks = city.blocks.name.map((name) => name.toLowerCase());
  const out: number[] = [];
  for (let row = 0; row < city.plots.count; ++row) {
    const name = `${blocks[city.plots.block[row]!] ?? ""}.${city.plots.name[row]!.toLowerCase()}`;
    if (words.every((word) => name.includes(word))) out.push(row);
  }
  return out;
}
