import { describe, expect, it } from "vitest";
import { BoxFlag } from "../../shared/ts/psp.js";
import { between, held, toPixel, toUnit, whole, zoomAt } from "../src/draw/camera.js";
import { contrast, paintsOf, TEXT, tone, type Rgb } from "../src/draw/colors.js";
import {
  childrenOf,
  findPath,
  hit,
  isOneSided,
  isRemainder,
  join,
  labelOf,
  layoutOf,
  nameOf,
  namesOf,
  pathOf,
  type Layout,
} from "../src/draw/layout.js";
import { along, motionBetween, type Placed } from "../src/draw/motion.js";
import { paint, type Frame, type Ink, type Surface } from "../src/draw/paint.js";
import { shown } from "../src/draw/shown.js";
import { svgSurface } from "../src/draw/svg.js";
import { cut, cutName, cutStart, rulerOf } from "../src/draw/text.js";
import { rowsAt, scrollFor } from "../src/ui/rows.js";
import { flames } from "./recorded.js";

const root = layoutOf(flames[0]!, 0);
const find = (layout: Layout, name: string) => {
  for (let i = 0; i < layout.boxes; ++i) if (nameOf(layout, i) === name) return i;
  throw new Error(`${name} is not there`);
};
const depthOf = (name: string) => pathOf(root, find(root, name)).length;
const parse = layoutOf(flames[1]!, depthOf("main.parseOrders"));
const handle = layoutOf(flames[2]!, depthOf("main.handle"));

describe("a layout", () => {
  it("loses nothing: a box holds its children, its self and what was joined", () => {
    for (const layout of [root, parse, handle])
      for (let i = layout.zoomed; i < layout.boxes; ++i) {
        const children = childrenOf(layout, i);
        const sum = children.reduce((total, child) => total + layout.w[child]!, 0);
        if (children.length > 0) expect(sum + layout.answer.boxes.self[i]!).toBe(layout.w[i]);
      }
  });

  it("knows the zoomed box", () => {
    expect(nameOf(parse, parse.zoomed)).toBe("main.parseOrders");
    expect(nameOf(handle, handle.zoomed)).toBe("main.handle");
    expect(parse.span).toBe(flames[1]!.zoomTotal.value);
  });

  it("is hit where a look at every box says", () => {
    let hits = 0;
    for (const layout of [root, parse])
      for (let row = -1; row <= layout.rows; ++row)
        for (let at = -0.5; at < 40; ++at) {
          const unit = (at / 39) * layout.span;
          let expected = -1;
          for (let i = 0; i < layout.size; ++i)
            if (layout.depth[i] === row && layout.x[i]! <= unit && unit < layout.x[i]! + layout.w[i]!) expected = i;
          expect(hit(layout, row, unit)).toBe(expected);
          if (expected >= 0) ++hits;
        }
    expect(hits).toBeGreaterThan(500);
  });

  it("finds a box by its path, or how far the path leads", () => {
    const item = find(root, "main.parseOrders");
    expect(findPath(root, pathOf(root, item))).toEqual({ item, whole: true });
    expect(findPath(root, [...pathOf(root, item), 999_999])).toEqual({ item, whole: false });
    expect(namesOf(root, item).at(-1)).toBe("main.parseOrders");
  });
});

const placed = (layout: Layout, width: number): Placed => ({
  x: layout.x.map((v) => (v / layout.span) * width),
  w: layout.w.map((v) => (v / layout.span) * width),
});

