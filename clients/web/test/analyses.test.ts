import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { API, completionsAt } from "../src/views/analyses/api.js";
import { indentAfter } from "../src/views/analyses/indent.js";

const offered = (text: string) => completionsAt(text, text.length).map((one) => one.text);

describe("completion of what scripts can use", () => {
  it("offers members by their beginning, and members of everything to other names", () => {
    expect(offered("profile:vi")).toEqual(["profile:visit(function(node) end)"]);
    expect(offered("local x = n:ren")).toEqual(["rename(name)"]);
    expect(offered("sho")).toEqual(['show_table {title = "", columns = {}, rows = {}}']);
    expect(offered("p")).toEqual([]);
    expect(offered("nothing.like")).toEqual([]);
  });
  it("replaces what was typed of it", () => {
    const text = "x = node.fi + 1";
    const [first] = completionsAt(text, "x = node.fi".length);
    expect(text.slice(0, first!.from) + first!.text + text.slice(first!.to)).toBe("x = node.file + 1");
  });
  it("offers nothing that the page of the API does not have", () => {
    const page = readFileSync(new URL("../../../docs/analyses-api.md", import.meta.url), "utf8");
    for (const entry of API) {
      const name = /[.:]?(\w+)(?:\W|$)/.exec(entry.slice(Math.max(entry.search(/[.:]\w/), 0)))![1]!;
      expect(page, entry).toMatch(new RegExp(`\\b${name}\\b`));
    }
  });
});

describe("a new line of a script", () => {
  const after = (text: string) => indentAfter(text, text.length);
  it("is as far in as the one before", () => {
    expect(after("  x = 1")).toBe("  ");
    expect(after("if a then\n    b()")).toBe("    ");
  });
  it("is further in where something begins", () => {
    expect(after("for i = 1, 2 do")).toBe("  ");
    expect(after("  profile:visit(function(node)")).toBe("    ");
    expect(after("show_table {")).toBe("  ");
    expect(after("print(1) -- and then")).toBe("");
  });
});
