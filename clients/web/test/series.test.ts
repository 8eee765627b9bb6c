import { describe, expect, it } from "vitest";
import type { SeriesResult, SpreadResult } from "../../shared/ts/psp.js";
import { baseName, comparablesOf, pathOfUri } from "../src/app.js";
import { paintsOf } from "../src/draw/colors.js";
import { layoutOf, nameOf } from "../src/draw/layout.js";
import { histogramPlot, seriesPlot, sparkPath } from "../src/draw/plot.js";
import { inputsOf, isAggregate } from "../src/state/compared.js";
import { fromAddress, schemeOf, sortOf, spreadSortOf, START, startOf, toAddress } from "../src/state/place.js";
import { go, INITIAL, openPlace } from "../src/state/state.js";
import { boxOf, placeOf } from "../src/views/flame/box.js";
import { isOfWay } from "../src/views/flat/hottest.js";
import { rowOf } from "../src/views/flat/rows.js";
import { spreadRowOf } from "../src/views/flat/spread.js";
import { flames, tables } from "./recorded.js";

const AGGREGATE = "aggregate://?of=file:///r/one.pb.gz&of=file:///r/a%2526b.pb.gz%231";

const amount = { value: 100, text: "100 ns", share: 1, shareText: "100 %" };
const series: SeriesResult = {
  profile: "p4",
  revision: 1,
  spec: "flat by function | metric cpu",
  metric: "cpu",
  unit: "ns",
  total: amount,
  viewTotal: amount,
  name: "main.main",
  label: "main",
  inputCount: 3,
  points: { input: [0, 1, 2], name: ["a", "b", "c"], value: [20, 80, 50], text: ["20 ns", "80 ns", "50 ns"] },
  spread: {
    known: 3,
    present: 3,
    sum: 150,
    min: 20,
    max: 80,
    mean: 50,
    median: 50,
    p90: 80,
    lost: 90,
    sumText: "150 ns",
    minText: "20 ns",
    maxText: "80 ns",
    meanText: "50 ns",
    medianText: "50 ns",
    p90Text: "80 ns",
    deviationText: "30 ns",
    imbalanceText: "60.0 %",
    lostText: "90 ns",
    largest: "b",
  },
  histogram: { edges: [20, 50, 80], edgeTexts: ["20 ns", "50 ns", "80 ns"], counts: [1, 2] },
  text: "In 3 of 3 profiles.",
};

describe("the plot of a series", () => {
  it("has the daemon's texts at its marks, which do not lie upon each other", () => {
    const plot = seriesPlot(series)!;
    expect(plot.x).toEqual([0, 1, 2]);
    expect(plot.y).toEqual([20, 80, 50]);
    expect(plot.yRange).toEqual([0, 80]);
    expect(plot.marks.map(({ text }) => text)).toEqual(["0", "20 ns", "50 ns", "80 ns"]);
    expect(plot.level).toBe(50);
    expect(plot.says(1)).toBe("b: 80 ns");
    const close = seriesPlot({ ...series, spread: { ...series.spread!, mean: 78, min: 2 } })!;
    expect(close.marks.map(({ text }) => text)).toEqual(["0", "80 ns"]);
  });

  it("goes by time where the times are known, and below nothing where values do", () => {
    expect(seriesPlot({ ...series, points: { ...series.points, seconds: [0, 30, 31] } })!.x).toEqual([0, 30, 31]);
    const below = seriesPlot({ ...series, spread: { ...series.spread!, min: -40, max: -10 } })!;
    expect(below.yRange).toEqual([-40, 0]);
  });

  it("has room for one value, and there is none without", () => {
    const points = { input: [4], name: ["a"], value: [7], text: ["7 ns"] };
    const one = seriesPlot({ ...series, points, spread: { ...series.spread!, min: 7, max: 7, mean: 7 } })!;
    expect(one.xRange).toEqual([3.5, 4.5]);
    const { spread, ...none } = series;
    expect(spread).toBeDefined();
    expect(seriesPlot(none)).toBeUndefined();
  });

  it("counts profiles in bins", () => {
    const plot = histogramPlot(series)!;
    expect(plot.x).toEqual([20, 50]);
    expect(plot.xRange).toEqual([20, 80]);
    expect(plot.says(0)).toBe("1 profile: 20 ns to 50 ns");
    expect(plot.says(1)).toBe("2 profiles: 50 ns to 80 ns");
    const { histogram, ...none } = series;
    expect(histogram).toBeDefined();
    expect(histogramPlot(none)).toBeUndefined();
  });

  it("is a line in a cell, from the ground up", () => {
    expect(sparkPath([0, 10, 5], 100, 20)).toBe("M0.0 20.0L50.0 0.0L100.0 10.0");
    expect(sparkPath([10], 100, 20)).toBe("M0.0 0.0H100");
    expect(sparkPath([0, 0], 100, 20)).toBe("M0.0 20.0L100.0 20.0");
    expect(sparkPath([], 100, 20)).toBe("");
  });
});