describe("motion", () => {
  it("joins boxes by their keys from the root, and by nothing else", () => {
    const same = join(handle, parse);
    let joined = 0;
    for (let i = 0; i < parse.size; ++i) {
      if (same[i]! < 0) continue;
      ++joined;
      expect(namesOf(handle, same[i]!)).toEqual(namesOf(parse, i));
    }
    expect(joined).toBeGreaterThan(parse.zoomed);
    expect(isRemainder(parse, same.indexOf(-1)) || same[same.indexOf(-1)] === -1).toBe(true);
  });

  it("begins where the boxes were seen and ends where they belong", () => {
    const seen = placed(handle, 1000);
    const goal = placed(parse, 1000);
    const motion = motionBetween(handle, seen, parse, goal, 0, 100);
    const out = placed(parse, 1000);
    const same = join(handle, parse);
    along(motion, goal, 0, out);
    for (let i = 0; i < parse.size; ++i) if (same[i]! >= 0) expect(out.x[i]).toBeCloseTo(seen.x[same[i]!]!, 6);
    along(motion, goal, 1, out);
    for (let i = 0; i < parse.size; ++i) {
      expect(out.x[i]).toBeCloseTo(goal.x[i]!, 6);
      expect(out.w[i]).toBeCloseTo(goal.w[i]!, 6);
    }
  });

  it("unfolds new boxes inside their parents", () => {
    const motion = motionBetween(handle, placed(handle, 1000), parse, placed(parse, 1000), 0, 100);
    let fresh = 0;
    for (let i = parse.zoomed + 1; i < parse.size; ++i) {
      if (motion.known[i] === 1) continue;
      ++fresh;
      const parent = parse.parent[i]!;
      expect(motion.from.x[i]!).toBeGreaterThanOrEqual(motion.from.x[parent]! - 1e-6);
      expect(motion.from.x[i]! + motion.from.w[i]!).toBeLessThanOrEqual(
        motion.from.x[parent]! + motion.from.w[parent]! + 1e-6,
      );
    }
    expect(fresh).toBeGreaterThan(0);
  });
});

describe("the camera", () => {
  it("leaves what is under the pointer where it is", () => {
    const camera = { x0: 100, x1: 900 };
    const closer = zoomAt(camera, 800, 200, 0.5, 1);
    expect(toPixel(closer, 800, toUnit(camera, 800, 200))).toBeCloseTo(200, 9);
    expect(closer.x1 - closer.x0).toBeCloseTo(400, 9);
  });

  it("never leaves the picture", () => {
    expect(held({ x0: -50, x1: 50 }, 1000)).toEqual({ x0: 0, x1: 100 });
    expect(held({ x0: 980, x1: 1080 }, 1000)).toEqual({ x0: 900, x1: 1000 });
    expect(held({ x0: -10, x1: 2000 }, 1000)).toEqual(whole(1000));
    expect(held({ x0: 0, x1: 1 }, 0)).toEqual(whole(0));
  });

  it("flies from one place to another by equal factors", () => {
    const from = whole(1000);
    const to = { x0: 400, x1: 410 };
    const middle = between(from, to, 0.5);
    expect(middle.x1 - middle.x0).toBeCloseTo(100, 6);
    expect(middle.x0).toBeGreaterThan(0);
    expect(middle.x1).toBeLessThan(1000);
    expect(between(from, to, 1)).toEqual(to);
  });
});

describe("labels", () => {
  const ruler = rulerOf(() => 10);
  it("are whole where they fit, cut with an ellipsis where not, nothing where nothing can be read", () => {
    expect(cut("abcdef", 60, ruler)).toBe("abcdef");
    expect(cut("abcdef", 59, ruler)).toBe("abcd…");
    expect(cut("abcdef", 19, ruler)).toBe("");
    expect(cut("ab cdef", 40, ruler)).toBe("ab…");
  });

  it("keep their end where that is wanted", () => {
    expect(cutStart("abcdef", 60, ruler)).toBe("abcdef");
    expect(cutStart("abcdef", 59, ruler)).toBe("…cdef");
    expect(cutStart("abcdef", 19, ruler)).toBe("");
    for (let room = 0; room < 80; room += 5)
      expect(cutStart("a😀b😀c😀", room, ruler)).not.toMatch(/(?<![\ud800-\udbff])[\udc00-\udfff]/);
  });

  it("leave out their beginnings where the daemon says that they may", () => {
    const gcDrain = "runtime.gcDrain";
    expect(cutName(gcDrain, [8], 150, ruler)).toBe(gcDrain);
    expect(cutName(gcDrain, [8], 149, ruler)).toBe("gcDrain");
    expect(cutName(gcDrain, [8], 60, ruler)).toBe("gcDra…");
    expect(cutName("http.(*conn).serve", [5, 13], 140, ruler)).toBe("(*conn).serve");
    expect(cutName("http.(*conn).serve", [5, 13], 50, ruler)).toBe("serve");
    expect(cutName("malloc", [], 40, ruler)).toBe("mal…");
    expect(cutName("malloc", [], 5, ruler)).toBe("");
  });

  it("never part a pair of surrogates", () => {
    for (let room = 0; room < 80; room += 5)
      expect(cut("a😀b😀c😀", room, ruler)).not.toMatch(/[\ud800-\udbff](?![\udc00-\udfff])/);
  });

  it("measure each character once", () => {
    let asked = 0;
    const counting = rulerOf((ch) => (asked++, ch.length));
    cut("aaaa", 2, counting);
    cut("aaab", 2, counting);
    expect(asked).toBe(3);
  });

  it("show what would hide or turn the text around it", () => {
    expect(shown("a\u202eb\u0007c\u001b[31m\u2066")).toBe("a\\u202eb␇c␛[31m\\u2066");
    expect(shown("operator<=>(日本)")).toBe("operator<=>(日本)");
  });
});

