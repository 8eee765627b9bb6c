import { describe, expect, test } from "vitest";
import { LEVELS, drawnLines, levelOf, stepFrom } from "../src/levels.js";

test("the hottest line is on the highest level, and none is below the first", () => {
  expect(levelOf(1)).toBe(LEVELS);
  expect(levelOf(0.001)).toBe(1);
  expect(levelOf(0)).toBe(1);
  expect(levelOf(0.55)).toBe(6);
});

test("stale lines are apart, and lines outside of what is drawn are left out", () => {
  const lines = {
    line: [1, 2, 3, 900],
    text: ["a", "b", "~c", "d"],
    heat: [1, 0.31, 1, 1],
    stale: [false, false, true, false],
  };
  const { stale, hot, less, quiet } = drawnLines(lines, 0, 100);
  expect(stale).toEqual([{ line: 3, text: "~c" }]);
  expect(hot[4]).toEqual([{ line: 2, text: "b" }]);
  expect(hot[LEVELS]).toEqual([{ line: 1, text: "a" }]);
  expect([...less.flat(), ...quiet]).toEqual([]);
});

test("lines of a diff are more, less, or quiet within noise", () => {
  const lines = {
    line: [1, 2, 3],
    text: ["+", "-", "~"],
    heat: [1, 0.5, 0],
    strength: [1, -0.5, 0],
    stale: [true, false, false],
  };
  const { stale, hot, less, quiet } = drawnLines(lines, 0, 100);
  expect(hot[LEVELS]).toEqual([{ line: 1, text: "+" }]);
  expect(less[5]).toEqual([{ line: 2, text: "-" }]);
  expect(quiet).toEqual([{ line: 3, text: "~" }]);
  expect(stale).toEqual([]);
});

describe("stepping over hot lines goes round", () => {
  test.each([
    [5, true, 9],
    [9, true, 2],
    [5, false, 2],
    [2, false, 9],
  ])("from %i, forward: %s", (from, forward, to) => {
    expect(stepFrom([9, 2, 5], from, forward)).toBe(to);
  });
  test("and nowhere without any", () => {
    expect(stepFrom([], 3, true)).toBeUndefined();
  });
});
