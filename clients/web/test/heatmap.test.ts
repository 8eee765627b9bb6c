import { describe, expect, test } from "vitest";
import type { CounterTrack, HeatMapResult, MarkerTrack } from "../../shared/ts/psp.js";
import { filterText } from "../src/state/spec.js";
import { INITIAL } from "../src/state/state.js";
import { keepWindow, sideFilter, windowOf } from "../src/state/windows.js";
import { cellAt, columnsIn, cornerOf, gridOf, heightOf, momentOf, spanOf, widthOf } from "../src/views/heatmap/grid.js";
import { counterAt, LANE_HEIGHT, markerAt } from "../src/views/timeline/notes.js";

const map = (columns: number, rows: number): HeatMapResult => ({
  profile: "p1",
  revision: 1,
  spec: "top-down by function | metric cpu",
  metric: "cpu",
  unit: "ns",
  total: { value: 100, text: "100 ns", share: 1, shareText: "100 %" },
  viewTotal: { value: 100, text: "100 ns", share: 1, shareText: "100 %" },
  begin: 1000,
  end: 1000 + columns * 100 - 30,
  from: 1000,
  column: 100,
  columnText: "100 ns",
  columns,
  rows,
  rowText: "33 ns",
  values: Array.from({ length: columns * rows }, (_, i) => i),
  text: Array.from({ length: columns * rows }, () => 0),
  texts: ["0 ns"],
  full: 100,
  fullText: "100 ns",
  held: { value: 100, text: "100 ns", share: 1, shareText: "100 %" },
  basis: "A cell has the cpu of 33 ns.",
});

describe("a heat map", () => {
  const grid = gridOf(map(20, 3), 400, 200);

  test("has every cell at a place of its own, time going up", () => {
    for (let cell = 0; cell < 60; ++cell) {
      const { x, y } = cornerOf(grid, cell);
      expect(cellAt(grid, x, y)).toBe(cell);
      expect(cellAt(grid, x + grid.cellWidth - 1, y + grid.cellHeight - 1)).toBe(cell);
    }
    expect(cornerOf(grid, 0).y).toBeGreaterThan(cornerOf(grid, 1).y);
    expect(cellAt(grid, -50, 1e6)).toBe(0);
    expect(cellAt(grid, 1e6, -5)).toBe(59);
  });

  test("fits where it is, and is never smaller than can be seen", () => {
    expect(widthOf(grid)).toBeLessThanOrEqual(400);
    expect(heightOf(gridOf(map(20, 50), 400, 100))).toBe(200);
    expect(columnsIn(0)).toBe(10);
    expect(columnsIn(1e6)).toBe(1200);
  });

  test("selects in time, from the first cell to the last, whichever way it was drawn", () => {
    expect(momentOf(grid, 0)).toBe(1000);
    // As the daemon has it: rows of a column that is no multiple of them begin at whole nanoseconds.
    expect([1, 2, 3].map((cell) => momentOf(grid, cell))).toEqual([1034, 1067, 1100]);
    expect(spanOf(grid, 5, 2)).toEqual({ from: 1067, to: 1200 });
    expect(spanOf(grid, 2, 5)).toEqual(spanOf(grid, 5, 2));
    expect(spanOf(grid, 4, 4)).toEqual({ from: 1134, to: 1167 });
  });
});

describe("windows as filters", () => {
  test("take each other's place, and leave other filters", () => {
    const first = keepWindow(INITIAL, { from: 1, to: 5 });
    const second = keepWindow(first, { from: 10, to: 20 });
    expect(second.place.chips.map(({ filter }) => filterText(filter))).toEqual(["time 10ns..20ns"]);
    expect(keepWindow(second, undefined).place.chips).toEqual([]);
  });

  test("are a side of a comparison with the other filters that files can hold", () => {
    const window = windowOf({ from: 1e9, to: 2e9 });
    const filters = [
      { op: "keep", by: "thread", pattern: "main" },
      { op: "keep", by: "time", from: 3, to: 4 },
      { op: "collapse", by: "mine" },
    ] as const;
    expect(sideFilter(filters, window)).toBe("thread main | time 1s..2s");
    expect(sideFilter([], { ...window, op: "drop" })).toBe("drop time 1s..2s");
  });
});

describe("markers and counters over time", () => {
  const sight = { from: 0, span: { from: 0, to: 100 }, width: 200 };
  const track: MarkerTrack = {
    name: "main",
    lanes: 2,
    count: 4,
    countText: "4",
    noLane: 0,
    boxes: {
      lane: [0, 0, 1],
      x: [10, 60, 20],
      width: [20, 5, 0],
      count: [1, 2, 1],
      id: [0, -1, 3],
      name: [0, -1, 1],
      text: ["20 ns; reason: x", "2 markers in 5 ns", ""],
      flags: [0, 0, 0],
    },
  };
  const names = ["GC", "tick"];

  test("are found where they are drawn, ticks too", () => {
    expect(markerAt(sight, track, names, 40, 3)).toEqual({
      name: "GC",
      text: "20 ns; reason: x",
      span: { from: 10, to: 30 },
    });
    expect(markerAt(sight, track, names, 125, 3)?.name).toBe("Several markers");
    expect(markerAt(sight, track, names, 41, LANE_HEIGHT + 3)?.text).toBe("takes no time");
    expect(markerAt(sight, track, names, 90, 3)).toBeUndefined();
  });

  test("have the value that holds at a place", () => {
    const counter: CounterTrack = {
      id: 0,
      name: "heap",
      unit: "bytes",
      owner: "",
      sums: false,
      pointCount: 4,
      low: 1,
      high: 9,
      lowText: "1 B",
      highText: "9 B",
      lastText: "9 B",
      points: { x: [20, 50], count: [1, 3], low: [1, 2], high: [1, 9], last: [1, 9] },
    };
    expect(counterAt(sight, counter, 10).text).toBe("not known yet here");
    expect(counterAt(sight, { ...counter, before: 5 }, 10).text).toBe("5 bytes");
    expect(counterAt(sight, counter, 60).text).toBe("1 bytes");
    expect(counterAt(sight, counter, 150).text).toBe("9 bytes, 3 points between 2 and 9");
  });
});
