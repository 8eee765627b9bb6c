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
import { flames, steps, tables } from "./recorded.js";

const AGGREGATE = "aggregate://?of=file:///r/one.pb.gz&of=file:///r/a%2526b.pb.gz%231";

const answerOf = (method: string) => steps.find((step) => step.method === method)!.result;
const series = answerOf("view/series") as SeriesResult;
const spreads = answerOf("view/spread") as SpreadResult;
const uneven = flames.find((flame) => flame.boxes.color !== undefined)!;

describe("the plot of a series", () => {
  it("has the daemon's texts at its marks, which do not lie upon each other", () => {
    const plot = seriesPlot(series)!;
    expect(plot.x).toEqual([0, 1, 2, 3]);
    expect(plot.y).toEqual([428, 417, 1041, 413]);
    expect(plot.yRange).toEqual([0, 1041]);
    expect(plot.marks.map(({ text }) => text)).toEqual(["0", "575", "1,041"]);
    expect(plot.level).toBe(574.75);
    expect(plot.says(2)).toBe("rank-2.perf.txt.gz: 1,041");
    const wide = seriesPlot({ ...series, spread: { ...series.spread!, min: 200, minText: "200" } })!;
    expect(wide.marks.map(({ text }) => text)).toEqual(["0", "200", "575", "1,041"]);
  });

  it("goes by time where the times are known, and below nothing where values do", () => {
    expect(seriesPlot({ ...series, points: { ...series.points, seconds: [0, 30, 31, 32] } })!.x).toEqual([
      0, 30, 31, 32,
    ]);
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
    expect(plot.x).toEqual([413, 727]);
    expect(plot.y).toEqual([3, 1]);
    expect(plot.xRange).toEqual([413, 1041]);
    expect(plot.says(0)).toBe("3 profiles: 413 to 727");
    expect(plot.says(1)).toBe("1 profile: 727 to 1,041");
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
    const color = uneven.boxes.color!.map((value, i) => (i === 1 ? null : value));
    const layout = layoutOf({ ...uneven, boxes: { ...uneven.boxes, color } }, 0);
    const paints = paintsOf(layout, "imbalance", "light", "standard");
    const fillOf = (item: number) => paints.fills[paints.fill[item]!]!;
    const named = (name: string) => layout.names.findIndex((of) => of.startsWith(name));
    const boxOfName = (name: string) => layout.name.indexOf(named(name));
    expect(fillOf(boxOfName("heat::refine"))).not.toBe(fillOf(boxOfName("heat::relax")));
    expect(fillOf(1)).not.toBe(fillOf(boxOfName("heat::relax")));
    expect(paints.legend.map(({ text }) => text)).toEqual(["imbalance 0.0 % to 81.1 %"]);
  });

  it("has rows with how its profiles lie", () => {
    expect(spreadRowOf(spreads, 0)).toMatchObject({
      name: "heat::refine(unsigned long, int)",
      selfText: "2,299",
      mean: "575",
      median: "417",
      min: "413",
      max: "1,041",
      imbalance: "81.1 %",
      lost: "1,865",
      series: [428, 417, 1041, 413],
    });
    expect(spreadRowOf(spreads, spreads.rows.name.length)).toBeUndefined();
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
