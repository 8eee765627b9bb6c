import { describe, expect, it } from "vitest";
import type { ProfileModule, SourceDisassemblyResult } from "../../shared/ts/psp.js";
import { go, INITIAL } from "../src/state/state.js";
import {
  arrowAt,
  arrowsWidth,
  codeParams,
  fileIndex,
  headingOf,
  heaviestRow,
  hotRows,
  hottestRow,
  instructionAt,
  itemAt,
  itemOfRow,
  jumpsAt,
  linesOfRow,
  listingOf,
  nextHot,
  nextPage,
  placesOfRow,
  rowAtAddress,
  rowOfItem,
  rowsOfLine,
} from "../src/views/source/code.js";
import { marksOf } from "../src/views/source/links.js";
import { modulesMeant } from "../src/views/source/whynocode.js";
import { hostsOf } from "../src/ui/fetch.js";

const amount = { value: 0, text: "0" };

// main.c:9 calls `outer`, inlined, which calls `inner` (a.h:3), inlined; the last two rows are of main.c:12.
const INLINED = [-1, 1, 1, 0, -1, -1];
const FILE = [0, 1, 1, 1, 0, 0];
const LINE = [9, 3, 4, 7, 12, 12];
const HEAT = [0, 0.5, 1, 0, 0.3, 0];

/** Rows [offset, offset + limit) of a piece of six, as the daemon gives them. */
function page(offset = 0, limit = 6): SourceDisassemblyResult {
  const end = Math.min(6, offset + limit);
  const cut = <T>(column: readonly T[]) => column.slice(offset, end);
  const rows = [0, 1, 2, 3, 4, 5];
  const text = (prefix: string) => cut(rows.map((row) => `${prefix}${row}`));
  const runs = [
    [0, 1, "main.c:9"],
    [1, 1, "inner a.h:3 > outer a.h:7 > main.c:9"],
    [2, 1, "inner a.h:4 > outer a.h:7 > main.c:9"],
    [3, 1, "outer a.h:7 > main.c:9"],
    [4, 2, "main.c:12"],
  ] as const;
  const held = runs.filter(([first, count]) => first < end && offset < first + count);
  return {
    profile: "p1",
    revision: 1,
    spec: "flat by function",
    metric: "cpu",
    unit: "ns",
    total: amount,
    viewTotal: amount,
    pieces: [{ name: "main", module: "app", start: "0x10", size: 24, line: 8, self: amount, total: amount }],
    piece: 0,
    rowCount: 6,
    offset,
    files: ["main.c", "a.h"],
    fileUris: ["file:///w/main.c", null],
    rows: {
      offset: cut([0, 4, 8, 12, 16, 20]),
      length: cut([4, 4, 4, 4, 4, 4]),
      text: text("op "),
      kind: cut(["plain", "plain", "plain", "conditionalJump", "plain", "return"]),
      target: cut([-1, -1, -1, 1, -1, -1]),
      targetName: cut(["", "", "", "", "memcpy@plt", ""]),
      block: cut([0, 1, 1, 1, 2, 2]),
      inlined: cut(INLINED),
      file: cut(FILE),
      line: cut(LINE),
      column: cut([0, 0, 0, 0, 0, 0]),
      matched: cut([false, true, true, false, false, false]),
      self: cut(HEAT),
      total: cut(HEAT),
      selfText: text("s"),
      totalText: text("t"),
      selfShare: text("%"),
      totalShare: text("%%"),
      heat: cut(HEAT),
    },
    inlined: { parent: [-1, 0], function: ["outer", "inner"], file: [0, 1], line: [9, 7] },
    blocks: {
      first: [0, 1, 4],
      count: [1, 3, 2],
      loopDepth: [0, 1, 0],
      self: [0, 1, 0],
      selfText: ["", "", ""],
      selfShare: ["", "", ""],
    },
    jumps: { from: [3, 0], to: [1, 5], lane: [0, 1] },
    headings: {
      first: held.map(([first]) => first),
      count: held.map(([, count]) => count),
      text: held.map(([, , text]) => text),
    },
    lines: { file: [], line: [], first: [], count: [] },
  };
}

const whole = (all = false) => listingOf(new Map([[0, page()]]), all)!;

