#!/usr/bin/env python3
"""Machine code as who reads it in a terminal finds it. Usage: annotate_test.py PROFD

The second half records a C++ program with perf and compares with what perf annotate and objdump say of it; it needs them,
and a kernel that lets this user sample."""
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from perf_recording import Recording  # noqa: E402
from psp_client import Daemon  # noqa: E402

PROFD = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "profd"
ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests/fixtures/symbols"
ADDRESSES = FIXTURES / "addresses.pprof"

PROGRAM = r"""
#include <cstdint>
#include <cstdio>
#include <vector>
static inline std::uint64_t mix(std::uint64_t v) {
  v ^= v >> 31;
  v *= 0x9e3779b97f4a7c15ull;
  return v;
}
__attribute__((noinline)) void fill(std::vector<std::uint64_t>& v) {
  std::uint64_t s = 1;
  for (auto& e : v) {
    for (int i = 0; i < 3; ++i) s = mix(s + i);
    e = s % 1000;
  }
}
int main() {
  std::vector<std::uint64_t> v(1 << 16);
  for (int i = 0; i < 500; ++i) fill(v);
  std::printf("%d\n", static_cast<int>(v[7]));
}
"""


def run(*arguments, code=0):
    done = subprocess.run([PROFD, "annotate", *map(str, arguments)], capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL,
                          env=dict(os.environ, PROFD_CACHE="off", NO_COLOR="1", COLUMNS="160"), check=False)
    if done.returncode != code:
        raise AssertionError(f"profd annotate {' '.join(map(str, arguments))} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def answer(*arguments):
    return json.loads(run(*arguments, "--json").stdout)


class Fixture(unittest.TestCase):
    def test_rows_and_rest_add_up_to_the_piece(self):
        for place in ((), ("fill",), ("_start",), ("app+0x4001e0",)):
            got = answer(ADDRESSES, *place)
            piece = got["pieces"][got["piece"]]
            self.assertEqual(sum(got["rows"]["self"]) + sum(r["amount"]["value"] for r in got.get("rest", [])), piece["self"]["value"], place)
            self.assertEqual(got["rowCount"], len(got["rows"]["text"]))

    def test_instructions_are_those_of_objdump(self):
        if shutil.which("objdump") is None:
            self.skipTest("NOT RUN: objdump is not installed")
        got = answer(ADDRESSES, "fill")
        start = int(got["pieces"][0]["start"], 16)
        told = subprocess.run(["objdump", "-d", "--insn-width=16", "-M", "intel", f"--start-address={start}",
                               f"--stop-address={start + got['pieces'][0]['size']}", FIXTURES / "app"], capture_output=True, text=True, check=True).stdout
        rows = [(int(m[1], 16) - start, m[2].replace(" ", "")) for m in re.finditer(r"^\s+([0-9a-f]+):\t((?:[0-9a-f]{2} )+)", told, re.M)]
        self.assertEqual(list(zip(got["rows"]["offset"], got["rows"]["bytes"])), rows)

    def test_an_inlined_function_opens_in_what_holds_it(self):
        got = answer(ADDRESSES, "mix")
        self.assertEqual(got["pieces"][0]["name"], "fill")
        self.assertIn(True, got["rows"]["matched"])
        called = {got["inlined"]["function"][i] for i, m in zip(got["rows"]["inlined"], got["rows"]["matched"]) if m}
        self.assertEqual(called, {"mix"})

    def test_a_listing_says_where_and_how_much(self):
        text = run(ADDRESSES, "fill").stdout
        self.assertRegex(text.splitlines()[0], r"^fill  app\.c:\d+  samples self 90\.0 %  total 90\.0 %  app\+0x[0-9a-f]+, \d+ bytes  piece 1 of 1$")
        self.assertIn("mix app.c:", text)
        self.assertRegex(text, r"(?m)^ *60\.0 % +60\.0 % \+\d+ ")
        self.assertIn("between instructions", text)
        plain = run(ADDRESSES, "fill", "--asm", "--syntax", "att", "--bytes", "--min-share", "0").stdout
        self.assertIn("%r", plain)
        self.assertNotIn("app.c:6", plain.split("\n", 1)[1])

    def test_a_comparison_shows_the_code_of_its_side_after_and_says_so(self):
        with tempfile.TemporaryDirectory() as folder:
            before, after = Path(folder) / "monday.pprof", Path(folder) / "tuesday.pprof"
            for side in (before, after):
                shutil.copy(ADDRESSES, side)
            shutil.copy(FIXTURES / "app", folder)
            alone = answer(after, "fill")
            with Daemon([PROFD, "serve", "--stdio"], dict(os.environ, PROFD_CACHE="off")) as daemon:
                client = daemon.stdio_client()
                client.initialize(Path(folder))
                opened = client.request("profile/open", {"uri": f"diff://?after={after}&before={before}"}, 60)
                self.assertIsNone(opened.error)
                got = client.request("source/disassembly", {"profile": opened.result["profile"], "function": "fill"}, 60).result
        self.assertEqual(got["note"], "Costs are those of tuesday.pprof alone, the side after, as they were measured.")
        self.assertEqual(got["rows"]["self"], alone["rows"]["self"])
        self.assertEqual(got["pieces"][0]["self"], alone["pieces"][0]["self"])
        self.assertEqual(got["profile"], opened.result["profile"])

    def test_what_cannot_be_shown_is_said(self):
        self.assertIn("no function is called nothing", run(ADDRESSES, "nothing", code=1).stderr)
        self.assertIn("there is no piece 9", run(ADDRESSES, "fill", "--piece", "9", code=1).stderr)
        self.assertIn("its binary has not been read", run(ADDRESSES, "[gone.so]", code=1).stderr)
        self.assertIn("no addresses", run(ROOT / "formats/folded/testdata/recorded-py-spy.folded", code=1).stderr)


class BranchStacks(unittest.TestCase):
    """A recording that is made up, of the branches that the program takes; this is what one with branch stacks looks like."""

    @classmethod
    def setUpClass(cls):
        spec = importlib.util.spec_from_file_location("branch_stacks", ROOT / "tests/fixtures/record/branch-stacks-by-hand.py")
        cls.made = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(cls.made)
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = Path(cls.folder.name)
        shutil.copy(FIXTURES / "app", cls.path / "app")
        shutil.copy(ROOT / "formats/perf_data/testdata/branch-stacks.data", cls.path / "perf.data")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def walked(self, rows, start):
        """Every run between two branches, instruction by instruction."""
        row_at = {start + offset: row for row, offset in enumerate(rows["offset"])}
        executed, ended = [0] * len(row_at), [0] * len(row_at)
        for _, entries in self.made.stacks():
            for newer, older in zip(entries, entries[1:]):
                if older[1] not in row_at or newer[0] not in row_at:
                    continue
                for row in range(row_at[older[1]], row_at[newer[0]] + 1):
                    executed[row] += 1
                ended[row_at[newer[0]]] += 1
        return row_at, executed, ended

    def test_executions_are_those_of_walking_every_run(self):
        for recording in ("perf.data", "saved.profd"):
            if recording == "saved.profd":
                subprocess.run([PROFD, "symbolize", "perf.data", "-o", recording], cwd=self.path, check=True, capture_output=True)
            got = answer(self.path / recording, "fill")
            rows, taken = got["rows"], got["branches"]["taken"]
            start = int(got["pieces"][0]["start"], 16)
            row_at, executed, ended = self.walked(rows, start)
            self.assertGreater(sum(executed), 1000)
            self.assertEqual(rows["executed"], executed)
            counted = {}
            for _, entries in self.made.stacks():
                for source, to, wrong, cycles in entries:
                    if source in row_at:
                        count = counted.setdefault((row_at[source], row_at.get(to, -1)), [0, 0, 0])
                        count[0], count[1], count[2] = count[0] + 1, count[1] + wrong, count[2] + cycles
            self.assertEqual({(row, to): n for row, to, n in zip(taken["row"], taken["target"], taken["taken"])},
                             {key: n for key, (n, _, _) in counted.items()})
            back = taken["row"].index(row_at[0x4001B6])
            n, wrong, cycles = counted[row_at[0x4001B6], row_at[0x400170]]
            self.assertEqual(taken["takenShare"][back], f"{100 * ended[row_at[0x4001B6]] / executed[row_at[0x4001B6]]:.1f} %")
            self.assertIn(f"({n}), mispredicted {100 * wrong / n:.1f} %, {cycles / n:.2f} cycles", taken["text"][back])
            self.assertEqual(taken["targetName"][taken["row"].index(row_at[0x4001B8])], "_start+0x11")
            self.assertIn("8 branch stacks (of all samples", got["branches"]["text"])

    def test_a_listing_has_a_column_of_executions_and_says_where_branches_went(self):
        text = run(self.path / "perf.data", "fill", "--asm").stdout
        self.assertRegex(text.splitlines()[1], r"^ +self +total +executed$")
        self.assertRegex(text, r"(?m)^ *0 % +0 % +\d+ \+102 .* jne .* \+32 +; taken 99\.\d % \(\d+\), mispredicted \d\.\d %, \d\.\d\d cycles$")
        self.assertIn("executed: counted in ", text.splitlines()[-1])
        self.assertNotIn("executed", run(self.path / "perf.data", "fill", "--source").stdout)
        self.assertNotIn("executed", run(ADDRESSES, "fill").stdout)


class Jit(unittest.TestCase):
    def test_code_of_a_dump_is_shown_with_what_it_costs(self):
        if shutil.which("perf") is None or shutil.which("node") is None:
            self.skipTest("NOT RUN: perf or node is not installed")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder)
            (path / "hot.js").write_text("function hot(n) { let s = 1; for (let i = 0; i < n; ++i) s = (s * 31 + i) | 0; return s; }\n"
                                         "let sum = 0;\nconst end = Date.now() + 1500;\nwhile (Date.now() < end) sum += hot(1e6);\n")
            record = ["perf", "record", "-N", "-q", "-k", "mono", "-e", "cpu-clock", "-F", "999", "-g", "-o", "perf.data", "node"]
            done = subprocess.run([*record, "--perf-prof", "--no-write-protect-code-memory", "hot.js"], cwd=path, capture_output=True, check=False)
            if done.returncode != 0 or not list(path.glob("jit-*.dump")):
                self.skipTest("NOT RUN: perf may not record here, or node writes no dump")
            got = answer(path / "perf.data", "hot")
            piece = got["pieces"][got["piece"]]
            self.assertGreater(len(got["rows"]["text"]), 10)
            self.assertEqual(sum(got["rows"]["self"]) + sum(r["amount"]["value"] for r in got.get("rest", [])), piece["self"]["value"])
            self.assertGreater(max(got["rows"]["self"]), 0)
            # V8 writes memory in place of names now and then: such lines are not read.
            self.assertEqual([file for file in got["files"] if not file.endswith("hot.js")], [])


