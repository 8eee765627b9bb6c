#!/usr/bin/env python3
"""The agent of Python: what programs under it send, read by a reader of its own; with the extension, where it can be built
for an interpreter that is here, and without it.

usage: python_test.py
"""
import functools
import glob
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import golden
import plive
from live_case import LiveCase

AGENT = os.path.join(plive.ROOT, "agents", "python")
C = os.path.join(plive.ROOT, "agents", "c")
PROGRAM = os.path.join(plive.ROOT, "tests", "agents", "programs", "events.py")
GCC = ["gcc", "-std=gnu11", "-O2", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror", "-pthread",
       '-DPROFD_LIVE_VERSION="0.1.0"', "-I", C]
CONTROL = plive.NUMBERS["ControlOperation"]
BOX = tempfile.TemporaryDirectory()


def interpreters():
    """Name to interpreter: this one, and of each newer or older version that is about one."""
    found = {}
    for path in [sys.executable, *sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python3"))),
                 *(shutil.which(f"python3.{minor}") for minor in range(9, 16))]:
        if not path:
            continue
        version = subprocess.run([path, "-c", "import sys; print('3.%d' % sys.version_info[1])"], capture_output=True, text=True).stdout.strip()
        if version and int(version[2:]) >= 9:
            found.setdefault(version, path)
    return found


def built(python):
    """A folder with the agent for an interpreter, None where its headers or a compiler are missing."""
    include, suffix = subprocess.run([python, "-c", "import sysconfig as s; print(s.get_path('include')); print(s.get_config_var('EXT_SUFFIX'))"],
                                     capture_output=True, text=True, check=True).stdout.split()
    if not shutil.which("gcc") or not os.path.exists(os.path.join(include, "Python.h")):
        return None
    folder = os.path.join(BOX.name, suffix)
    shutil.copytree(os.path.join(AGENT, "profd_live"), os.path.join(folder, "profd_live"))
    subprocess.run([*GCC, "-shared", "-I", include, os.path.join(AGENT, "profd_live", "_native.c"), *shared_objects(),
                    "-o", os.path.join(folder, "profd_live", "_native" + suffix)], check=True)
    return folder


@functools.cache
def shared_objects():
    """What does not depend on the interpreter, compiled once."""
    names = ("core", "link", "methods", "send", "wire")
    for name in names:
        subprocess.run([*GCC, "-c", os.path.join(C, name + ".c"), "-o", os.path.join(BOX.name, name + ".o")], check=True)
    return [os.path.join(BOX.name, name + ".o") for name in names]


