// The city as typed arrays, and how high its methods stand. Lengths are sides of a plot; x to the right, y away.
import type { LiveCityResult, LiveMethods } from "../../../../shared/ts/psp.js";

export const FLAG = { runs: 1, open: 2, waits: 4, demoted: 8 } as const;
export interface Rects {
  readonly count: number;
  readonly x: Float32Array;
  readonly y: Float32Array;
  readonly w: Float32Array;
  readonly h: Float32Array;
}

export interface Districts extends Rects {
  readonly name: readonly string[];
  readonly label: readonly string[];
  /** Row; -1: none. */
  readonly parent: Int32Array;
  readonly level: Uint8Array;
}

export interface Blocks extends Rects {
  readonly name: readonly string[];
  readonly label: readonly string[];
  readonly district: Int32Array;
  /** How deep its district lies, from 1. */
  readonly level: Uint8Array;
  /** Bottom left of its first plot, plots in a row, plots. */
  readonly x0: Float32Array;
  readonly y0: Float32Array;
  readonly columns: Uint16Array;
  readonly plots: Uint32Array;
}

export interface Plots {
  readonly count: number;
  /** 0: only the version before has it. */
  readonly id: Uint32Array;
  /** In a city of two versions, in the one before; 0: that does not have it. */
  readonly before: Uint32Array;
  readonly block: Int32Array;
  readonly x: Float32Array;
  readonly y: Float32Array;
  readonly name: readonly string[];
  readonly signature: readonly string[];
}

export interface City {
  readonly layout: number;
  readonly width: number;
  readonly depth: number;
  /** From plot to plot. */
  readonly pitch: number;
  readonly side: number;
  readonly districts: Districts;
  readonly blocks: Blocks;
  readonly plots: Plots;
  /** Rows of plots by id of the method. */
  readonly rowOf: ReadonlyMap<number, number>;
  /** The same by ids of the version before. */
  readonly rowOfBefore: ReadonlyMap<number, number>;
  /** Stands between a class and its method. */
  readonly separator: string;
}

const floats = (values: readonly number[]) => Float32Array.from(values);

/** Puts what is new or lies elsewhere into what was known; columns are by `id` of the rows. */
function merged<T extends Readonly<Record<string, readonly unknown[] | undefined>>>(
  old: T | undefined,
  now: T,
  key: string,
): T {
  if (old === undefined) return now;
  const ids = old[key] as readonly number[];
  const at = new Map(ids.map((id, row) => [id, row]));
  const rows = (now[key] as readonly number[]).map((id) => {
    let row = at.get(id);
    if (row === undefined) at.set(id, (row = at.size));
    return row;
  });
  const out: Record<string, unknown[]> = {};
  for (const [name, column] of Object.entries(now)) {
    if (column === undefined) continue;
    const values = [...(old[name] ?? [])] as unknown[];
    rows.forEach((row, i) => (values[row] = column[i]));
    out[name] = values;
  }
  return out as unknown as T;
}

/** What the daemon has told of a city so far. */
export function joinCity(old: LiveCityResult | undefined, now: LiveCityResult): LiveCityResult {
  if (now.key || old === undefined) return now;
  type Columns = Readonly<Record<string, readonly unknown[] | undefined>>;
  const join = <T extends object>(a: T, b: T) => merged(a as Columns, b as Columns, "id") as unknown as T;
  return {
    ...now,
    districts: join(old.districts, now.districts),
    blocks: join(old.blocks, now.blocks),
    plots: join(old.plots, now.plots),
  };
}

/** As people of a language write it. */
export const separatorOf = (language: string | undefined): string =>
  language === "c" || language === "cpp" ? "::" : ".";

function rowsById(ids: Uint32Array): Map<number, number> {
  const rows = new Map<number, number>();
  ids.forEach((id, row) => {
    if (id !== 0) rows.set(id, row);
  });
  return rows;
}