describe("colours", () => {
  it("leave a contrast of 4.5 to the text on every box", () => {
    for (const mode of ["light", "dark"] as const)
      for (const palette of ["standard", "safe"] as const)
        for (let hue = 0; hue < 360; hue += 5)
          for (let shade = 0; shade < 4; ++shade)
            for (const grey of [false, true])
              expect(contrast(tone(mode, hue, shade, palette, grey), TEXT[mode])).toBeGreaterThanOrEqual(4.5);
    for (const mode of ["light", "dark"] as const)
      for (const scheme of ["module", "name", "kind", "metric", "source"] as const)
        for (const fill of paintsOf(root, scheme, mode, "standard").fills)
          expect(contrast(rgb(fill), TEXT[mode])).toBeGreaterThanOrEqual(4.5);
  });

  it("are the same after zooming", () => {
    const before = paintsOf(root, "name", "light", "standard");
    const after = paintsOf(parse, "name", "light", "standard");
    const one = find(root, "main.parseOrder");
    const two = find(parse, "main.parseOrder");
    expect(before.fills[before.fill[one]!]).toBe(after.fills[after.fill[two]!]);
  });

  it("tell kinds of work apart, and a row of the legend keeps its kind", () => {
    const item = find(root, "main.parseOrder");
    const work = root.answer.boxes.depth.map((_, i) => (i === item ? 0 : -1));
    const works = [{ name: "gc", title: "garbage collection", hue: 300 }];
    const layout = { ...root, answer: { ...root.answer, works, boxes: { ...root.answer.boxes, work } } };
    const paints = paintsOf(layout, "work", "light", "standard");
    expect(paints.legend.map(({ text }) => text)).toEqual(["garbage collection", "no kind that is known"]);
    expect(paints.legend[0]!.keeps).toEqual({ op: "keep", by: "kind", pattern: "gc" });
    const other = find(root, "main.parseOrders");
    expect(paints.fill[item]).not.toBe(paints.fill[other]);
  });

  it("are set once each in a frame", () => {
    const paints = paintsOf(root, "name", "dark", "standard");
    let changes = 0;
    for (let i = 1; i < paints.byFill.length; ++i)
      if (paints.fill[paints.byFill[i]!] !== paints.fill[paints.byFill[i - 1]!]) ++changes;
    expect(changes).toBeLessThan(paints.fills.length);
  });
});

