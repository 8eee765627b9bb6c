import { describe, expect, it } from "vitest";
import { contrast, css, paintsOf, ratioTone, TEXT, withoutTone } from "../src/draw/colors.js";
import { layoutOf } from "../src/draw/layout.js";
import { nameAt, nameInFormula, withName } from "../src/state/formula.js";
import { flames } from "./recorded.js";

describe("a formula that is typed", () => {
  it("has names as it takes them", () => {
    expect(["cycles", "L1:u", "cache-misses", "cpu before", 'a"b', "2x"].map(nameInFormula)).toEqual([
      "cycles",
      "L1:u",
      '"cache-misses"',
      '"cpu before"',
      '"a\\"b"',
      '"2x"',
    ]);
  });

  it("offers names for what ends at the caret", () => {
    const typed = (text: string) => nameAt(text, text.length);
    expect(typed("cycles / ins")).toEqual({ from: 9, to: 12, typed: "ins", text: "ins" });
    expect(typed('cycles / "cpu be')).toEqual({ from: 9, to: 16, typed: '"cpu be', text: "cpu be" });
    expect(typed('"a b" / ').typed).toBe("");
    expect(typed("1000 * ").typed).toBe("");
    expect(nameAt("cyc / instructions", 3).typed).toBe("cyc");
  });

  it("takes a name in the place of what was typed", () => {
    const take = (text: string, caret: number, name: string) => withName(text, nameAt(text, caret), name);
    expect(take("cyc / instructions", 3, "cycles")).toEqual({ text: "cycles / instructions", caret: 6 });
    expect(take('1 * "cpu b', 10, "cpu before").text).toBe('1 * "cpu before"');
    expect(take("cache", 5, "cache-misses").text).toBe('"cache-misses"');
  });
});

describe("colours by a formula", () => {
  const [first] = flames;
  const boxes = first!.boxes;
  const colored = layoutOf(
    {
      ...first!,
      boxes: { ...boxes, color: boxes.key.map((_, i) => (i % 3 === 0 ? null : i)) },
      colorScale: { metric: "cpi", unit: "", low: 1, high: 2, lowText: "1.00", highText: "2.00", without: 1 },
    },
    0,
  );

  it("go from the low end to the high one, and what has no value has a colour of its own", () => {
    for (const mode of ["light", "dark"] as const) {
      const { fills, fill, legend } = paintsOf(colored, "metric", mode, "standard");
      const of = (item: number) => fills[fill[item]!];
      expect(of(1)).toBe(css(ratioTone(mode, 0)));
      expect(of(2)).toBe(css(ratioTone(mode, 1)));
      expect(of(4)).toBe(of(2)); // beyond the end
      expect(of(3)).toBe(css(withoutTone(mode)));
      expect(legend.map(({ text }) => text)).toEqual(["cpi 1.00 to 2.00", "n/a"]);
    }
  });

  it("can be read on, and are told apart from no value", () => {
    for (const mode of ["light", "dark"] as const)
      for (let t = 0; t <= 1; t += 0.05) {
        expect(contrast(ratioTone(mode, t), TEXT[mode])).toBeGreaterThan(4.5);
        expect(contrast(ratioTone(mode, t), withoutTone(mode))).toBeGreaterThan(1.15);
      }
    for (const mode of ["light", "dark"] as const) expect(contrast(withoutTone(mode), TEXT[mode])).toBeGreaterThan(4.5);
  });
});
