import { describe, expect, it } from "vitest";
import type { RangesResult } from "../../shared/ts/psp.js";
import { fromAddress, START, toAddress } from "../src/state/place.js";
import { functionMeant, rangeRow } from "../src/views/source/within.js";

const amount = (value: number) => ({ value, text: String(value), share: 1, shareText: "100 %" });
const answer: RangesResult = {
  profile: "p1",
  revision: 1,
  spec: "flat by function | metric cpu",
  metric: "cpu",
  unit: "count",
  total: amount(20),
  viewTotal: amount(20),
  name: "main.work",
  label: "work",
  file: 0,
  line: 3,
  key: 1,
  self: amount(10),
  functionTotal: amount(20),
  by: "line",
  available: ["line"],
  rowCount: 2,
  offset: 0,
  files: ["a.go"],
  fileUris: ["file:///w/a.go"],
  rows: {
    place: ["a.go:4", "no line"],
    from: ["4", ""],
    to: ["5", ""],
    file: [0, -1],
    line: [4, 0],
    code: ["", ""],
    self: [6, 4],
    total: [6, 14],
    selfText: ["6", "4"],
    totalText: ["6", "14"],
    share: ["60.0 %", "40.0 %"],
    viewShare: ["30.0 %", "20.0 %"],
    running: [6, 10],
    runningShare: ["60.0 %", "100 %"],
    heat: [1, 0.8],
    source: ["\treturn 1", ""],
  },
};

describe("parts of a function", () => {
  it("have a bar by their share of it, and a place to go to where one is known", () => {
    expect(rangeRow(answer, 0)).toMatchObject({
      place: "a.go:4",
      file: "a.go",
      line: 4,
      part: 0.6,
      source: "return 1",
    });
    expect(rangeRow(answer, 1)).toMatchObject({ place: "no line", file: "", line: 0, part: 0.4, running: "100 %" });
    expect(rangeRow(answer, 2)).toBeUndefined();
    expect(rangeRow({ ...answer, self: amount(0) }, 0)?.part).toBe(0);
  });

  it("are of the function that was asked for, else of a line", () => {
    expect(functionMeant({ fn: "main.work" }, "file:///w/a.go", 9)).toEqual({ function: "main.work" });
    const at = { textDocument: { uri: "file:///w/a.go" }, position: { line: 8, character: 0 } };
    expect(functionMeant({ fn: "" }, "file:///w/a.go", 9)).toEqual(at);
    // Code without a name is no function.
    expect(functionMeant({ fn: "libx.so+0x12" }, "file:///w/a.go", 9)).toEqual(at);
    expect(functionMeant({ fn: "" }, undefined, 9)).toBeUndefined();
    expect(functionMeant({ fn: "" }, "file:///w/a.go", 0)).toBeUndefined();
  });

  it("are in the address", () => {
    const address = toAddress({ ...START, view: "source", within: "bytecode" });
    expect(address).toContain("within=bytecode");
    expect(fromAddress(address).place.within).toBe("bytecode");
    expect(fromAddress("within=nonsense").place.within).toBe("");
  });
});
