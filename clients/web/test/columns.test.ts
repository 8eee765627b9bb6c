import { expect, test } from "vitest";
import type { MetricInfo } from "../../shared/ts/psp.js";
import { furtherColumns, rowsText } from "../src/views/flat/rows.js";

test("a column says of what its numbers are: selfs of further metrics, too", () => {
  const metrics = [{ name: "cpu", title: "CPU time" }, { name: "samples" }] as unknown as readonly MetricInfo[];
  expect(furtherColumns(["cpu", "samples"], metrics).map(({ title }) => title)).toEqual([
    "Self CPU time",
    "Self samples",
  ]);
});

test("one row is no rows", () => {
  expect([0, 1, 2, 1234].map(rowsText)).toEqual(["0 rows", "1 row", "2 rows", "1,234 rows"]);
});
