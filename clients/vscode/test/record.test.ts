// Commands as words, launch configurations as commands, tests as commands: what is recorded is exactly that.
import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { launchOf } from "../src/record/launch.js";
import { testAt, testsIn } from "../src/record/tests.js";
import { typed, wordsOf } from "../src/record/words.js";

const words = (line: string) => {
  const parsed = wordsOf(line);
  return "words" in parsed ? parsed.words : parsed.needsShell;
};

test("a line is the words that a shell would make of it", () => {
  for (const line of [
    "./app --size 100",
    `python3 -c 'print("a b")' "x\\"y\\\\z" a\\ b ''`,
    "go test -run '^$' -bench . ./parser",
    `echo "it's" 'a"b' pre'mid'post "\\n"`,
    "  spaced\tout  ",
  ]) {
    const shells = execFileSync("sh", ["-c", `for word in ${line}; do printf '%s\\n' "[$word]"; done`], {
      encoding: "utf8",
    });
    const ours = words(line);
    expect(typeof ours === "string" ? ours : ours.map((word) => `[${word}]\n`).join(""), line).toBe(shells);
  }
});

test("what only a shell can do is refused, not passed on as words", () => {
  for (const [line, what] of [
    ["./app | head", "|"],
    ["a && b", "&"],
    ["a; rm -rf x", ";"],
    ["a > out", ">"],
    ["a `b`", "`"],
    ["a $(b)", "$("],
    ["a ${HOME}", "${"],
    ["a 'open", "'"],
    ['a "open\\"', '"'],
  ] as const)
    expect(words(line), line).toBe(what);
  expect(words("awk '{print $1; exit}' f")).toEqual(["awk", "{print $1; exit}", "f"]);
});

test("words that are written as a line read as the same words", () => {
  for (const given of [["a"], ["", "a b", "it's", '"', "$x", "\\"], ["--x=1", "a;b", "\n"], ["é"]])
    expect(words(typed(given))).toEqual(given);
});

test("launch configurations are the commands that the debugger would start", () => {
  const variables = { workspaceFolder: "/w", file: "/w/a.py" };
  const launch = (configuration: object) => launchOf({ request: "launch", ...configuration }, variables);
  expect(
    launch({ type: "cppdbg", program: "${workspaceFolder}/app", args: ["60", "x y"], cwd: "${workspaceFolder}/run" }),
  ).toEqual({ command: ["/w/app", "60", "x y"], cwd: "/w/run" });
  expect(launch({ type: "debugpy", program: "${file}", args: ["1"], env: { A: "${workspaceFolder}", B: 2 } })).toEqual({
    command: ["python3", "/w/a.py", "1"],
    env: { A: "/w", B: "2" },
  });
  expect(launch({ type: "python", python: "/v/bin/python", module: "app.main" })).toEqual({
    command: ["/v/bin/python", "-m", "app.main"],
  });
  expect(launch({ type: "node", program: "a.js", runtimeArgs: ["--expose-gc"] })).toEqual({
    command: ["node", "--expose-gc", "a.js"],
  });
  expect(launch({ type: "go", mode: "exec", program: "/w/bin" })).toEqual({ command: ["/w/bin"] });
  expect(launch({ type: "go", mode: "test", program: "./parser" })).toEqual({ command: ["go", "test", "./parser"] });
});

test("configurations that no command is known for say why", () => {
  const launch = (configuration: object) =>
    launchOf({ request: "launch", ...configuration }, { workspaceFolder: "/w" });
  expect(launch({ type: "debugpy", request: "attach" })).toEqual({ cannot: "attaches", what: "attach" });
  expect(launch({ type: "go", mode: "debug", program: "." })).toEqual({ cannot: "unknown type", what: "go" });
  expect(launch({ type: "java", mainClass: "A" })).toEqual({ cannot: "unknown type", what: "java" });
  expect(launch({ type: "lldb", program: "${command:pick}" })).toEqual({ cannot: "variable", what: "${command:pick}" });
});

const file = (language: string, relative: string) => ({ language, relative, path: `/w/${relative}` });

