#!/usr/bin/env python3
"""profd record end to end, with the profilers that are here.

usage: record_test.py PROFD
"""
import http.server
import json
import os
import pty
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

PROFD = os.path.abspath(sys.argv.pop(1))
WORK_PY = """
import os, sys
def work(n):
    total = 0
    for i in range(n):
        total += i * i
    return total
work(50000)
sys.exit(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
"""
# Says that it is there, then works until it is interrupted.
ENDLESS_PY = """
import os
def work():
    return sum(range(100))
work()
with open("there.new", "w") as out:
    out.write(str(os.getpid()))
os.rename("there.new", "there")
while True:
    work()
"""
WORK_JS = """
function work(n) { let total = 0; for (let i = 0; i < n; i++) total += Math.sqrt(i); return total }
while (process.cpuUsage().user < 150000) work(10000)
process.exitCode = 3
"""
WORK_C = """
#include <time.h>
volatile double sum;
__attribute__((noinline)) void work(int n) { for (int i = 0; i < n; i++) sum += i * 0.5; }
int main(int n, char** argv) {
  if (n > 1) { work(100000); return 4; }
  struct timespec begin, now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
  do { work(100000); clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now); }
  while ((now.tv_sec - begin.tv_sec) * 1000000000LL + now.tv_nsec - begin.tv_nsec < 200000000LL);
  return 3;
}
"""
WORK_JAVA = """
public class Work {
  static double work(int n) { double t = 0; for (int i = 0; i < n; i++) t += Math.sqrt(i); return t; }
  public static void main(String[] given) {
    java.lang.management.ThreadMXBean threads = java.lang.management.ManagementFactory.getThreadMXBean();
    double t = 0;
    if (given.length > 0) System.out.println("begun");
    while (given.length > 0 || threads.getCurrentThreadCpuTime() < 600_000_000L) t += work(100000);
    System.exit(t > 0 ? 3 : 9);
  }
}
"""
# Says that it is there, and works for half a second of processor time, or until it is interrupted.
WORK_RB = """
def work(n)
  total = 0
  n.times { |i| total += i * i }
  total
end
File.write("there.new", Process.pid)
File.rename("there.new", "there")
clock = Process::CLOCK_PROCESS_CPUTIME_ID
work(10000) while ARGV[0] == "endless" || Process.clock_gettime(clock) < 0.6
exit 3
"""
WORK_RS = """
#[inline(never)]
pub fn work(n: u64) -> u64 {
    (0..n).fold(0, |t, i| std::hint::black_box(t + i))
}
fn main() {
    let end = std::time::Instant::now() + std::time::Duration::from_millis(300);
    let mut t = 0u64;
    while std::time::Instant::now() < end { t ^= work(100_000); }
    std::process::exit(if t == 1 { 4 } else { 3 });
}
#[test]
fn works() { for _ in 0..300 { assert!(work(std::hint::black_box(100_000)) > 0); } }
"""
WORK_GO = """
package work

import "testing"

var sum float64

func work(n int) {
	for i := 0; i < n; i++ {
		sum += float64(i) * 0.5
	}
}

func BenchmarkWork(b *testing.B) {
	for i := 0; i < b.N; i++ {
		work(100000)
	}
}
"""


