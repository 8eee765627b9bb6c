#!/usr/bin/env python3
"""The agent of Java: what programs under it send, read by a reader of its own.

usage: java_test.py [AGENT.jar]     it is built where none is given
"""
import glob
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

AGENT = os.path.join(plive.ROOT, "agents", "java")
PROGRAMS = os.path.join(plive.ROOT, "tests", "agents", "programs", "java")
JAR = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else ""
MOST_CLASSES = int(os.environ.get("PROFD_MOST_CLASSES", "1500"))
CONTROL = plive.NUMBERS["ControlOperation"]


class Agent(LiveCase, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.box = tempfile.TemporaryDirectory()
        cls.folder_of_sockets = cls.box.name
        cls.jar = JAR or os.path.join(cls.box.name, "profd-live.jar")
        if not JAR:
            subprocess.run([sys.executable, os.path.join(AGENT, "build.py"), cls.jar], check=True)
        cls.classes = os.path.join(cls.box.name, "classes")
        sources = [os.path.join(PROGRAMS, "Golden.java"), *glob.glob(os.path.join(PROGRAMS, "events", "*.java"))]
        subprocess.run(["javac", "-nowarn", "-cp", cls.jar, "-d", cls.classes, *sources], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.box.cleanup()

    def java(self, options, *arguments, program="events.Events", flags=()):
        # Most methods of the programs are small.
        more = "" if options is None or "methods=" in options else ";methods=calling"
        agent = [] if options is None else [f"-javaagent:{self.jar}={options}{more}"]
        path = self.classes if options is not None else self.classes + os.pathsep + self.jar
        return self.begin(["java", "-Xshare:auto", *flags, *agent, "-cp", path, program, *arguments], stderr=subprocess.PIPE)

    def recorded(self, *arguments, more="", **given):
        path = os.path.join(self.box.name, f"{time.monotonic_ns()}.plive")
        one = self.java(f"file:{path}{more}", *arguments, **given)
        out, err = one.communicate(timeout=60)
        return one.returncode, out, err, plive.read(path)

    def answered(self, daemon, operation, count=1):
        """The `controlled` of an operation, once it was answered as often."""
        def found(data):
            all_ = [given for name, given in plive.frames(data, but=("events",))
                    if name == "controlled" and given["operation"] == CONTROL[operation]]
            return all_[-1] if len(all_) >= count else None
        return daemon.wait(found)

    def test_events_of_everything_that_ends_a_method(self):
        code, out, _, stream = self.recorded(flags=["-Xverify:all"])
        self.assertEqual((code, out), (3, "done\n"))
        owner = "events.Events."
        self.assertEqual(stream.count_of(owner + "deep"), 18)
        self.assertEqual(stream.count_of(owner + "thrower"), 5)
        # 3 of deep, 2 of catcher, 2 of finallyThrows, 1 locked, 3 of makes and Derived, 4 of Base, 4 of lambdas, 300.
        self.assertEqual(stream.count_of("events.Events$Base.<init>"), 4, "one of them calls nothing behind this()")
        self.assertEqual(stream.count_of("events.Events$Derived.<init>"), 2)
        self.assertEqual(stream.count_of(owner + "leaf"), 3 + 2 + 2 + 1 + 3 + 4 + 4 + 300)
        self.assertEqual((stream.lost(), stream.unmatched, stream.late), (0, 0, 0))
        paths = stream.path_names()
        self.assertEqual(sum(n for path, n in paths.items() if path[-2:] == (owner + "catcher", owner + "leaf")), 2)
        self.assertEqual(sum(n for path, n in paths.items() if path[-2:] == (owner + "makes", owner + "leaf")), 1,
                         "a constructor that throws has ended")
        self.assertEqual({thread["name"] for thread in stream.threads.values()} - {"worker-0", "worker-1", "worker-2"}, {"main"})
        self.assertEqual(len(stream.ended), 3)
        self.assertEqual(stream.marks, ["half time ä"])
        # main calls exit, which never returns.
        self.assertEqual([[stream.names[id_] for id_ in stack] for stack in stream.stacks.values() if stack], [[owner + "main"]])
        entry = next(one for one in stream.methods.values() if one["method"] == "main")
        self.assertEqual((entry["package"], entry["class"], entry["signature"], entry["file"]),
                         ("events", "Events", "void main(java.lang.String[])", "events/Events.java"))
        self.assertGreater(entry["line"], 100)

    def test_methods_that_call_nothing_and_packages(self):
        _, _, _, stream = self.recorded(more=";methods=all")
        with_all = len(stream.names)
        _, _, err, stream = self.recorded(more=";packages=events,-events.Events;verbose=yes")
        self.assertIn("0 methods of 0 classes given probes", err)
        self.assertEqual(len(stream.names), 0)
        _, _, _, stream = self.recorded()
        self.assertLessEqual(len(stream.names), with_all)

    def test_small_methods_have_no_probes_unless_they_loop_and_are_counted(self):
        code, out, err, stream = self.recorded(more=";methods=large;verbose=yes", flags=["-Xverify:all"])
        self.assertEqual((code, out, stream.unmatched), (3, "done\n", 0))
        own = {name for name in stream.names.values() if name.startswith("events.Events.")}
        self.assertEqual(own, {"events.Events." + name for name in ("main", "events", "makes", "lambdas", "inThread", "runs")})
        self.assertEqual(stream.count_of("events.Events.inThread"), 3)
        self.assertRegex(err, r"given probes; .*, [1-9]\d* were too small\n")

    def test_kinds_of_methods_that_there_are_not_are_named(self):
        one = self.java("file:" + os.path.join(self.box.name, "none.plive") + ";methods=some")
        out, err = one.communicate(timeout=60)
        self.assertEqual((out, one.returncode), ("done\n", 3))
        self.assertIn("methods is large, calling or all, not some", err)

    def test_a_stack_overflow_leaves_the_stack_right(self):
        code, _, _, stream = self.recorded("overflow", flags=["-Xss400k"])
        self.assertEqual(code, 3)
        self.assertEqual(stream.path_names()[("events.Events.main", "events.Events.leaf")], 1)

    def test_the_bytes_of_the_declaration(self):
        out = subprocess.run(["java", "-cp", self.jar + os.pathsep + self.classes, "dev.profd.live.Golden"], check=True,
                             input=golden.lines().encode(), stdout=subprocess.PIPE).stdout
        self.assertEqual(out.hex(), golden.expected().hex())

    def test_every_class_of_large_jars_is_verified(self):
        jars, classes = [], 0
        for jar in sorted(glob.glob("/usr/share/java/*.jar") + glob.glob("/usr/share/maven/lib/*.jar"), key=os.path.getsize, reverse=True):
            names = subprocess.run(["jar", "tf", jar], capture_output=True, text=True).stdout.count(".class") if classes < MOST_CLASSES else 0
            if not names or os.path.realpath(jar) in map(os.path.realpath, jars):
                continue
            jars.append(jar)
            classes += names
        if not jars:
            print("PARTLY NOT RUN: no JARs in /usr/share/java to verify", flush=True)
            return
        plain = self.java(None, *jars, program="events.Verify", flags=["-Xverify:all"]).communicate(timeout=100)[0]
        path = os.path.join(self.box.name, "verify.plive")
        out, err = self.java(f"file:{path};methods=all;verbose=yes", *jars, program="events.Verify",
                             flags=["-Xverify:all"]).communicate(timeout=100)
        self.assertEqual(out.splitlines()[-1], plain.splitlines()[-1])
        self.assertIn(" 0 classes could not be read", err)
        if os.environ.get("PROFD_TELL"):
            print(len(jars), "JARs,", out.splitlines()[-1], err.splitlines()[-1])

    def test_without_a_daemon_the_program_is_what_it_was(self):
        for target in ("unix:" + os.path.join(self.box.name, "nobody"), "tcp:127.0.0.1:1", "nonsense=1"):
            one = self.java(target)
            self.assertEqual((one.communicate(timeout=60)[0], one.returncode), ("done\n", 3))

    def test_tcp_with_a_token(self):
        token = os.path.join(self.box.name, "token")
        with open(token, "w", encoding="utf-8") as file:
            file.write("s3cret\n")
        daemon = self.daemon(token="s3cret")
        one = self.java(f"{daemon.target};token={token}")
        one.communicate(timeout=60)
        self.assertEqual(one.returncode, 3)
        daemon.wait(lambda data: b"exit" in data[-8:])
        self.assertEqual(plive.Stream(daemon.bytes()).count_of("events.Events.deep"), 18)

    def test_a_daemon_that_is_killed_changes_nothing(self):
        daemon = self.daemon()
        one = self.java(daemon.target, "run", "3000000", "0")
        daemon.wait(lambda data: len(data) > 100000)
        daemon.close()
        self.assertEqual((one.communicate(timeout=60)[0], one.returncode), ("half\ndone\n", 3))

    def test_a_daemon_that_does_not_read_costs_events_and_each_is_counted(self):
        daemon = self.daemon()
        daemon.hold.clear()
        calls = 4000000
        one = self.java(daemon.target, "run", str(calls), "0", flags=["-Xmx400m"])
        self.assertEqual(one.stdout.readline(), "half\n")
        daemon.hold.set()
        self.assertEqual(one.wait(60), 3)
        daemon.wait(lambda data: b"exit" in data[-8:])
        frames = plive.frames(daemon.bytes(), but=("events",))
        bye = frames[-1][1]
        # deep four times and leaf, in and out; main, runs and a few more that are open at the end.
        self.assertLessEqual(abs(bye["sent"] + bye["lost"] - calls * 10), 12)
        self.assertGreater(bye["lost"], 0)
        self.assertEqual(sum(given["count"] for name, given in frames if name == "gap"), bye["lost"])

    def test_attach_to_a_running_program_pause_demote_filter_and_detach(self):
        daemon = self.daemon()
        one = self.java(None, "run", "0", "5")
        time.sleep(0.7)
        began = time.monotonic()
        subprocess.run(["jcmd", str(one.pid), "JVMTI.agent_load", self.jar, daemon.target + ";packages:events;methods:calling"], check=True,
                       stdout=subprocess.DEVNULL, timeout=30)
        daemon.wait(lambda data: any(name == "events" for name, _ in plive.frames(data)))
        took = time.monotonic() - began
        if os.environ.get("PROFD_TELL"):
            print(f"attached after {took:.2f} s")
        stream = plive.Stream(daemon.bytes())
        self.assertEqual(stream.unmatched, 0)
        leaf = stream.ids_of("events.Events.leaf")

        def later_events():
            before = len(plive.frames(daemon.bytes()))
            daemon.wait(lambda data: sum(name == "events" for name, _ in plive.frames(data)[before:]) > 2)
            return {record["id"] for name, given in plive.frames(daemon.bytes())[before:] if name == "events"
                    for record in given["records"] if record["kind"] == "enter"}

        self.assertTrue(later_events() & set(leaf))
        daemon.say("control", operation=CONTROL["demote"], ids=leaf)
        self.assertEqual(self.answered(daemon, "demote")["ids"], leaf)
        time.sleep(0.1)
        entered = later_events()
        self.assertFalse(entered & set(leaf))
        self.assertTrue(entered & set(stream.ids_of("events.Events.deep")))
        daemon.say("control", operation=CONTROL["promote"], ids=leaf)
        self.answered(daemon, "promote")
        time.sleep(0.1)
        self.assertTrue(later_events() & set(leaf))
        daemon.say("control", operation=CONTROL["pause"])
        self.answered(daemon, "pause")
        time.sleep(0.15)
        before = plive.Stream(daemon.bytes()).produced
        time.sleep(0.15)
        self.assertEqual(plive.Stream(daemon.bytes()).produced, before)
        daemon.say("control", operation=CONTROL["resume"])
        self.answered(daemon, "resume")
        later_events()
        daemon.say("control", operation=CONTROL["filter"], pattern="elsewhere")
        self.answered(daemon, "filter")
        time.sleep(0.1)
        before = plive.Stream(daemon.bytes()).produced
        time.sleep(0.15)
        self.assertEqual(plive.Stream(daemon.bytes()).produced, before)
        daemon.say("control", operation=CONTROL["detach"])
        stream = daemon.wait(lambda data: (lambda found: found if found.bye else None)(plive.Stream(data)))
        self.assertEqual(stream.bye["reason"], "detach")
        self.assertEqual((stream.unmatched, stream.lost()), (0, 0))
        self.assertIsNone(one.poll())
        # And again, into another daemon.
        second = self.daemon()
        subprocess.run(["jcmd", str(one.pid), "JVMTI.agent_load", self.jar, second.target + ";packages:events;methods:calling"], check=True,
                       stdout=subprocess.DEVNULL, timeout=30)
        second.wait(lambda data: any(name == "events" for name, _ in plive.frames(data)))


if __name__ == "__main__":
    if not shutil.which("javac") or not shutil.which("jcmd"):
        print("NOT RUN: no JDK")
        sys.exit(77)
    asm = glob.glob(os.path.expanduser("~/.m2/repository/org/ow2/asm/asm/*/asm-*.jar"))
    if not JAR and not asm and not shutil.which("mvn"):
        print("NOT RUN: no ASM and no Maven to fetch it")
        sys.exit(77)
    unittest.main()
