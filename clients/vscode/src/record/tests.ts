// Tests and benchmarks in a source file, and the command that runs one of them. By the text: no language server is asked.

/** One that can be recorded. */
export interface Test {
  /** Where it begins, from 0. */
  readonly line: number;
  readonly name: string;
  readonly command: readonly string[];
  /** The folder that it runs in; absent: that of the workspace. */
  readonly cwd?: string;
}

/** A line that is longer is no test of anybody. */
const MAX_LINE = 1000;

export interface TestFile {
  readonly language: string;
  /** Absolute, with slashes. */
  readonly path: string;
  /** From the folder of the workspace, where commands run. */
  readonly relative: string;
}

export function testsIn({ language, path, relative }: TestFile, text: string, python = "python3"): readonly Test[] {
  const lines = text.split("\n").map((line) => (line.length > MAX_LINE ? "" : line));
  if (language === "go") return goTests(path, lines);
  if (language === "python") return pythonTests(relative, lines, python);
  if (language === "javascript") return nodeTests(relative, lines);
  if (language === "rust") return rustTests(path, lines);
  return [];
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function goTests(path: string, lines: readonly string[]): readonly Test[] {
  if (!path.endsWith("_test.go")) return [];
  const cwd = path.slice(0, path.lastIndexOf("/"));
  return lines.flatMap((text, line) => {
    const found = /^func ((Test|Benchmark)(?:[^a-z(\s][\p{L}\p{N}_]*)?)\((\w+) \*testing\.[TB]\)/u.exec(text);
    const name = found?.[1];
    if (name === undefined || name === "TestMain") return [];
    const which = found?.[2] === "Test" ? ["-run", `^${name}$`] : ["-run", "^$", "-bench", `^${name}$`];
    return [{ line, name, command: ["go", "test", ...which, "."], cwd }];
  });
}

/** As pytest collects them by default: functions, and methods of classes. */
function pythonTests(path: string, lines: readonly string[], python: string): readonly Test[] {
  if (!/^test_.*\.py$|_test\.py$/.test(nameOf(path))) return [];
  const tests: Test[] = [];
  let inClass: string | undefined;
  for (const [line, text] of lines.entries()) {
    if (/^[^\s#)\]}]/.test(text)) inClass = /^class (\w+)/.exec(text)?.[1];
    const found = /^(\s*)(?:async )?def (test\w*)\(/.exec(text);
    const [, indent, name] = found ?? [];
    if (indent === undefined || name === undefined || (indent !== "" && inClass === undefined)) continue;
    const id = [path, ...(indent === "" ? [] : [inClass ?? ""]), name].join("::");
    tests.push({ line, name, command: [python, "-m", "pytest", id] });
  }
  return tests;
}

/** Of the runner that comes with Node.js; the file is run itself, so that all is in one process. */
function nodeTests(path: string, lines: readonly string[]): readonly Test[] {
  if (!lines.some((text) => /(?:from|require\()\s*["']node:test["']/.test(text))) return [];
  return lines.flatMap((text, line) => {
    const found = /^\s*(?:await )?(?:test|it)\(\s*(["'])((?:(?!\1)[^\\])+)\1/.exec(text);
    const name = found?.[2];
    if (name === undefined) return [];
    const pattern = `^${name.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")}$`;
    return [{ line, name, command: ["node", `--test-name-pattern=${pattern}`, path] }];
  });
}

/** Of the harness that comes with Rust; the last name is one that cargo looks for in the tests of this package. */
function rustTests(path: string, lines: readonly string[]): readonly Test[] {
  const cwd = path.slice(0, path.lastIndexOf("/"));
  const tests: Test[] = [];
  let marked: "test" | "bench" | undefined;
  for (const [line, text] of lines.entries()) {
    const attribute = /^\s*#\[(?:\w+::)*(test|bench)(?:\(.*\))?\]/.exec(text)?.[1];
    if (attribute === "test" || attribute === "bench") marked = attribute;
    const name = /^\s*(?:#\[.*\]\s*)?(?:pub(?:\([^)]*\))? )?(?:async )?fn (\w+)\s*\(/.exec(text)?.[1];
    if (name === undefined) {
      // Between an attribute and its function are others, comments and blank lines.
      if (!/^\s*(?:#\[|\/\/|$)/.test(text)) marked = undefined;
      continue;
    }
    if (marked !== undefined)
      tests.push({
        line,
        name,
        command: ["cargo", ...(marked === "test" ? ["test", "--release"] : ["bench"]), name],
        cwd,
      });
    marked = undefined;
  }
  return tests;
}

/** The one that a line is in: the last that begins at or before it. */
export function testAt(tests: readonly Test[], line: number): Test | undefined {
  return tests.filter((test) => test.line <= line).at(-1);
}
