import { describe, expect, test } from "vitest";
import type { TimelineChart, TimelineResult } from "../../shared/ts/psp.js";
import { findIn, heightOf, LOAD_HEIGHT, ROW_HEIGHT, rowsOf } from "../src/views/timeline/picture.js";
import { keptOf, withoutWindows } from "../src/state/windows.js";
import { held, marksOf, moved, rounded, zoomed } from "../src/views/timeline/span.js";

const ALL = { from: 100, to: 1100 };

describe("windows of time", () => {
  test("stay inside of what there is, in whole nanoseconds", () => {
    expect(held({ from: 0, to: 200 }, ALL)).toEqual({ from: 100, to: 300 });
    expect(held({ from: 1050, to: 1150 }, ALL)).toEqual({ from: 1000, to: 1100 });
    expect(held({ from: -50, to: 5000 }, ALL)).toEqual(ALL);
    expect(held({ from: 200.4, to: 200.6 }, ALL)).toEqual({ from: 200, to: 201 });
  });

  test("zoom around a moment, down to one nanosecond, and out to everything", () => {
    expect(zoomed(ALL, ALL, 600, 2)).toEqual({ from: 350, to: 850 });
    expect(zoomed({ from: 600, to: 602 }, ALL, 600, 8)).toEqual({ from: 600, to: 601 });
    expect(zoomed({ from: 350, to: 850 }, ALL, 400, 0.01)).toEqual(ALL);
  });

  test("have no more digits than a hand can mean", () => {
    expect(rounded({ from: 151_898_734, to: 263_291_139 }, 506_000)).toEqual({ from: 151_900_000, to: 263_300_000 });
    expect(rounded({ from: 17, to: 17 }, 0.01)).toEqual({ from: 17, to: 18 });
  });

  test("move by a part of their length, as far as there is time", () => {
    expect(moved({ from: 200, to: 300 }, ALL, 0.5)).toEqual({ from: 250, to: 350 });
    expect(moved({ from: 200, to: 300 }, ALL, -3)).toEqual({ from: 100, to: 200 });
  });

  test("are those of the filter that keeps one; others are no window of the picture", () => {
    const chip = (filter: object, on = true) => ({ filter: { op: "keep", by: "time", ...filter } as never, on });
    expect(keptOf([chip({ from: 200, to: 300 })], ALL)).toEqual({ from: 200, to: 300 });
    expect(keptOf([chip({ to: 300 })], ALL)).toEqual({ from: 100, to: 300 });
    expect(keptOf([chip({ from: 200, to: 300 }, false)], ALL)).toBeUndefined();
    expect(keptOf([chip({ from: 200, to: 300, every: 400 })], ALL)).toBeUndefined();
    const thread = { op: "keep", by: "thread", pattern: "a" } as const;
    expect(withoutWindows([{ op: "keep", by: "time", from: 1 }, thread, { op: "drop", by: "time", from: 1 }])).toEqual([
      thread,
      { op: "drop", by: "time", from: 1 },
    ]);
  });
});

test("an axis has round marks with as many digits as tell them apart", () => {
  const texts = (from: number, to: number, apart: number) => marksOf({ from, to }, apart).map((mark) => mark.text);
  expect(texts(0, 3e9, 0.7e9)).toEqual(["0 s", "1 s", "2 s", "3 s"]);
  expect(texts(1.2e9, 1.2006e9, 0.2e6)).toEqual(["1.2000 s", "1.2002 s", "1.2004 s", "1.2006 s"]);
  expect(texts(0, 3, 1)).toEqual(["0 ns", "1 ns", "2 ns", "3 ns"]);
});

describe("what is under the pointer", () => {
  const chart: TimelineChart = {
    track: 0,
    rows: 2,
    lanes: 0,
    minWidth: 2,
    boxes: {
      depth: [0, 1, 1],
      x: [0, 0, 50],
      width: [100, 20, 10],
      count: [1, 1, 4],
      name: [0, 1, -1],
      value: [100, 20, 8],
      text: ["100 ns", "20 ns", "4 boxes, 8 ns in 10 ns"],
      flags: [0, 0, 0],
      kind: [0, 0, 0],
    },
    gaps: { x: [100], width: [100], text: ["no samples for 100 ns"] },
  };
  const answer = {
    from: 1000,
    to: 1200,
    names: ["main", "parse"],
    labels: ["main", "parse"],
  } as unknown as TimelineResult;
  const track = { id: 0, name: "main 1", loadText: "50 %", amount: { text: "100 ns" }, load: [] } as never;
  const picture = { answer, track, chart, span: { from: 1000, to: 1200 }, width: 200 };
  const row = (depth: number) => LOAD_HEIGHT + depth * ROW_HEIGHT + 5;

  test("is a box with its extent, joined ones, a gap, or the load", () => {
    expect(rowsOf(chart)).toBe(2);
    expect(heightOf(undefined)).toBe(LOAD_HEIGHT);
    expect(findIn(picture, 10, row(0))).toEqual({
      name: "main",
      text: "100 ns",
      span: { from: 1000, to: 1100 },
    });
    expect(findIn(picture, 10, row(1))?.name).toBe("parse");
    expect(findIn(picture, 55, row(1))?.name).toBe("4 boxes, 8 ns in 10 ns");
    expect(findIn(picture, 30, row(1))).toBeUndefined();
    expect(findIn(picture, 150, row(0))?.name).toBe("no samples for 100 ns");
    expect(findIn(picture, 150, 3)).toEqual({ name: "main 1", text: "50 %, 100 ns" });
  });

  test("follows a window that has moved on since the answer", () => {
    const later = { ...picture, span: { from: 1050, to: 1150 } };
    expect(findIn(later, 5, row(1))?.name).toBe("4 boxes, 8 ns in 10 ns");
  });
});