describe("an aggregate", () => {
  it("is told by its address, which names what it is made of", () => {
    expect(isAggregate(AGGREGATE)).toBe(true);
    expect(isAggregate("diff://?before=a&after=b")).toBe(false);
    expect(inputsOf(AGGREGATE)).toEqual(["file:///r/one.pb.gz", "file:///r/a%26b.pb.gz#1"]);
    expect(baseName(AGGREGATE)).toBe("2 profiles: one.pb.gz and 1 more");
    expect(pathOfUri(AGGREGATE)).toBe("/r/one.pb.gz, /r/a&b.pb.gz#1");
    expect(comparablesOf([{ uri: AGGREGATE, state: "ready" } as never])).toEqual([]);
  });

  it("begins with what costs most over all, and has orders and colours of its own", () => {
    const place = { ...startOf(AGGREGATE), sort: { by: "lost", descending: true }, color: "imbalance" } as const;
    expect(spreadSortOf(startOf(AGGREGATE))).toBe("sum");
    expect(spreadSortOf(place)).toBe("lost");
    expect(schemeOf(place)).toBe("imbalance");
    expect(schemeOf({ ...place, profile: "file:///x" })).toBe("module");
    expect(sortOf(place)).toEqual(START.sort);
    const address = toAddress({ ...place, ofTotals: true });
    expect(fromAddress(address).place).toMatchObject({ sort: place.sort, color: "imbalance", ofTotals: true });
    const state = go(INITIAL, place);
    expect(openPlace(state, "file:///x").place.color).toBe(START.color);
    expect(openPlace(state, `${AGGREGATE}&of=b`).place.color).toBe("imbalance");
  });

  it("colours boxes by how uneven they are, those without a value grey", () => {
    const flame = flames[0]!;
    const color = flame.boxes.depth.map((_, i) => (i === 1 ? null : i));
    const layout = layoutOf({ ...flame, boxes: { ...flame.boxes, color } }, 0);
    const paints = paintsOf(layout, "imbalance", "light", "standard");
    const fillOf = (item: number) => paints.fills[paints.fill[item]!]!;
    expect(fillOf(2)).not.toBe(fillOf(layout.boxes - 1));
    expect(fillOf(1)).not.toBe(fillOf(2));
    expect(paints.legend.map(({ text }) => text)).toEqual(["least", "a quarter of the most", "most"]);
  });

  it("has rows with how its profiles lie", () => {
    const table = tables[0]!.result;
    const one = <T>(value: T) => table.rows.name.map(() => value);
    const page: SpreadResult = {
      ...table,
      inputs: ["a", "b"],
      rowCount: table.rows.name.length,
      columns: {
        mean: one(5),
        min: one(0),
        median: one(0),
        max: one(10),
        lost: one(10),
        meanText: one("5"),
        minText: one("0"),
        medianText: one("0"),
        maxText: one("10"),
        deviationText: one("7.07"),
        imbalanceText: one("100.0 %"),
        lostText: one("10"),
        series: one([0, 10]),
      },
    };
    expect(spreadRowOf(page, 0)).toMatchObject({ name: rowOf(table, 0)!.name, imbalance: "100.0 %", series: [0, 10] });
    expect(spreadRowOf(page, table.rows.name.length)).toBeUndefined();
  });
});

describe("panes of a diff", () => {
  const flame = flames.find((one) => one.changes !== undefined)!;

  it("are in the address, and of diffs alone", () => {
    const diff = "diff://?before=a&after=b";
    const place = { ...startOf(diff), panes: true };
    expect(fromAddress(toAddress(place)).place.panes).toBe(true);
    const state = go(INITIAL, place);
    expect(openPlace(state, "diff://?before=c&after=d").place.panes).toBe(true);
    expect(openPlace(state, "file:///x").place.panes).toBe(false);
  });

  it("find a box that was chosen in another one by its path, whatever is wide there", () => {
    const layout = layoutOf(flame, 0);
    const deepest = layout.boxes - 1;
    const chosen = boxOf(layout, deepest);
    const other = layoutOf({ ...flame, spec: flame.spec.replace(/metric .*/, 'metric "cpu before"') }, 0);
    expect(placeOf(other, chosen)).toBe(deepest);
    const elsewhere = layoutOf({ ...flame, spec: flame.spec.replace("top-down", "bottom-up") }, 0);
    expect(nameOf(elsewhere, placeOf(elsewhere, chosen))).toBe(chosen.name);
  });

  it("grew and shrank are told apart where both are in a list", () => {
    const table = tables.find(({ result }) => result.changes !== undefined)!.result;
    const rows = table.rows.name.map((_, at) => rowOf(table, at)!);
    const worse = rows.filter((row) => isOfWay(row, "worse"));
    expect(worse.length).toBeGreaterThan(0);
    for (const row of worse) expect(row.change!.self).toMatch(/^(~ )?\+/);
    for (const row of rows.filter((each) => isOfWay(each, "better"))) expect(row.change!.self).toMatch(/^(~ )?-/);
    expect(rows.filter((row) => isOfWay(row, "change"))).toHaveLength(rows.length);
  });
});