describe("a function's instructions", () => {
  it("are found by their address, and mark the lines that they are of", () => {
    const listing = whole();
    // The piece begins at 0x10, an instruction has four bytes.
    expect(rowAtAddress(listing, "0x10")).toBe(0);
    expect(rowAtAddress(listing, "0x1a")).toBe(2);
    expect(rowAtAddress(listing, "0x28")).toBeUndefined();
    expect(rowAtAddress(listing, "0xf")).toBeUndefined();
    expect(rowAtAddress(listing, "nowhere")).toBeUndefined();
    const marks = marksOf(listing, "file:///w/main.c", "main.c", { side: "within", address: "0x18" });
    expect([...marks.rows]).toEqual([2]);
    expect([...marks.lines]).toEqual([9]);
    expect(marksOf(listing, undefined, "main.c", { side: "within", address: "0x99" }).rows.size).toBe(0);
  });

  it("have headings above what was inlined, and above every line where there is no source beside them", () => {
    expect(whole().headings.map(({ first }) => first)).toEqual([1, 2, 3]);
    expect(whole(true).headings.map(({ text }) => text)).toContain("main.c:12");
    const listing = whole();
    expect(listing.items).toBe(9);
    const kinds = Array.from({ length: 9 }, (_, item) => {
      const at = itemAt(listing, item);
      return at.kind === "row" ? at.row : at.heading.text.split(" ")[0];
    });
    expect(kinds).toEqual([0, "inner", 1, "inner", 2, "outer", 3, 4, 5]);
    for (let row = 0; row < 6; ++row) expect(rowOfItem(listing, itemOfRow(listing, row))).toBe(row);
    expect(rowOfItem(listing, 1)).toBe(1);
    expect(headingOf(listing, 5)).toBe("main.c:12");
  });

  it("say what they are, in which block and how deep in calls", () => {
    const listing = whole();
    expect(instructionAt(listing, 1)).toMatchObject({ offset: 4, beginsBlock: true, loopDepth: 1, depth: 2 });
    expect(instructionAt(listing, 0)).toMatchObject({ beginsBlock: false, depth: 0, selfText: "s0" });
    expect(instructionAt(listing, 4)).toMatchObject({ targetName: "memcpy@plt", target: -1, kind: "plain" });
    expect(instructionAt(listing, 6)).toBeUndefined();
  });

  it("come in pages, of which any may be missing", () => {
    const pages = new Map([[1, page(2, 2)]]);
    const some = listingOf(pages, false, 2)!;
    expect(some.rowCount).toBe(6);
    expect(instructionAt(some, 3)?.offset).toBe(12);
    expect(instructionAt(some, 1)).toBeUndefined();
    expect(some.headings.map(({ first }) => first)).toEqual([2, 3]);
    const all = listingOf(new Map([0, 1, 2].map((at) => [at, page(at * 2, 2)])), false, 2)!;
    expect(all.headings).toEqual(whole().headings);
    expect(all.jumps.length).toBe(2);
    for (let row = 0; row < 6; ++row) expect(instructionAt(all, row)).toEqual(instructionAt(whole(), row));
    expect(listingOf(new Map(), false)).toBeUndefined();
  });

  it("are gone through, page by page, for the one that costs most", () => {
    const first = listingOf(new Map([[0, page(0, 2)]]), false, 2)!;
    expect(hottestRow(first)).toBeUndefined();
    expect(nextPage(first)).toBe(1);
    const both = listingOf(new Map([0, 1].map((at) => [at, page(at * 2, 2)])), false, 2)!;
    expect(hottestRow(both)).toBe(2);
    expect(nextPage(both)).toBeUndefined();
    expect(heaviestRow(both)).toBe(2);
    expect(heaviestRow(first)).toBe(1);
    expect(hotRows(whole()).map(({ row }) => row)).toEqual([2, 1, 4]);
    expect(nextHot(whole(), 2)).toBe(4);
    expect(nextHot(whole(), 4)).toBe(1);
  });

  it("have arrows from where a jump is to where it leads", () => {
    const listing = whole();
    expect(listing.lanes).toBe(2);
    const [back, far] = listing.jumps;
    const width = arrowsWidth(2);
    // Beside the row that jumps a line to it, beside the row that it leads to a tip, between them a line.
    expect(arrowAt(listing, back!, itemOfRow(listing, 3), 20)).toBe(
      `M${width - 9.5} 0V10M${width - 9.5} 10H${width - 1}`,
    );
    expect(arrowAt(listing, back!, itemOfRow(listing, 1), 20)).toMatch(/V20M.*l3\.5 3l-3\.5 3$/);
    expect(arrowAt(listing, back!, itemOfRow(listing, 2), 20)).toBe(`M${width - 9.5} 0V20`);
    expect(arrowAt(listing, back!, itemOfRow(listing, 4), 20)).toBeUndefined();
    expect(jumpsAt(listing, itemOfRow(listing, 4), itemOfRow(listing, 4) + 1)).toEqual([far]);
  });
});