class Either(LiveCase):
    """Of both forms of the agent, by every interpreter."""
    python = folder = None
    pure = False
    folder_of_sockets = BOX.name

    def start(self, target, *arguments, options=(), **environment):
        given = {**os.environ, "PROFD_LIVE": target, "PYTHONPATH": self.folder, "PYTHONWARNINGS": "ignore", **environment}
        flags = ["--pure"] if self.pure else []
        return self.begin([self.python, "-m", "profd_live", *flags, *options, PROGRAM, *arguments], env=given, stderr=subprocess.DEVNULL)

    def recorded(self, *arguments, **given):
        path = os.path.join(BOX.name, f"{time.monotonic_ns()}.plive")
        one = self.start("file:" + path, *arguments, **given)
        out = one.communicate(timeout=60)[0]
        stream = plive.read(path)
        self.assertEqual("(pure)" in stream.hello["agent"], self.pure)
        return one.returncode, out, stream

    def check_events(self, stream):
        calls = {name: stream.count_of("__main__.events.py." + name) for name in
                 ("deep", "thrower", "catcher", "eats", "closure.<locals>.inner", "in_thread", "in_child", "waits", "leaf")}
        if "closure.<locals>.inner" not in stream.names.values():  # Before 3.11 code does not know where it stands.
            calls["closure.<locals>.inner"] = calls["closure.<locals>.inner"] or stream.count_of("__main__.events.py.inner")
        # 3 of deep, 2 of catcher, 5 of eats, 4 of thrown_into, 2 of Thing, 2 of closure, 1 of waits, 300 in threads.
        self.assertEqual(calls, {"deep": 18, "thrower": 4, "catcher": 1, "eats": 1, "closure.<locals>.inner": 2, "in_thread": 3,
                                 "in_child": 0, "waits": 2, "leaf": 319})
        self.assertEqual((stream.lost(), stream.unmatched), (0, 0))
        paths = stream.path_names()

        def below(caller):
            return sum(n for path, n in paths.items() if path[-2:] == ("__main__.events.py." + caller, "__main__.events.py.leaf"))
        self.assertEqual(below("catcher"), 2, "an exception ends what it leaves")
        self.assertEqual(below("thrown_into"), 2, "so does one that is thrown into a generator, and its close")
        self.assertEqual(below("generates"), 7)
        self.assertEqual(below("in_thread"), 300)
        self.assertEqual(len(stream.ended), 3)
        self.assertLessEqual({thread["name"] for thread in stream.threads.values()}, {"MainThread", "worker-0", "worker-1", "worker-2"})
        self.assertEqual(stream.marks, ["half time ä"])
        self.assertEqual(stream.bye["reason"], "exit")
        entry = next(one for one in stream.methods.values() if one["method"] == "deep")
        self.assertEqual((entry["package"], entry["class"], entry["signature"], entry["file"], entry["line"]),
                         ("__main__", "events.py", "deep(n)", PROGRAM, 14))
        self.assertFalse([one for one, n in stream.calls.items() if n and "profd_live" in stream.names[one]], "nothing of the agent")

    def test_events_of_everything_that_ends_a_function(self):
        code, out, stream = self.recorded()
        self.assertEqual((code, out), (3, "child 7\ndone\n"))
        self.check_events(stream)

    def test_packages_that_are_left_out(self):
        _, _, stream = self.recorded(options=["--packages", "__main__,asyncio"])
        self.assertEqual({stream.methods[id_]["package"].split(".")[0] for id_, n in stream.calls.items() if n}, {"__main__", "asyncio"})
        _, _, stream = self.recorded(options=["--packages=-__main__"])
        self.assertEqual(stream.count_of("__main__.events.py.leaf"), 0)
        self.assertGreater(stream.produced, 100)

    def test_without_a_daemon_the_program_is_what_it_was(self):
        for target in ("unix:" + os.path.join(BOX.name, "nobody"), "tcp:127.0.0.1:1", "nonsense"):
            one = self.start(target)
            self.assertEqual((one.communicate(timeout=60)[0], one.returncode), ("child 7\ndone\n", 3))

    def test_tcp_with_a_token(self):
        token = os.path.join(BOX.name, "token")
        with open(token, "w", encoding="utf-8") as file:
            file.write("s3cret\n")
        daemon = self.daemon(token="s3cret")
        one = self.start(daemon.target, PROFD_LIVE_TOKEN_FILE=token)
        one.communicate(timeout=60)
        self.assertEqual(one.returncode, 3)
        daemon.wait(lambda data: b"exit" in data[-8:])
        self.check_events(plive.Stream(daemon.bytes()))

    def test_a_daemon_that_is_killed_changes_nothing(self):
        daemon = self.daemon()
        one = self.start(daemon.target, "60000", "0")
        daemon.wait(lambda data: len(data) > 20000)
        daemon.close()
        self.assertEqual((one.communicate(timeout=60)[0], one.returncode), ("half\ndone\n", 3))

    def test_demote_pause_filter_and_detach(self):
        daemon = self.daemon()
        one = self.start(daemon.target, "0", "3")

        def answered(operation):
            return daemon.wait(lambda data: [given for name, given in plive.frames(data)
                                             if name == "controlled" and given["operation"] == CONTROL[operation]])[-1]

        def later_events():
            before = len(plive.frames(daemon.bytes()))
            daemon.wait(lambda data: sum(name == "events" for name, _ in plive.frames(data)[before:]) > 2)
            return {record["id"] for name, given in plive.frames(daemon.bytes())[before:] if name == "events"
                    for record in given["records"] if record["kind"] == "enter"}

        def silence():
            time.sleep(0.15)
            before = plive.Stream(daemon.bytes()).produced
            time.sleep(0.15)
            self.assertEqual(plive.Stream(daemon.bytes()).produced, before)

        daemon.wait(lambda data: any(name == "events" for name, _ in plive.frames(data)))
        later_events()
        stream = plive.Stream(daemon.bytes())
        leaf, deep = stream.ids_of("__main__.events.py.leaf"), stream.ids_of("__main__.events.py.deep")
        daemon.say("control", operation=CONTROL["demote"], ids=leaf)
        self.assertEqual(answered("demote")["ids"], leaf)
        time.sleep(0.15)
        entered = later_events()
        self.assertFalse(entered & set(leaf))
        self.assertTrue(entered & set(deep))
        daemon.say("control", operation=CONTROL["promote"], ids=leaf)
        answered("promote")
        time.sleep(0.15)
        self.assertTrue(later_events() & set(leaf))
        daemon.say("control", operation=CONTROL["pause"])
        answered("pause")
        silence()
        daemon.say("control", operation=CONTROL["resume"])
        answered("resume")
        later_events()
        daemon.say("control", operation=CONTROL["filter"], pattern="elsewhere")
        answered("filter")
        silence()
        daemon.say("control", operation=CONTROL["detach"])
        stream = daemon.wait(lambda data: (lambda found: found if found.bye else None)(plive.Stream(data)))
        self.assertEqual((stream.bye["reason"], stream.unmatched, stream.lost()), ("detach", 0, 0))
        self.assertIsNone(one.poll())

    def test_a_daemon_that_does_not_read_costs_events_and_each_is_counted(self):
        daemon = self.daemon()
        daemon.hold.clear()
        calls = 1000000 if not self.pure else 400000
        one = self.start(daemon.target, str(calls), "0", "12", options=["--packages", "__main__"])
        self.assertEqual(one.stdout.readline(), "half\n")
        daemon.hold.set()
        self.assertEqual(one.stdout.readline(), "done\n")
        # It stays until all is sent: at its end nothing waits longer than a second.
        daemon.wait(lambda data: (lambda given: given and given["sent"] + given["lost"] >= calls * 10 - 12)(
            ([given for name, given in plive.frames(data, but=("events",)) if name == "tick"] or [None])[-1]), seconds=60)
        one.send_signal(signal.SIGINT)
        one.wait(30)
        daemon.wait(lambda data: b"exit" in data[-8:])
        frames = plive.frames(daemon.bytes(), but=("events",))
        bye = frames[-1][1]
        self.assertLessEqual(abs(bye["sent"] + bye["lost"] - calls * 10), 12)
        self.assertEqual(sum(given["count"] for name, given in frames if name == "gap"), bye["lost"])
        if self.pure:
            self.assertGreater(bye["lost"], 0)


