// The city of a running program, without a page: typed arrays, camera, pointer, names, and what follows a session.
import { describe, expect, it, vi } from "vitest";
import type {
  LiveCityResult,
  LiveFrameResult,
  LiveMethods,
  LiveWindowResult,
  RequestType,
} from "../../shared/ts/psp.js";
import { boxSetOf, ease, lookAt, MARK } from "../src/views/live/boxes.js";
import {
  apply,
  carried,
  changeText,
  cityOf,
  joinCity,
  noneStanding,
  shareText,
  shortName,
  standingRows,
  versionMark,
  versionsOf,
  wholeName,
  FLAG,
} from "../src/views/live/city.js";
import { heldOf, heldText } from "../src/views/live/held.js";
import { Feed } from "../src/views/live/feed.js";
import { chosenLabels, MOST_LABELS, type Label } from "../src/views/live/labels.js";
import { LOOK } from "../src/views/live/looks.js";
import { fromMap, mapHome, mapScaled, toMap } from "../src/views/live/map.js";
import {
  above,
  between,
  groundAt,
  home,
  lensOf,
  moved,
  project,
  rayAt,
  scaled,
  turned,
} from "../src/views/live/orbit.js";
import { heatTone, paintsOf } from "../src/views/live/paints.js";
import { laneOf, stripPath } from "../src/views/live/lanes.js";
import { hitInCity, hitOnMap, placesOf } from "../src/views/live/pick.js";
import { extentOf, fullHeight, topOfBlock } from "../src/views/live/scale.js";
import { matchesOf, sessionOf } from "../src/views/live/names.js";
import { contrast } from "../src/draw/colors.js";
import { madeCity, madeHeights, numbers } from "./madecity.js";

const answer = madeCity(3000);
const city = cityOf(answer);
const methods = (id: number[], height: number[], flags = id.map(() => 0)): LiveMethods => ({
  id,
  height,
  threads: id.map(() => 1),
  flags,
});

describe("an address of running programs", () => {
  const of = (held: string, profile?: string) => heldOf({ held, profile });

  it("names the time that is held, or the end of the part that it leads to", () => {
    expect(of(heldText({ session: "live-1", time: 12e9 }))).toEqual({ session: "live-1", time: 12e9 });
    expect(of("", "live://live-2?from=6000000000&to=9000000000")).toEqual({ session: "live-2", time: 9e9 });
    expect(of("live-2 7", "live://live-2?from=6000000000&to=9000000000")?.time).toBe(7);
  });

  it("names none where nothing is held, or an end is a mark", () => {
    for (const profile of [undefined, "file:///a.pprof?to=5", "live://live-1", "live://live-1?from=begin&to=click"])
      expect(of("", profile)).toBeUndefined();
    expect(of("live-1 soon")).toBeUndefined();
  });
});

