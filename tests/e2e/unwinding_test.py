#!/usr/bin/env python3
"""Stacks of `perf record --call-graph dwarf`, beside those that perf unwinds. Usage: unwinding_test.py PROFD

Needs perf, g++ and a kernel that lets this user sample."""
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from perf_recording import Recording  # noqa: E402
from psp_client import Daemon  # noqa: E402

PROFD = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "profd"

PROGRAM = r"""
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sys/time.h>
#include <thread>
using u64 = std::uint64_t;
#define OWN extern "C" __attribute__((noinline))
volatile u64 sink;
OWN u64 leaf(u64 n) {
  u64 s = n;
  for (u64 i = 0; i < 3000; ++i) s = s * 6364136223846793005u + (s >> 13);
  return s;
}
OWN u64 recurse(int depth, u64 n) {
  volatile char pad[40] = {1};
  return depth == 0 ? leaf(n) : recurse(depth - 1, n) + static_cast<u64>(pad[depth % 40]);
}
// The frame is of no size that is known.
OWN u64 variable(u64 n) {
  u64* p = static_cast<u64*>(__builtin_alloca(64 + n % 512));
  p[0] = n;
  return recurse(static_cast<int>(3 + n % 20), n) + p[0];
}
OWN int compare(const void* a, const void* b) {
  sink = sink + leaf(*static_cast<const u64*>(a));
  return *static_cast<const u64*>(a) < *static_cast<const u64*>(b) ? -1 : 1;
}
OWN void sorted(u64 n) {  // its callee is called by the C library
  u64 v[8];
  for (u64 i = 0; i < 8; ++i) v[i] = n * i * 7919 % 31;
  qsort(v, 8, sizeof v[0], compare);
}
OWN void interrupted(int) {  // long enough to be sampled every time
  for (int i = 0; i < 60; ++i) sink = sink + recurse(4, sink);
}
OWN void work(u64 n) {
  for (u64 i = 0; i < n; ++i) {
    sink = sink + variable(i);
    sorted(i);
  }
}
int main() {
  std::signal(SIGVTALRM, interrupted);
  itimerval every{{0, 3000}, {0, 3000}};
  setitimer(ITIMER_VIRTUAL, &every, nullptr);
  std::thread other(work, 9000);
  work(9000);
  other.join();
  std::printf("%llu\n", static_cast<unsigned long long>(sink));
}
"""
OWN = {"leaf", "recurse", "variable", "compare", "sorted", "interrupted", "work", "main"}


def run(*arguments, **environment):
    done = subprocess.run([PROFD, *map(str, arguments)], capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL,
                          env=dict(os.environ, PROFD_CACHE="off", NO_COLOR="1", **environment), check=False)
    if done.returncode != 0:
        raise AssertionError(f"profd {' '.join(map(str, arguments))} ended with {done.returncode}\n{done.stderr}")
    return done.stdout


