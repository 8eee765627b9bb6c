// The texts that every reader and writer of views is tested with; tests/unit/core/view/spec_vectors_test.cpp is the
// daemon's.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseSpec, SpecError, specText } from "../src/state/spec.js";

interface Vectors {
  readonly lengths: readonly {
    readonly before: string;
    readonly fill: string;
    readonly times: number;
    readonly fits: boolean;
  }[];
  readonly valid: readonly { readonly text: string; readonly canonical: string }[];
  readonly invalid: readonly { readonly text: string; readonly offset: number }[];
}
const vectors = JSON.parse(
  readFileSync(new URL("../../../tests/fixtures/view_specs.json", import.meta.url), "utf8"),
) as Vectors;

function refusedAt(text: string): number | string {
  try {
    return `taken for ${specText(parseSpec(text))}`;
  } catch (error) {
    if (error instanceof SpecError) return error.offset;
    throw error;
  }
}

describe("shared texts of views", () => {
  it.each(vectors.valid)("$text is read, and written in its canonical form", ({ text, canonical }) => {
    const spec = parseSpec(text);
    expect(specText(spec)).toBe(canonical);
    expect(parseSpec(canonical)).toEqual(spec);
  });
  it.each(vectors.lengths)("$before and $times times '$fill' may be: $fits", ({ before, fill, times, fits }) => {
    const refused = refusedAt(before + fill.repeat(times));
    if (fits) expect(refused).toMatch(/^taken for/);
    else expect(refused).toBe(0);
  });
  it.each(vectors.invalid)("$text is refused at the place that is wrong", ({ text, offset }) => {
    expect(refusedAt(text)).toBe(offset);
  });
});
