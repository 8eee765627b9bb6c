import { describe, expect, it } from "vitest";
import { ChangeKind, ChangeStanding, type ProfileListEntry, type ProfileOpenResult } from "../../shared/ts/psp.js";
import { baseName, comparableOf, comparablesOf, pathOfUri, type Comparison } from "../src/app.js";
import { ticked, turned } from "../src/compare.js";
import { changeTone, contrast, css, paintsOf, TEXT, type Rgb } from "../src/draw/colors.js";
import { changeOf, isOneSided, layoutOf, markOf, nameOf, type Layout } from "../src/draw/layout.js";
import {
  isDiff,
  basesOf,
  matchedBy,
  diffMetricOf,
  metricWith,
  nextBase,
  nextWidth,
  scaleOf,
  filtersOfSides,
  sidesOf,
  swapped,
} from "../src/state/compared.js";
import { fromAddress, schemeOf, sortOf, START, startOf } from "../src/state/place.js";
import { go, INITIAL, openPlace } from "../src/state/state.js";
import { boxOf } from "../src/views/flame/box.js";
import { rowOf } from "../src/views/flat/rows.js";
import { flames, steps, tables } from "./recorded.js";

const opened = steps.find((step) => step.method === "profile/diff")!.result as ProfileOpenResult;
const { metrics, uri } = opened.summary;
const picture = layoutOf(
  flames.find((flame) => flame.changes !== undefined)!,
  0,
);
const table = tables.find(({ result }) => result.changes !== undefined)!.result;
const find = (layout: Layout, name: string) => {
  for (let i = 0; i < layout.boxes; ++i) if (nameOf(layout, i) === name) return i;
  throw new Error(`${name} is not there`);
};

describe("the address of a diff", () => {
  it("says how functions are matched, one rule after another", () => {
    const once = matchedBy("diff://?before=a&after=b&match=name", { rename: "old=new" });
    expect(once).toBe("diff://?before=a&after=b&match=name&rename=old%3Dnew");
    expect(matchedBy(once, { rename: "x=y" })).toBe(`${once}&rename=x%3Dy`);
    expect(matchedBy(once, { match: "suggested" })).toBe("diff://?before=a&after=b&rename=old%3Dnew&match=suggested");
    expect(swapped(once)).toBe("diff://?before=b&after=a&match=name&rename=new%3Dold");
    const expression = "diff://?before=a&after=b&rename=%2F%5Ea%2F%3Db";
    expect(swapped(expression)).toBe("diff://?before=b&after=a&rename=%2F%5Ea%2F%3Db");
  });

  it("is what the daemon calls it, and names both sides", () => {
    expect(isDiff(uri)).toBe(true);
    expect(isDiff("file:///diff://x")).toBe(false);
    const { before, after } = sidesOf(uri);
    expect(before).toHaveLength(1);
    expect(before[0]).toMatch(/before-1\.pb\.gz$/);
    expect(after[0]).toMatch(/after-1\.pb\.gz$/);
    expect(baseName(uri)).toBe(opened.summary.name);
    expect(pathOfUri(uri)).toMatch(/^\/fixtures\/.*before-1\.pb\.gz → \/fixtures\/.*after-1\.pb\.gz$/);
  });

  it("is turned round and back", () => {
    const other = swapped(uri);
    expect(sidesOf(other)).toEqual({ before: sidesOf(uri).after, after: sidesOf(uri).before });
    expect(swapped(other)).toBe(uri);
  });

  it("keeps the filters of its parts beside them", () => {
    const windows = "diff://?before=a&filter=time%201s..2s&after=a&filter=time%202s..3s&scale=raw";
    expect(swapped(windows)).toBe("diff://?before=a&filter=time%202s..3s&after=a&filter=time%201s..2s&scale=raw");
    expect(filtersOfSides(windows)).toEqual({ before: ["time 1s..2s"], after: ["time 2s..3s"] });
    expect(filtersOfSides("diff://?before=a&after=b&filter=mine").before).toEqual([""]);
    expect(baseName(windows)).toBe("a (time 1s..2s) → a (time 2s..3s)");
  });

  it("keeps several runs, the scale and the pairs of metrics", () => {
    const many = "diff://?before=a%231&before=b&after=c&scale=totals&metric=cpu%2520old%3Acpu";
    expect(swapped(many)).toBe("diff://?before=c&after=a%231&after=b&scale=totals&metric=cpu%3Acpu%2520old");
    expect(swapped(swapped(many))).toBe(many);
    expect(sidesOf(many).before).toEqual(["a#1", "b"]);
    const again =
      "diff://?before=previous%3A%2F%2F%3Fof%3Dfile%253A%252F%252F%252Fw%252Fcpu.pprof%26revision%3D4&after=file%3A%2F%2F%2Fw%2Fcpu.pprof";
    expect(baseName(again)).toBe("cpu.pprof (recording 4) → cpu.pprof");
    expect(baseName(many)).toBe("a#1 and 1 more → c");
    expect(scaleOf(many)).toBe("totals");
    expect(scaleOf(uri)).toBe("automatic");
    expect(comparableOf({ uri: "file:///a#heap%202" }).part).toEqual({ uri: "file:///a", member: "heap 2" });
    expect(comparableOf({ uri: "file:///a" }).part).toEqual({ uri: "file:///a" });
  });

  it("is read however damaged", () => {
    for (const text of ["diff://", "diff://?", "diff://?before", "diff://?before=%&after=%zz", "diff://?metric=%"])
      expect(() => [sidesOf(text), swapped(text), baseName(text), pathOfUri(text)]).not.toThrow();
  });
});