class Unwinding(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        recording = Recording(cls, PROGRAM, ["-fomit-frame-pointer", "-pthread"],
                              ["--buildid-all", "-F", "999", "--call-graph", "dwarf,8192"], ["strip"])
        cls.work, cls.data, cls.environment = recording.work, recording.data, recording.environment

    def stacks_of_perf(self):
        """Chains of the program's own functions, root first, and their samples."""
        text = subprocess.run(["perf", "script", "--no-inline", "--max-stack", "1000", "-F", "ip,sym", "-i", str(self.data)],
                              capture_output=True, text=True, check=True, cwd=self.work, env=self.environment).stdout
        found = collections.Counter()
        for block in text.split("\n\n"):
            names = [line.split(None, 1)[1].split("+")[0].strip() for line in block.splitlines() if len(line.split(None, 1)) == 2]
            found[tuple(name for name in reversed(names) if name in OWN)] += 1
        return found

    def stacks(self, *arguments):
        out = self.work / "out.folded"
        run("convert", "--force", "--metric", "samples", *arguments, self.data, out, HOME="/")
        found = collections.Counter()
        for line in out.read_text().splitlines():
            stack, value = line.rsplit(" ", 1)
            names = [re.sub(r"[( ].*", "", frame) for frame in stack.split(";")]
            found[tuple(name for name in names if name in OWN)] += int(value)
        return found

    def report(self, *arguments):
        checked = json.loads(run("check", "--json", *arguments, self.data, HOME="/"))
        return {row["kind"]: row["count"] for row in checked["report"]}

    def test_chains_of_calls_are_those_of_perf(self):
        theirs, ours = self.stacks_of_perf(), self.stacks()
        self.assertGreater(sum(theirs.values()), 100)
        self.assertTrue(any("interrupted" in stack and "work" in stack for stack in ours), "none was interrupted")
        self.assertTrue(any("compare" in stack and "sorted" in stack for stack in ours), "none was called by the C library")
        # perf loses its way in a few; where both have a caller they have the same.
        differ = (theirs - ours) + (ours - theirs)
        self.assertLessEqual(sum(differ.values()), sum(theirs.values()) * 0.02, differ)

    def test_what_cuts_a_stack_is_counted(self):
        whole = self.report()
        self.assertGreater(whole["stacks-unwound"], 100)
        self.assertNotIn("user-stack", whole)
        self.assertNotIn("stack-damaged", whole)
        self.assertNotIn("stack-reader", whole)
        # Without the binary, whatever else is there.
        shutil.move(self.work / "app", self.work / "away")
        try:
            cut = self.report()
            self.assertEqual(cut["stacks-unwound"], whole["stacks-unwound"])
            self.assertGreater(cut["stack-without-binary"], whole["stacks-unwound"] * 0.8)
        finally:
            shutil.move(self.work / "away", self.work / "app")

    def test_a_stripped_binary_will_do(self):
        before = self.report()
        shutil.copy(self.work / "app", self.work / "kept")
        subprocess.run(["strip", "app"], cwd=self.work, check=True)
        try:
            self.assertEqual(self.report(), before)
        finally:
            shutil.move(self.work / "kept", self.work / "app")

    def test_where_no_binaries_are_read_the_innermost_frame_is_shown_and_said(self):
        plain = run("convert", "--no-symbols", "--to", "folded", "--metric", "samples", self.data, "-", HOME="/")
        stacks = [line.rsplit(" ", 1)[0] for line in plain.splitlines() if "[app]" in line]
        self.assertEqual({stack.count("[app]") for stack in stacks}, {1})
        self.assertFalse([stack for stack in stacks if "[libc" in stack])
        text = subprocess.run([PROFD, "top", "--no-symbols", self.data], capture_output=True, text=True, check=True,
                              env=dict(os.environ, PROFD_CACHE="off", NO_COLOR="1")).stderr
        self.assertIn("callers in user space are missing", text)

    def test_a_daemon_opens_it_with_callers(self):
        daemon = Daemon([PROFD, "serve", "--stdio"], dict(os.environ, PROFD_CACHE="off", HOME="/"))
        self.addCleanup(daemon.end)
        client = daemon.stdio_client()
        client.initialize(None, "unwinding", timeout_s=60)
        opened = client.request("profile/open", {"uri": self.data.as_uri()}, 60).result
        deadline = time.time() + 30
        while client.request("profile/modules", {"profile": opened["profile"]}, 60).result.get("symbolizing"):
            self.assertLess(time.time(), deadline)
            time.sleep(0.05)
        names = client.request("view/table", {"spec": "flat", "limit": 1000}, 60).result["names"]
        self.assertLessEqual({"main", "work", "sorted"}, set(names))  # of these none was met running, but as a caller

    def test_a_binary_without_a_build_id_is_known_by_its_inode_until_it_is_changed(self):
        subprocess.run(["g++", "-O2", "-g", "-fomit-frame-pointer", "-pthread", "-Wl,--build-id=none", "-o", "plain", "app.cc"], cwd=self.work,
                       check=True)
        time.sleep(0.1)  # the recording is begun later than it was made
        done = subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", "499", "--call-graph", "dwarf,8192", "-o", "plain.data",
                               "./plain"], cwd=self.work, capture_output=True, check=False, env=self.environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        data = self.work / "plain.data"

        def plain():
            modules = json.loads(run("symbolize", "--json", data, HOME="/"))["modules"]
            return next(m for m in modules if m["path"].endswith("/plain"))

        before = plain()
        self.assertNotIn("buildId", before)
        if "another file" in before.get("reason", ""):
            print("PARTLY NOT RUN: this file system numbers its files anew:", before["reason"])
            return
        self.assertTrue(before["byInode"], before)
        self.assertEqual(before["state"], "full")
        self.assertIn("by inode", run("symbolize", data, HOME="/"))
        out = self.work / "plain.folded"
        run("convert", "--force", "--metric", "samples", data, out, HOME="/")
        self.assertRegex(out.read_text(), r"main;(.*;)?work")
        # The same file with other bytes.
        with open(self.work / "plain", "r+b") as binary:
            binary.seek(0, os.SEEK_END)
            binary.write(b"x")
        after = plain()
        self.assertEqual((after["state"], after["known"]), ("none", 0), after)
        self.assertIn("changed since", after["reason"])

    def test_a_compressed_recording_has_the_same_kind_of_stacks(self):
        done = subprocess.run(["perf", "record", "-q", "-z", "--buildid-all", "-e", "cpu-clock", "-F", "499", "--call-graph", "dwarf,8192",
                               "-o", "z.data", "./app"], cwd=self.work, capture_output=True, check=False, env=self.environment)
        if done.returncode != 0:
            print("PARTLY NOT RUN: perf record -z")
            return
        checked = json.loads(run("check", "--json", self.work / "z.data", HOME="/"))
        report = {row["kind"]: row["count"] for row in checked["report"]}
        self.assertGreater(report["stacks-unwound"], 50)
        self.assertNotIn("stack-damaged", report)


if __name__ == "__main__":
    unittest.main(verbosity=1)