const GO = `package parser

import "testing"

func TestParse(t *testing.T) {}
func TestMain(m *testing.M) {}
func Testing(t *testing.T) {}
func BenchmarkParse_1(b *testing.B) {
}
func helper(t *testing.T) {}
`;

test("tests and benchmarks of Go run alone, in the folder of their package", () => {
  const tests = testsIn(file("go", "parser/parse_test.go"), GO);
  expect(tests).toEqual([
    { line: 4, name: "TestParse", command: ["go", "test", "-run", "^TestParse$", "."], cwd: "/w/parser" },
    {
      line: 7,
      name: "BenchmarkParse_1",
      command: ["go", "test", "-run", "^$", "-bench", "^BenchmarkParse_1$", "."],
      cwd: "/w/parser",
    },
  ]);
  expect(testsIn(file("go", "parser/parse.go"), GO)).toEqual([]);
  expect(testAt(tests, 3)).toBeUndefined();
  expect(testAt(tests, 6)?.name).toBe("TestParse");
  expect(testAt(tests, 9)?.name).toBe("BenchmarkParse_1");
});

test("tests of pytest are named by file, class and function", () => {
  const text = `import x

def test_one():
    def test_inner():
        pass

@mark
class TestMany:
    async def test_two(self):
        pass
    def helper(self):
        pass

x = 1
if x:
    def test_hidden():
        pass
`;
  expect(testsIn(file("python", "test_a.py"), text).map(({ command }) => command.join(" "))).toEqual([
    "python3 -m pytest test_a.py::test_one",
    "python3 -m pytest test_a.py::TestMany::test_two",
  ]);
  expect(testsIn(file("python", "a.py"), text)).toEqual([]);
  expect(testsIn(file("python", "a_test.py"), text, "/v/bin/python")[0]?.command[0]).toBe("/v/bin/python");
});

test("tests of node:test run by their name, and those of other runners are left to them", () => {
  const text = `import { test } from "node:test";\ntest("adds (1+1)", () => {});\n  await it('x', () => {});\ntest(name, f);\n`;
  expect(testsIn(file("javascript", "a.test.mjs"), text)).toEqual([
    {
      line: 1,
      name: "adds (1+1)",
      command: ["node", "--test-name-pattern=^adds \\(1\\+1\\)$", "a.test.mjs"],
    },
    { line: 2, name: "x", command: ["node", "--test-name-pattern=^x$", "a.test.mjs"] },
  ]);
  expect(testsIn(file("javascript", "a.test.mjs"), text.replace("node:test", "vitest"))).toEqual([]);
});

const RUST = `pub fn helper() {}
#[cfg(test)]
mod tests {
    #[test]
    // Slow.
    #[ignore]
    fn parses_all() {}
    fn not_one() {}
    #[tokio::test(flavor = "multi_thread")]
    pub(crate) async fn waits() {}
    #[bench] fn parse_large(b: &mut Bencher) {}
    #[test]
    const NONE: u8 = 0;
    fn after_it() {}
}
`;

test("tests of Rust run optimised, and benchmarks, by cargo in the folder of the file", () => {
  expect(testsIn(file("rust", "src/lib.rs"), RUST)).toEqual([
    { line: 6, name: "parses_all", command: ["cargo", "test", "--release", "parses_all"], cwd: "/w/src" },
    { line: 9, name: "waits", command: ["cargo", "test", "--release", "waits"], cwd: "/w/src" },
    { line: 10, name: "parse_large", command: ["cargo", "bench", "parse_large"], cwd: "/w/src" },
  ]);
});

test("a line without an end is no test, and costs nothing", () => {
  const begin = Date.now();
  expect(testsIn(file("javascript", "a.mjs"), `import "x" from "node:test"\ntest("${"\\".repeat(1e6)}`)).toEqual([]);
  expect(testsIn(file("go", "a_test.go"), `func Test${"x".repeat(1e6)}(`)).toEqual([]);
  expect(Date.now() - begin).toBeLessThan(20_000);
});