class Record(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = os.path.realpath(folder.name)
        self.project = os.path.join(self.folder, "a project")
        os.mkdir(self.project)
        self.file(".profd.toml", "")
        self.environment = {k: v for k, v in os.environ.items() if k not in ("JAVA_TOOL_OPTIONS", "NODE_OPTIONS", "COLUMNS")}
        self.environment |= {"NO_COLOR": "1", "PROFD_CACHE": "off", "PROFD_SYMBOLS": "off", "XDG_STATE_HOME": os.path.join(self.folder, "state")}

    def file(self, name, text, mode=0o644):
        path = os.path.join(self.project, name)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        os.chmod(path, mode)
        return path

    def record(self, *words, code=0, environment=None):
        done = subprocess.run([PROFD, "record", *words], cwd=self.project, env=environment or self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def recordings(self):
        place = os.path.join(self.project, ".profd/recordings")
        names = sorted(name for name in os.listdir(place) if name != ".gitignore") if os.path.exists(place) else []
        return [os.path.join(place, name) for name in names]

    def meta(self, folder=None):
        with open(os.path.join(folder or self.recordings()[-1], "meta.json"), encoding="utf-8") as file:
            return json.load(file)

    def only_these(self, *programs):
        """An environment whose PATH has these programs and no others."""
        bin_folder = os.path.join(self.folder, "bin")
        os.makedirs(bin_folder, exist_ok=True)
        for program in programs:
            link = os.path.join(bin_folder, os.path.basename(program))
            if not os.path.exists(link):
                os.symlink(program, link)
        return dict(self.environment, PATH=bin_folder)

    # Made once for all tests that run them.
    made = tempfile.TemporaryDirectory()

    def make(self, name, source, text, command):
        """The program `name` in the project."""
        if not os.path.exists(os.path.join(self.made.name, name)):
            with open(os.path.join(self.made.name, source), "w", encoding="utf-8") as out:
                out.write(text)
            subprocess.run(command, cwd=self.made.name, check=True)
        shutil.copy(os.path.join(self.made.name, name), self.project)

    def compiled(self):
        compiler = shutil.which("gcc") or shutil.which("cc")
        if not compiler:
            self.skipTest("NOT RUN: there is no C compiler")
        self.make("work", "work.c", WORK_C, [compiler, "-O1", "-g", "-fno-omit-frame-pointer", "work.c", "-o", "work"])

    def check_of(self, tool, done, exit_code, hot):
        meta = self.meta()
        self.assertEqual((meta["tool"], meta["exitCode"], meta["interrupted"]), (tool, exit_code, False))
        self.assertIn(hot, done.stderr)
        self.assertIn("profd view ", done.stderr)
        self.assertTrue(os.path.getsize(os.path.join(self.recordings()[-1], meta["profile"])) > 0)
        return meta

    def test_python_by_cprofile_ends_as_the_program_does(self):
        self.file("work.py", WORK_PY)
        done = self.record("--with", "cProfile", "--", sys.executable, "work.py", "7", code=7)
        meta = self.check_of("cProfile", done, 7, "work")
        self.assertEqual(done.stdout, "")
        self.assertEqual(meta["argv"], [sys.executable, "work.py", "7"])
        self.assertEqual(meta["cwd"], self.project)
        self.assertTrue(meta["toolVersion"].startswith("Python 3"))
        self.assertNotIn("HOME", json.dumps(meta))
        with open(os.path.join(self.project, ".profd/recordings/.gitignore"), encoding="utf-8") as ignored:
            self.assertEqual(ignored.read(), "*\n")

    def test_modules_code_and_scripts_see_what_they_would_without_a_profiler(self):
        code = "import sys\nprint(__name__, sys.argv, sys.path[0])\n"
        self.file("there.py", code)
        os.mkdir(os.path.join(self.project, "sub"))
        self.file("sub/script.py", code)
        for words in (["-m", "there", "-x"], ["-c", code, "1"], ["sub/script.py", "a b"]):
            plain = subprocess.run([sys.executable, *words], cwd=self.project, capture_output=True, text=True, check=True).stdout
            self.assertEqual(self.record("--with", "cProfile", "--", sys.executable, *words).stdout, plain)

    def test_a_second_run_is_compared_with_the_first(self):
        self.file("work.py", WORK_PY)
        command = ["--with", "cProfile", "--", sys.executable, "work.py"]
        self.assertNotIn("profd diff", self.record(*command).stderr)
        told = self.record(*command).stderr
        line = next(line for line in told.splitlines() if "profd diff" in line)
        diff = shlex.split(line[line.index("profd diff"):])
        subprocess.run([PROFD, *diff[1:]], cwd=self.project, env=self.environment, check=True, capture_output=True)
        # Another command has another past.
        self.assertNotIn("profd diff", self.record(*command, "0").stderr)

    def test_again_repeats_what_was_typed_here_and_nothing_else(self):
        self.file("work.py", WORK_PY)
        self.record("--again", code=1)
        self.record("--with", "cProfile", "--", sys.executable, "work.py", "5", code=5)
        self.record("--again", code=5)
        self.assertEqual(len(self.recordings()), 2)
        self.assertEqual(self.meta()["tool"], "cProfile")
        # A recording that came with the folder, newer than any: it is passed over, and alone it is refused.
        meta = self.meta()
        meta["argv"] = ["touch", "owned"]
        planted = os.path.join(self.project, ".profd/recordings/29990101T000000Z-touch")
        os.mkdir(planted)
        with open(os.path.join(planted, "meta.json"), "w", encoding="utf-8") as out:
            json.dump(meta, out)
        self.record("--again", code=5)
        self.assertFalse(os.path.exists(os.path.join(self.project, "owned")))
        for folder in self.recordings()[:-1]:
            shutil.rmtree(folder)
        told = self.record("--again", code=1).stderr
        self.assertIn("you have not recorded this command here yet", told)
        self.assertFalse(os.path.exists(os.path.join(self.project, "owned")))

    def test_a_dry_run_prints_one_line_and_does_nothing(self):
        self.file("work.py", WORK_PY)
        done = self.record("--dry-run", "--with", "cProfile", "--", sys.executable, "work.py", "[a,b]", "", "{}", "--", "-n")
        self.assertEqual(done.stdout.count("\n"), 1)
        self.assertEqual(shlex.split(done.stdout)[-6:], ["work.py", "[a,b]", "", "{}", "--", "-n"])
        self.assertIn("you named it", done.stderr)
        self.assertEqual(self.recordings(), [])

    def test_what_is_typed_wrong_is_said(self):
        self.assertIn("there is no command to record", self.record(code=2).stderr)
        self.assertIn("there is no option --wiht", self.record("--wiht", "perf", "--", "true", code=2).stderr)
        self.assertIn("did you mean perf", self.record("--with", "pref", "--", "true", code=2).stderr)
        self.assertIn("take no command", self.record("--list", "--", "true", code=2).stderr)
        self.assertIn("there is no program no-such-program", self.record("--", "no-such-program", code=1).stderr)
        self.assertIn("does not record", self.record("--with", "jfr", "--", sys.executable, "x.py", code=1).stderr)

    def test_lists_pins_and_keeps_fifty(self):
        self.file("work.py", WORK_PY)
        self.assertIn("no recording here", self.record("--list").stdout)
        self.record("--with", "cProfile", "--", sys.executable, "work.py")
        first = os.path.basename(self.recordings()[0])
        meta = self.meta()
        for i in range(50):
            older = os.path.join(self.project, f".profd/recordings/20000101T0000{i:02}Z-old")
            os.mkdir(older)
            with open(os.path.join(older, "meta.json"), "w", encoding="utf-8") as out:
                json.dump(dict(meta, argv=["old\x1b[31m"]), out)
        self.record("--pin", "20000101T000000Z-old")
        self.assertIn("2 old recordings were removed", self.record("--with", "cProfile", "--", sys.executable, "work.py").stderr)
        names = [os.path.basename(path) for path in self.recordings()]
        self.assertEqual(len(names), 50)
        self.assertIn("20000101T000000Z-old", names)
        self.assertNotIn("20000101T000001Z-old", names)
        listed = self.record("--list").stdout.splitlines()
        self.assertEqual(len(listed), 50)
        self.assertTrue(listed[1].startswith(first), listed[:2])
        self.assertIn("pinned", listed[-1])
        self.assertNotIn("\x1b", "".join(listed))
        self.assertIn("there is no recording", self.record("--pin", "nothing", code=1).stderr)

    def test_an_interrupted_recording_keeps_its_part_and_leaves_no_process(self):
        self.file("endless.py", ENDLESS_PY)
        process = subprocess.Popen([PROFD, "record", "--with", "cProfile", "--", sys.executable, "endless.py"], cwd=self.project,
                                   env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        pid = self.wait_for_program(process)
        process.send_signal(signal.SIGINT)
        told = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 128 + signal.SIGINT, told)
        self.assertFalse(os.path.exists(f"/proc/{pid}"))
        self.assertTrue(self.meta()["interrupted"])
        self.assertIn("work", told)

    def wait_for_program(self, process):
        there = os.path.join(self.project, "there")
        until = time.monotonic() + 60
        while not os.path.exists(there):
            self.assertIsNone(process.poll())
            self.assertLess(time.monotonic(), until)
            time.sleep(0.01)
        with open(there, encoding="utf-8") as file:
            return int(file.read())

    def test_in_a_terminal_the_program_reads_and_ctrl_c_reaches_it(self):
        self.file("endless.py", "line = input()\nprint('read', line, flush=True)\n" + ENDLESS_PY)
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.project)
            os.execve(PROFD, [PROFD, "record", "--with", "cProfile", "--", sys.executable, "endless.py"], self.environment)
        os.write(terminal, b"typed\n")
        text = b""

        def until(mark):
            nonlocal text
            while mark not in text:
                text += os.read(terminal, 65536)

        until(b"read typed")
        there = os.path.join(self.project, "there")
        while not os.path.exists(there):
            time.sleep(0.01)
        os.write(terminal, b"\x03")
        until(b"profd view")
        with self.assertRaises(OSError):  # of a terminal that nobody has
            until(b"nothing like that")
        os.close(terminal)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 128 + signal.SIGINT)

    def test_a_program_that_is_killed_at_once_is_said_to_have_no_profile(self):
        told = self.record("--with", "cProfile", "--", sys.executable, "-c", "import os; os.kill(os.getpid(), 9)", code=137).stderr
        self.assertIn("cProfile wrote no profile", told)
        self.assertEqual(self.meta()["profile"], "")

    def test_what_perf_may_not_do_is_said_with_what_helps(self):
        self.file("perf", "#!/bin/sh\necho 'Error: No permission to enable cycles event.' >&2\nexit 255\n", 0o755)
        true = shutil.which("true")
        environment = self.only_these("/bin/sh", true, os.path.join(self.project, "perf"))
        told = self.record("--", "true", code=1, environment=environment).stderr
        self.assertIn("perf may not record", told)
        self.assertIn("valgrind is not installed (apt install valgrind)", told)

    def test_a_profile_without_a_sample_fails(self):
        self.file("work.py", WORK_PY)
        empty = {"$schema": "https://www.speedscope.app/file-format-schema.json", "shared": {"frames": []},
                 "profiles": [{"type": "sampled", "name": "x", "unit": "seconds", "startValue": 0, "endValue": 0, "samples": [], "weights": []}]}
        self.file("py-spy", f"#!/bin/sh\n[ $# -lt 3 ] || printf %s {shlex.quote(json.dumps(empty))} > \"$5\"\n", 0o755)
        environment = self.only_these("/bin/sh", sys.executable, os.path.join(self.project, "py-spy"))
        told = self.record("--", os.path.basename(sys.executable), "work.py", code=1, environment=environment).stderr
        self.assertIn("py-spy, as it is installed", told)
        self.assertIn("py-spy took no sample", told)
        self.assertEqual(self.meta()["samples"], 0)

    def test_node(self):
        node = shutil.which("node")
        if not node:
            self.skipTest("NOT RUN: there is no node")
        self.file("work.js", WORK_JS)
        done = self.record("--", node, "work.js", code=3)
        self.assertTrue(self.check_of("cpu-prof", done, 3, "work")["samples"] > 0)

    def test_go_test(self):
        if not shutil.which("go"):
            self.skipTest("NOT RUN: there is no go")
        self.file("go.mod", "module example.com/work\n\ngo 1.18\n")
        self.file("work_test.go", WORK_GO)
        done = self.record("--", "go", "test", "-run", "^$", "-bench", ".", "-benchtime", "5000x")
        self.assertTrue(self.check_of("go-test", done, 0, "work")["samples"] > 0)
        self.assertIn("BenchmarkWork", done.stdout)

    def test_java(self):
        if not shutil.which("java") or not shutil.which("javac"):
            self.skipTest("NOT RUN: there is no Java with a compiler")
        self.make("Work.class", "Work.java", WORK_JAVA, ["javac", "Work.java"])
        done = self.record("--", "java", "Work", code=3)
        self.assertTrue(self.check_of("jfr", done, 3, "work")["samples"] > 0)
        self.assertEqual(done.stdout, "")

    def test_callgrind(self):
        if not shutil.which("valgrind"):
            self.skipTest("NOT RUN: there is no valgrind")
        self.compiled()
        os.mkdir(os.path.join(self.project, "bin"))
        self.file("bin/perf", "#!/bin/sh\necho 'Error: Operation not permitted' >&2\nexit 255\n", 0o755)
        environment = dict(self.environment, PATH=os.path.join(self.project, "bin") + ":" + os.environ["PATH"])
        done = self.record("--", "./work", "once", code=4, environment=environment)
        self.check_of("callgrind", done, 4, "work")
        self.assertIn("20 to 50 times slower", done.stderr)
        self.assertIn("perf may not record", done.stderr)

    def test_perf(self):
        self.perf()
        self.compiled()
        done = self.record("--", "./work", code=3)
        meta = self.check_of("perf", done, 3, "perf")
        self.assertTrue(meta["samples"] > 0)
        self.assertEqual(meta["lost"], 0)
        # What a process starts while it is attached to is in it.
        self.file("loop.sh", "while :; do ./work once; done\n")
        shell = self.running("/bin/sh", "loop.sh")
        self.record("--attach", str(shell.pid), "--for", "1")
        self.assertTrue(self.meta()["samples"] > 0)
        self.assertEqual(self.meta()["attached"], str(shell.pid))

    def test_pyinstrument(self):
        if not shutil.which("pyinstrument"):
            self.skipTest("NOT RUN: there is no pyinstrument")
        self.file("work.py", WORK_PY.replace("50000", "5000000"))
        self.check_of("pyinstrument", self.record("--with", "pyinstrument", "--", sys.executable, "work.py", "3", code=3), 3, "work")

    def py_spy(self):
        if not shutil.which("py-spy"):
            self.skipTest("NOT RUN: there is no py-spy")

    def test_py_spy_is_attached_and_the_program_ends_as_it_does(self):
        self.py_spy()
        self.file("work.py", WORK_PY.replace("50000", "5000000"))
        done = self.record("--with", "py-spy", "--", sys.executable, "work.py", "3", code=3)
        self.assertTrue(self.check_of("py-spy", done, 3, "work")["samples"] > 0)
        self.assertEqual(done.stdout, "")
        killed = "import os, time\nend = time.time() + 0.5\nwhile time.time() < end: pass\nos.kill(os.getpid(), 9)\n"
        self.file("killed.py", killed)
        self.record("--with", "py-spy", "--", sys.executable, "killed.py", code=137)
        self.assertTrue(self.meta()["samples"] > 0)

    def test_a_sampler_that_may_not_read_the_program_ends_it_and_says_why(self):
        self.file("endless.py", ENDLESS_PY)
        shutil.copy(shutil.which("sleep"), os.path.join(self.project, "ruby"))
        for tool, program, argument in (("py-spy", sys.executable, "endless.py"), ("austin", sys.executable, "endless.py"),
                                        ("rbspy", os.path.join(self.project, "ruby"), "600")):
            self.file(tool, "#!/bin/sh\n[ $# -gt 2 ] || exit 0\necho 'Error: Permission Denied: Try running again with elevated permissions' >&2\nexit 1\n", 0o755)
            environment = self.only_these("/bin/sh", program, os.path.join(self.project, tool))
            told = self.record("--", os.path.basename(program), argument, code=130, environment=environment).stderr
            self.assertIn(tool + " gave up, so the program was ended: Error: Permission Denied", told)
            self.assertIn(tool + " wrote no profile: it may not read the program's memory", self.meta()["failure"])
            os.remove(os.path.join(self.folder, "bin", tool))

    def total_of(self, metric):
        """Of the newest recording, as profd reads it."""
        profile = os.path.join(self.recordings()[-1], self.meta()["profile"])
        told = subprocess.run([PROFD, "summary", "--json", profile], env=self.environment, check=True, capture_output=True).stdout
        return next(m["total"] for m in json.loads(told)["metrics"] if m["name"] == metric)

    def austin(self):
        """An environment in which it is the sampler of Python that is there."""
        austin = shutil.which("austin")
        if not austin or subprocess.run([austin, "--version"], capture_output=True, check=False).returncode != 0:
            self.skipTest("NOT RUN: there is no austin that runs here")
        return self.only_these("/bin/sh", sys.executable, austin)

    def test_austin_is_attached_and_its_total_is_the_one_that_is_shown(self):
        environment = self.austin()
        self.file("work.py", WORK_PY.replace("50000", "5000000"))
        done = self.record("--", os.path.basename(sys.executable), "work.py", "3", code=3, environment=environment)
        self.check_of("austin", done, 3, "work")
        with open(os.path.join(self.recordings()[-1], "cpu.austin"), encoding="utf-8") as file:
            stacks = [line for line in file if line.strip() and not line.startswith("#")]
        self.assertEqual(self.total_of("cpu"), sum(int(line.split()[-1]) for line in stacks) * 1000)
        self.file("endless.py", ENDLESS_PY)
        pid = str(self.wait_for_program(self.running(sys.executable, "endless.py")))
        self.check_of("austin", self.record("--attach", pid, "--for", "1", environment=environment), 0, "work")

    def test_rbspy_is_attached_and_its_samples_are_those_that_are_shown(self):
        ruby, rbspy = shutil.which("ruby"), shutil.which("rbspy")
        if not ruby or not rbspy:
            self.skipTest("NOT RUN: there is no ruby with rbspy")
        self.file("work.rb", WORK_RB)
        done = self.record("--", ruby, "work.rb", code=3)
        meta = self.check_of("rbspy", done, 3, "work")
        raw = os.path.join(self.recordings()[-1], meta["profile"])
        report = os.path.join(self.folder, "report")
        subprocess.run([rbspy, "report", "--format", "collapsed", "--input", raw, "--output", report], check=True, capture_output=True)
        with open(report, encoding="utf-8") as file:
            self.assertEqual(self.total_of("samples"), sum(int(line.split()[-1]) for line in file))
        os.remove(os.path.join(self.project, "there"))
        pid = str(self.wait_for_program(self.running(ruby, "work.rb", "endless")))
        self.check_of("rbspy", self.record("--attach", pid, "--for", "1"), 0, "work")

    def test_ruby_without_rbspy_is_told_what_to_install(self):
        self.file("ruby", "#!/bin/sh\n", 0o755)
        environment = self.only_these("/bin/sh", os.path.join(self.project, "ruby"))
        told = self.record("--", "ruby", "a.rb", code=1, environment=environment).stderr
        self.assertIn("rbspy is not installed (cargo install rbspy)", told)

    def perf(self):
        if not shutil.which("perf"):
            self.skipTest("NOT RUN: there is no perf")
        tried = subprocess.run([PROFD, "record", "--dry-run", "--with", "perf", "--", "true"], cwd=self.project, env=self.environment,
                               capture_output=True, text=True, check=False)
        if tried.returncode != 0:
            self.skipTest("NOT RUN: " + tried.stderr)

    def test_of_cargo_the_program_alone_is_recorded(self):
        if not shutil.which("cargo"):
            self.skipTest("NOT RUN: there is no cargo")
        self.perf()
        os.mkdir(os.path.join(self.project, "src"))
        self.file("Cargo.toml", '[package]\nname = "words"\nversion = "0.1.0"\nedition = "2021"\n')
        self.file("src/main.rs", WORK_RS)
        environment = dict(self.environment, CARGO_TARGET_DIR=os.path.join(self.project, "target"), CARGO_NET_OFFLINE="true")
        del environment["PROFD_SYMBOLS"]  # names are in the program
        # Nobody is there to be asked: the build stays as it is, which is said.
        done = self.record("--", "cargo", "run", "-q", "--release", code=3, environment=environment)
        self.check_of("perf", done, 3, "words::work")
        self.assertIn("CARGO_PROFILE_RELEASE_DEBUG=line-tables-only", done.stderr)
        self.assertIn("callers are read from copies of the stack", done.stderr)
        self.assertNotIn("rustc", done.stderr)
        environment["CARGO_PROFILE_RELEASE_DEBUG"] = "line-tables-only"
        done = self.record("--", "cargo", "test", "-q", "--release", "works", environment=environment)
        self.check_of("perf", done, 0, "words::work")
        self.assertNotIn("line-tables-only", done.stderr)
        self.assertNotIn("without line numbers", done.stderr)

    def test_a_program_that_is_built_anew_leaves_its_recording_the_names(self):
        compiler = shutil.which("gcc") or shutil.which("cc")
        if not compiler:
            self.skipTest("NOT RUN: there is no C compiler")
        self.perf()
        home = os.path.join(self.folder, "home")
        os.mkdir(home)
        environment = dict(self.environment, HOME=home)
        self.file("work.c", WORK_C)
        build = [compiler, "-O1", "-g", "-fno-omit-frame-pointer", "-Wl,--build-id", "work.c", "-o", "work"]
        subprocess.run(build, cwd=self.project, check=True)
        for _ in range(2):
            self.check_of("perf", self.record("--", "./work", code=3, environment=environment), 3, "100 %")
        kept = [os.path.join(folder, name) for base in self.recordings() for folder, _, names in os.walk(base + "/.build-id") for name in names]
        self.assertEqual(len(kept), 2)
        self.assertTrue(os.path.samefile(*kept))
        self.assertFalse(os.path.exists(os.path.join(home, ".debug")))
        self.file("work.c", WORK_C.replace("work(", "other("))
        subprocess.run(build, cwd=self.project, check=True)
        environment = {k: v for k, v in environment.items() if k != "PROFD_SYMBOLS"}
        diff = self.record("--", "./work", code=3, environment=environment).stderr.split("profd diff ")[1].splitlines()[0]
        told = subprocess.run([PROFD, "diff", *shlex.split(diff)], cwd=self.project, env=environment, check=True, capture_output=True, text=True).stdout
        self.assertIn("values are as measured", told)  # however long each took
        self.assertRegex(told, r"\[D\].*\bwork\b")
        self.assertRegex(told, r"\[A\].*\bother\b")

    def test_recordings_are_called_by_what_ran_and_when(self):
        self.file("work.py", WORK_PY)
        for _ in range(2):
            self.record("--with", "cProfile", "--", sys.executable, "work.py")
        files = [os.path.join(folder, "cpu.pstats") for folder in self.recordings()]
        told = subprocess.run([PROFD, "summary", files[1]], env=self.environment, check=True, capture_output=True, text=True).stdout
        self.assertRegex(told.splitlines()[0], r"^work\.py · \d+ \w+ \d\d:\d\d:\d\d  pstats")
        told = subprocess.run([PROFD, "summary", "--base", files[0], files[1]], env=self.environment, check=True, capture_output=True, text=True).stdout
        self.assertRegex(told.splitlines()[0], r"^work\.py · \d+ \w+ \d\d:\d\d:\d\d → (\d+ \w+ )?\d\d:\d\d:\d\d")

    def running(self, *argv):
        """A program that has begun; it is ended after the test."""
        process = subprocess.Popen(argv, cwd=self.project, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def test_attached_to_python(self):
        self.py_spy()
        self.file("endless.py", ENDLESS_PY)
        process = self.running(sys.executable, "endless.py")
        pid = str(self.wait_for_program(process))
        done = self.record("--attach", pid, "--for", "1")
        meta = self.check_of("py-spy", done, 0, "work")
        self.assertEqual((meta["attached"], meta["argv"]), (pid, [sys.executable, "endless.py"]))
        self.assertIsNone(process.poll())
        self.assertIn("--pid " + pid, self.record("--again", "--dry-run").stdout)

    def test_attached_to_java(self):
        if not shutil.which("jcmd") or not shutil.which("javac"):
            self.skipTest("NOT RUN: there is no JDK")
        self.make("Work.class", "Work.java", WORK_JAVA, ["javac", "Work.java"])
        process = subprocess.Popen(["java", "Work", "endless"], cwd=self.project, stdout=subprocess.PIPE)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        process.stdout.readline()  # it has begun
        done = self.record("--attach", str(process.pid), "--for", "1")
        self.assertTrue(self.check_of("jfr", done, 0, "work")["samples"] > 0)
        self.assertIsNone(process.poll())

    def test_attached_to_an_address(self):
        profile = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../fixtures/go-demo/cpu.pprof")
        asked = []

        class Serve(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path)
                with open(profile, "rb") as file:
                    body = file.read()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        server = http.server.HTTPServer(("127.0.0.1", 0), Serve)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        done = self.record("--attach", f"http://127.0.0.1:{server.server_port}", "--for", "1")
        self.check_of("pprof", done, 0, "main.")
        self.assertEqual(asked, ["/debug/pprof/profile?seconds=1"])

    def test_what_cannot_be_attached_to_is_said(self):
        self.assertIn("there is no process 999999999", self.record("--attach", "999999999", code=1).stderr)
        self.assertIn("takes a process id or http://HOST:PORT", self.record("--attach", "app", code=1).stderr)
        self.assertIn("--for goes with --attach", self.record("--for", "1", "--", "true", code=2).stderr)
        self.assertIn("take no command", self.record("--attach", "1", "--", "true", code=2).stderr)
        process = self.running("/bin/sleep", "600")
        self.assertIn("does not attach to a program of machine code", self.record("--with", "jfr", "--attach", str(process.pid), code=1).stderr)
        self.assertEqual(self.recordings(), [])

    def test_a_recording_joins_the_project_that_is_named(self):
        self.file("work.py", WORK_PY)
        other = os.path.join(self.folder, "other")
        os.mkdir(other)
        done = subprocess.run([PROFD, "record", "--project", self.project, "--with", "cProfile", "--", sys.executable, os.path.join(self.project, "work.py")],
                              cwd=other, env=self.environment, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.meta()["cwd"], other)
        self.assertEqual(os.listdir(other), [])
        self.assertIn("there is no folder", self.record("--project", "/no/such", "--list", code=1).stderr)

    def test_a_command_that_lets_others_read_it_is_that_command(self):
        done = subprocess.run([PROFD, "record", "--let-read", "--", "/bin/sh", "-c", "echo $$ $0; exit 4", "x y"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout.split(" ", 1)[1]), (4, "x y\n"))

    def test_a_command_that_lets_others_read_it_may_be_read_under_yama(self):
        scope = "/proc/sys/kernel/yama/ptrace_scope"
        if not os.path.exists(scope):
            self.skipTest("NOT RUN: this kernel has no Yama")
        with open(scope, encoding="ascii") as file:
            if file.read().strip() != "1":
                self.skipTest("NOT RUN: kernel.yama.ptrace_scope is not 1")
        # Root may read whatever it likes.
        user = {"user": 65534, "group": 65534, "extra_groups": []} if os.getuid() == 0 else {}

        def readable(*command):
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE, cwd="/", **user)
            self.addCleanup(process.communicate)
            self.addCleanup(process.kill)
            process.stdout.readline()
            # Beside the program, not above it.
            read = "import sys; f = open(f'/proc/{sys.argv[1]}/mem', 'rb', 0); maps = open(f'/proc/{sys.argv[1]}/maps').readline(); " \
                   "f.seek(int(maps.split('-')[0], 16)); f.read(8)"
            return subprocess.run([sys.executable, "-c", read, str(process.pid)], capture_output=True, cwd="/", **user).returncode == 0

        program = ["/bin/sh", "-c", "echo begun; read line"]
        self.assertFalse(readable(*program))
        self.assertTrue(readable(PROFD, "record", "--let-read", "--", *program))


if __name__ == "__main__":
    unittest.main(verbosity=1)