class Golden(unittest.TestCase):
    def test_the_bytes_of_the_declaration(self):
        sys.path.insert(0, AGENT)
        from profd_live import pure
        out = b""
        for line in golden.lines().splitlines():
            kind, *words = line.split()
            parts = [pure.varint(int(word[1:])) if word[0] == "v" else bytes.fromhex(word[1:]) if word[0] == "m" else
                     pure.string(bytes.fromhex(word[1:]).decode()) for word in words]
            out += pure.frame(int(kind), *parts)
        self.assertEqual(out.hex(), golden.expected().hex())


def load_tests(loader, tests, pattern):
    suite = unittest.TestSuite([loader.loadTestsFromTestCase(Golden)])
    found = interpreters()
    ours = "3.%d" % sys.version_info[1]
    wanted = sorted(found, key=lambda one: int(one[2:]))
    # Ours and the newest: each way of probing, where a newer one is here.
    wanted = [one for one in wanted if one in (ours, wanted[-1])]
    if not any(int(one[2:]) >= 12 for one in wanted):
        print("PARTLY NOT RUN: no Python 3.12 or newer, so no sys.monitoring", flush=True)
    for one in wanted:
        if not os.environ.get("PROFD_ONLY", "Python" + one.replace(".", "_")).startswith("Python" + one.replace(".", "_")):
            continue
        folder = built(found[one])
        if folder is None:
            print(f"PARTLY NOT RUN: the extension for Python {one}: no gcc, or no Python.h", flush=True)
        for pure in (False, True):
            if folder is None and not pure:
                continue
            name = f"Python{one.replace('.', '_')}{'Pure' if pure else ''}"
            case = type(name, (Either, unittest.TestCase), {"python": found[one], "folder": folder or AGENT, "pure": pure})
            if os.environ.get("PROFD_ONLY", name) == name:
                suite.addTests(loader.loadTestsFromTestCase(case))
    return suite


if __name__ == "__main__":
    unittest.main()
