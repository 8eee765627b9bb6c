// Cities that are made up, for tests and for measuring the drawing: as the daemon would answer, and pictures of heights.
import type { LiveCityResult, LiveMethods } from "../../shared/ts/psp.js";

/** Numbers from 0 to 1 that are the same each time. */
export function numbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32;
  };
}

interface Part {
  w: number;
  h: number;
  x: number;
  y: number;
}

const PITCH = 4 / 3;
const BETWEEN = 0.67;

/** Shelf by shelf, the largest first. */
function shelves(parts: Part[], edge: number): { w: number; h: number } {
  const area = parts.reduce((sum, part) => sum + (part.w + BETWEEN) * (part.h + BETWEEN), 0);
  const limit = Math.max(Math.sqrt(area * 1.15), ...parts.map((part) => part.w));
  let [x, y, high, wide] = [0, 0, 0, 0];
  for (const part of [...parts].sort((a, b) => b.h * b.w - a.h * a.w)) {
    if (x > 0 && x + part.w > limit) {
      y += high + BETWEEN;
      x = 0;
      high = 0;
    }
    part.x = x + edge;
    part.y = y + edge;
    x += part.w + BETWEEN;
    high = Math.max(high, part.h);
    wide = Math.max(wide, x - BETWEEN);
  }
  return { w: wide + 2 * edge, h: y + high + 2 * edge };
}

const WORDS = "board game tetris shape score view panel event queue store http json codec cache index".split(" ");

/** A city of about so many methods. */
export function madeCity(methods: number, seed = 1): LiveCityResult {
  const random = numbers(seed);
  const pick = (from: number, to: number) => from + Math.floor(random() * (to - from + 1));
  interface Class extends Part {
    name: string;
    n: number;
    columns: number;
  }
  interface District extends Part {
    name: string;
    parent: number;
    classes: Class[];
  }
  const root: District = { name: "", parent: -1, classes: [], x: 0, y: 0, w: 0, h: 0 };
  const districts: District[] = [root];
  let left = methods;
  while (left > 0) {
    const deep = districts.length > 1 && random() < 0.55;
    const parent = deep ? 1 + Math.floor(random() * (districts.length - 1)) : 0;
    const word = `${WORDS[pick(0, WORDS.length - 1)]!}${districts.length}`;
    const around = districts[parent]!.name;
    const classes: Class[] = [];
    for (let i = pick(2, Math.max(4, Math.round(Math.sqrt(methods) / 6))); i > 0 && left > 0; --i) {
      const n = Math.min(left, Math.max(1, Math.round(1.5 + 28 * random() ** 3)));
      left -= n;
      const columns = Math.ceil(Math.sqrt(n));
      const side = (count: number) => count * PITCH - (PITCH - 1) + 0.67;
      const w = side(columns);
      const h = side(Math.ceil(n / columns));
      const name = WORDS[pick(0, WORDS.length - 1)]!;
      classes.push({ name: `${name[0]!.toUpperCase()}${name.slice(1)}${i}`, n, columns, w, h, x: 0, y: 0 });
    }
    districts.push({ name: around === "" ? word : `${around}.${word}`, parent, classes, x: 0, y: 0, w: 0, h: 0 });
  }
  for (let row = districts.length - 1; row >= 0; --row) {
    const district = districts[row]!;
    const inner = districts.filter((other) => other.parent === row);
    Object.assign(district, shelves([...district.classes, ...inner], 1));
  }
  const answer: LiveCityResult = {
    session: "live-1",
    layout: 1,
    key: true,
    width: root.w,
    depth: root.h,
    districts: { id: [], parent: [], name: [], label: [], x: [], y: [], w: [], h: [] },
    blocks: { id: [], district: [], name: [], label: [], x: [], y: [], w: [], h: [] },
    plots: { id: [], block: [], name: [], signature: [], x: [], y: [], w: [] },
  };
  districts.forEach((district, row) => {
    const around = districts[district.parent];
    if (around !== undefined) {
      district.x += around.x;
      district.y += around.y;
    }
    const d = answer.districts;
    d.id.push(row);
    d.parent.push(district.parent);
    d.name.push(district.name);
    d.label.push(district.name.slice(district.name.lastIndexOf(".") + 1));
    d.x.push(district.x);
    d.y.push(district.y);
    d.w.push(district.w);
    d.h.push(district.h);
    for (const one of district.classes) {
      const b = answer.blocks;
      const id = b.id.length;
      b.id.push(id);
      b.district.push(row);
      b.name.push(`${district.name}.${one.name}`);
      b.label.push(one.name);
      b.x.push(one.x + district.x);
      b.y.push(one.y + district.y);
      b.w.push(one.w);
      b.h.push(one.h);
      for (let i = 0; i < one.n; ++i) {
        const p = answer.plots;
        p.id.push(p.id.length + 1);
        p.block.push(id);
        p.name.push(`method${i}`);
        p.signature.push(`void method${i}(int, java.lang.String)`);
        p.x.push(one.x + district.x + 0.335 + (i % one.columns) * PITCH);
        p.y.push(one.y + district.y + 0.335 + Math.floor(i / one.columns) * PITCH);
        p.w.push(1);
      }
    }
  });
  return answer;
}

/** Heights of so many of the methods: few are high. They change with `time`. */
export function madeHeights(count: number, standing: number, time = 0, seed = 7): LiveMethods {
  const random = numbers(seed);
  const out: LiveMethods = { id: [], height: [], threads: [], flags: [] };
  const every = Math.max(1, Math.floor(count / standing));
  for (let i = 0; i < standing && i * every < count; ++i) {
    const id = 1 + i * every + Math.floor(random() * every);
    const most = random() ** 9;
    const wave = 0.75 + 0.25 * Math.sin(time * 2 + 12 * random());
    out.id.push(Math.min(count, id));
    out.height.push(Math.max(1, Math.round(65535 * Math.min(1, most * wave))));
    out.threads.push(1 + Math.floor(random() * 3));
    out.flags.push((most > 0.3 ? 1 : 0) | (random() < 0.06 ? 4 : 0) | (random() < 0.04 ? 8 : 0));
  }
  return out;
}
