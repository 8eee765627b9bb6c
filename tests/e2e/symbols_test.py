#!/usr/bin/env python3
"""Names from binaries, as who records a program finds them. Usage: symbols_test.py PROFD

The second half records a C++ program with perf and compares with what perf and addr2line say of it; it needs both,
and a kernel that lets this user sample."""
import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from perf_recording import Recording  # noqa: E402
from psp_client import Daemon  # noqa: E402

PROFD = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "profd"
ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests/fixtures/symbols"
OWN = {"main", "step", "fill", "sum", "round3", "mix"}  # of the program below
NAMES = {"fill", "_start", "round2", "mix"}

PROGRAM = r"""
#include <cstdint>
#include <cstdio>
#include <vector>

inline std::uint64_t mix(std::uint64_t v) {
  v ^= v >> 33;
  v *= 0xff51afd7ed558ccdULL;
  return v ^ v >> 29;
}
inline std::uint64_t round3(std::uint64_t v) {
  for (int i = 0; i < 3; ++i) v = mix(v + static_cast<std::uint64_t>(i));
  return v;
}
__attribute__((noinline)) void fill(std::vector<std::uint64_t>& out, std::uint64_t seed) {
  for (auto& e : out) {
    seed = round3(seed + 17);
    e = seed;
  }
}
__attribute__((noinline)) std::uint64_t sum(const std::vector<std::uint64_t>& in) {
  std::uint64_t s = 0;
  for (const auto e : in) s += mix(e) % 1021;
  return s;
}
// A leaf has no frame of its own, so that the one who calls it is not in the stack of frame pointers.
__attribute__((noinline)) std::uint64_t step(std::vector<std::uint64_t>& data, std::uint64_t seed) {
  fill(data, seed);
  return sum(data);
}
int main(int argc, char**) {
  std::vector<std::uint64_t> data(1u << 16);
  std::uint64_t total = 0;
  for (int i = 0; i < 600; ++i) total += step(data, static_cast<std::uint64_t>(i + argc));
  std::printf("%llu\n", static_cast<unsigned long long>(total));
}
"""


def run(*arguments, code=0, **environment):
    done = subprocess.run([PROFD, *map(str, arguments)], capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL,
                          env=dict(os.environ, PROFD_CACHE="off", NO_COLOR="1", COLUMNS="160", **environment), check=False)
    if done.returncode != code:
        raise AssertionError(f"profd {' '.join(map(str, arguments))} ended with {done.returncode}\n{done.stderr}")
    return done


def modules_of(*arguments, **environment):
    return {m["path"]: m for m in json.loads(run("symbolize", "--json", *arguments, **environment).stdout)["modules"]}


def functions_of(*arguments, **environment):
    """Self and total by function."""
    text = run("convert", "--view", "flat by function", "--to", "csv", *arguments, "-", **environment).stdout
    return {row["module"] + " " + row["name"] if row["name"].startswith("[") else row["name"]: (int(row["self samples (count)"]), int(row["total samples (count)"])) for row in csv.DictReader(io.StringIO(text))}