describe("the city as typed arrays", () => {
  it("finds the rows of plots in each block", () => {
    for (let block = 0; block < city.blocks.count; ++block) {
      const n = city.blocks.plots[block]!;
      expect(city.blocks.columns[block]).toBe(Math.ceil(Math.sqrt(n)));
    }
    expect(city.pitch).toBeCloseTo(4 / 3, 4);
  });
  it("knows how deep districts lie", () => {
    expect(city.districts.level[0]).toBe(0);
    for (let row = 1; row < city.districts.count; ++row)
      expect(city.districts.level[row]).toBe(city.districts.level[city.districts.parent[row]!]! + 1);
  });
  it("takes what is new or lies elsewhere into what was there", () => {
    const more: LiveCityResult = {
      ...answer,
      layout: 2,
      key: false,
      districts: { id: [], parent: [], name: [], label: [], x: [], y: [], w: [], h: [] },
      blocks: { id: [], district: [], name: [], label: [], x: [], y: [], w: [], h: [] },
      plots: {
        id: [99_999, 1],
        block: [0, 0],
        name: ["fresh", "method0"],
        signature: ["", ""],
        x: [1, 2],
        y: [3, 4],
        w: [1, 1],
      },
    };
    const now = cityOf(joinCity(answer, more));
    expect(now.plots.count).toBe(city.plots.count + 1);
    expect(now.plots.name[now.rowOf.get(99_999)!]).toBe("fresh");
    expect(now.plots.x[now.rowOf.get(1)!]).toBe(2);
    expect(now.plots.x[now.rowOf.get(2)!]).toBe(city.plots.x[city.rowOf.get(2)!]);
  });
  it("keeps what stands when the city is arranged anew", () => {
    const standing = noneStanding(city.plots.count);
    apply(city, standing, methods([5, 9], [100, 200]), true);
    const order = [...answer.plots.id].reverse();
    const back = <T>(values: readonly T[]) => [...values].reverse();
    const p = answer.plots;
    const other = cityOf({
      ...answer,
      plots: {
        id: order,
        block: back(p.block),
        name: back(p.name),
        signature: back(p.signature),
        x: back(p.x),
        y: back(p.y),
        w: back(p.w),
      },
    });
    const kept = carried(city, standing, other);
    expect(kept.height[other.rowOf.get(9)!]).toBe(200);
    expect(kept.height[other.rowOf.get(5)!]).toBe(100);
    expect(kept.height.reduce((a, b) => a + b, 0)).toBe(300);
  });
  it("lays low what a whole picture does not name, and nothing that a partial one does not", () => {
    const standing = noneStanding(city.plots.count);
    apply(city, standing, methods([1, 2], [10, 20]), true);
    apply(city, standing, methods([2, 3], [0, 30]), false);
    const at = (id: number) => standing.height[city.rowOf.get(id)!];
    expect([at(1), at(2), at(3)]).toEqual([10, 0, 30]);
    apply(city, standing, methods([3], [5]), true);
    expect([at(1), at(2), at(3)]).toEqual([0, 0, 5]);
  });
  it("says how many methods have no plot yet", () => {
    expect(apply(city, noneStanding(city.plots.count), methods([1, 1_000_000], [1, 1]), true)).toBe(1);
  });
  it("has what is new and what is gone of two versions, each with its ids", () => {
    const p = answer.plots;
    const both = cityOf({
      ...answer,
      plots: {
        ...p,
        id: p.id.map((id, i) => (i === 3 ? 0 : id)),
        idBefore: p.id.map((id, i) => (i === 5 ? 0 : id + 7000)),
      },
    });
    const versions = versionsOf(both);
    expect(both.rowOfBefore.get(p.id[0]! + 7000)).toBe(0);
    expect(both.rowOf.get(p.id[3]!)).toBeUndefined();
    expect(both.rowOf.has(0) || both.rowOfBefore.has(0)).toBe(false);
    expect([versionMark(versions, 3), versionMark(versions, 5), versionMark(versions, 4)]).toEqual([
      "[D] ",
      "[A] ",
      "",
    ]);
    expect(versions.added.reduce((a, b) => a + b, 0)).toBe(1);
    expect(versions.gone.reduce((a, b) => a + b, 0)).toBe(1);
    // From the city of one version to that of both, what is known of a method goes with it.
    const standing = noneStanding(city.plots.count);
    apply(city, standing, methods([p.id[4]!], [77]), true);
    expect(carried(city, standing, both).height[4]).toBe(77);
  });
  it("writes names of C++ as they are written there", () => {
    const p = answer.plots;
    const code = cityOf(
      { ...answer, plots: { ...p, id: [1], block: [0], name: ["drop"], signature: ["Board::drop()"] } },
      "::",
    );
    expect(shortName(code, 0)).toBe(`${code.blocks.label[0]!}::drop`);
    expect(wholeName(code, 0)).toBe(`${code.blocks.name[0]!}::drop`);
  });
  it("writes shares as the daemon does", () => {
    expect([0, 20, 65535 / 3, 65534, 65535].map(shareText)).toEqual(["0 %", "<0.1 %", "33.3 %", "99.9 %", "100 %"]);
    expect(changeText(0, 6554)).toBe("[+] +10.0 points");
    expect(changeText(6554, 0)).toBe("[-] −10.0 points");
    expect(changeText(7, 7)).toBe("[=] same");
  });
  it("names methods without their packages, and functions without a class", () => {
    expect(shortName(city, 0)).toBe(`${city.blocks.label[city.plots.block[0]!]!}.method0`);
    expect(wholeName(city, 0)).toContain(".method0");
  });
});