describe("the metrics of a diff", () => {
  it("are five of each that both sides have", () => {
    expect(basesOf(metrics)).toEqual(["samples", "cpu"]);
    expect(basesOf([{ name: "cpu" }, { name: "cpu before" }])).toEqual([]);
    expect(diffMetricOf(metrics, opened.summary.metric)).toEqual({ base: "cpu", width: "larger" });
    expect(diffMetricOf(metrics, "cpu change")).toEqual({ base: "cpu", width: "change" });
    expect(diffMetricOf(metrics, "alloc")).toBeUndefined();
  });

  it("are gone through by width, or by what is measured", () => {
    let name = "cpu";
    const seen: string[] = [];
    for (let i = 0; i < 4; ++i) seen.push((name = nextWidth(diffMetricOf(metrics, name)!).name));
    expect(seen).toEqual(["cpu before", "cpu larger", "cpu difference", "cpu"]);
    expect(nextWidth({ base: "cpu", width: "change" }).name).toBe("cpu");
    expect(nextBase(metrics, { base: "cpu", width: "before" })).toBe("samples before");
    expect(metricWith({ base: "cpu", width: "change" }, "larger")).toBe("cpu larger");
  });
});

describe("a diff on the page", () => {
  it("starts at what changed, and leaves that behind with it", () => {
    const diff = openPlace(INITIAL, uri).place;
    expect(diff).toEqual(startOf(uri));
    expect(schemeOf(diff)).toBe("change");
    expect(sortOf(diff).by).toBe("change");
    const worse = go(openPlace(INITIAL, uri), { sort: { by: "worse", descending: true }, changedOnly: true });
    expect(openPlace(worse, swapped(uri)).place).toMatchObject({ sort: { by: "worse" }, changedOnly: true });
    expect(openPlace(worse, "file:///a").place).toEqual({ ...START, profile: "file:///a" });
  });

  it("is asked of no other profile", () => {
    const { place } = fromAddress("#open=file:///a&color=change&sort=worse&changed=1");
    expect(schemeOf(place)).toBe("module");
    expect(sortOf(place)).toEqual(START.sort);
  });

  it("says what became of a box, in colour, by a sign and in words", () => {
    const gone = find(picture, "main.checkLegacyCodes");
    expect(changeOf(picture, gone)).toBe(ChangeKind.deleted);
    expect(isOneSided(picture, gone)).toBe(true);
    expect(markOf(picture, gone)).toBe(" [D]");
    const grown = find(picture, "main.parseRow");
    expect(markOf(picture, grown)).toBe("");
    expect(markOf(picture, grown, true)).toBe(" [+]");
    expect(boxOf(picture, grown).change).toBe("3.47 s → 4.76 s: +1.29 s (+37 %)");
    const paints = paintsOf(picture, "change", "light", "standard");
    expect(paints.fills[paints.fill[gone]!]).toBe(css(changeTone("light", picture.answer.changes!.strength[gone]!)));
    expect(paints.legend.filter((row) => row.edged).map((row) => row.text)).toEqual([
      "[A] only after",
      "[D] only before",
    ]);
  });

  it("has colours that text is read on, and nothing where nothing changed", () => {
    for (const mode of ["light", "dark"] as const) {
      for (let strength = -1; strength <= 1; strength += 0.05)
        expect(contrast(changeTone(mode, strength), TEXT[mode])).toBeGreaterThanOrEqual(4.5);
      const [r, g, b] = changeTone(mode, 0);
      expect(Math.max(r, g, b) - Math.min(r, g, b)).toBeLessThan(8);
      const warm = ([red, , blue]: Rgb) => red - blue;
      expect(warm(changeTone(mode, 1))).toBeGreaterThan(60);
      expect(warm(changeTone(mode, -1))).toBeLessThan(-60);
      expect(changeTone(mode, 7)).toEqual(changeTone(mode, 1));
      expect(changeTone(mode, NaN)).toEqual(changeTone(mode, 0));
    }
  });

  it("has both sides of every row, as the daemon says them", () => {
    const rows = table.rows.name.map((_, at) => rowOf(table, at)!);
    expect(rows.find((row) => row.name === "main.parseRow")!.change).toMatchObject({
      kind: ChangeKind.more,
      totalBefore: "3.47 s",
      totalAfter: "4.76 s",
      total: "+1.29 s (+37 %)",
    });
    expect(rows.find((row) => row.name === "main.checkLegacyCodes")!.change!.kind).toBe(ChangeKind.deleted);
    expect(rowOf(tables[0]!.result, 0)!.change).toBeUndefined();
    const standing = (name: string) => rows.find((row) => row.name === name)!.change!.selfStanding;
    expect(standing("main.parseRow")).toBe(ChangeStanding.standsOut);
    expect(standing("main.heavier")).toBe(ChangeStanding.none);
    // Where nothing changed there is nothing to stand out.
    const same = rows.find(({ change }) => change!.selfBefore === change!.selfAfter)!;
    expect(same.change!.selfStanding).toBeUndefined();
  });
});

