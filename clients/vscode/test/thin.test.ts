// The extension computes nothing and words nothing of profiles: numbers and names are shown as the daemon wrote them.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../src");
const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));

// Drawing, not telling: an opacity, a version.
const ALLOWED: Readonly<Record<string, readonly RegExp[]>> = { "heat.ts": [/toFixed\(2\)/] };

const SIGNS: readonly (readonly [RegExp, string])[] = [
  [/\.toFixed\(|\.toPrecision\(|\.toLocaleString\(|NumberFormat/, "formats a number"],
  [/["'`] ?%["'`]|\$\{[^}]*\} ?%|\* 100\b/, "makes a share"],
  [/["'`] ?(?:ms|µs|ns|KiB|MiB|GiB)["'`]/, "makes a unit"],
  [/\.reduce\(/, "sums up"],
  [/\bname\.(?:split|slice|substring|lastIndexOf)\(/, "shortens a name"],
  [/(?:self|total|value)\)? *[-+] *[a-z]*\.?(?:self|total|value)\b/i, "adds or subtracts values"],
  [/(?:self|total|value)(?: \* \d+)? [<>]=? [a-z]*\.?(?:self|total|value)\b/i, "compares values"],
];

test.each(files)("%s leaves it to the daemon", (file) => {
  let code = readFileSync(join(root, file), "utf8").replace(/\/\*[^]*?\*\/|\/\/.*$/gm, "");
  for (const allowed of ALLOWED[file] ?? []) code = code.replace(allowed, "");
  for (const [sign, what] of SIGNS) expect(sign.exec(code)?.[0], `${file} ${what}`).toBeUndefined();
});

test("the signs are seen where they are", () => {
  const seen = (code: string) => SIGNS.filter(([sign]) => sign.test(code)).map(([, what]) => what);
  expect(seen("(share * 100).toFixed(1)")).toEqual(["formats a number", "makes a share"]);
  expect(seen("`${part} %`")).toEqual(["makes a share"]);
  expect(seen("frame.name.split('::')")).toEqual(["shortens a name"]);
  expect(seen("a.total - b.total")).toEqual(["adds or subtracts values"]);
  expect(seen("child.total * 2 < node.total")).toEqual(["compares values"]);
  expect(seen("rows.reduce(add)")).toEqual(["sums up"]);
});
