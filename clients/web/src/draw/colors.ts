// What colour a box has. Hues are apart by a fixed list, brightness tells neighbours of one hue apart; text on any
// fill has a contrast of at least 4.5 (test/colors.test.ts).
import { BoxFlag, FrameKind, type Filter } from "../../../shared/ts/psp.js";
import { SPREAD_SCHEMES, type ColorScheme } from "../state/place.js";
import type { Palette } from "../state/state.js";
import { nameOf, type Layout } from "./layout.js";

export type Mode = "light" | "dark";

export interface Paints {
  /** CSS colours. */
  readonly fills: readonly string[];
  /** Index into `fills`, per item. */
  readonly fill: Uint16Array;
  /** Items sorted by fill, so that a frame sets each colour once. */
  readonly byFill: Int32Array;
  readonly legend: readonly LegendRow[];
}

export interface LegendRow {
  readonly color: string;
  readonly text: string;
  /** Boxes of it have a dashed edge. */
  readonly edged?: boolean;
  /** A range of colours. */
  readonly bar?: boolean;
  /** Keeps what has the colour. */
  readonly keeps?: Filter;
}

export type Rgb = readonly [number, number, number];

/** OKLCH to sRGB, clamped. */
export function oklch(lightness: number, chroma: number, hue: number): Rgb {
  const a = chroma * Math.cos((hue * Math.PI) / 180);
  const b = chroma * Math.sin((hue * Math.PI) / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const gamma = (v: number) => {
    const c = Math.min(1, Math.max(0, v));
    return Math.round(255 * (c <= 0.0031308 ? 12.92 * c : 1.055 * c ** (1 / 2.4) - 0.055));
  };
  return [
    gamma(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    gamma(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    gamma(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ];
}

export const css = ([r, g, b]: Rgb) => "#" + [r, g, b].map((v) => v.toString(16).padStart(2, "0")).join("");

function luminance([r, g, b]: Rgb): number {
  const linear = (v: number) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
}

export function contrast(one: Rgb, two: Rgb): number {
  const [a, b] = [luminance(one), luminance(two)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

const hueHash = (text: string) => {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; ++i) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
};

// Even steps of the hue circle, in an order in which neighbours of the list are far apart.
const HUES = [255, 45, 165, 330, 95, 205, 15, 285, 130, 70, 230, 305];
// Apart for all three kinds of colour blindness: blue, orange, sky, yellow, purple and greys of brightness.
const SAFE_HUES = [255, 65, 230, 95, 310];
const SHADES = 4;

// Lightness and chroma of the brightest shade; each further one is darker by `step`.
const TONE = {
  light: { lightness: 0.87, step: 0.028, chroma: 0.085 },
  dark: { lightness: 0.5, step: 0.028, chroma: 0.085 },
} as const;

export const TEXT: Readonly<Record<Mode, Rgb>> = { light: [23, 26, 33], dark: [245, 247, 250] };

export function tone(mode: Mode, hue: number, shade: number, palette: Palette, grey = false): Rgb {
  const { lightness, step, chroma } = TONE[mode];
  const spread = palette === "safe" ? 1.5 : 1;
  return oklch(lightness - step * spread * shade * (mode === "dark" ? 0.9 : 1), grey ? 0.012 : chroma, hue);
}

const KIND_HUES: ReadonlyMap<FrameKind, { hue: number; text: string }> = new Map([
  [FrameKind.native, { hue: 85, text: "compiled" }],
  [FrameKind.jit, { hue: 150, text: "compiled at run time" }],
  [FrameKind.interpreted, { hue: 205, text: "interpreted" }],
  [FrameKind.kernel, { hue: 45, text: "kernel" }],
  [FrameKind.gc, { hue: 330, text: "garbage collection" }],
  [FrameKind.waker, { hue: 285, text: "waker" }],
  [FrameKind.data, { hue: 255, text: "data" }],
]);

/** From little to much, readable for everybody: dark blue over grey to yellow. */
function scale(mode: Mode, t: number): Rgb {
  const { lightness } = TONE[mode];
  return mode === "light"
    ? oklch(0.93 - 0.16 * t, 0.02 + 0.13 * t, 250 - 160 * t)
    : oklch(lightness - 0.2 + 0.2 * t, 0.02 + 0.09 * t, 250 - 160 * t);
}

/** From little to much of a metric by formula, in all colours: its low end is no nothing. */
export function ratioTone(mode: Mode, t: number): Rgb {
  const hue = 255 - 195 * t;
  return mode === "light"
    ? oklch(0.84 - 0.04 * t, 0.075 + 0.055 * t, hue)
    : oklch(0.4 + 0.09 * t, 0.065 + 0.045 * t, hue);
}

/** What has no value is quiet. */
export const withoutTone = (mode: Mode): Rgb => (mode === "light" ? oklch(0.93, 0.003, 260) : oklch(0.29, 0.004, 260));

const RATIO_STEPS = 24;

const CHANGE_HUES = { more: 58, less: 250 } as const;
const CHANGE_STEPS = 12;

/** What a diff says of a box, -1 less to 1 more: from grey to orange or blue, which all kinds of eyes tell apart. */
export function changeTone(mode: Mode, strength: number): Rgb {
  const size = Math.round(Math.min(1, Math.abs(strength)) * CHANGE_STEPS) / CHANGE_STEPS;
  if (size === 0 || !Number.isFinite(size)) return mode === "light" ? oklch(0.91, 0.004, 260) : oklch(0.33, 0.006, 260);
  const hue = strength > 0 ? CHANGE_HUES.more : CHANGE_HUES.less;
  return mode === "light"
    ? oklch(0.93 - 0.17 * size, 0.03 + 0.12 * size, hue)
    : oklch(0.36 + 0.13 * size, 0.03 + 0.095 * size, hue);
}

/** What a box is coloured by: its package, module or folder; "" where none is known. */
export function groupOf(layout: Layout, item: number): string {
  const { groups, named } = layout.answer;
  return groups?.[named?.group[layout.name[item]!] ?? -1] ?? "";
}

/** Which group has which hue: kept as long as a profile is looked at, so that zooming changes no colour. */
export type GroupHues = Map<string, number>;

export function paintsOf(
  layout: Layout,
  scheme: ColorScheme,
  mode: Mode,
  palette: Palette,
  groupHues: GroupHues = new Map(),
): Paints {
  const fills: string[] = [];
  const rows = new Map<string, number>();
  const legend = new Map<string, LegendRow>();
  const fillOf = (rgb: Rgb): number => {
    const text = css(rgb);
    let at = rows.get(text);
    if (at === undefined) {
      rows.set(text, (at = fills.length));
      fills.push(text);
    }
    return at;
  };
  const hues = palette === "safe" ? SAFE_HUES : HUES;
  const root = fillOf(tone(mode, 255, 0, palette, true));
  const plain = (item: number, hue: number, grey = false) =>
    fillOf(tone(mode, hue, hueHash(nameOf(layout, item)) % SHADES, palette, grey));

  const groups = layout.answer.groups ?? [];
  if (scheme === "module") giveHues(layout, groupHues);
  const ends = layout.answer.colorScale;
  const toneOf = (t: number) => (ends?.byRoot === true ? scale(mode, t) : ratioTone(mode, t));
  const placeOn = (value: number): number => {
    if (ends === undefined || ends.high <= ends.low) return 0.5;
    const part = Math.min(1, Math.max(0, (value - ends.low) / (ends.high - ends.low)));
    return ends.byRoot === true ? Math.sqrt(part) : part;
  };

  const byValue = scheme === "metric" || SPREAD_SCHEMES.some((of) => of === scheme);
  const pick = (item: number): number => {
    if (byValue) {
      const value = layout.answer.boxes.color?.[item];
      if (value === undefined || value === null) return fillOf(withoutTone(mode));
      return fillOf(toneOf(Math.round(placeOn(value) * RATIO_STEPS) / RATIO_STEPS));
    }
    switch (scheme) {
      case "module": {
        if (groups.length === 0) return pickKind(item);
        const group = groupOf(layout, item);
        if (group === "") return plain(item, 0, true);
        const hue = hues[(groupHues.get(group) ?? 0) % hues.length]!;
        if (!legend.has(group)) legend.set(group, { color: css(tone(mode, hue, 1, palette)), text: group });
        return plain(item, hue);
      }
      case "kind":
        return pickKind(item);
      case "work": {
        const kind = layout.answer.works?.[layout.answer.boxes.work?.[item] ?? -1];
        if (kind === undefined) return plain(item, 0, true);
        if (!legend.has(kind.title))
          legend.set(kind.title, {
            color: css(tone(mode, kind.hue, 1, palette)),
            text: kind.title,
            keeps: { op: "keep", by: "kind", pattern: kind.name },
          });
        return plain(item, kind.hue);
      }
      case "name":
        return fillOf(
          palette === "safe"
            ? tone(mode, SAFE_HUES[hueHash(nameOf(layout, item)) % SAFE_HUES.length]!, 1, palette)
            : tone(
                mode,
                20 + (hueHash(nameOf(layout, item)) % 16) * 5,
                hueHash(nameOf(layout, item) + "*") % SHADES,
                palette,
              ),
        );
      case "change":
        return fillOf(changeTone(mode, layout.answer.changes?.strength[item] ?? 0));
      default: {
        const has = (layout.flags[item]! & BoxFlag.hasSource) !== 0;
        return has ? plain(item, 150) : plain(item, 0, true);
      }
    }
  };
  const pickKind = (item: number): number => {
    const inlined = (layout.flags[item]! & BoxFlag.inlined) !== 0;
    const kind = KIND_HUES.get(layout.kind[item] ?? FrameKind.unknown);
    const row = inlined ? { hue: 190, text: "inlined" } : (kind ?? { hue: 255, text: "not recorded" });
    if (!legend.has(row.text)) legend.set(row.text, { color: css(tone(mode, row.hue, 1, palette)), text: row.text });
    return plain(item, row.hue);
  };

  // By package and by name a colour is the name's: looked for once, however many boxes are called so.
  const ofName =
    scheme === "name" || (scheme === "module" && groups.length > 0)
      ? new Int32Array(layout.names.length).fill(-1)
      : undefined;
  const fill = new Uint16Array(layout.size);
  for (let i = 0; i < layout.boxes; ++i) {
    const name = layout.name[i]!;
    if (i === 0 && scheme !== "change") fill[i] = root;
    else if (ofName === undefined) fill[i] = pick(i);
    else {
      if (ofName[name]! < 0) ofName[name] = pick(i);
      fill[i] = ofName[name]!;
    }
  }
  const byFill = sortedBy(fill, layout.boxes, fills.length);
  if (byValue && ends !== undefined) {
    const bar = [0, 0.25, 0.5, 0.75, 1].map((t) => css(toneOf(ends.byRoot === true ? Math.sqrt(t) : t))).join(", ");
    const text = `${ends.metric} ${ends.lowText} to ${ends.highText}`;
    legend.set("scale", { color: `linear-gradient(to right, ${bar})`, text, bar: true });
    if ((ends.without ?? 0) > 0) legend.set("without", { color: css(withoutTone(mode)), text: "n/a" });
  }
  if (scheme === "change")
    for (const row of [
      { strength: -1, text: "less" },
      { strength: 0, text: "the same" },
      { strength: 1, text: "more" },
      { strength: 1, text: "[A] only after", edged: true },
      { strength: -1, text: "[D] only before", edged: true },
    ]) {
      const { strength, ...rest } = row;
      legend.set(row.text, { color: css(changeTone(mode, strength)), ...rest });
    }
  if (scheme === "work" && legend.size > 0)
    legend.set("", { color: css(tone(mode, 0, 1, palette, true)), text: "no kind that is known" });
  if (scheme === "source") {
    legend.set("source", { color: css(tone(mode, 150, 1, palette)), text: "source is here" });
    legend.set("none", { color: css(tone(mode, 0, 1, palette, true)), text: "source is not here" });
  }
  // The heaviest first, as far as there is room for.
  const rowsOfLegend = scheme === "module" ? byWeight(layout, [...legend.values()]) : [...legend.values()];
  return { fills, fill, byFill, legend: rowsOfLegend };
}

/** Of a box that is in no layout of a flame graph: the hue of its group, in a shade of its name. */
export function groupTone(mode: Mode, palette: Palette, group: string, name: string): Rgb {
  const hues = palette === "safe" ? SAFE_HUES : HUES;
  return tone(mode, hues[hueHash(group) % hues.length]!, hueHash(name) % SHADES, palette, group === "");
}

/** The first `count` items by their value, of which there are `values`. */
function sortedBy(value: Uint16Array, count: number, values: number): Int32Array {
  const next = new Int32Array(values + 1);
  for (let i = 0; i < count; ++i) ++next[value[i]! + 1]!;
  for (let at = 0; at < values; ++at) next[at + 1]! += next[at]!;
  const sorted = new Int32Array(count);
  for (let i = 0; i < count; ++i) sorted[next[value[i]!]!++] = i;
  return sorted;
}

function byWeight(layout: Layout, rows: readonly LegendRow[]): LegendRow[] {
  const weight = new Map<string, number>();
  for (let i = 1; i < layout.boxes; ++i) {
    const group = groupOf(layout, i);
    weight.set(group, (weight.get(group) ?? 0) + layout.w[i]!);
  }
  return [...rows].sort((a, b) => (weight.get(b.text) ?? 0) - (weight.get(a.text) ?? 0));
}

// By its name, moved on where a heavier one has that hue and one is free: what fills the picture is told apart.
function giveHues(layout: Layout, given: GroupHues): void {
  const weight = new Map<string, number>();
  for (let i = 1; i < layout.boxes; ++i) {
    const group = groupOf(layout, i);
    if (group !== "" && !given.has(group)) weight.set(group, (weight.get(group) ?? 0) + layout.w[i]!);
  }
  const uses = new Array<number>(HUES.length).fill(0);
  for (const at of given.values()) ++uses[at]!;
  for (const group of [...weight.keys()].sort((a, b) => weight.get(b)! - weight.get(a)! || (a < b ? -1 : 1))) {
    const least = Math.min(...uses);
    let at = hueHash(group) % HUES.length;
    while (uses[at]! > least) at = (at + 1) % HUES.length;
    ++uses[at]!;
    given.set(group, at);
  }
}