describe("boxes", () => {
  it("are of what stands, what is marked and what is chosen", () => {
    const standing = noneStanding(city.plots.count);
    apply(city, standing, methods([1, 2], [100, 0], [0, FLAG.demoted]), true);
    expect([...standingRows(city, standing, [77])]).toEqual([city.rowOf.get(1), city.rowOf.get(2), 77]);
  });
  it("go on from the height that they have, and are there at once where nothing moves", () => {
    const standing = noneStanding(city.plots.count);
    apply(city, standing, methods([1], [65535]), true);
    const look = { chosen: -1, hovered: -1, matches: undefined, colorBy: "heat", ofBefore: false } as const;
    const rows = standingRows(city, standing, []);
    const set = boxSetOf(city, rows, undefined);
    lookAt(city, standing, set, look);
    expect(ease(set, 16)).toBe(true);
    expect(set.height[0]).toBeGreaterThan(0);
    expect(set.height[0]).toBeLessThan(fullHeight(city));
    expect(boxSetOf(city, rows, set).height[0]).toBe(set.height[0]);
    expect(ease(set, Infinity)).toBe(false);
    expect(set.height[0]).toBeCloseTo(fullHeight(city), 4);
  });
  it("tell what waits, is without probes, is new or does not match", () => {
    const standing = noneStanding(city.plots.count);
    apply(city, standing, methods([1, 2], [9, 9], [FLAG.waits, FLAG.demoted]), true);
    const set = boxSetOf(city, standingRows(city, standing, []), undefined);
    const added = new Uint8Array(city.plots.count).fill(1);
    const gone = new Uint8Array(city.plots.count);
    gone[standingRows(city, standing, [])[1]!] = 1;
    lookAt(city, standing, set, {
      chosen: 0,
      hovered: -1,
      matches: new Set([0]),
      colorBy: "heat",
      ofBefore: false,
      versions: { added, gone },
    });
    expect(set.look[1]).toBe(LOOK.waits | LOOK.chosen | LOOK.added);
    expect(set.look[5]).toBe(LOOK.demoted | LOOK.added | LOOK.gone | LOOK.dimmed);
  });
  it("of a comparison are orange above the middle of the ramp, blue below, and show what was", () => {
    const standing = noneStanding(city.plots.count);
    apply(city, standing, methods([1, 2], [65535, 0]), true);
    standing.before[1] = 65535;
    const set = boxSetOf(city, standingRows(city, standing, []), undefined);
    const look = { chosen: -1, hovered: -1, matches: undefined, colorBy: "change" } as const;
    lookAt(city, standing, set, { ...look, ofBefore: false });
    expect([set.look[0], set.look[4]]).toEqual([1, 0]);
    expect([set.look[2], set.look[6]]).toEqual([0, Math.fround(fullHeight(city))]);
    lookAt(city, standing, set, { ...look, ofBefore: true });
    expect([...set.goal]).toEqual([Math.fround(MARK), Math.fround(fullHeight(city))]);
  });
});

describe("the camera", () => {
  const extent = extentOf(city);
  const orbit = home(extent, 16 / 9);
  const lens = lensOf(orbit, 16 / 9);
  it("shows all of the city at first", () => {
    for (const aspect of [0.5, 1, 16 / 9, 3]) {
      const all = lensOf(home(extent, aspect), aspect);
      for (const x of [0, extent.width])
        for (const y of [0, extent.depth]) {
          const [sx, sy, w] = project(all, [x, y, 0]);
          expect(w).toBeGreaterThan(0);
          expect(Math.max(Math.abs(sx), Math.abs(sy))).toBeLessThan(1);
        }
    }
  });
  it("casts rays that go where points are drawn", () => {
    const random = numbers(3);
    for (let i = 0; i < 100; ++i) {
      const at = [random() * extent.width, random() * extent.depth] as const;
      const [sx, sy] = project(lens, [...at, 0]);
      const back = groundAt(rayAt(lens, sx, sy))!;
      expect(back[0]).toBeCloseTo(at[0], 2);
      expect(back[1]).toBeCloseTo(at[1], 2);
    }
  });
  it("keeps what is under the pointer where it is when it comes closer", () => {
    const at = groundAt(rayAt(lens, 0.3, -0.2))!;
    const closer = lensOf(scaled(orbit, 0.5, extent, at), 16 / 9);
    const [sx, sy] = project(closer, [...at, 0]);
    expect(sx).toBeCloseTo(0.3, 3);
    expect(sy).toBeCloseTo(-0.2, 3);
  });
  it("never goes below the ground, out of sight or into nothing", () => {
    let at = orbit;
    for (let i = 0; i < 500; ++i) at = moved(scaled(turned(at, 0.3, -0.3, extent), 0.7, extent), 1, 1, extent);
    expect(at.tilt).toBeGreaterThan(0.1);
    expect(at.distance).toBeGreaterThan(1);
    expect(at.x).toBeLessThan(2 * extent.width);
    for (const value of lensOf(at, 1).matrix) expect(Number.isFinite(value)).toBe(true);
  });
  it("flies the shorter way round and ends where it was sent", () => {
    const to = { ...orbit, yaw: orbit.yaw + 2 * Math.PI + 0.2, distance: 9 };
    expect(between(orbit, to, 1).yaw).toBeCloseTo(orbit.yaw + 0.2, 6);
    expect(between(orbit, to, 1).distance).toBeCloseTo(9, 6);
    expect(between(orbit, to, 0).distance).toBeCloseTo(orbit.distance, 6);
    expect(between(orbit, to, 0)).toMatchObject({ x: orbit.x, yaw: orbit.yaw, tilt: orbit.tilt });
  });
  it("from above looks straight down, with north up", () => {
    const map = lensOf(above(extent, 1), 1);
    const [, south] = project(map, [extent.width / 2, 0, 0]);
    const [, north] = project(map, [extent.width / 2, extent.depth, 0]);
    expect(north).toBeGreaterThan(south);
  });
});