function rgb(hex: string): Rgb {
  const value = parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

const INK: Ink = {
  mode: "light",
  ground: "#fff",
  faint: "#eee",
  match: "#fc0",
  matchText: "#111",
  unmatched: "#ddd",
  unmatchedText: "#555",
  hatch: "#bbb",
  muted: "#444",
  forced: false,
  edge: "#000",
};

function frameOf(layout: Layout, more: Partial<Frame> = {}): Frame {
  return {
    layout,
    paints: paintsOf(layout, "module", "light", "standard"),
    ink: INK,
    placed: placed(layout, 800),
    width: 800,
    height: layout.rows * 18,
    rowHeight: 18,
    top: 0,
    upward: false,
    ruler: rulerOf(() => 7),
    keepEnds: false,
    ratio: 1,
    searching: false,
    marks: [],
    fade: 1,
    known: undefined,
    ...more,
  };
}

interface Drawn {
  readonly rects: { x: number; y: number; w: number; fill: string }[];
  readonly hatches: { x: number; y: number; w: number }[];
  readonly edges: { x: number; y: number; w: number }[];
  readonly texts: { x: number; y: number; text: string }[];
}

function drawn(frame: Frame): Drawn {
  const out: Drawn = { rects: [], hatches: [], edges: [], texts: [] };
  const surface: Surface = {
    rect: (x, y, w, _h, fill) => out.rects.push({ x, y, w, fill }),
    edge: (x, y, w) => out.edges.push({ x, y, w }),
    hatch: (x, y, w) => out.hatches.push({ x, y, w }),
    text: (x, y, text) => out.texts.push({ x, y, text }),
    alpha: () => undefined,
  };
  paint(frame, surface);
  return out;
}

describe("the picture", () => {
  it("has every box that is wide enough, at whole pixels, and hatches what was joined", () => {
    const { rects, hatches, texts } = drawn(frameOf(root));
    expect(rects.length).toBe(root.boxes);
    expect(hatches.length).toBe(root.size - root.boxes);
    for (const { x } of rects) expect(Number.isInteger(x)).toBe(true);
    expect(texts[0]).toMatchObject({ text: "all", x: 4, y: 9 });
    expect(texts.map((t) => t.text)).toContain("main.parseOrders");
  });

  it("says of a box that it was inlined, where there is room for its name and that", () => {
    const flags = root.flags.slice();
    const item = [...flags.keys()].find((i) => labelOf(root, i) === "main.parseOrders")!;
    flags[item] = flags[item]! | BoxFlag.inlined;
    const inlined = { ...root, flags };
    const texts = (width: number) =>
      drawn(frameOf(inlined, { width, placed: placed(inlined, width) })).texts.map((t) => t.text);
    expect(texts(2000)).toContain("main.parseOrders (inlined)");
    expect(texts(2000)).toContain("all");
    const room = (width: number) => (placed(inlined, width).w[item]! - 8) / 7;
    const narrow = [...Array(2000).keys()].find((width) => room(width) >= 16 && room(width) < 26)!;
    expect(texts(narrow)).toContain("main.parseOrders");
  });

  it("has a dashed edge around what one side of a diff alone has, and its sign where there is room", () => {
    const diff = layoutOf(
      flames.find((flame) => flame.changes !== undefined)!,
      0,
    );
    const { edges, rects, texts } = drawn(frameOf(diff, { width: 4000, placed: placed(diff, 4000) }));
    const alone = [...diff.answer.changes!.change.keys()].filter((i) => isOneSided(diff, i));
    const wide = alone.filter((i) => placed(diff, 4000).w[i]! >= 7);
    expect(edges.length).toBeGreaterThanOrEqual(wide.length);
    expect(edges.length).toBeLessThanOrEqual(alone.length);
    expect(edges.length).toBeLessThan(rects.length / 2);
    expect(texts.map((t) => t.text)).toContain("main.checkLegacyCodes [D]");
    expect(texts.map((t) => t.text)).toContain("main.parseRow");
    expect(drawn(frameOf(root)).edges).toEqual([]);
    const forced = drawn(frameOf(diff, { width: 4000, placed: placed(diff, 4000), ink: { ...INK, forced: true } }));
    expect(forced.edges.length).toBeGreaterThan(0);
    expect(forced.texts.map((t) => t.text)).toContain("main.parseRow [+]");
  });

  it("has the colour of the first highlighted set that a box is of", () => {
    const one = find(root, "main.parseOrder");
    const both = find(root, "main.parseOrders");
    const highlights = root.answer.boxes.depth.map((_, i) => (i === one ? 2 : i === both ? 3 : 0));
    const layout = { ...root, answer: { ...root.answer, boxes: { ...root.answer.boxes, highlights } } };
    const fills = drawn(frameOf(layout, { marks: ["#111111", "#222222"] })).rects.map(({ fill }) => fill);
    expect(fills.filter((fill) => fill === "#111111").length).toBe(1);
    expect(fills.filter((fill) => fill === "#222222").length).toBe(1);
    expect(drawn(frameOf(root, { marks: ["#111111"] })).rects.map(({ fill }) => fill)).not.toContain("#111111");
  });

  it("draws only the rows that are seen", () => {
    const { rects } = drawn(frameOf(root, { height: 54, top: -36 }));
    for (const { y } of rects) {
      expect(y).toBeGreaterThanOrEqual(-18);
      expect(y).toBeLessThanOrEqual(54);
    }
  });

  it("stands on its root when flames go upward", () => {
    const { texts } = drawn(frameOf(root, { upward: true }));
    expect(texts.find((t) => t.text === "all")!.y).toBe((root.rows - 1) * 18 + 9);
  });

  it("marks what was searched, and nothing else", () => {
    const searched = layoutOf(
      flames.find((flame) => flame.search !== undefined)!,
      0,
    );
    const { rects } = drawn(frameOf(searched, { searching: true }));
    const matched = rects.filter((r) => r.fill === INK.match).length;
    let expected = 0;
    for (let i = 0; i < searched.boxes; ++i) if ((searched.flags[i]! & 8) !== 0) ++expected;
    expect(matched).toBe(expected);
    expect(matched).toBeGreaterThan(0);
    expect(rects.filter((r) => r.fill === INK.unmatched).length).toBe(searched.boxes - expected);
  });

  it("keeps the beginning of a label on the screen when its box begins left of it", () => {
    const shifted = placed(root, 4000);
    const { texts } = drawn(frameOf(root, { placed: { x: shifted.x.map((v) => v - 1000), w: shifted.w } }));
    expect(texts.find((t) => t.text === "all")!.x).toBe(4);
  });

  it("is the same as SVG, with hostile names escaped", () => {
    const name = '</text><script>alert("1")</script>&';
    const hostile = layoutOf({ ...flames[0]!, labels: flames[0]!.labels.map(() => name) }, 0);
    const surface = svgSurface('a"b', 12);
    paint(frameOf(hostile), surface);
    const svg = surface.finish(800, 600, "#fff", "<title>");
    expect(svg).not.toMatch(/<script|<title><title>|a"b/);
    expect(svg).toContain("&lt;/text&gt;");
    expect(svg.match(/<rect /g)!.length).toBe(root.size + 2);
    expect(svg).not.toContain("stroke-dasharray");
  });

  it("is dashed in SVG, too, where one side of a diff alone has something", () => {
    const diff = layoutOf(
      flames.find((flame) => flame.changes !== undefined)!,
      0,
    );
    const surface = svgSurface("sans-serif", 12);
    const frame = frameOf(diff);
    paint(frame, surface);
    const svg = surface.finish(800, 600, "#fff", "diff");
    expect(svg.match(/stroke-dasharray/g)!.length).toBe(drawn(frame).edges.length);
  });
});

describe("long lists", () => {
  it("reach their first and last row, whatever browsers cap", () => {
    for (const count of [10, 1000, 5_000_000]) {
      const top = rowsAt(count, 26, 0, 600);
      expect(top.first).toBe(0);
      const end = rowsAt(count, 26, top.height - 600, 600);
      expect(end.last).toBe(count);
      const bottom = end.offset + (count - end.first) * 26;
      if (count * 26 > 600) expect(bottom).toBeCloseTo(top.height, 3);
    }
  });

  it("are scrolled so that a row can be seen", () => {
    for (const row of [0, 17, 2_500_000, 4_999_999]) {
      const to = scrollFor(5_000_000, 26, 3_000_000, 600, row)!;
      const { first, last } = rowsAt(5_000_000, 26, to, 600, 0);
      expect(first).toBeLessThanOrEqual(row);
      expect(last).toBeGreaterThan(row);
    }
  });
});
