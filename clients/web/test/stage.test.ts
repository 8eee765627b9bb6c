import { describe, expect, it } from "vitest";
import { BoxFlag } from "../../shared/ts/psp.js";
import { childrenOf, isRemainder, layoutOf, nameOf, pathOf, type Layout } from "../src/draw/layout.js";
import { itemsAround } from "../src/views/flame/accessible.js";
import { boxOf, placeOf } from "../src/views/flame/box.js";
import { moved, nextMatch } from "../src/views/flame/moves.js";
import { flames } from "./recorded.js";

const layout = layoutOf(flames[0]!, 0);
const all = Array.from({ length: layout.boxes }, (_, i) => i);

describe("keys in a flame graph", () => {
  it("go out to the caller, and in to where most of it goes", () => {
    expect(moved(layout, 0, "out")).toBe(0);
    for (const at of all.slice(1)) expect(moved(layout, at, "out")).toBe(layout.parent[at]);
    for (const at of all) {
      const inside = childrenOf(layout, at);
      const next = moved(layout, at, "in");
      if (inside.length === 0) expect(next).toBe(at);
      else for (const child of inside) expect(layout.w[next]).toBeGreaterThanOrEqual(layout.w[child]!);
    }
  });

  it("go along a row, end at its ends, and come back", () => {
    for (const at of all) {
      const right = moved(layout, at, "right");
      if (right === at) continue;
      expect(layout.depth[right]).toBe(layout.depth[at]);
      expect(layout.x[right]).toBeGreaterThan(layout.x[at]!);
      expect(moved(layout, right, "left")).toBe(at);
    }
    expect(moved(layout, 0, "left")).toBe(0);
    expect(moved(layout, 0, "right")).toBe(0);
  });

  it("step through every match once, forwards and backwards, and round again", () => {
    const found = (picture: Layout) =>
      Array.from(picture.rowItems.filter((i) => (picture.flags[i]! & BoxFlag.matched) !== 0));
    const picture = flames.map((answer) => layoutOf(answer, 0)).find((each) => found(each).length > 1);
    expect(picture).toBeDefined();
    for (const direction of ["next", "previous"] as const) {
      const seen = [nextMatch(picture!, -1, direction)];
      while (seen.length < found(picture!).length) seen.push(nextMatch(picture!, seen.at(-1)!, direction));
      expect(nextMatch(picture!, seen.at(-1)!, direction)).toBe(seen[0]);
      expect(direction === "next" ? seen : seen.reverse()).toEqual(found(picture!));
    }
    expect(nextMatch(layout, 0, "next")).toBe(found(layout)[0] ?? -1);
  });
});

describe("the tree beside the picture", () => {
  it("holds the way from the root, the siblings and what is right below", () => {
    for (const at of all) {
      const items = itemsAround(layout, at);
      const here = items.find(({ item }) => item === at)!;
      expect(here.level).toBe(layout.depth[at]! + 1);
      expect(items.slice(0, layout.depth[at]).map(({ item }) => item)).toEqual(
        pathOf(layout, at).map((_, i, path) => ancestor(at, path.length - i)),
      );
      const siblings = at === 0 ? [0] : childrenOf(layout, layout.parent[at]!);
      expect([here.position, here.size]).toEqual([siblings.indexOf(at) + 1, siblings.length]);
      const below = childrenOf(layout, at).slice(0, 12);
      expect(items.filter(({ level }) => level === here.level + 1).map(({ item }) => item)).toEqual(below);
      expect(new Set(items.map(({ item }) => item)).size).toBe(items.length);
    }
  });

  it("names at most 12 siblings on either side", () => {
    for (const at of all) expect(itemsAround(layout, at).length).toBeLessThanOrEqual(layout.depth[at]! + 25 + 12);
  });
});

describe("what is chosen", () => {
  it("is found again in the same view, and by its name in another", () => {
    for (const at of all.slice(1)) expect(placeOf(layout, boxOf(layout, at))).toBe(at);
    const other = boxOf(layout, all.at(-1)!);
    const found = placeOf(layout, { ...other, spec: "another view" });
    expect(nameOf(layout, found)).toBe(other.name);
    expect(isRemainder(layout, found)).toBe(false);
    expect(placeOf(layout, undefined)).toBe(-1);
    expect(placeOf(layout, { name: "nothing is called so", frames: [] })).toBe(-1);
  });
});

function ancestor(of: number, steps: number): number {
  let at = of;
  for (let i = 0; i < steps; ++i) at = layout.parent[at]!;
  return at;
}
