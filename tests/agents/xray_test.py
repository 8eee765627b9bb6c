#!/usr/bin/env python3
"""The agent of C and C++ in programs that clang has built with -fxray-instrument: what is tested of other probes, and that XRay's come
and go.

usage: xray_test.py FOLDER-OF-THE-LIBRARY
"""
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import c_test
import plive

CLANG = shutil.which("clang++-14") or shutil.which("clang++")
FLAGS = ["-std=c++17", "-fxray-instrument", "-fxray-instruction-threshold=1"]
LIBRARY = c_test.LIBRARY
WHOLE = ["-L", LIBRARY, "-Wl,--push-state,--whole-archive", "-lprofd-live-xray", "-Wl,--pop-state"]


def has_xray():
    """Its runtime is a package of its own."""
    with tempfile.TemporaryDirectory() as box:
        return subprocess.run([CLANG, "-fxray-instrument", "-x", "c++", "-", "-o", os.path.join(box, "a")], input=b"int main() {}",
                              capture_output=True).returncode == 0


class XRay(c_test.Agent):
    # Of libraries, which have no XRay, of the bytes of messages and of the pool: the same for all probes.
    test_functions_of_libraries_that_come_and_go = None
    test_the_bytes_of_the_declaration = None
    test_a_daemon_that_does_not_read_costs_events_and_each_is_counted = None

    @classmethod
    def setUpClass(cls):
        cls.box = tempfile.TemporaryDirectory()
        cls.folder_of_sockets = cls.box.name
        shared = [*FLAGS, *WHOLE, "-lprofd-live", "-ldl", "-Wl,-rpath," + LIBRARY]
        static = [*FLAGS, *WHOLE, os.path.join(LIBRARY, "libprofd-live.a"), "-ldl", "-rdynamic"]
        source = os.path.join(c_test.PROGRAMS, "events.cpp")

        def built(name, source, *flags):
            path = os.path.join(cls.box.name, name)
            c_test.build(CLANG, [source], path, *flags)
            return path

        # Without optimisation no call is a jump: everything is called as often as it says.
        cls.program = built("events", source, "-O0", *shared)
        cls.static = built("static", source, "-O2", *static)
        cls.inlined = built("optimised", source, "-O2", *shared)
        cls.tails = built("tails", os.path.join(c_test.PROGRAMS, "tails.cpp"), "-O2", *shared)
        cls.names = c_test.symbols_of(cls.program)

    def code(self, process, function):
        """The first bytes of a function in a process: XRay's probe begins with a jump over itself, or with a move."""
        address = next(at for at, name in self.names.items() if name == function)
        with open(f"/proc/{process.pid}/maps", encoding="utf-8") as maps:
            base = next(int(line.split("-")[0], 16) for line in maps if line.rstrip().endswith(self.program))
        with open(f"/proc/{process.pid}/mem", "rb", buffering=0) as memory:
            memory.seek(base + address)
            return memory.read(2)

    def wait_for_code(self, process, function, wanted):
        deadline = time.monotonic() + 30
        while self.code(process, function) != wanted:
            self.assertLess(time.monotonic(), deadline, function)
            time.sleep(0.01)

    def test_calls_that_are_jumps_and_exceptions_through_recursion(self):
        one, stream = self.recorded(program=self.tails)
        self.assertEqual(one.returncode, 0)
        paths = {path[path.index("main"):]: n for path, n in stream.path_names().items() if "main" in path}
        self.assertEqual({path: n for path, n in paths.items() if len(path) == 2},
                         {("main", "catcher"): 3, ("main", "ping"): 12, ("main", "pong"): 12, ("main", "last"): 4})
        self.assertEqual({path[1:-1]: n for path, n in paths.items() if path[-1] == "last" and len(path) > 2},
                         {("catcher", "catcher"): 3}, "two of them, and three throwers, have ended")
        self.assertEqual(stream.count_of("thrower"), 9)
        self.assertEqual(stream.unmatched, 0)
        self.assertFalse(any(stream.stacks.values()))

    def test_a_function_that_is_demoted_is_what_the_compiler_wrote(self):
        with open(self.program, "rb") as file:
            self.assertEqual(file.read(4), b"\x7fELF")
        plain, probed = bytes.fromhex("eb09"), bytes.fromhex("41ba")
        alone = self.begin([self.program, "run", "0", "5"], env={k: v for k, v in os.environ.items() if k != "PROFD_LIVE"})
        daemon = self.daemon()
        one = self.start(daemon.target, "run", "0", "5")
        daemon.wait(lambda data: any(name == "events" for name, _ in plive.frames(data)))
        self.assertEqual((self.code(one, "leaf"), self.code(one, "deep")), (probed, probed))
        stream = plive.Stream(daemon.bytes())
        self.name(stream)
        leaf = stream.ids_of("leaf")
        daemon.say("control", operation=plive.NUMBERS["ControlOperation"]["demote"], pattern="", ids=leaf)
        self.wait_for_code(one, "leaf", plain)
        self.assertEqual(self.code(one, "deep"), probed)
        daemon.say("control", operation=plive.NUMBERS["ControlOperation"]["promote"], pattern="", ids=leaf)
        self.wait_for_code(one, "leaf", probed)
        calls = plive.Stream(daemon.bytes()).produced
        daemon.wait(lambda data: plive.Stream(data).produced > calls)
        stream = plive.Stream(daemon.bytes())
        self.assertEqual(stream.unmatched, 0)
        daemon.close()
        self.wait_for_code(one, "leaf", plain)
        self.wait_for_code(one, "deep", plain)
        self.assertEqual(self.code(alone, "leaf"), plain, "nobody asked for it")
        self.assertIsNone(one.poll())


if __name__ == "__main__":
    if not CLANG or not shutil.which("nm"):
        print("NOT RUN: no clang or no nm")
        sys.exit(77)
    if not has_xray():
        print("NOT RUN: clang has no runtime of XRay here (libclang-rt-14-dev)")
        sys.exit(77)
    unittest.main()