class Fixture(unittest.TestCase):
    """Without a recording: a profile of addresses, and the binary of one of its modules beside it."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.work = Path(self.folder.name).resolve()
        for name in ("app", "addresses.pprof"):
            shutil.copy(FIXTURES / name, self.work / name)
        self.profile = self.work / "addresses.pprof"

    def test_every_module_says_what_is_known_of_it_and_what_to_do(self):
        modules = modules_of(self.profile)
        app, old, plain, gone = (modules[p] for p in ("/build/app", "/build/old/app", "/build/plain.so", "/build/gone.so"))
        self.assertEqual([m["state"] for m in (app, old, plain, gone)], ["full", "mismatch", "none", "none"])
        self.assertEqual(app["file"], str(self.work / "app"))
        self.assertEqual((app["addresses"], app["known"]), (7, 7))  # with those that were inlined
        for both in ("ab" * 20, "0123456789abcdef" * 2 + "01234567"):
            self.assertIn(both, old["reason"])
        self.assertEqual(old["known"], 0)
        self.assertIn("--binary", plain["remedy"])
        self.assertIn("cd" * 20, gone["reason"])
        text = run("symbolize", self.profile).stdout
        self.assertRegex(text, r"90\.0 %\s+full\s+app\s+/")
        self.assertIn("7 of 10 frames with an address have a function.", text)

    def test_check_says_the_same_of_modules_and_of_scripts(self):
        known = modules_of(self.profile)
        checked = json.loads(run("check", "--json", self.profile).stdout)["profiles"][0]
        self.assertEqual({m["path"]: m for m in checked["modules"]}, known)
        self.assertEqual((checked["addresses"], checked["known"]), (10, 7))
        text = run("check", self.profile).stdout
        self.assertTrue(text.startswith("ok  "), text)
        self.assertRegex(text, r"\n *90\.0 %\s+full\s+app\s+/")
        self.assertIn("another build", text)
        self.assertNotIn("modules", json.loads(run("check", "--json", "--no-symbols", self.profile).stdout)["profiles"][0])

    def test_commands_open_it_with_names_and_the_values_it_had(self):
        named = functions_of(self.profile)
        self.assertLessEqual(NAMES, named.keys())
        self.assertEqual([named[name] for name in ("mix", "round2", "fill", "_start")], [(60, 60), (20, 80), (10, 90), (0, 90)])
        plain = functions_of("--no-symbols", self.profile)
        self.assertFalse(NAMES & plain.keys())
        self.assertEqual(sum(own for own, _ in plain.values()), sum(own for own, _ in named.values()))
        self.assertEqual(functions_of(self.profile, PROFD_SYMBOLS="off"), plain)
        self.assertIn("another build", run("summary", self.profile).stdout)

    def test_what_is_written_with_names_needs_no_binary(self):
        for name in ("named.profd", "named.pprof"):
            out = self.work / name
            run("symbolize", self.profile, "-o", out)
            shutil.move(self.work / "app", self.work / "away")
            self.assertLessEqual(NAMES, functions_of(out).keys(), name)
            shutil.move(self.work / "away", self.work / "app")

    def test_folders_are_searched_by_build_id_and_name(self):
        (self.work / "elsewhere/.build-id/01").mkdir(parents=True)
        shutil.move(self.work / "app", self.work / "elsewhere/.build-id/01/23456789abcdef0123456789abcdef01234567")
        self.assertEqual(modules_of(self.profile)["/build/app"]["state"], "none")
        self.assertEqual(modules_of(self.profile, "--debug-dir", self.work / "elsewhere")["/build/app"]["state"], "full")

    def test_without_a_build_id_only_a_file_that_is_named_is_taken_and_marked(self):
        with_it = modules_of(self.profile, "--binary", f"plain.so={self.work / 'app'}")["/build/plain.so"]
        self.assertTrue(with_it["unchecked"])
        self.assertEqual(with_it["file"], str(self.work / "app"))
        # The same file under a name that is only called so.
        shutil.copy(self.work / "app", self.work / "plain.so")
        self.assertEqual(modules_of(self.profile)["/build/plain.so"]["state"], "none")

    def test_a_text_of_addresses_gets_names_where_it_lists_what_was_loaded(self):
        heap = self.work / "app.heap"
        heap.write_text("heap profile: 3: 300 [3: 300] @ heapprofile\n3: 300 [3: 300] @ 0x40018a 0x4001e0\n\n"
                        "MAPPED_LIBRARIES:\n00400000-00401000 r-xp 00000000 08:01 12 /build/app\n")
        without = modules_of(heap)["/build/app"]
        self.assertEqual(without["state"], "none")
        self.assertIn("no build id", without["reason"])
        self.assertIn("--binary", without["remedy"])
        named = ["--binary", f"/build/app={self.work / 'app'}"]
        self.assertEqual(modules_of(heap, *named)["/build/app"]["state"], "full")
        text = run("convert", "--to", "folded", *named, heap, "-").stdout
        self.assertRegex(text, r"^_start;fill;")

    def test_addresses_of_no_binary_and_of_one_that_lies_anywhere_say_why_they_have_no_names(self):
        bare = self.work / "raw.bpftrace"
        bare.write_text("@[\n    401136\n    7f8e12345678\n]: 5\n")
        self.assertIn("does not say which binaries", modules_of(bare)[""]["reason"])
        self.assertRegex(run("symbolize", bare).stdout, r"100 %\s+none\s+\(no binary\)")
        loaded = self.work / "perf.bpftrace"
        loaded.write_text("@[\n    55c52a09f13d fib+20 (/tmp/loop)\n    55c52a09f19e main+14 (/tmp/loop)\n]: 1\n")
        self.assertIn("lines are not: the profile does not say where it was loaded", modules_of(loaded)["/tmp/loop"]["reason"])

    def test_what_has_symbols_alone_says_so(self):
        if shutil.which("strip") is None:
            print("PARTLY NOT RUN: no strip")
            return
        subprocess.run(["strip", "--strip-debug", self.work / "app"], check=True)
        app = modules_of(self.profile)["/build/app"]
        self.assertEqual((app["state"], app["known"]), ("names", 4))
        self.assertIn("no debug information", app["reason"])
        subprocess.run(["strip", self.work / "app"], check=True)
        self.assertEqual(modules_of(self.profile)["/build/app"]["known"], 0)

    def test_debug_information_of_its_own_is_found_by_link_and_by_id(self):
        if shutil.which("objcopy") is None:
            print("PARTLY NOT RUN: no objcopy")
            return
        app, debug = self.work / "app", self.work / "app.debug"
        subprocess.run(["objcopy", "--only-keep-debug", app, debug], check=True)
        subprocess.run(["objcopy", "--strip-all", f"--add-gnu-debuglink={debug}", app], check=True, cwd=self.work)
        (self.work / ".debug").mkdir()
        debug.rename(self.work / ".debug/app.debug")
        by_link = modules_of(self.profile)["/build/app"]
        self.assertEqual((by_link["state"], by_link["file"]), ("full", str(self.work / ".debug/app.debug")))
        (self.work / "ids/.build-id/01").mkdir(parents=True)
        (self.work / ".debug/app.debug").rename(self.work / "ids/.build-id/01/23456789abcdef0123456789abcdef01234567.debug")
        self.assertEqual(modules_of(self.profile)["/build/app"]["state"], "none")
        self.assertEqual(modules_of(self.profile, "--debug-dir", self.work / "ids")["/build/app"]["state"], "full")
        # Without the binary: it is not needed for names.
        app.unlink()
        self.assertEqual(modules_of(self.profile, "--debug-dir", self.work / "ids")["/build/app"]["state"], "full")

    def test_a_daemon_gives_names_as_it_is_opened_and_outlives_bad_binaries(self):
        daemon = Daemon([PROFD, "serve", "--stdio"], dict(os.environ, PROFD_CACHE="off"))
        self.addCleanup(daemon.end)
        client = daemon.stdio_client()
        client.initialize(None, "symbols", timeout_s=60)
        uri = self.profile.as_uri()
        opened = client.request("profile/open", {"uri": uri}, 60).result
        deadline = time.time() + 30
        while True:
            modules = client.request("profile/modules", {"profile": opened["profile"]}, 60).result
            if not modules.get("symbolizing") and modules["revision"] > opened["revision"]:
                break
            self.assertLess(time.time(), deadline, modules)
            time.sleep(0.05)
        self.assertEqual(modules["modules"][0]["state"], "full")
        table = client.request("view/table", {"spec": "flat", "limit": 100}, 60).result
        self.assertLessEqual(NAMES, set(table["names"]))
        # A file that claims much and has nothing, under the name and place of the binary.
        whole = (FIXTURES / "app").read_bytes()
        for damage in range(24, len(whole), 97):
            (self.work / "app").write_bytes(whole[:damage] + bytes(255 - b for b in whole[damage:damage + 16]) + whole[damage + 16:])
            answer = client.request("profile/symbolize", {"modules": ["gone.so", "app"]}, 60)
            self.assertIsNone(answer.error)
        self.assertEqual(client.request("profile/list", {}, 60).result["profiles"][0]["profile"], opened["profile"])


def worker_of(pid):
    for entry in Path("/proc").iterdir():
        try:
            stat = (entry / "stat").read_text()
        except OSError:
            continue
        if "(profd-symbolize)" in stat and stat.rsplit(")", 1)[1].split()[1] == str(pid):
            return entry
    return None


class Confined(unittest.TestCase):
    def test_the_process_that_reads_binaries_is_confined_and_has_no_socket_but_its_own(self):
        if not Path("/proc/self/status").exists():
            print("PARTLY NOT RUN: no /proc")
            return
        with tempfile.TemporaryDirectory() as folder:
            # Large enough to be met at work.
            big = Path(folder) / "app"
            shutil.copy(PROFD, big)
            child = subprocess.Popen([PROFD, "symbolize", str(FIXTURES / "addresses.pprof"), "--binary", f"plain.so={big}"],
                                     stdout=subprocess.DEVNULL, env=dict(os.environ, PROFD_CACHE="off"))
            seen = None
            while child.poll() is None and seen is None:
                worker = worker_of(child.pid)
                try:
                    if worker and re.search(r"^Seccomp:\s+2$", (worker / "status").read_text(), re.M):
                        links = [os.readlink(fd) for fd in (worker / "fd").iterdir()]
                        seen = (links, (worker / "environ").read_bytes(), (worker / "cmdline").read_bytes())
                except OSError:
                    continue
            self.assertEqual(child.wait(60), 0)
            self.assertIsNotNone(seen, "no confined process was seen")
            links, environment, arguments = seen
            self.assertEqual(len([link for link in links if link.startswith("socket:")]), 1)
            self.assertEqual(environment, b"")
            self.assertEqual(arguments.count(b"\0"), 1)


class Recorded(unittest.TestCase):
    """perf record of a program of our own, with its -g binary beside it."""

    @classmethod
    def setUpClass(cls):
        recording = Recording(cls, PROGRAM, ["-g", "-fno-omit-frame-pointer"], ["-F", "1999", "-g"], ["addr2line"])
        cls.work, cls.data, cls.home = recording.work, recording.data, recording.home

    def perf_script(self, *arguments):
        return subprocess.run(["perf", "script", "-i", str(self.data), *arguments], capture_output=True, text=True, check=True, cwd=self.work).stdout

    def stacks_of_perf(self):
        """Samples as perf has them: addresses, leaf first, of stacks that pass through main of the program, from there on."""
        text = subprocess.run(["perf", "script", "--no-inline", "-F", "ip,sym,dso", "-i", str(self.data)], capture_output=True, text=True,
                              check=True, cwd=self.work).stdout
        for block in text.split("\n\n"):
            frames = [re.match(r"\s*([0-9a-f]+) (.*) \((.*)\)$", line) for line in block.splitlines() if line.strip()]
            if not frames or None in frames:
                continue
            inside = []
            for frame in frames:
                if not frame.group(3).endswith("/app"):
                    break
                inside.append((int(frame.group(1), 16), frame.group(2)))
                if frame.group(2) == "main":
                    yield inside
                    break

    def base(self):
        """Where the program's file was loaded."""
        text = subprocess.run(["perf", "script", "--show-mmap-events", "-i", str(self.data)], capture_output=True, text=True, check=True).stdout
        for start, offset in re.findall(r"\[0x([0-9a-f]+)\(0x[0-9a-f]+\) @ (0x[0-9a-f]+|0) .*r-xp .*/app\n", text):
            return int(start, 16) - int(offset, 16)
        raise AssertionError("no mapping of the program")

    def addr2line(self, addresses):
        """Functions and lines of each, innermost first."""
        base = self.base()
        # Some versions of perf write addresses as the symbol table has them.
        given = "\n".join(hex(a - base if a >= base else a) for a in addresses)
        out = subprocess.run(["addr2line", "-a", "-i", "-f", "-C", "-e", "app"], input=given, capture_output=True, text=True, check=True,
                             cwd=self.work).stdout.splitlines()
        chains, at = [], []
        for line in out:
            if re.fullmatch(r"0x[0-9a-f]{16}", line):
                at = []
                chains.append(at)
            else:
                at.append(line)
        return {a: [(names.split("(")[0], int(re.sub(r" .*|\?", "", place.rsplit(":", 1)[1]) or 0)) for names, place in zip(c[::2], c[1::2])]
                for a, c in zip(addresses, chains)}

    def expected(self):
        """Stacks of (function, line), root first, with inlined calls, and how many samples each has."""
        stacks = [[(a if i == 0 else a - 1) for i, (a, _) in enumerate(stack)] for stack in self.stacks_of_perf()]
        known = self.addr2line(sorted({a for stack in stacks for a in stack}))
        found = {}
        for stack in stacks:
            path = tuple(frame for a in reversed(stack) for frame in reversed(known[a]))
            if path[-1][0] not in OWN:
                continue
            found[path] = found.get(path, 0) + 1
        return found

    def ours(self):
        out = self.work / "lines.folded"
        run("convert", "--force", "--metric", "samples", "--granularity", "line", self.data, out, HOME="/")
        found = {}
        for line in out.read_text().splitlines():
            stack, value = line.rsplit(" ", 1)
            frames = [re.match(r"([^(\s]+).*?(?::(\d+)\)(?:_\[i\])?)?$", frame) for frame in stack.split(";")]
            names = [(f.group(1), int(f.group(2) or 0)) for f in frames]
            mains = [i for i, (name, _) in enumerate(names) if name == "main"]
            if mains and names[-1][0] in OWN:
                path = tuple(names[mains[0]:])
                found[path] = found.get(path, 0) + int(value)
        return found

    def test_stacks_with_inlined_calls_and_lines_are_those_of_perf_and_addr2line(self):
        theirs, ours = self.expected(), self.ours()
        self.assertGreater(sum(theirs.values()), 100)
        self.assertTrue(any(name == "mix" for path in theirs for name, _ in path), "nothing was inlined")
        self.assertEqual(sum(theirs.values()), sum(ours.values()))
        self.assertEqual(theirs, ours)

    def test_the_binary_is_told_with_its_share(self):
        app = modules_of(self.data, HOME="/")[str(self.work / "app")]
        self.assertEqual((app["state"], app["file"]), ("full", str(self.work / "app")))
        self.assertGreater(app["share"], 0.5)

    def test_split_units_are_found_in_a_package_beside_the_binary(self):
        dwp = shutil.which("llvm-dwp-14") or shutil.which("llvm-dwp")
        if dwp is None or shutil.which("clang++-14") is None:
            print("PARTLY NOT RUN: no clang++-14 or llvm-dwp")
            return
        with tempfile.TemporaryDirectory() as folder:
            work = Path(folder).resolve()
            (work / "app.cc").write_text(PROGRAM)
            subprocess.run(["clang++-14", "-O2", "-g", "-gsplit-dwarf", "-c", "app.cc", "-o", "app.o"], cwd=work, check=True)
            subprocess.run(["clang++-14", "-Wl,--build-id", "app.o", "-o", "app"], cwd=work, check=True)
            subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", "1999", "-g", "-o", "perf.data", "./app"], cwd=work,
                           capture_output=True, check=True, env=dict(os.environ, **self.home))
            data = work / "perf.data"
            whole = functions_of(data, **self.home)
            subprocess.run([dwp, "-e", "app", "-o", "app.dwp"], cwd=work, check=True)
            (work / "app.dwo").unlink()
            packed = modules_of(data, **self.home)[str(work / "app")]
            self.assertEqual((packed["state"], packed["file"]), ("full", str(work / "app.dwp")))
            self.assertEqual(functions_of(data, **self.home), whole)
            # Of another program: nothing of it is used.
            (work / "other.cc").write_text("int main() { return 1; }")
            subprocess.run(["clang++-14", "-g", "-gsplit-dwarf", "other.cc", "-o", "other"], cwd=work, check=True)
            subprocess.run([dwp, "-e", "other", "-o", "app.dwp"], cwd=work, check=True)
            self.assertNotEqual(functions_of(data, **self.home), whole)

    def test_a_binary_that_was_built_again_is_refused(self):
        self.addCleanup(shutil.move, self.work / "kept", self.work / "app")
        shutil.move(self.work / "app", self.work / "kept")
        subprocess.run(["g++", "-O1", "-g", "-o", "app", "app.cc"], cwd=self.work, check=True)
        app = modules_of(self.data, HOME="/")[str(self.work / "app")]
        self.assertEqual((app["state"], app["known"]), ("mismatch", 0))
        self.assertIn(app["buildId"], app["reason"])


if __name__ == "__main__":
    unittest.main()
