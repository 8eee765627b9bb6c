#!/usr/bin/env python3
"""`profd live` with the agents of C, Python and Java in programs that measure themselves; each where its language is.

usage: live_agents_test.py PROFD FOLDER-OF-THE-LIBRARY
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROFD, LIBRARY = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
PROGRAMS = os.path.join(ROOT, "tests/e2e/live_agents")
C, PYTHON, JAVA = (os.path.join(ROOT, "agents", name) for name in ("c", "python", "java"))
sys.path.insert(0, os.path.join(ROOT, "tests/agents"))
import plive  # noqa: E402

GCC = ["gcc", "-std=gnu11", "-O1", "-g", "-pthread"]
ROUNDS = 20
CONTROL = plive.NUMBERS["ControlOperation"]
BOX = tempfile.TemporaryDirectory()


def not_run(why):
    print(f"PARTLY NOT RUN: {why}", flush=True)


def c_program():
    out = os.path.join(BOX.name, "known")
    subprocess.run([*GCC, "-finstrument-functions", os.path.join(PROGRAMS, "known.c"), "-L", LIBRARY, "-lprofd-live",
                    "-ldl", "-Wl,-rpath," + LIBRARY, "-o", out], check=True)
    return [out]


def python_program():
    """With the extension where it can be built, without it elsewhere."""
    include, suffix = subprocess.run(
        [sys.executable, "-c", "import sysconfig as s; print(s.get_path('include')); print(s.get_config_var('EXT_SUFFIX'))"],
        capture_output=True, text=True, check=True).stdout.split()
    folder = os.path.join(BOX.name, "python")
    shutil.copytree(os.path.join(PYTHON, "profd_live"), os.path.join(folder, "profd_live"))
    pure = not shutil.which("gcc") or not os.path.exists(os.path.join(include, "Python.h"))
    if pure:
        not_run("the extension of Python needs gcc and Python's headers; the agent in plain Python was taken")
    else:
        sources = [os.path.join(C, name + ".c") for name in ("core", "link", "methods", "send", "wire")]
        subprocess.run([*GCC, "-fPIC", "-shared", "-fvisibility=hidden", '-DPROFD_LIVE_VERSION="0.1.0"', "-I", C, "-I", include,
                        os.path.join(PYTHON, "profd_live/_native.c"), *sources,
                        "-o", os.path.join(folder, "profd_live/_native" + suffix)], check=True)
    return ["env", "PYTHONPATH=" + folder, sys.executable, "-m", "profd_live", *(["--pure"] if pure else []),
            os.path.join(PROGRAMS, "known.py")]


def building_java():
    """The agent on its way, while other programs are tried; nothing without a JDK."""
    if not shutil.which("javac"):
        return None
    return subprocess.Popen([sys.executable, os.path.join(JAVA, "build.py"), os.path.join(BOX.name, "profd-live.jar")],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def java_program(building):
    """Nothing where the agent cannot be built."""
    jar, classes = os.path.join(BOX.name, "profd-live.jar"), os.path.join(BOX.name, "classes")
    if building.wait(120) != 0:
        return None
    subprocess.run(["javac", "-d", classes, os.path.join(PROGRAMS, "Known.java")], check=True)
    return ["java", "-Xshare:auto", f"-javaagent:{jar}=;methods=all", "-cp", classes, "Known"]


class Agents(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.building = building_java()
        cls.c = c_program()

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.environment = dict(os.environ, PROFD_CACHE="off", NO_COLOR="1", XDG_RUNTIME_DIR=self.folder.name)
        # Beside the program: there its names are looked for.
        self.recording = os.path.join(BOX.name, self.id() + ".plive")

    def begin(self, command, **given):
        """A program or command of this test: it does not outlive it."""
        one = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=self.folder.name,
                               **{"env": self.environment, **given})

        def end():
            one.kill()
            one.communicate()

        self.addCleanup(end)
        return one

    def watch(self, *options):
        live = self.begin([PROFD, "live", "--json", "-n", "1000", *options], stderr=subprocess.PIPE)
        told = live.stderr.readline()
        self.assertIn("waiting for a program", told)
        return live, {**self.environment, "PROFD_LIVE": re.search(r"PROFD_LIVE=(\S+)", told)[1]}

    def last(self, live, code=0):
        out, err = live.communicate(timeout=60)
        self.assertEqual(live.returncode, code, err)
        return json.loads(out.splitlines()[-1])

    def profd(self, *arguments):
        done = subprocess.run([PROFD, *arguments], env=self.environment, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def function(self, name):
        """What a person calls it: without package and class."""
        return name.rsplit(".", 1)[-1]

    def by_function(self, picture):
        return {self.function(method["name"]): method for method in picture["methods"]}

    def picture_with(self, live, wanted):
        """The first picture for which that holds."""
        for line in live.stdout:
            picture = json.loads(line)
            if wanted(picture):
                return picture
        self.fail("profd live has ended before")

    def check_sums(self, picture):
        """Times of methods are the time in which one was open, and no thread has more than there was."""
        self.assertEqual(picture["methods_left"] + picture["threads_left"], 0)
        threads = picture["threads"]
        self.assertEqual(sum(method["ns"] for method in picture["methods"]), sum(thread["busy_ns"] for thread in threads))
        for thread in threads:
            self.assertLessEqual(thread["busy_ns"] + thread["unknown_ns"], min(picture["time_ns"], picture["window_ns"]))
        for method in picture["methods"]:
            self.assertLessEqual(method["most_ns"], method["ns"])

    def run_seen(self, live, command, environment):
        """Starts a program and lets it go on once it is seen."""
        program = self.begin(command, env=environment)
        self.picture_with(live, lambda picture: True)
        program.stdin.write("\n")
        program.stdin.flush()
        return program

    def check_known(self, command):
        live, environment = self.watch("--window", "60", "--record", self.recording)
        program = self.run_seen(live, [*command, str(ROUNDS)], environment)
        *rounds, end = program.communicate(timeout=60)[0].splitlines()
        self.assertEqual((program.returncode, end, len(rounds)), (3, "done", ROUNDS))
        shown = self.last(live)
        self.assertEqual((shown["state"], shown["lost"], shown["unmatched"]), ("ended", 0, 0))
        methods = self.by_function(shown)
        self.check_sums(shown)
        took = {}
        for at, name in ((1, "heavy"), (3, "light"), (5, "waits")):
            # The agent of a program that runs already may come in a little later than the first call.
            calls = methods[name]["calls"]
            self.assertIn(calls, range(1, ROUNDS + 1), name)
            took[name] = sum(int(line.split()[at]) for line in rounds[-calls:])
            # The program's own measurement is around the agent's; the rates of the clocks differ by less than that.
            self.assertLess(methods[name]["ns"], took[name] * 1.02 + 1e6, name)
            self.assertGreater(methods[name]["ns"], took[name] * 0.7 - 1e6, name)
        order = [self.function(method["name"]) for method in shown["methods"]]
        for more, less in (("waits", "light"), ("heavy", "light")):
            if took[more] > 2 * took[less] + 2e6:
                self.assertLess(order.index(more), order.index(less))
        self.check_recording(shown, methods)
        return methods

    def check_recording(self, shown, methods):
        """It gives the same picture, and as a profile the same times."""
        again = self.profd("live", "--replay", self.recording, "--once", "--json", "--window", "60", "-n", "1000")
        self.assertEqual(again, shown)
        top = self.profd("top", self.recording, "--json", "-n", "1000")
        selves = {}
        for name, ns in zip(top["rows"]["name"], top["rows"]["self"]):
            selves[self.function(top["names"][name])] = ns
        for name in ("heavy", "light", "waits"):
            self.assertAlmostEqual(selves[name], methods[name]["ns"], delta=10, msg=name)

    def test_functions_of_c_are_shown_with_the_times_that_they_take(self):
        methods = self.check_known(self.c)
        with open(os.path.join(PROGRAMS, "known.c"), encoding="utf-8") as file:
            lines = file.read().splitlines()
        for name in ("heavy", "light", "waits"):
            # The agent tells addresses: names, files and lines are the daemon's.
            self.assertTrue(methods[name]["file"].endswith("known.c"), methods[name])
            self.assertIn(f" {name}(", lines[methods[name]["line"] - 1])

    def test_functions_of_python_are_shown_with_the_times_that_they_take(self):
        self.check_known(python_program())

    def test_methods_of_java_are_shown_with_the_times_that_they_take(self):
        if self.building is None:
            return not_run("the agent of Java needs a JDK")
        command = java_program(self.building)
        if command is None:
            return not_run("the agent of Java needs ASM")
        self.check_known(command)

    def test_what_was_read_of_a_program_that_is_killed_is_kept(self):
        live, environment = self.watch("--window", "60", "--record", self.recording)
        program = self.run_seen(live, self.c, environment)
        seen = self.picture_with(live, lambda picture: self.by_function(picture).get("waits", {}).get("calls", 0) > 2)
        program.kill()
        shown = self.last(live)
        self.assertEqual(shown["state"], "ended")
        self.assertGreaterEqual(shown["events"], seen["events"])
        before, after = self.by_function(seen), self.by_function(shown)
        for name in ("heavy", "light", "waits"):
            self.assertGreaterEqual(after[name]["ns"], before[name]["ns"])
        self.check_sums(shown)
        self.check_recording(shown, after)

    def test_a_daemon_that_is_killed_changes_nothing_of_the_program(self):
        live, environment = self.watch()
        program = self.run_seen(live, self.c, environment)
        self.picture_with(live, lambda picture: picture["events"] > 0)
        live.kill()
        live.wait()
        # It goes on for a while without one before it ends.
        for _ in range(ROUNDS):
            self.assertRegex(program.stdout.readline(), r"^heavy \d+ light \d+ waits \d+\n$")
        out = program.communicate(timeout=60)[0]
        self.assertEqual((program.returncode, out.splitlines()[-1]), (3, "done"))

    def test_a_daemon_that_stands_still_holds_up_nothing_of_the_program(self):
        live, environment = self.watch("--window", "60")
        program = self.run_seen(live, [*self.c, "0", "often"], environment)
        self.picture_with(live, lambda picture: picture["events"] > 0)
        os.kill(live.pid, signal.SIGSTOP)
        try:
            for _ in range(200):
                self.assertRegex(program.stdout.readline(), r"^heavy \d+ light \d+ waits \d+\n$")
            out = program.communicate(timeout=60)[0]
        finally:
            os.kill(live.pid, signal.SIGCONT)
        self.assertEqual((program.returncode, out.splitlines()[-1]), (3, "done"))
        shown = self.last(live)
        self.assertEqual(shown["state"], "ended")
        self.assertGreater(self.by_function(shown)["waits"]["calls"], 200)
        self.check_sums(shown)

    def test_a_function_that_costs_too_much_loses_its_probe_and_only_callers_have_its_time(self):
        live, environment = self.watch("--window", "0.5", "--record", self.recording)
        program = self.run_seen(live, [*self.c, "0", "often"], environment)

        def without(picture):
            methods = self.by_function(picture)
            return methods.get("often", {}).get("calls", 0) > 0 and methods.get("tiny", {}).get("calls", 0) == 0

        shown = self.picture_with(live, without)
        methods = self.by_function(shown)
        self.check_sums(shown)
        self.assertNotIn("in callers", [methods[name]["state"] for name in ("often", "heavy", "light", "waits")])
        program.communicate(timeout=60)
        self.assertEqual(program.returncode, 3)
        self.last(live)
        with open(self.recording, "rb") as file:
            answers = [given for name, given in plive.frames(file.read(), but=("events",)) if name == "controlled"]
        self.assertEqual({given["operation"] for given in answers}, {CONTROL["demote"]})
        tiny = {id_ for given in answers for id_ in given["ids"]}
        self.assertEqual(len(tiny), 1)
        self.assertEqual(plive.read(self.recording).unmatched, 0)


if __name__ == "__main__":
    if not shutil.which("gcc"):
        print("NOT RUN: no gcc for the programs of this test")
        sys.exit(77)
    unittest.main(verbosity=1)
