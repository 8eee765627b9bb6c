import { describe, expect, it, vi } from "vitest";
import type { FlameGraphParams, FlameGraphResult, HiddenMatchesResult } from "../../shared/ts/psp.js";
import { layoutOf, nameOf, namesOf, pathOf, type Layout, zoomedIn } from "../src/draw/layout.js";
import { nameHash } from "../src/state/place.js";
import { FlameController, type Host, type Target } from "../src/views/flame/controller.js";
import { EMPTY, opened, ROOT, rowsOf, withPage, type Parent } from "../src/views/tree/state.js";
import { markdownCell } from "../src/ui/export.js";
import { progressOf } from "../src/ui/chips.js";
import { linesOf } from "../src/views/source/highlight.js";
import { answered, flames, tables } from "./recorded.js";

const SPEC = "top-down by function | metric cpu";
const TARGET: Target = {
  profile: "p1",
  revision: 1,
  spec: SPEC,
  zoom: [],
  search: "",
  order: "name",
  colorMetric: "",
  root: "",
};

function stage(options: { delay?: number; motion?: boolean } = {}) {
  let now = 0;
  const asked: FlameGraphParams[] = [];
  const log: string[] = [];
  const layouts: Layout[] = [];
  const counted: Layout[] = [];
  /** Whether what a picture hides was known when it came. */
  const known: boolean[] = [];
  const host: Host = {
    panel: "flame",
    ask: async (params, signal) => {
      asked.push(params);
      await new Promise((resolve) => setTimeout(resolve, options.delay ?? 0));
      if (signal.aborted) throw new Error("aborted");
      const step = answered("view/flameGraph", params);
      if (step === undefined) throw new Error(`not recorded: ${JSON.stringify(params)}`);
      return step.result as FlameGraphResult;
    },
    count: async (params) => {
      await new Promise((resolve) => setTimeout(resolve, options.delay ?? 0));
      const step = answered("view/hiddenMatches", params);
      if (step === undefined) log.push(`not recorded: ${JSON.stringify(params)}`);
      return step?.result as HiddenMatchesResult | undefined;
    },
    counted: (layout) => counted.push(layout),
    now: () => now,
    invalidate: () => undefined,
    arrived: (layout) => {
      known.push(layout.hidden !== undefined);
      layouts.push(layout);
    },
    failed: (error) => log.push(String(error)),
    fellBack: (zoom, name) => log.push(`back to ${name} ${zoom.length}`),
    rezoomed: (zoom) => log.push(`rezoomed ${zoom.length}`),
    motion: () => options.motion ?? true,
  };
  const controller = new FlameController(host);
  controller.setWidth(100);
  return { controller, asked, log, layouts, counted, known, at: (ms: number) => ((now = ms), controller.frame(ms)) };
}

const find = (layout: Layout, name: string) => {
  for (let i = 0; i < layout.boxes; ++i) if (nameOf(layout, i) === name) return i;
  throw new Error(`${name} is not there`);
};
const arrived = (layouts: Layout[], count: number) => vi.waitFor(() => expect(layouts.length).toBe(count));