export function cityOf(answer: LiveCityResult, separator = "."): City {
  const { districts, blocks, plots } = answer;
  const districtRow = new Map(districts.id.map((id, row) => [id, row]));
  const blockRow = new Map(blocks.id.map((id, row) => [id, row]));
  const parent = Int32Array.from(districts.parent, (id) => districtRow.get(id) ?? -1);
  const level = new Uint8Array(districts.id.length);
  // Parents come first.
  for (let row = 0; row < level.length; ++row)
    level[row] = parent[row]! < 0 || parent[row]! >= row ? 0 : Math.min(255, level[parent[row]!]! + 1);

  const count = plots.id.length;
  const x = floats(plots.x);
  const y = floats(plots.y);
  const side = plots.w[0] ?? 1;
  const block = Int32Array.from(plots.block, (id) => blockRow.get(id) ?? -1);
  const ofBlock = Int32Array.from(blocks.district, (id) => districtRow.get(id) ?? -1);
  const n = blocks.id.length;
  const x0 = new Float32Array(n).fill(Infinity);
  const y0 = new Float32Array(n).fill(Infinity);
  const x1 = new Float32Array(n).fill(-Infinity);
  const inBlock = new Uint32Array(n);
  let pitch = Infinity;
  const last = new Int32Array(n).fill(-1);
  for (let row = 0; row < count; ++row) {
    const at = block[row]!;
    if (at < 0) continue;
    x0[at] = Math.min(x0[at]!, x[row]!);
    y0[at] = Math.min(y0[at]!, y[row]!);
    x1[at] = Math.max(x1[at]!, x[row]!);
    inBlock[at]! += 1;
    const before = last[at]!;
    if (before >= 0)
      for (const step of [Math.abs(x[row]! - x[before]!), Math.abs(y[row]! - y[before]!)])
        if (step > side * 0.5 && step < pitch) pitch = step;
    last[at] = row;
  }
  if (!Number.isFinite(pitch)) pitch = (side * 4) / 3;
  const columns = new Uint16Array(n);
  for (let at = 0; at < n; ++at)
    columns[at] = inBlock[at] === 0 ? 1 : Math.min(65535, Math.max(1, Math.round((x1[at]! - x0[at]!) / pitch) + 1));
  const id = Uint32Array.from(plots.id);
  const idBefore = Uint32Array.from(plots.idBefore ?? new Array<number>(count).fill(0));
  return {
    layout: answer.layout,
    width: answer.width,
    depth: answer.depth,
    pitch,
    side,
    districts: {
      count: districts.id.length,
      x: floats(districts.x),
      y: floats(districts.y),
      w: floats(districts.w),
      h: floats(districts.h),
      name: districts.name,
      label: districts.label,
      parent,
      level,
    },
    blocks: {
      count: n,
      x: floats(blocks.x),
      y: floats(blocks.y),
      w: floats(blocks.w),
      h: floats(blocks.h),
      name: blocks.name,
      label: blocks.label,
      district: ofBlock,
      level: Uint8Array.from(ofBlock, (row) => (row < 0 ? 0 : Math.min(255, level[row]! + 1))),
      x0,
      y0,
      columns,
      plots: inBlock,
    },
    plots: { count, id, before: idBefore, block, x, y, name: plots.name, signature: plots.signature },
    rowOf: rowsById(id),
    rowOfBefore: rowsById(idBefore),
    separator,
  };
}

/** How high methods stand, by row of the city's plots. Heights are of 65535. */
export interface Standing {
  readonly height: Uint16Array;
  readonly threads: Uint32Array;
  readonly flags: Uint8Array;
  /** Heights in the version before, or in what is compared with. */
  readonly before: Uint16Array;
}

export const noneStanding = (count: number): Standing => ({
  height: new Uint16Array(count),
  threads: new Uint32Array(count),
  flags: new Uint8Array(count),
  before: new Uint16Array(count),
});

/** Takes over what a picture says. `key`: what it does not name stands at 0. Gives how many it names that have no plot yet. */
export function apply(city: City, standing: Standing, methods: LiveMethods, key: boolean): number {
  if (key) {
    standing.height.fill(0);
    standing.threads.fill(0);
    standing.flags.fill(0);
  }
  let homeless = 0;
  for (let i = 0; i < methods.id.length; ++i) {
    const row = city.rowOf.get(methods.id[i]!);
    if (row === undefined) {
      homeless += 1;
      continue;
    }
    standing.height[row] = methods.height[i]!;
    standing.threads[row] = methods.threads[i]!;
    standing.flags[row] = methods.flags[i]!;
  }
  return homeless;
}

