import { expect, test } from "vitest";
import { rowOfKey } from "../src/ui/steps.js";

test("keys lead a row or a page on, and to both ends of a list", () => {
  const from5 = (key: string) => rowOfKey(key, 5, 3, 20);
  expect(["ArrowDown", "j", "ArrowUp", "k", "PageDown", "PageUp", "Home", "End"].map(from5)).toEqual([
    6, 6, 4, 4, 8, 2, 0, 19,
  ]);
  expect(["n", "Enter", "constructor"].map(from5)).toEqual([undefined, undefined, undefined]);
});
