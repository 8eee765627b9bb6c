#!/usr/bin/env python3
"""Scripts in a running daemon and on the command line: others are served meanwhile, nobody is left, trust is asked for.

usage: script_test.py PROFD
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))

from psp_client import Client, Daemon

PROFD = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "profd"
FOLDED = "".join(f"main;f{i % 40};g{i % 300};h{i} {i % 17 + 1}\n" for i in range(3000))
LOOP = "while true do end"


def children_of(pid):
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = stat.read_text()
        except OSError:
            continue
        if int(text.rsplit(")", 1)[1].split()[1]) == pid:
            found.append(text)
    return [text for text in found if "(profd-script)" in text]


class Scripts(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.work = Path(self.folder.name) / "w"
        (self.work / ".profd/analyses").mkdir(parents=True)
        (self.work / "cpu.folded").write_text(FOLDED)
        self.environment = dict(os.environ, PROFD_CACHE="off", XDG_STATE_HOME=self.folder.name + "/state",
                                XDG_CONFIG_HOME=self.folder.name + "/config")

    def tearDown(self):
        self.folder.cleanup()

    def daemon(self):
        return Daemon([PROFD, "serve", "--stdio"], self.environment)

    def run_profd(self, *arguments):
        return subprocess.run([PROFD, "analyse", *arguments], cwd=self.work, env=self.environment, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=60)

    def test_others_are_served_while_a_script_does_not_end(self):
        with self.daemon() as daemon:
            client = daemon.stdio_client()
            client.initialize(self.work, "script")
            profile = client.request("profile/open", {"uri": f"file://{self.work}/cpu.folded"}).result["profile"]
            client.request("view/flameGraph", {"profile": profile, "viewport": {"width": 1000}})
            began = time.monotonic()
            run = client.begin("analysis/run", {"name": "loop", "text": LOOP, "of": [{"profile": profile}]})
            times = []
            for _ in range(200):
                at = time.monotonic()
                answer = client.request("view/search", {"profile": profile, "spec": "flat by function", "pattern": "h1.5"})
                self.assertIsNone(answer.error)
                times.append(time.monotonic() - at)
                time.sleep(0.005)
            self.assertEqual(len(children_of(daemon.process.pid)), 1)
            answer = client.finish(run, 30)
            self.assertIn("the script took more than 10 s and was ended", answer.error["message"])
            self.assertLess(time.monotonic() - began, 10.5)
            self.assertEqual(children_of(daemon.process.pid), [])
            times.sort()
            print(f"script_test: answers beside a script that loops: p50 {times[100] * 1e3:.1f} ms, p99 {times[197] * 1e3:.1f} ms")
            self.assertLess(times[100], 0.05)

    def test_a_cancelled_script_is_gone(self):
        with self.daemon() as daemon:
            client = daemon.stdio_client()
            client.initialize(self.work, "script")
            profile = client.request("profile/open", {"uri": f"file://{self.work}/cpu.folded"}).result["profile"]
            run = client.begin("analysis/run", {"name": "loop", "text": LOOP, "of": [{"profile": profile}]})
            deadline = time.monotonic() + 5
            while not children_of(daemon.process.pid) and time.monotonic() < deadline:
                time.sleep(0.01)
            self.assertEqual(len(children_of(daemon.process.pid)), 1)
            at = time.monotonic()
            client.cancel(run)
            self.assertEqual(client.finish(run, 10).error["code"], -32800)
            # Who cancels is answered at once; the work stops when it next looks up.
            while children_of(daemon.process.pid) and time.monotonic() - at < 2:
                time.sleep(0.005)
            self.assertEqual(children_of(daemon.process.pid), [])
            print(f"script_test: gone {(time.monotonic() - at) * 1e3:.0f} ms after it was cancelled")

    def test_a_script_of_the_workspace_runs_after_a_yes_and_asks_again_when_it_has_changed(self):
        script = self.work / ".profd/analyses/mine.lua"
        script.write_text("profile:visit(function(node) if node.name == 'f1' then node:drop() end end)\n")
        with self.daemon() as daemon:
            client = daemon.stdio_client()
            client.initialize(self.work, "script")
            profile = client.request("profile/open", {"uri": f"file://{self.work}/cpu.folded"}).result["profile"]

            def run(**more):
                return client.request("analysis/run", {"name": "mine", "of": [{"profile": profile}], **more}).result

            ask = run()["ask"]
            self.assertIn("ask", run(trust="0" * 32), "a yes to another text")
            script.write_text(script.read_text() + "-- more\n")
            again = run(trust=ask["hash"])["ask"]
            self.assertNotEqual(again["hash"], ask["hash"], "it changed between the question and the answer")
            opened = run(trust=again["hash"])["opened"]
            self.assertNotIn("ask", run(), "said once")
            uri = opened["summary"]["uri"]
            self.assertTrue(uri.startswith("script://?run=mine&file="), uri)
            # The profile that it made is not made anew by a text that nobody said yes to.
            script.write_text("print('changed')\n")
            self.assertIn("ask", run())
            reopened = client.request("profile/open", {"uri": uri})
            self.assertIn("has changed, or was never run", json.dumps(reopened.error))

    def test_the_command_runs_scripts_and_says_what_is_wrong(self):
        script = self.work / ".profd/analyses/mine.lua"
        script.write_text("-- @title Mine\nprint('ran')\n")
        self.assertIn("Mine", self.run_profd("--list").stdout)
        refused = self.run_profd("mine", "cpu.folded")
        self.assertEqual((refused.returncode, refused.stdout), (1, ""))
        self.assertIn("run it with --trust", refused.stderr)
        self.assertEqual(self.run_profd("mine", "cpu.folded", "--trust").stdout, "ran\n")
        self.assertEqual(self.run_profd("mine", "cpu.folded").stdout, "ran\n")
        script.write_text("print('changed')\n")
        self.assertEqual(self.run_profd("mine", "cpu.folded").returncode, 1)
        own = self.work / "own.lua"
        own.write_text("-- @arg n integer 1 A number\nprint(args.n + 1)\n")
        self.assertEqual(self.run_profd("./own.lua", "cpu.folded", "--arg", "n=41").stdout, "42\n")
        wrong = self.run_profd("./own.lua", "cpu.folded", "--arg", "n=x")
        self.assertEqual((wrong.returncode, wrong.stderr), (2, "profd: `x` is no integer, which `n` of the script is\n"))
        own.write_text("print(profile:total())\n")
        whole, kept = (int(self.run_profd("./own.lua", "cpu.folded", *more).stdout) for more in ((), ("--filter", "keep function f1")))
        self.assertLess(kept, whole)
        own.write_text("print(1)\nlocal x = y.z\n")
        wrong = self.run_profd("./own.lua", "cpu.folded")
        self.assertIn("own.lua, line 2: attempt to index a nil value (global 'y')", wrong.stderr)
        self.assertEqual(wrong.stdout, "1\n")
        own.write_text(LOOP)
        at = time.monotonic()
        self.assertIn("took more than 0.2 s", self.run_profd("./own.lua", "cpu.folded", "--seconds", "0.2").stderr)
        self.assertLess(time.monotonic() - at, 2)

    def test_lock_holders_has_the_sums_of_gos_own_tool(self):
        folder = Path(__file__).resolve().parent.parent / "fixtures/compare/locks"
        done = self.run_profd("lock_holders", str(folder / "block.pb.gz"), str(folder / "mutex.pb.gz"), "--json", "--arg", "rows=100")
        self.assertEqual(done.returncode, 0, done.stderr)
        tables = json.loads(done.stdout)["tables"]
        for table, side, ends in ((2, "block", ("Lock", "RLock")), (1, "mutex", ("Unlock", "RUnlock"))):
            text = (folder / f"expected-{side}-top.txt").read_text()
            flat = re.findall(r"(?m)^ *(\d+)ns .* sync\.\(\*\w+\)\.(\w+)", text)
            expected = sum(int(number) for number, name in flat if name in ends)
            self.assertGreater(expected, 0)
            self.assertEqual(sum(row[2] for row in tables[table]["rows"]), expected)

    def test_a_script_that_changes_nothing_gives_the_same_bytes(self):
        (self.work / "empty.lua").write_text("")
        for ending in ("folded", "profd"):
            same = self.run_profd("./empty.lua", "cpu.folded", "-o", f"a.{ending}")
            self.assertEqual(same.returncode, 0, same.stderr)
            subprocess.run([PROFD, "convert", "cpu.folded", f"b.{ending}"], cwd=self.work, env=self.environment, check=True,
                           capture_output=True)
            self.assertEqual((self.work / f"a.{ending}").read_bytes(), (self.work / f"b.{ending}").read_bytes())


if __name__ == "__main__":
    unittest.main(verbosity=1)
