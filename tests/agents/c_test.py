#!/usr/bin/env python3
"""The agent of C and C++: what programs that are built with it send, read by a reader of its own.

usage: c_test.py FOLDER-OF-THE-LIBRARY
"""
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import golden
import plive
from live_case import LiveCase

ROOT = plive.ROOT
AGENT = os.path.join(ROOT, "agents", "c")
PROGRAMS = os.path.join(ROOT, "tests", "agents", "programs")
LIBRARY = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else ""
CXX, CC = shutil.which("g++"), shutil.which("gcc")


def build(compiler, sources, out, *flags):
    subprocess.run([compiler, "-g", "-pthread", "-I", AGENT, *sources, *flags, "-o", out], check=True)


def symbols_of(program):
    """Address to name."""
    found = {}
    for line in subprocess.run(["nm", program], check=True, capture_output=True, text=True).stdout.splitlines():
        parts = line.split()
        if len(parts) == 3 and parts[1] in "tTwW":
            found[int(parts[0], 16)] = parts[2]
    return found


class Agent(LiveCase, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.box = tempfile.TemporaryDirectory()
        cls.folder_of_sockets = cls.box.name
        cls.program = os.path.join(cls.box.name, "events")
        link = ["-L", LIBRARY, "-lprofd-live", "-ldl", "-Wl,-rpath," + LIBRARY]
        source = os.path.join(PROGRAMS, "events.cpp")
        build(CXX, [source], cls.program, "-O1", "-finstrument-functions", "-finstrument-functions-exclude-file-list=/usr/", *link)
        cls.static = os.path.join(cls.box.name, "static")
        build(CXX, [source, os.path.join(LIBRARY, "libprofd-live.a")], cls.static, "-O2", "-finstrument-functions",
              "-finstrument-functions-exclude-file-list=/usr/", "-ldl", "-rdynamic")
        cls.inlined = os.path.join(cls.box.name, "inlined")
        build(CXX, [source], cls.inlined, "-O2", "-finstrument-functions", "-finstrument-functions-exclude-file-list=/usr/",
              "-include", os.path.join(AGENT, "profd_live_probes.h"), *link)
        for which in (1, 2):
            build(CC, [os.path.join(PROGRAMS, "plugin.c")], os.path.join(cls.box.name, f"plugin{which}.so"), "-shared", "-fPIC",
                  "-finstrument-functions", f"-DWHICH={which}")
        cls.names = symbols_of(cls.program)

    @classmethod
    def tearDownClass(cls):
        cls.box.cleanup()

    def start(self, target, *arguments, program=None, **environment):
        return self.begin([program or self.program, *arguments], env={**os.environ, "PROFD_LIVE": target, **environment})

    def recorded(self, *arguments, program=None):
        path = os.path.join(self.box.name, self.id() + ".plive")
        one = subprocess.run([program or self.program, *arguments], env={**os.environ, "PROFD_LIVE": "file:" + path},
                             capture_output=True, text=True)
        stream = plive.read(path)
        self.name(stream, program)
        return one, stream

    def name(self, stream, program=None):
        """What the daemon does with modules and addresses."""
        names = self.names if program is None else symbols_of(program)
        self.assertTrue(stream.modules)
        for id_, method in stream.methods.items():
            path = stream.modules[method["module"]]["path"]
            if os.path.basename(path) == os.path.basename(program or self.program):
                stream.names[id_] = names[method["address"]]
            else:
                stream.names[id_] = os.path.basename(path) + ":" + symbols_of(path).get(method["address"], "?")

    def check_events(self, stream):
        self.assertEqual(stream.count_of("deep"), 18)
        self.assertEqual(stream.count_of("tail"), 6)
        self.assertEqual(stream.count_of("jump"), 10)
        self.assertEqual(stream.count_of("thrower"), 4)
        self.assertEqual(stream.count_of("on_signal"), 1)
        self.assertEqual(stream.count_of("in_thread"), 3)
        self.assertEqual(stream.count_of("in_child"), 0, "the child of a fork says nothing")
        # 3 of deep, 1 of tail, 3 in walk, 2 behind jumps, 1 behind a throw, 1 in the signal, 300 in threads.
        self.assertEqual(stream.count_of("leaf"), 311)
        self.assertEqual(stream.lost(), 0)
        self.assertEqual(stream.unmatched, 0)
        self.assertEqual(stream.late, 0)
        self.assertEqual(stream.bye["reason"], "exit")
        self.assertFalse(any(stream.stacks.values()), "nothing is open at the end")
        paths = stream.path_names()
        self.check_walk(paths)
        self.assertEqual(sum(n for path, n in paths.items() if path[-2:] == ("jumps", "leaf")), 2, "longjmp ends what it leaves")
        self.assertEqual(sum(n for path, n in paths.items() if path[-2:] == ("catcher", "leaf")), 1, "so does an exception")
        self.assertTrue(any(path[-3:] == ("raises", "on_signal", "leaf") for path in paths))
        self.assertEqual(len(stream.people), 4)
        self.assertEqual(len(stream.ended), 3)
        self.assertEqual([t["thread"] for t in stream.threads.values() if t["flags"] & 1], [1])
        self.assertEqual(stream.marks, ["half time"])
        self.assertEqual(stream.hello["language"], "cpp")

    def check_walk(self, paths):
        """Each level of the recursion calls once while it is the innermost."""
        leaves = [path for path, n in paths.items() for _ in range(n) if "walk" in path and path[-1] == "leaf"]
        self.assertEqual(sorted(path.count("walk") for path in leaves), [1, 2, 3])

    def test_events_of_everything_that_ends_a_function(self):
        one, stream = self.recorded()
        self.assertEqual((one.returncode, one.stdout), (3, "child 7\n"))
        self.check_events(stream)

    def test_optimised_programs_with_the_static_library_and_with_probes_of_their_own(self):
        for program in (self.static, self.inlined):
            with self.subTest(program=os.path.basename(program)):
                one, stream = self.recorded(program=program)
                self.assertEqual((one.returncode, one.stdout), (3, "child 7\n"))
                self.assertEqual(stream.count_of("jump"), 10)
                self.assertEqual(stream.count_of("leaf"), 311)
                self.assertEqual(stream.unmatched, 0)
                self.check_walk(stream.path_names())

    def test_functions_of_libraries_that_come_and_go(self):
        one, stream = self.recorded("events", *(os.path.join(self.box.name, f"plugin{which}.so") for which in (1, 2, 1)))
        self.assertEqual(one.returncode, 3)
        self.assertEqual(stream.count_of("plugin1.so:plugin"), 2)
        self.assertEqual(stream.count_of("plugin2.so:plugin"), 1)
        self.assertEqual(stream.count_of("plugin2.so:helper"), 1)

    def test_the_bytes_of_the_declaration(self):
        program = os.path.join(self.box.name, "golden")
        build(CC, [os.path.join(PROGRAMS, "golden.c"), os.path.join(AGENT, "wire.c")], program, "-std=c11")
        out = subprocess.run([program], input=golden.lines().encode(), stdout=subprocess.PIPE, check=True).stdout
        self.assertEqual(out.hex(), golden.expected().hex())
        self.assertEqual([(name, one) for name, one in plive.frames(out)],
                         [(m["name"], m["example"]) for m in plive.MODEL["messages"]])

    def test_without_a_daemon_the_program_is_what_it_was(self):
        for target in ("unix:" + os.path.join(self.box.name, "nobody"), "tcp:127.0.0.1:1", "nonsense"):
            one = subprocess.run([self.program], env={**os.environ, "PROFD_LIVE": target}, capture_output=True, text=True)
            self.assertEqual((one.returncode, one.stdout), (3, "child 7\n"))

    def test_tcp_with_a_token(self):
        token = os.path.join(self.box.name, "token")
        with open(token, "w", encoding="utf-8") as file:
            file.write("s3cret\n")
        daemon = self.daemon(token="s3cret")
        one = self.start(daemon.target, PROFD_LIVE_TOKEN_FILE=token)
        self.assertEqual(one.wait(20), 3)
        daemon.wait(lambda data: b"exit" in data[-8:])
        stream = plive.Stream(daemon.bytes())
        self.name(stream)
        self.check_events(stream)

    def test_a_refusal_is_told_once_and_the_program_runs_on(self):
        daemon = self.daemon(answer=False)
        one = subprocess.Popen([self.program, "run", "2000", "5"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env={**os.environ, "PROFD_LIVE": daemon.target})
        daemon.wait(len)
        daemon.say("refuse", reason=3, message="eight programs are attached already")
        out, err = one.communicate(timeout=20)
        self.assertEqual((one.returncode, out, err), (5, "half\ndone\n", "profd-live: eight programs are attached already\n"))
        self.assertEqual(daemon.connections, 1)

    def test_a_daemon_that_is_killed_changes_nothing(self):
        daemon = self.daemon()
        one = self.start(daemon.target, "run", "1000000")
        daemon.wait(lambda data: len(data) > 100000)
        daemon.close()
        self.assertEqual(one.wait(30), 5)
        self.assertEqual(one.stdout.read(), "half\ndone\n")

    def test_a_daemon_that_does_not_read_costs_events_and_each_is_counted(self):
        daemon = self.daemon()
        daemon.hold.clear()
        calls = 3400000
        one = self.start(daemon.target, "run", str(calls))
        # Twice what the pool holds, and the program has waited for nobody.
        self.assertEqual(one.stdout.readline(), "half\n")
        daemon.hold.set()
        self.assertEqual(one.wait(30), 5)
        daemon.wait(lambda data: b"exit" in data[-8:])
        frames = plive.frames(daemon.bytes(), but=("events",))
        bye = frames[-1][1]
        gaps = [given for name, given in frames if name == "gap"]
        # deep four times and leaf, in and out, and main.
        self.assertLessEqual(abs(bye["sent"] + bye["lost"] - (calls * 10 + 2)), 4)
        self.assertGreater(bye["lost"], 0)
        self.assertEqual(sum(gap["count"] for gap in gaps), bye["lost"])
        for at, (name, _) in enumerate(frames):
            if name == "gap":
                self.assertIn(frames[at + 1][0], ("stack", "threadEnd"))

    def test_pause_demote_and_detach(self):
        for program in (self.program, self.inlined):
            with self.subTest(program=os.path.basename(program)):
                self.pause_demote_and_detach(program)

    def pause_demote_and_detach(self, program):
        daemon = self.daemon()
        one = self.start(daemon.target, "run", "0", "5", program=program)

        def stream():
            found = plive.Stream(daemon.bytes())
            self.name(found, program)
            return found

        def answered(operation):
            number = plive.NUMBERS["ControlOperation"][operation]
            return daemon.wait(lambda data: [given for name, given in plive.frames(data)
                                             if name == "controlled" and given["operation"] == number])[-1]

        daemon.wait(lambda data: any(name == "events" for name, _ in plive.frames(data)))
        leaf = stream().ids_of("leaf")
        daemon.say("control", operation=4, pattern="", ids=leaf)
        self.assertEqual(answered("demote")["ids"], leaf)
        since = len(daemon.bytes())
        time.sleep(0.2)
        later = [given for name, given in plive.frames(daemon.bytes())[len(plive.frames(daemon.bytes()[:since])) + 2:] if name == "events"]
        self.assertTrue(later)
        entered = {record["id"] for given in later for record in given["records"] if record["kind"] == "enter"}
        self.assertFalse(entered & set(leaf), "nothing more of what is demoted")
        self.assertTrue(entered & set(stream().ids_of("deep")), "but of its callers")
        daemon.say("control", operation=5, pattern="", ids=leaf)
        answered("promote")
        since = len(plive.frames(daemon.bytes()))
        daemon.wait(lambda data: any(record["kind"] == "enter" and record["id"] in leaf for name, given in plive.frames(data)[since:]
                                     if name == "events" for record in given["records"]))
        daemon.say("control", operation=1)
        answered("pause")
        time.sleep(0.15)
        before = stream()
        time.sleep(0.2)
        after = stream()
        self.assertEqual(before.produced, after.produced, "silence while paused")
        self.assertGreater(len(after.ticks), len(before.ticks), "but for ticks")
        daemon.say("control", operation=2)
        answered("resume")
        daemon.wait(lambda data: plive.Stream(data).produced > after.produced)
        resumed = stream()
        self.assertGreater(len(resumed.stack_frames), 1, "a thread tells what is open when it goes on")
        self.assertEqual(resumed.unmatched, 0)
        daemon.say("control", operation=6)
        daemon.wait(lambda data: plive.Stream(data).bye)
        self.assertEqual(stream().bye["reason"], "detach")
        time.sleep(0.4)
        self.assertEqual(daemon.connections, 1, "who was detached does not dial again")
        self.assertIsNone(one.poll())


if __name__ == "__main__":
    if not CXX or not CC or not shutil.which("nm"):
        print("NOT RUN: no gcc, no g++ or no nm")
        sys.exit(77)
    unittest.main()