describe("what branch stacks saw", () => {
  /** Row 3 jumps back to row 1, four times out of five; row 4 calls two functions. */
  const seen = (offset = 0, limit = 6): SourceDisassemblyResult => {
    const plain = page(offset, limit);
    const at = [3, 4, 4].map((row, i) => ({ row, i })).filter(({ row }) => row >= offset && row < offset + limit);
    const cut = <T>(column: readonly T[]) => at.map(({ i }) => column[i]!);
    return {
      ...plain,
      rows: {
        ...plain.rows,
        executedText: ["2", "10", "10", "10", "2", "0"].slice(offset, offset + limit),
        executed: [],
      },
      branches: {
        text: "executed: in 9 runs",
        taken: {
          row: cut([3, 4, 4]),
          target: cut([1, -1, -1]),
          targetName: cut(["", "f", "g"]),
          taken: cut([8, 1, 1]),
          takenShare: cut(["80.0 %", "50.0 %", "50.0 %"]),
          text: cut(["taken 80.0 % (8)", "taken 50.0 % (1) to f", "taken 50.0 % (1) to g"]),
        },
      },
    };
  };

  it("is beside rows and at arrows; without it there is no column", () => {
    const listing = listingOf(new Map([[0, seen()]]), false)!;
    expect(listing.hasExecuted).toBe(true);
    expect(listing.jumps.map(({ taken }) => taken)).toEqual(["taken 80.0 % (8)", ""]);
    expect(instructionAt(listing, 3)).toMatchObject({ executed: "10", branches: ["taken 80.0 % (8)"] });
    expect(instructionAt(listing, 4)?.branches).toEqual(["taken 50.0 % (1) to f", "taken 50.0 % (1) to g"]);
    expect(whole().hasExecuted).toBe(false);
    expect(instructionAt(whole(), 3)).toMatchObject({ executed: "", branches: [] });
  });

  it("is known of an arrow in whatever order its pages come", () => {
    for (const order of [
      [0, 1, 2],
      [2, 1, 0],
    ]) {
      const listing = listingOf(new Map(order.map((at) => [at, seen(at * 2, 2)])), false, 2)!;
      expect(listing.jumps.find(({ from }) => from === 3)?.taken).toBe("taken 80.0 % (8)");
    }
  });
});

describe("source and instructions side by side", () => {
  it("go with one another, through what was inlined", () => {
    const listing = whole();
    expect(placesOfRow(listing, 1)).toEqual([
      { file: 1, line: 3 },
      { file: 1, line: 7 },
      { file: 0, line: 9 },
    ]);
    expect(linesOfRow(listing, 1, 0)).toEqual([9]);
    expect([...rowsOfLine(listing, 0, 9)]).toEqual([0, 1, 2, 3]);
    expect([...rowsOfLine(listing, 1, 7)]).toEqual([1, 2, 3]);
    expect([...rowsOfLine(listing, 0, 12)]).toEqual([4, 5]);
    expect(rowsOfLine(listing, -1, 9).size).toBe(0);
  });

  it("know the file by where it is, else by what the compiler called it", () => {
    const { head } = whole();
    expect(fileIndex(head, "file:///w/main.c", "/other/main.c")).toBe(0);
    expect(fileIndex(head, "file:///w/a.h", "a.h")).toBe(1);
    expect(fileIndex(head, undefined, "b.h")).toBe(-1);
    expect(marksOf(whole(), "file:///w/main.c", "", { side: "source", line: 12 }).rows).toEqual(new Set([4, 5]));
    expect(marksOf(whole(), "file:///w/main.c", "", { side: "code", row: 3 }).lines).toEqual(new Set([9]));
    expect(marksOf(undefined, undefined, "", { side: "code", row: 3 }).lines.size).toBe(0);
  });

  it("are asked for by name, by address, or by the line that is meant", () => {
    expect(codeParams({ fn: "fill", piece: 2 }, undefined, 0)).toEqual({ function: "fill", piece: 2 });
    expect(codeParams({ fn: "app+0x4010", piece: 0 }, undefined, 0)).toEqual({ code: "app+0x4010" });
    expect(codeParams({ fn: "", piece: 0 }, "file:///w/main.c", 9)).toEqual({
      textDocument: { uri: "file:///w/main.c" },
      position: { line: 8, character: 0 },
    });
    expect(codeParams({ fn: "", piece: 0 }, "file:///w/main.c", 0)).toBeUndefined();
  });

  it("begin with the first piece of another function", () => {
    const state = go(INITIAL, { fn: "fill", piece: 3 });
    expect(go(state, { line: 4 }).place.piece).toBe(3);
    expect(go(state, { fn: "mix" }).place.piece).toBe(0);
  });
});

describe("why there are no instructions", () => {
  it("is told of the binary that is meant, else of those of which something is missing", () => {
    const module = (name: string, state: string): ProfileModule => ({
      name,
      path: `/w/${name}`,
      amount,
      state,
      addresses: amount,
      known: amount,
    });
    const all = [module("app", "full"), module("a.so", "none"), module("b.so", "mismatch")];
    expect(modulesMeant(all, "app").map(({ name }) => name)).toEqual(["app"]);
    expect(modulesMeant(all, "/w/b.so").map(({ name }) => name)).toEqual(["b.so"]);
    expect(modulesMeant(all, undefined).map(({ name }) => name)).toEqual(["a.so", "b.so"]);
  });
});

describe("debug information of servers", () => {
  it("names each host once, and nothing of an address but that", () => {
    const at = (...fetch: string[]) => ({ fetch }) as unknown as ProfileModule;
    expect(hostsOf([at("https://a.org/x?secret", "http://127.0.0.1:8002"), at("https://a.org/y"), at()])).toBe(
      "a.org, 127.0.0.1:8002",
    );
  });
});