describe("a flame graph", () => {
  it("moves at once with a click, and shared boxes do not jump when the picture comes", async () => {
    const { controller, layouts, at, log } = stage();
    controller.show(TARGET);
    await arrived(layouts, 1);
    at(0);
    const root = layouts[0]!;
    const box = find(root, "main.parseOrders");
    const zoom = controller.zoomTo(box)!;
    expect(zoom).toEqual(namesOf(root, box).map(nameHash));
    at(60);
    expect(controller.placed.w[box]!).toBeGreaterThan((root.w[box]! / root.span) * 100 + 1);
    const before = new Map<string, number>();
    for (let i = 0; i < root.boxes; ++i) before.set(namesOf(root, i).join("\0"), controller.placed.x[i]!);
    controller.show({ ...TARGET, zoom });
    await arrived(layouts, 2);
    at(60);
    const next = layouts[1]!;
    let shared = 0;
    for (let i = 0; i < next.boxes; ++i) {
      const x = before.get(namesOf(next, i).join("\0"));
      if (x === undefined) continue;
      ++shared;
      expect(Math.abs(controller.placed.x[i]! - x)).toBeLessThan(2);
    }
    expect(shared).toBeGreaterThan(next.zoomed);
    expect(at(400)).toBe(false);
    expect(controller.placed.w[next.zoomed]).toBeCloseTo(100, 6);
    expect(log).toEqual([]);
    controller.dispose();
  });

  it("is there before what a search hides is counted, and is told that then", async () => {
    const { controller, layouts, counted, known, log } = stage();
    controller.show({ ...TARGET, search: "json" });
    await arrived(layouts, 1);
    expect(layouts[0]!.answer.search!.names).toBeGreaterThan(0);
    await vi.waitFor(() => expect(counted).toEqual(layouts));
    const { hidden, boxes, size } = layouts[0]!;
    expect(hidden!.matchedBelow.length).toBe(boxes);
    expect(hidden!.matchedText.length).toBe(size - boxes);
    expect(hidden!.shown.value + hidden!.hidden.value).toBe(hidden!.zoomed.value);
    expect(log).toEqual([]);
    controller.show(TARGET);
    await arrived(layouts, 2);
    expect(known).toEqual([false, false]);
    expect(counted.length).toBe(1);
    controller.dispose();
  });

  it("does not move where motion is not wanted", async () => {
    const { controller, layouts, at } = stage({ motion: false });
    controller.show(TARGET);
    await arrived(layouts, 1);
    const zoom = controller.zoomTo(find(layouts[0]!, "main.handle"))!;
    controller.show({ ...TARGET, zoom });
    await arrived(layouts, 2);
    expect(at(0)).toBe(false);
    expect(controller.placed.w[layouts[1]!.zoomed]).toBeCloseTo(100, 6);
    controller.dispose();
  });

  it("finds a zoom again by names, as a link has it", async () => {
    const { controller, layouts, asked, log } = stage();
    const root = layoutOf(flames[0]!, 0);
    const box = find(root, "main.parseOrders");
    controller.show({ ...TARGET, zoom: namesOf(root, box).map(nameHash) });
    await arrived(layouts, 1);
    expect(nameOf(layouts[0]!, layouts[0]!.zoomed)).toBe("main.parseOrders");
    expect(asked).toHaveLength(1);
    // From now on the keys are known.
    controller.again();
    await arrived(layouts, 2);
    expect(asked.map((p) => p.zoom)).toEqual([
      { names: namesOf(root, box).map(nameHash), hashed: true },
      pathOf(root, box),
    ]);
    expect(log).toEqual([]);
    controller.dispose();
  });

  it("finds a zoomed box in the whole by its keys, whatever its siblings are called", async () => {
    const { controller, layouts } = stage();
    controller.show(TARGET);
    await arrived(layouts, 1);
    const box = find(layouts[0]!, "main.handle");
    controller.show({ ...TARGET, zoom: controller.zoomTo(box)! });
    await arrived(layouts, 2);
    // All boxes have one name in this one.
    const alike = layoutOf({ ...flames[0]!, names: flames[0]!.names.map(() => "f") }, 0);
    expect(zoomedIn(alike, layouts[1]!)).toBe(box);
    controller.dispose();
  });

  it("goes to the nearest ancestor where the box is gone, and says so", async () => {
    const { controller, layouts, log } = stage();
    const root = layoutOf(flames[0]!, 0);
    const box = find(root, "main.handle");
    controller.show({ ...TARGET, zoom: [...namesOf(root, box).map(nameHash), "nowhere"] });
    await arrived(layouts, 1);
    expect(nameOf(layouts[0]!, layouts[0]!.zoomed)).toBe("main.handle");
    expect(log).toEqual([`back to main.handle ${namesOf(root, box).length}`]);
    controller.dispose();
  });

  it("shows the last of several questions, whatever comes first", async () => {
    const { controller, layouts } = stage({ delay: 5 });
    controller.show(TARGET);
    controller.show({ ...TARGET, spec: "top-down by function | drop function main.findSimilar | metric cpu" });
    await arrived(layouts, 1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(layouts.map((l) => l.answer.spec)).toEqual([
      "top-down by function | drop function main.findSimilar | metric cpu",
    ]);
    controller.dispose();
  });

  it("asks one thing at a time: of steps before an answer the first and the last, and shows both", async () => {
    const { controller, layouts, asked } = stage({ delay: 20 });
    controller.show(TARGET);
    await arrived(layouts, 1);
    const root = layouts[0]!;
    const box = find(root, "main.parseOrders");
    const zoom = namesOf(root, box).map(nameHash);
    const before = asked.length;
    // The keys of boxes on the way are known from the picture.
    for (let item = box; item > 0; item = root.parent[item]!) controller.zoomTo(item);
    controller.frame(1e6);
    for (let length = zoom.length; length >= 0; --length) controller.show({ ...TARGET, zoom: zoom.slice(0, length) });
    await arrived(layouts, 3);
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(asked.slice(before).map((params) => (params.zoom as number[] | undefined)?.length ?? 0)).toEqual([
      zoom.length,
      0,
    ]);
    expect(layouts.slice(1).map((layout) => layout.zoomed)).toEqual([zoom.length, 0]);
    controller.dispose();
  });

  it("waits for no answer that takes long", async () => {
    const { controller, layouts, asked } = stage({ delay: 400 });
    controller.show(TARGET);
    controller.show({ ...TARGET, spec: "top-down by function | drop function main.findSimilar | metric cpu" });
    await vi.waitFor(() => expect(asked.length).toBe(2), 300);
    expect(layouts.length).toBe(0);
    controller.dispose();
  });

  it("asks nothing while nothing happens", async () => {
    const { controller, layouts, asked } = stage();
    controller.show(TARGET);
    await arrived(layouts, 1);
    controller.show({ ...TARGET });
    controller.setWidth(100);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(asked.length).toBe(1);
    controller.dispose();
  });
});

describe("a tree", () => {
  const pages = tables.filter(({ params }) => params.spec === SPEC);
  const [first, second, level] = [pages[0]!.result, pages[1]!.result, pages[2]!.result];

  it("opens levels, goes on after a page, and says how much comes after it", () => {
    let tree = withPage(EMPTY, ROOT, first);
    expect(rowsOf(tree).map((row) => row.kind)).toEqual(["node", "node", "node", "more"]);
    const more = rowsOf(tree)[3]!;
    expect(more.kind === "more" && more.text).toBe(first.remainder!.text);
    tree = withPage(tree, ROOT, second);
    expect(rowsOf(tree).filter((row) => row.kind === "node").length).toBe(6);
    const node = rowsOf(tree)[0]!;
    if (node.kind !== "node") throw new Error("a node comes first");
    tree = opened(tree, node.node.id, true);
    expect(rowsOf(tree)[1]!.kind).toBe("waiting");
    tree = withPage(tree, node.node, level);
    expect(rowsOf(tree)[1]).toMatchObject({ kind: "node", depth: 1 });
    tree = opened(tree, node.node.id, false);
    expect(rowsOf(tree)[1]).toMatchObject({ kind: "node", depth: 0 });
  });

  // Every Python file has a `<module>`, and two comprehensions of one file have all but their lines in common.
  it("tells siblings of one name apart", () => {
    const file = first.rows.name.map((_, at) => (at === 0 ? 0 : 1));
    const page = {
      ...first,
      files: ["a.py", "b.py"],
      rows: { ...first.rows, name: file.map(() => 0), file, line: [1, 1, 2], children: file.map(() => true) },
    };
    let tree = withPage(EMPTY, ROOT, page);
    const ids = tree.levels.get(ROOT.id)!.nodes.map(({ id }) => id);
    expect(new Set(ids).size).toBe(3);
    const node = tree.levels.get(ROOT.id)!.nodes[1]!;
    tree = withPage(opened(tree, node.id, true), node, level);
    expect(rowsOf(tree).map((row) => row.kind === "node" && row.open)).toEqual([
      false,
      true,
      ...level.rows.children.map((has) => (has ? false : undefined)),
      false,
      false,
    ]);
  });

  it("is as deep as stacks are", () => {
    const inner = { ...level, rows: { ...level.rows, children: level.rows.children.map(() => true) } };
    let tree = withPage(EMPTY, ROOT, inner);
    let node: Parent = ROOT;
    for (let depth = 0; depth < 300; ++depth) {
      node = tree.levels.get(node.id)!.nodes[0]!;
      tree = opened(withPage(tree, node, inner), node.id, true);
    }
    expect(Math.max(...rowsOf(tree).map((row) => row.depth))).toBe(300);
  });
});

describe("a clause that is typed", () => {
  it("is offered what can follow", () => {
    expect(progressOf("").words).toContain("drop");
    expect(progressOf("dr").words).toEqual(["drop"]);
    expect(progressOf("drop ").words).toContain("module");
    expect(progressOf("drop ").words).not.toContain("recursion");
    expect(progressOf("collapse ").words).toContain("recursion");
    expect(progressOf("drop function js")).toMatchObject({ before: "drop function ", word: "js", names: "function" });
    expect(progressOf("keep fragment a > b").names).toBe("function");
    expect(progressOf("drop function /js").names).toBeUndefined();
  });
});

describe("what is copied", () => {
  it("cannot become markup, nor end its cell", () => {
    expect(markdownCell("a|b`c`<img src=x>[l](javascript:x)*_~\n")).toBe(
      "a\\|b\\`c\\`\\<img src=x\\>\\[l\\](javascript:x)\\*\\_\\~␊",
    );
  });
});

describe("source text", () => {
  it("is escaped, and every line stands alone", () => {
    const lines = linesOf('/* <b>\n</b> */ int x = 1; // "<script>"\nchar *s = "a\u202eb";', "x.cc");
    expect(lines.length).toBe(3);
    for (const line of lines) {
      expect(line).not.toMatch(/<(?!\/?span)/);
      expect((line.match(/<span/g) ?? []).length).toBe((line.match(/<\/span>/g) ?? []).length);
    }
    expect(lines[0]).toContain("hljs-comment");
    expect(lines[1]).toMatch(/^<span class="hljs-comment">/);
    expect(lines[2]).toContain("\\u202e");
    expect(linesOf("<b>", "x.txt")).toEqual(["&lt;b&gt;"]);
  });
});