describe("what is under the pointer", () => {
  const places = placesOf(city);
  it("is on the map the plot at the point, for every plot", () => {
    for (let row = 0; row < city.plots.count; row += 7)
      expect(hitOnMap(city, places, city.plots.x[row]! + 0.5, city.plots.y[row]! + 0.5)).toEqual({
        plot: row,
        block: city.plots.block[row],
        district: city.blocks.district[city.plots.block[row]!],
      });
  });
  it("between plots is the block, between blocks the district, outside nothing", () => {
    expect(hitOnMap(city, places, city.plots.x[0]! - 0.2, city.plots.y[0]! - 0.2)).toMatchObject({
      plot: -1,
      block: city.plots.block[0],
    });
    expect(hitOnMap(city, places, city.districts.x[1]! + 0.1, city.districts.y[1]! + 0.1)).toEqual({
      plot: -1,
      block: -1,
      district: 1,
    });
    expect(hitOnMap(city, places, -5, -5).district).toBe(-1);
  });
  it("in the city is the box in front, even where it hides another", () => {
    const standing = noneStanding(city.plots.count);
    apply(city, standing, madeHeights(city.plots.count, 200), true);
    const rows = standingRows(city, standing, []);
    const tops = Float32Array.from(rows, (row) => (standing.height[row]! / 65535) * fullHeight(city) + MARK);
    const orbit = home(extentOf(city), 1.5);
    const lens = lensOf(orbit, 1.5);
    let seen = 0;
    rows.forEach((row, i) => {
      const base = topOfBlock(city.blocks.level[city.plots.block[row]!]!);
      const middle = [city.plots.x[row]! + 0.5, city.plots.y[row]! + 0.5, base + tops[i]!] as const;
      const [sx, sy, far] = project(lens, middle);
      const { plot } = hitInCity(city, places, rows, tops, rayAt(lens, sx, sy));
      if (plot === row) seen += 1;
      else {
        // What was met instead is nearer.
        expect(plot).toBeGreaterThanOrEqual(0);
        expect(project(lens, [city.plots.x[plot]!, city.plots.y[plot]!, base])[2]).toBeLessThan(far + 3);
      }
    });
    expect(seen).toBeGreaterThan(rows.length * 0.8);
  });
  it("in the city are flat plots, too", () => {
    const lens = lensOf(above(extentOf(city), 1), 1);
    for (let row = 0; row < city.plots.count; row += 101) {
      const z = topOfBlock(city.blocks.level[city.plots.block[row]!]!);
      const [sx, sy] = project(lens, [city.plots.x[row]! + 0.5, city.plots.y[row]! + 0.5, z]);
      expect(hitInCity(city, places, new Uint32Array(0), new Float32Array(0), rayAt(lens, sx, sy)).plot).toBe(row);
    }
  });
});