/** What is compared with: heights by row, of this or another session. `rowOf`: rows by id there. */
export function applyBefore(standing: Standing, methods: LiveMethods, rowOf: ReadonlyMap<number, number>): void {
  standing.before.fill(0);
  for (let i = 0; i < methods.id.length; ++i) {
    const row = rowOf.get(methods.id[i]!);
    if (row !== undefined) standing.before[row] = methods.height[i]!;
  }
}

/** What became of the methods of a city of two versions, by row. */
export interface Versions {
  /** The version before does not have it. */
  readonly added: Uint8Array;
  /** Only the version before has it. */
  readonly gone: Uint8Array;
}

export function versionsOf({ plots }: City): Versions {
  return {
    added: Uint8Array.from(plots.before, (id) => (id === 0 ? 1 : 0)),
    gone: Uint8Array.from(plots.id, (id) => (id === 0 ? 1 : 0)),
  };
}

/** `[A] ` before what is new, `[D] ` before what is gone. */
export const versionMark = (versions: Versions | undefined, row: number): string =>
  versions?.added[row] === 1 ? "[A] " : versions?.gone[row] === 1 ? "[D] " : "";

/** After another layout: each method keeps what is known of it. */
export function carried(old: City, standing: Standing, city: City): Standing {
  const out = noneStanding(city.plots.count);
  for (let row = 0; row < city.plots.count; ++row) {
    const from = old.rowOf.get(city.plots.id[row]!) ?? old.rowOfBefore.get(city.plots.before[row]!);
    if (from === undefined) continue;
    out.height[row] = standing.height[from]!;
    out.threads[row] = standing.threads[from]!;
    out.flags[row] = standing.flags[from]!;
    out.before[row] = standing.before[from]!;
  }
  return out;
}

/** Rows that are drawn as boxes: what stands, what is marked, what is chosen. */
export function standingRows(
  city: City,
  standing: Standing,
  more: readonly number[],
  versions?: Versions,
): Uint32Array {
  const out: number[] = [];
  const { height, before, flags } = standing;
  const { count } = city.plots;
  for (let row = 0; row < count; ++row)
    if (
      height[row] !== 0 ||
      before[row] !== 0 ||
      versions?.added[row] === 1 ||
      versions?.gone[row] === 1 ||
      (flags[row]! & (FLAG.demoted | FLAG.waits | FLAG.runs)) !== 0 ||
      more.includes(row)
    )
      out.push(row);
  return Uint32Array.from(out);
}

/** As the daemon writes shares: one decimal, and the ends only when exact. */
export function shareText(height: number): string {
  if (height <= 0) return "0 %";
  if (height >= 65535) return "100 %";
  const percent = (height / 65535) * 100;
  if (percent < 0.1) return "<0.1 %";
  return `${Math.min(99.9, percent).toFixed(1)} %`;
}

/** A share's change, with its sign. */
export function changeText(before: number, after: number): string {
  const points = ((after - before) / 65535) * 100;
  if (after === before) return "[=] same";
  const size = Math.abs(points) < 0.1 ? "<0.1" : Math.abs(points).toFixed(1);
  return points > 0 ? `[+] +${size} points` : `[-] \u2212${size} points`;
}

/** Class and method as on a map: `Board.drop`. */
export function shortName(city: City, row: number): string {
  const block = city.plots.block[row]!;
  const label = block < 0 ? "" : (city.blocks.label[block] ?? "");
  const name = city.plots.name[row] ?? "";
  return label === "" ? name : `${label}${city.separator}${name}`;
}

export function wholeName(city: City, row: number): string {
  const block = city.plots.block[row]!;
  let name = block < 0 ? "" : (city.blocks.name[block] ?? "");
  // Functions outside of classes have a block without a name, in their package.
  if (name.endsWith(city.separator)) name = name.slice(0, -city.separator.length);
  return name === "" ? (city.plots.name[row] ?? "") : `${name}${city.separator}${city.plots.name[row] ?? ""}`;
}

/** As a person reads it; where it is not known, the name. */
export function signatureOf(city: City, row: number): string {
  const signature = city.plots.signature[row] ?? "";
  return signature === "" ? (city.plots.name[row] ?? "") : signature;
}