describe("choosing what is compared", () => {
  const [a, b, c] = ["file:///a", "file:///b", "file:///c"].map((each) => comparableOf({ uri: each })) as [
    ReturnType<typeof comparableOf>,
    ReturnType<typeof comparableOf>,
    ReturnType<typeof comparableOf>,
  ];
  const none: Comparison = { before: [], after: [], scale: "automatic" };

  it("has a profile on one side at most, and several runs on a side", () => {
    let chosen = ticked(none, "before", a, true);
    chosen = ticked(chosen, "before", b, true);
    chosen = ticked(chosen, "after", c, true);
    expect([chosen.before, chosen.after]).toEqual([[a, b], [c]]);
    chosen = ticked(chosen, "after", b, true);
    expect([chosen.before, chosen.after]).toEqual([[a], [c, b]]);
    chosen = ticked(chosen, "after", c, false);
    expect([chosen.before, chosen.after]).toEqual([[a], [b]]);
    expect(turned(chosen)).toEqual({ ...chosen, before: [b], after: [a] });
    expect(ticked(chosen, "before", a, true)).toEqual(chosen);
  });

  it("offers what is open and can be read, each profile of a file by itself", () => {
    const entry = (more: Partial<ProfileListEntry>) =>
      ({ profile: "p1", uri: "file:///x", name: "x", state: "ready", ...more }) as ProfileListEntry;
    const offered = comparablesOf([
      entry({}),
      entry({ profile: "p2", member: { number: 2, count: 2 } as NonNullable<ProfileListEntry["member"]> }),
      entry({ profile: "p3", state: "failed" }),
      entry({ profile: "p4", state: "opening" }),
      entry({ profile: "p5", uri }),
    ]);
    expect(offered.map(({ part }) => part)).toEqual([{ profile: "p1" }, { profile: "p2" }]);
    expect(new Set(offered.map(({ id }) => id)).size).toBe(2);
  });
});