describe("the map", () => {
  const frame = { width: 800, height: 600 };
  it("has the places of the city, north up, all of it at first", () => {
    const at = mapHome(city, frame);
    const [x0, y0] = toMap(at, frame, 0, 0);
    const [x1, y1] = toMap(at, frame, city.width, city.depth);
    expect(Math.min(x0, x1, y0, y1)).toBeGreaterThanOrEqual(15);
    expect(x1).toBeLessThan(800);
    expect(y0).toBeGreaterThan(y1);
    expect(fromMap(at, frame, x1, y1)[0]).toBeCloseTo(city.width, 6);
  });
  it("comes closer to what is under the pointer", () => {
    const at = mapHome(city, frame);
    const [x, y] = fromMap(at, frame, 300, 200);
    const [px, py] = toMap(mapScaled(at, 2, city, frame, 300, 200), frame, x, y);
    expect(px).toBeCloseTo(300, 6);
    expect(py).toBeCloseTo(200, 6);
  });
});

describe("names on the picture", () => {
  const label = (key: string, x: number, weight: number): Label => ({
    key,
    text: key,
    x,
    y: 100,
    kind: "plot",
    weight,
  });
  it("do not cover each other, and the most telling stays", () => {
    const out = chosenLabels([label("a", 100, 1), label("b", 110, 2), label("c", 300, 0)], () => 40, 800, 600);
    expect(out.map(({ key }) => key)).toEqual(["b", "c"]);
  });
  it("are few", () => {
    const many = Array.from({ length: 200 }, (_, i) => ({
      ...label(`l${i}`, 60 + (i % 10) * 70, i),
      y: 30 + Math.floor(i / 10) * 25,
    }));
    expect(chosenLabels(many, () => 30, 800, 600).length).toBe(MOST_LABELS);
  });
  it("stay inside", () => {
    expect(chosenLabels([label("a", 3, 1)], () => 40, 800, 600)).toEqual([]);
  });
});

describe("colours", () => {
  it("of much are apart from those of little and from the blocks on which they stand", () => {
    for (const mode of ["light", "dark"] as const) {
      expect(contrast(heatTone(mode, 1), paintsOf(mode).block)).toBeGreaterThan(2.4);
      expect(contrast(heatTone(mode, 1), heatTone(mode, 0))).toBeGreaterThan(1.7);
    }
  });
});

describe("lanes and strip", () => {
  it("join what a thread did without a break", () => {
    const row = (state: string) => [
      { thread: 1, name: "main", state, depth: 1, busy: 1, waiting: 0, unknown: 0, text: "" },
    ];
    const past = ["runs", "runs", "waits", "runs"].map((state, i) => ({ time: i * 10, threads: row(state) }));
    expect(laneOf(past, 1)).toEqual([
      { state: "runs", from: 0, to: 10 },
      { state: "waits", from: 10, to: 20 },
      { state: "runs", from: 20, to: 30 },
    ]);
    expect(laneOf(past, 2)).toEqual([]);
  });
  it("draw steps from edge to edge", () => {
    expect(stripPath([1, 0], 1)).toBe("M0 34L0.0 4.0L500.0 4.0L500.0 32.0L1000.0 32.0L1000 34Z");
  });
});

describe("finding methods", () => {
  it("is by words of their whole names, whatever their case", () => {
    const name = wholeName(city, 42);
    const found = matchesOf(city, `${name.slice(0, 6).toUpperCase()} method`);
    expect(found).toContain(42);
    for (const row of found!) expect(wholeName(city, row).toLowerCase()).toContain(name.slice(0, 6).toLowerCase());
    expect(matchesOf(city, " ")).toBeUndefined();
    expect(matchesOf(city, "no such method")).toEqual([]);
  });
});