class Recorded(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        recording = Recording(cls, PROGRAM, ["-g"], ["-F", "1999", "-g"])
        cls.path, cls.environment = recording.work, recording.environment

    def test_costs_are_those_of_perf_annotate(self):
        got = answer(self.path / "perf.data", "fill(std::vector<unsigned long, std::allocator<unsigned long> >&)")
        told = subprocess.run(["perf", "annotate", "--stdio", "-i", "perf.data", "-s", "fill", "--stdio-color=never", "--asm-raw"], cwd=self.path,
                              capture_output=True, text=True, check=False, env=self.environment).stdout
        shares = {int(m[2], 16): float(m[1]) for m in re.finditer(r"^\s+([0-9.]+)\s+:\s+([0-9a-f]+):", told, re.M)}
        if not shares:
            self.skipTest("NOT RUN: perf annotate says nothing here")
        start, whole = int(got["pieces"][0]["start"], 16), got["pieces"][0]["self"]["value"]
        mine = {start + offset: 100 * value / whole for offset, value in zip(got["rows"]["offset"], got["rows"]["self"]) if value}
        for address, share in shares.items():
            self.assertAlmostEqual(mine.get(address, 0), share, delta=0.02, msg=hex(address))

    def test_lines_and_skid_are_told(self):
        done = subprocess.run([PROFD, "annotate", "perf.data"], cwd=self.path, capture_output=True, text=True, check=True,
                              env=dict(os.environ, PROFD_CACHE="off", NO_COLOR="1"))
        self.assertIn("v *= 0x9e3779b97f4a7c15ull;", done.stdout)
        self.assertIn("cpu-clock may skid", done.stdout)
        source = subprocess.run([PROFD, "annotate", "perf.data", "--source"], cwd=self.path, capture_output=True, text=True, check=True,
                                env=dict(os.environ, PROFD_CACHE="off", NO_COLOR="1")).stdout
        self.assertRegex(source, r"(?m)^ +0 % +\d\d\.\d % +\d+ +for \(int i = 0")


if __name__ == "__main__":
    unittest.main()
