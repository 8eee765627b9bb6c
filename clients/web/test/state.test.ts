import { describe, expect, it } from "vitest";
import { filtersOf, fromAddress, nameHash, START, startOf, toAddress, type Place } from "../src/state/place.js";
import { filterText, parseClause, parseSpec, SpecError, specText } from "../src/state/spec.js";
import {
  addFilter,
  clearFilters,
  go,
  INITIAL,
  moveFilter,
  openPlace,
  redoFilters,
  removeFilter,
  setShape,
  settingsFrom,
  SETTINGS,
  toggleFilter,
  undoFilters,
  type State,
} from "../src/state/state.js";
import { deedsOf } from "../src/state/doing.js";
import { tables } from "./recorded.js";

describe("the text of a view", () => {
  it("is read and written as the daemon writes it", () => {
    const texts = tables.map(({ result }) => result.spec);
    expect(texts.length).toBeGreaterThan(5);
    for (const text of texts) expect(specText(parseSpec(text))).toBe(text);
  });

  it("comes to the daemon's text from what a person types", () => {
    for (const { params, result } of tables) {
      const spec = parseSpec(params.spec);
      expect(specText({ ...spec, metric: spec.metric || "cpu" })).toBe(result.spec);
    }
  });

  it("keeps what no recorded profile has: threads, labels, times, odd names", () => {
    for (const text of [
      'callers of http.(*conn).serve > "operator ||" by function | thread worker-1 | drop label env = prod | time 10ms..1500ms | keep fragment a > b | collapse recursion',
      'flat by function | drop function ~"a\\\\/b" | hide module /a\\.b|c/ | drop label "a b" = /x\\/y/',
      "bottom-up by file | time ..2s | drop time 1us.. | time -3ns..",
    ])
      expect(specText(parseSpec(text))).toBe(text);
  });

  it("is refused with the place", () => {
    const offset = (text: string) => {
      try {
        parseSpec(text);
      } catch (error) {
        return error instanceof SpecError ? error.offset : -1;
      }
      return undefined;
    };
    expect(offset("")).toBe(0);
    expect(offset("sideways")).toBe(0);
    expect(offset("flat by colour")).toBe(8);
    expect(offset("flat | keep nothing x")).toBe(12);
    expect(offset("flat | keep function")).toBe(20);
    expect(offset("flat | keep function /a")).toBe(21);
    expect(offset('flat | keep function "a')).toBe(21);
    expect(offset('flat | keep function "a" b')).toBe(25);
    expect(offset("flat | keep file /a/b/")).toBe(20);
    expect(offset("flat | time 10..20")).toBe(12);
    expect(offset("flat | time 1.5ns..")).toBe(12);
    expect(offset("flat | time 99999999999999999999s..")).toBe(12);
    expect(offset("callers of")).toBe(10);
  });

  it("has clauses that stand alone", () => {
    expect(parseClause("metric samples")).toEqual({ metric: "samples" });
    expect(parseClause("drop module libc.so.6")).toEqual({
      filter: { op: "drop", by: "module", pattern: "libc.so.6" },
    });
    expect(() => parseClause("drop module a | drop module b")).toThrow(/one filter at a time/);
  });
  it("takes a name as it is shown, up to what follows it", () => {
    expect(parseSpec("callers of scan (util_a.py)").focus).toEqual(["scan (util_a.py)"]);
    expect(parseSpec("callers of lists::Bag<int, std::less<int> >::reduce > main by line").focus).toEqual([
      "lists::Bag<int, std::less<int> >::reduce",
      "main",
    ]);
    expect(parseClause("drop function lists::Bag<int, std::less<int> >::reduce")).toEqual({
      filter: { op: "drop", by: "function", pattern: "lists::Bag<int, std::less<int> >::reduce" },
    });
    expect(parseClause("hide file /usr/include/x y.h")).toEqual({
      filter: { op: "hide", by: "file", pattern: "/usr/include/x y.h" },
    });
    expect(parseClause("mine")).toEqual({ filter: { op: "collapse", by: "mine" } });
    expect(filterText({ op: "collapse", by: "mine" })).toBe("mine");
    expect(filterText({ op: "drop", by: "function", pattern: "a<b" })).toBe('drop function "a<b"');
  });
  it("answers a slip about the word, with those there are", () => {
    expect(() => parseClause("hid functon foo")).toThrow('"hid" is none (did you mean hide?)');
    expect(() => parseClause("hid functon foo")).toThrow("keep, drop, hide or collapse");
    expect(() => parseClause("hide functon foo")).toThrow('"functon" is none (did you mean function?)');
  });
});

const PLACES: readonly Place[] = [
  START,
  {
    ...START,
    profile: "file:///a%20b/x&y=z#1.pprof",
    member: 3,
    view: "flat",
    sort: { by: "total", descending: false },
  },
  {
    ...START,
    shape: "callers",
    focus: ["operator ||", "f > g"],
    granularity: "line",
    metric: "alloc space",
    zoom: ["a1", "zz"],
    search: "a+b & c#%41",
    order: "weight",
    color: "metric",
    colorMetric: "cycles",
    upward: true,
    proven: true,
    fn: "<script>alert(1)</script>",
    file: "/w/a b.cc",
    line: 17,
  },
  {
    ...START,
    view: "flat",
    formulas: [
      { name: "cpi", formula: 'cycles / "instructions:u"', unit: "" },
      { name: "misses & more", formula: "1000 * a+b / c", unit: "misses=1" },
    ],
    sort: { by: "self", descending: true, metric: "cpi" },
  },
  startOf("diff://?before=file%3A%2F%2F%2Fa%2520b&after=file%3A%2F%2F%2Fb%25232"),
  {
    ...startOf("diff://?before=file%3A%2F%2F%2Fa&after=file%3A%2F%2F%2Fb"),
    view: "flat",
    color: "module",
    sort: { by: "better", descending: false },
    changedOnly: true,
  },
  {
    ...START,
    chips: [
      { filter: { op: "drop", by: "module", pattern: "libc.so.6" }, on: false },
      { filter: { op: "keep", by: "function", pattern: "^a|b/", regex: true }, on: true },
      { filter: { op: "collapse", by: "recursion" }, on: false },
      { filter: { op: "keep", by: "fragment", frames: ["a b", "c"] }, on: true },
    ],
  },
];