describe("a session", () => {
  it("is named by the address", () => {
    expect(sessionOf("live://live-1?from=3")).toBe("live-1");
    expect(sessionOf("file:///x")).toBeUndefined();
  });

  const losses = { produced: 1, sent: 1, lost: 0, text: "nothing lost" };
  const frameOf = (frame: number, more: Partial<LiveFrameResult>): LiveFrameResult => ({
    session: "live-1",
    frame,
    key: false,
    state: "runs",
    time: frame * 1e8,
    timeText: "",
    window: 3e9,
    windowText: "",
    layout: 1,
    methods: methods([], []),
    rows: [],
    threadRows: [],
    losses,
    probeText: "",
    ...more,
  });
  const windowOf = (to: number): LiveWindowResult => ({
    session: "live-1",
    from: 0,
    to,
    windowText: `to ${to}`,
    uri: "live://live-1",
    methods: methods([4], [444]),
    rows: [],
    strip: { begin: 0, step: 1e8, busy: [1], events: [1], lost: [0], unknown: [0] },
    marks: [{ name: "here", time: 2e8, timeText: "200 ms" }],
  });

  /** The methods of another session have ids of their own, one is gone and one is new. */
  const bothOf = (one: LiveCityResult): LiveCityResult => ({
    ...one,
    layout: 2,
    plots: {
      ...one.plots,
      id: one.plots.id.map((id, i) => (i === 3 ? 0 : id)),
      idBefore: one.plots.id.map((id, i) => (i === 5 ? 0 : id + 7000)),
    },
  });
  const other = frameOf(1, {
    session: "live-2",
    key: true,
    state: "ended",
    methods: methods([answer.plots.id[0]! + 7000, answer.plots.id[3]! + 7000], [333, 444]),
  });

  /** A feed whose daemon answers from a list, then with nothing new. */
  function feedOf(
    frames: LiveFrameResult[],
    listed: { listening: unknown[]; sessions: unknown[] } = { listening: [], sessions: [] },
  ) {
    const asked: { method: string; params: Record<string, unknown> }[] = [];
    let last = 0;
    let state: LiveFrameResult["state"] = "runs";
    const ask = async <P extends object, R>(type: RequestType<P, R>, params: P, signal?: AbortSignal): Promise<R> => {
      asked.push({ method: type.method, params: params as Record<string, unknown> });
      await Promise.resolve();
      if (signal?.aborted === true) throw new Error("aborted");
      const answers: Record<string, () => unknown> = {
        "live/list": () => listed,
        "live/city": () => ("before" in params ? bothOf(answer) : answer),
        "live/window": () => windowOf((params as { to?: number }).to ?? 0),
        "live/frame": () => {
          if ((params as { session?: string }).session === "live-2") return other;
          const next = frames.shift();
          if (next !== undefined) [last, state] = [next.frame, next.state];
          return next ?? frameOf(last, { state });
        },
      };
      return answers[type.method]!() as R;
    };
    return { feed: new Feed(ask, (error) => (error instanceof Error ? error.message : undefined)), asked };
  }
  const settle = (ms = 30) => new Promise((resolve) => setTimeout(resolve, ms));

  it("holds a time that was asked for before there was a picture", async () => {
    const { feed, asked } = feedOf([frameOf(1, { key: true, methods: methods([1], [100]) })]);
    feed.choose("live-1");
    feed.look(true);
    feed.seek(5e7);
    await settle();
    expect(feed.at.value).toBe(1e8);
    expect(asked.at(-1)?.params).toMatchObject({ to: 1e8 });
    feed.look(false);
  });

  it("is followed from picture to picture, each asked for by the one before", async () => {
    const { feed, asked } = feedOf([
      frameOf(1, { key: true, methods: methods([1], [100]) }),
      frameOf(2, { methods: methods([2], [200]) }),
    ]);
    feed.choose("live-1");
    feed.look(true);
    await settle();
    feed.look(false);
    const at = (id: number) => feed.standing.height[city.rowOf.get(id)!];
    expect([at(1), at(2)]).toEqual([100, 200]);
    expect(feed.spark(city.rowOf.get(1)!).length).toBe(2);
    const frames = asked.filter(({ method }) => method === "live/frame").map(({ params }) => params.since);
    expect(frames.slice(0, 3)).toEqual([0, 1, 2]);
  });
  it("is asked for nothing while nobody looks", async () => {
    const { feed, asked } = feedOf([frameOf(1, { key: true })]);
    feed.choose("live-1");
    await settle();
    expect(asked).toEqual([]);
    feed.look(true);
    await settle();
    feed.look(false);
    await settle(80);
    const count = asked.length;
    await settle(150);
    expect(asked.length).toBe(count);
  });
  it("is asked for nothing any more when it has ended, until something is asked of it", async () => {
    const listed = { listening: [], sessions: [{ session: "live-1", state: "runs" }] };
    const { feed, asked } = feedOf([frameOf(1, { key: true }), frameOf(2, { state: "ended" })], listed);
    feed.choose("live-1");
    feed.look(true);
    listed.sessions[0]!.state = "ended";
    await settle(60);
    expect(feed.frame.value?.state).toBe("ended");
    expect(feed.window.value).toBeDefined();
    vi.useFakeTimers();
    try {
      const count = asked.length;
      await vi.advanceTimersByTimeAsync(60_000);
      expect(asked.slice(count)).toEqual([]);
      feed.again();
      await vi.advanceTimersByTimeAsync(60_000);
      expect(asked.slice(count).map(({ method }) => method)).toEqual(["live/frame", "live/window"]);
    } finally {
      vi.useRealTimers();
    }
    feed.look(false);
  });
  it("is listed again only while a program can come or runs", async () => {
    vi.useFakeTimers();
    try {
      const lists = async (listening: unknown[], sessions: unknown[]) => {
        const { feed, asked } = feedOf([], { listening, sessions });
        feed.look(true);
        await vi.advanceTimersByTimeAsync(30_000);
        feed.look(false);
        return asked.filter(({ method }) => method === "live/list").length;
      };
      expect(await lists([], [])).toBe(1);
      expect(await lists([], [{ session: "live-1", state: "ended" }])).toBe(1);
      expect(await lists([{ address: "unix:/x" }], [])).toBeGreaterThan(5);
      expect(await lists([], [{ session: "live-1", state: "replays" }])).toBeGreaterThan(5);
    } finally {
      vi.useRealTimers();
    }
  });
  it("is held: heights are of the window that ends where one looks, and nothing moves them", async () => {
    const { feed, asked } = feedOf([frameOf(50, { key: true, methods: methods([1], [100]) })]);
    feed.choose("live-1");
    feed.look(true);
    await settle();
    feed.seek(4e9);
    await settle();
    expect(feed.at.value).toBe(4e9);
    expect(feed.standing.height[city.rowOf.get(4)!]).toBe(444);
    expect(feed.standing.height[city.rowOf.get(1)!]).toBe(0);
    const count = asked.length;
    await settle(120);
    expect(asked.filter(({ method }) => method === "live/frame").length).toBe(
      asked.slice(0, count).filter(({ method }) => method === "live/frame").length,
    );
    feed.look(false);
  });
  it("is compared with a moment and with a mark", async () => {
    const { feed } = feedOf([frameOf(1, { key: true, methods: methods([1], [100]) })]);
    feed.choose("live-1");
    feed.look(true);
    await settle();
    await feed.compare({ kind: "moment", text: "" });
    expect(feed.standing.before[city.rowOf.get(1)!]).toBe(100);
    await settle();
    await feed.compare({ kind: "mark", name: "here" });
    expect(feed.standing.before[city.rowOf.get(1)!]).toBe(0);
    expect(feed.standing.before[city.rowOf.get(4)!]).toBe(444);
    await feed.compare({ kind: "none" });
    expect(feed.standing.before.some((height) => height !== 0)).toBe(false);
    feed.look(false);
  });
  it("is compared with another in one city of both, and has its own again afterwards", async () => {
    const first = answer.plots.id[0]!;
    const { feed, asked } = feedOf([frameOf(1, { key: true, methods: methods([first], [100]) })]);
    feed.choose("live-1");
    feed.look(true);
    await settle();
    await feed.compare({ kind: "session", session: "live-2" });
    expect(asked.filter(({ method }) => method === "live/city").at(-1)!.params).toEqual({
      session: "live-1",
      before: "live-2",
    });
    expect([feed.standing.height[0], feed.standing.before[0], feed.standing.before[3]]).toEqual([100, 333, 444]);
    expect([feed.versions.value!.gone[3], feed.versions.value!.added[5]]).toEqual([1, 1]);
    // Neither layout has changed: it is not asked for again.
    const cities = () => asked.filter(({ method }) => method === "live/city").length;
    const before = cities();
    await settle(120);
    expect(cities()).toBe(before);
    await feed.compare({ kind: "none" });
    expect(feed.versions.value).toBeUndefined();
    expect(feed.city.value!.plots.before.some((id) => id !== 0)).toBe(false);
    expect([feed.standing.height[0], feed.standing.before[0]]).toEqual([100, 0]);
    feed.look(false);
  });
});
