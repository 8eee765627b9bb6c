import { expect, test } from "vitest";
import {
  AnalysisArgumentType,
  AnalysisOrigin,
  type AnalysisInfo,
  type AnalysisRunResult,
} from "../../shared/ts/psp.js";
import { isValue, originsOf, textOf } from "../src/analysis.js";

const info = (name: string, origin: AnalysisOrigin): AnalysisInfo => ({
  name,
  origin,
  title: "",
  trusted: true,
  hash: "",
  minProfiles: 1,
  maxProfiles: 1,
  arguments: [],
});

test("those of the workspace come first, and whose there are none is no heading", () => {
  const all = [info("a", AnalysisOrigin.bundled), info("b", AnalysisOrigin.workspace)];
  expect(originsOf(all)).toEqual([AnalysisOrigin.workspace, AnalysisOrigin.bundled]);
});

test("a value is of the type of its argument", () => {
  const { integer, number, boolean, string } = AnalysisArgumentType;
  for (const good of ["0", "-3", " 12 "]) expect(isValue(integer, good), good).toBe(true);
  for (const bad of ["", "1.5", "1e3", "twelve"]) expect(isValue(integer, bad), bad).toBe(false);
  for (const good of ["1.5", "1e3", "-.5"]) expect(isValue(number, good), good).toBe(true);
  for (const bad of ["", "1,5", "Infinity", "NaN"]) expect(isValue(number, bad), bad).toBe(false);
  expect([isValue(boolean, "true"), isValue(boolean, "yes")]).toEqual([true, false]);
  expect(isValue(string, "")).toBe(true);
});

const empty: AnalysisRunResult = { name: "x", text: "", tables: [], annotations: [], left: 0 };

test("a result is a text: lines, tables in columns, notes, and what was left out", () => {
  const text = textOf({
    ...empty,
    text: "done\n",
    tables: [
      {
        title: "Hottest",
        columns: [
          { title: "function", unit: "" },
          { title: "cost", unit: "ns" },
        ],
        rows: [
          { cells: ["main", "1.20 s"], values: [null, 1.2e9] },
          { cells: ["a", "3 ns"], values: [null, 3] },
        ],
        left: 2,
      },
    ],
    annotations: [{ file: "a.cc", line: 6, text: "hot" }],
    left: 1,
  });
  expect(text).toBe(
    "done\n\nHottest\nfunction    cost\nmain      1.20 s\na           3 ns\n2 more rows\n\na.cc:7: hot\n1 more notes on lines\n",
  );
});

test("a result of nothing says so", () => {
  expect(textOf(empty)).toBe("It printed nothing and made no table.\n");
});
