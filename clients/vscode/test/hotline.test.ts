import { expect, test } from "vitest";
import type { FunctionAnnotation } from "../../shared/ts/psp.js";
import { cursorLine, isOfFunctions, linesOf } from "../src/hotline.js";

const at = (name: string, line: number) => ({ name, line }) as FunctionAnnotation;
const lines = (heats: Readonly<Record<number, number>>) => ({
  line: Object.keys(heats).map(Number),
  heat: Object.values(heats),
  text: [],
  stale: [],
});

test("the hottest line of a function is none of another's", () => {
  const answer = { functions: [at("b", 40), at("a", 10)], lines: lines({ 12: 0.2, 30: 0.5, 45: 1 }) };
  expect(linesOf(answer, "a")).toEqual({ declared: 10, hottest: 30 });
  expect(linesOf(answer, "b")).toEqual({ declared: 40, hottest: 45 });
  expect(linesOf(answer, "c")).toBeUndefined();
});

test("a function without costs on lines is looked at where it begins", () => {
  expect(linesOf({ functions: [at("a", 10)], lines: lines({ 3: 1 }) }, "a")).toEqual({ declared: 10, hottest: 10 });
});

test("the cursor leaves the first line for a hot one that is farther than the screen is high", () => {
  expect(cursorLine({ declared: 10, hottest: 30 }, 40)).toBe(10);
  expect(cursorLine({ declared: 10, hottest: 60 }, 40)).toBe(60);
});

test("boxes of lines are meant by their line", () => {
  expect(isOfFunctions(undefined)).toBe(true);
  expect(isOfFunctions("top-down by function")).toBe(true);
  expect(isOfFunctions("top-down by line")).toBe(false);
  expect(isOfFunctions("?")).toBe(false);
});