describe("the address", () => {
  it("restores every place", () => {
    for (const place of PLACES) expect(fromAddress("#" + toAddress(place))).toEqual({ place });
  });

  it("survives a browser, which escapes some of it", () => {
    for (const place of PLACES) {
      const url = new URL("http://127.0.0.1:1/");
      url.hash = toAddress(place);
      expect(fromAddress(url.hash).place).toEqual(place);
    }
  });

  it("says what it cannot read, and shows the rest", () => {
    const { place, problem } = fromAddress("#view=sideways&tab=tree&zoom=a.b&search=x&sort=colour&line=-4");
    expect(problem).toMatch(/begins with top-down/);
    expect(place).toEqual({ ...START, view: "tree", zoom: ["a", "b"], search: "x" });
  });

  it("opens the first of several files", () => {
    expect(fromAddress("#open=file%3A%2F%2F%2Fa&open=file%3A%2F%2F%2Fb").place.profile).toBe("file:///a");
  });

  it("tells names apart by their hashes", () => {
    const names = tables.flatMap(({ result }) => result.names);
    const distinct = new Set(names);
    expect(new Set([...distinct].map(nameHash)).size).toBe(distinct.size);
  });
});

const texts = (state: State) => state.place.chips.map((chip) => (chip.on ? "" : "off ") + filterText(chip.filter));
const drop = (pattern: string) => ({ op: "drop", by: "function", pattern }) as const;

describe("filters", () => {
  const three = ["a", "b", "c"].reduce((state, name) => addFilter(state, drop(name)), INITIAL);

  it("are switched, moved and removed, and every step can be undone and redone", () => {
    const steps: ((state: State) => State)[] = [
      (s) => toggleFilter(s, 1),
      (s) => moveFilter(s, 0, 2),
      (s) => removeFilter(s, 1),
      clearFilters,
    ];
    const seen = [three];
    for (const step of steps) seen.push(step(seen.at(-1)!));
    expect(texts(seen[1]!)).toEqual(["drop function a", "off drop function b", "drop function c"]);
    expect(texts(seen[2]!)).toEqual(["off drop function b", "drop function c", "drop function a"]);
    expect(texts(seen[3]!)).toEqual(["off drop function b", "drop function a"]);
    let state = seen.at(-1)!;
    for (const before of seen.slice(0, -1).reverse()) {
      state = undoFilters(state);
      expect(state.place.chips).toEqual(before.place.chips);
    }
    for (const after of seen.slice(1)) {
      state = redoFilters(state);
      expect(state.place.chips).toEqual(after.place.chips);
    }
    expect(redoFilters(state)).toBe(state);
  });

  it("that are off do not count, and adding one again switches it on", () => {
    const off = toggleFilter(three, 0);
    expect(filtersOf(off.place).map(filterText)).toEqual(["drop function b", "drop function c"]);
    expect(texts(addFilter(off, drop("a")))).toEqual(texts(three));
    expect(addFilter(three, drop("a"))).toBe(three);
  });

  it("cannot be redone after another was added", () => {
    const state = addFilter(undoFilters(three), drop("d"));
    expect(redoFilters(state)).toBe(state);
  });

  it("go with the profile, the manner of looking stays", () => {
    const other = openPlace(go(three, { granularity: "file", zoom: ["x"], view: "open" }), "file:///b");
    expect(other.place).toEqual({ ...START, profile: "file:///b", granularity: "file" });
    expect(other.undo).toEqual([]);
  });
});

describe("a shape", () => {
  it("takes no zoom of another one with it", () => {
    const state = go(INITIAL, { zoom: ["a"] });
    expect(setShape(state, "bottomUp").place.zoom).toEqual([]);
    expect(setShape(state, "topDown")).toBe(state);
  });
});

describe("what can be done with a frame", () => {
  it("is a filter of what the view is made of", () => {
    const apply = (state: State, id: string) =>
      deedsOf(state, "f", ["main", "f"], "libx.so")
        .find((deed) => deed.id === id)!
        .apply(state).place;
    expect(apply(INITIAL, "hide").chips.map((c) => filterText(c.filter))).toEqual(["hide function f"]);
    expect(apply(INITIAL, "path").chips.map((c) => filterText(c.filter))).toEqual(["keep fragment main > f"]);
    const byFile = go(INITIAL, { granularity: "file" });
    expect(apply(byFile, "drop").chips.map((c) => filterText(c.filter))).toEqual(["drop file f"]);
    expect(apply(INITIAL, "callers")).toMatchObject({ shape: "callers", focus: ["f"], view: "flame" });
  });
});

describe("settings", () => {
  it("are what was kept, or what is usual where that is damaged", () => {
    expect(settingsFrom(JSON.stringify({ ...SETTINGS, theme: "dark", compact: true }))).toEqual({
      ...SETTINGS,
      theme: "dark",
      compact: true,
    });
    for (const damaged of [null, "", "{", "[]", "7", '{"theme":"pink","motion":"yes","saved":[1,{"name":2}]}'])
      expect(settingsFrom(damaged)).toEqual(SETTINGS);
  });
});
