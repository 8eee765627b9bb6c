#!/usr/bin/env python3
"""profd-go-trace: states of goroutines from execution traces, against what `go tool trace -d=parsed` prints of the same file.

usage: go_trace_test.py PROFD

The recorded trace is tests/fixtures/compare/go-trace/mill.trace; corpus-2026 has another one.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROFD = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "profd"
GO = shutil.which("go") or "/usr/local/go/bin/go"
FIXTURES = ROOT / "tests/fixtures/compare/go-trace"
LINE = re.compile(r"^M=.* P=.* G=(-?\d+) StateTransition Time=(\d+) GoID=(\d+) (\w+)->(\w+) ")
TIME = re.compile(r"^M=.* Time=(\d+)")
METRIC_OF = {"Running": "on-cpu", "Waiting": "blocked", "Runnable": "runnable", "Syscall": "unknown", "Undetermined": "unknown"}


TWO_SECONDS = """package main

import (
	"os"
	"runtime/trace"
	"time"
)

func main() {
	file, _ := os.Create(os.Args[1])
	trace.Start(file)
	for range 15 {
		time.Sleep(100 * time.Millisecond)
	}
	trace.Stop()
	file.Close()
}
"""


def corpus_trace():
    for beside in (ROOT.parent, *ROOT.parents):
        found = beside / "shared/corpus-2026/go-trace/go1.26-exec.trace"
        if found.exists():
            return found
    return None


def states_of(trace):
    """By goroutine how long it was in which state, from the events as Go prints them; and how many were woken by a goroutine."""
    text = subprocess.run([GO, "tool", "trace", "-d=parsed", str(trace)], capture_output=True, text=True, check=True).stdout
    sums, at, last, woken = {}, {}, 0, 0
    for line in text.splitlines():
        if time := TIME.match(line):
            last = max(last, int(time[1]))
        if not (found := LINE.match(line)):
            continue
        by, now, goroutine, to = int(found[1]), int(found[2]), int(found[3]), found[5]
        woken += found[4] == "Waiting" and to == "Runnable" and by >= 0
        if goroutine in at:
            state, since = at.pop(goroutine)
            of = sums.setdefault(goroutine, dict.fromkeys(("on-cpu", "blocked", "runnable", "unknown"), 0))
            of[METRIC_OF[state]] += now - since
        if to != "NotExist":
            at[goroutine] = (to, now)
    for goroutine, (state, since) in at.items():
        of = sums.setdefault(goroutine, dict.fromkeys(("on-cpu", "blocked", "runnable", "unknown"), 0))
        of[METRIC_OF[state]] += last - since
    return sums, woken


class GoTrace(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.program = os.path.join(cls.folder.name, "profd-go-trace")
        cls.environment = dict(os.environ, PROFD_CACHE="off", GOTOOLCHAIN="local", GOFLAGS="-mod=readonly")
        built = None
        if os.path.exists(GO):
            built = subprocess.run([GO, "build", "-o", cls.program, "."], cwd=ROOT / "builders/go/cmd/profd-go-trace", env=cls.environment,
                                   capture_output=True, text=True)
        cls.why = "there is no go" if built is None else built.stderr.strip() if built.returncode else ""

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def setUp(self):
        self.out = os.path.join(self.folder.name, "out.profd")

    def convert(self, trace, *options):
        # Go too old, or no way to its modules: as good as no Go.
        if self.why:
            print("PARTLY NOT RUN: the converter of Go's traces was not built:", self.why.replace("\n", "; "), flush=True)
            self.skipTest(self.why)
        return subprocess.run([self.program, *options, "-o", self.out, str(trace)], capture_output=True, text=True, env=self.environment)

    def total(self, metric, *filters):
        done = subprocess.run([PROFD, "top", "--json", "-n", "1", "--metric", metric, *(f"--filter={one}" for one in filters), self.out],
                              capture_output=True, text=True, check=True, env=self.environment)
        return json.loads(done.stdout)["viewTotal"]["value"]

    def check_states(self, trace):
        done = self.convert(trace)
        self.assertEqual(done.returncode, 0, done.stderr)
        expected, woken = states_of(trace)
        self.assertGreater(len(expected), 5)
        for metric in ("on-cpu", "blocked", "runnable", "unknown"):
            self.assertEqual(self.total(metric), sum(of[metric] for of in expected.values()), metric)
        for goroutine, of in expected.items():
            if sum(of.values()) == 0:
                continue
            only = f"thread /^{goroutine}$/"
            self.assertEqual(self.total("wall", only), sum(of.values()), f"life of goroutine {goroutine}")
            self.assertEqual(self.total("blocked", only), of["blocked"], f"goroutine {goroutine}")
            self.assertEqual(self.total("chains", only), of["blocked"], f"chains of goroutine {goroutine}")
        return woken

    def test_states_of_the_recorded_trace_add_up_to_the_life_of_each_goroutine(self):
        self.assertGreater(self.check_states(FIXTURES / "mill.trace"), 30)

    def test_states_of_the_corpus_trace_add_up_to_the_life_of_each_goroutine(self):
        trace = corpus_trace()
        if trace is None:
            print("PARTLY NOT RUN: no corpus of the formats of 2026", flush=True)
            self.skipTest("no corpus")
        self.assertGreater(self.check_states(trace), 30)

    def test_the_file_beside_the_recorded_trace_is_what_is_made_of_it(self):
        self.assertEqual(self.convert(FIXTURES / "mill.trace").returncode, 0)
        self.assertEqual(Path(self.out).read_bytes(), (FIXTURES / "mill.profd").read_bytes())

    def test_the_baker_waits_for_the_road(self):
        self.assertEqual(self.convert(FIXTURES / "mill.trace").returncode, 0)
        baker = self.total("chains", "keep function main.bake")
        road = self.total("chains", "keep function main.bake", "keep function main.mill", "keep function main.carry", "keep function time.Sleep")
        self.assertGreater(road, 0.8 * baker)

    def test_a_trace_that_is_cut_is_refused_or_read_as_far_as_it_goes(self):
        # A trace has a part a second; those that are whole can be read.
        cut = os.path.join(self.folder.name, "cut.trace")
        Path(cut).write_bytes(b"{}")
        self.assertEqual(self.convert(cut, "-partial").returncode, 1)
        program = Path(self.folder.name) / "two"
        program.mkdir()
        (program / "go.mod").write_text("module two\n\ngo 1.22\n")
        (program / "main.go").write_text(TWO_SECONDS)
        long = os.path.join(self.folder.name, "long.trace")
        subprocess.run([GO, "run", ".", long], cwd=program, env=self.environment, check=True)
        self.assertEqual(self.convert(long).returncode, 0)
        wall = self.total("wall", "keep function main.main")
        Path(cut).write_bytes(Path(long).read_bytes()[:-100])
        done = self.convert(cut)
        self.assertEqual(done.returncode, 1)
        self.assertIn("-partial", done.stderr)
        done = self.convert(cut, "-partial")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("could not be read to its end", done.stderr)
        self.assertGreater(wall, self.total("wall", "keep function main.main"))
        self.assertGreater(self.total("wall", "keep function main.main"), 0.5 * wall)
        Path(cut).write_bytes(b"go 1.26 trace\0\0\0")
        self.assertEqual(self.convert(cut, "-partial").returncode, 1)

    def test_profd_says_what_to_do_with_a_trace(self):
        done = subprocess.run([PROFD, str(FIXTURES / "mill.trace")], capture_output=True, text=True, env=self.environment)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("profd-go-trace", done.stderr)


if __name__ == "__main__":
    unittest.main()
