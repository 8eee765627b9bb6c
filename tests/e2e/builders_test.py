#!/usr/bin/env python3
"""The examples in builders/examples profile something real; profd reads what they wrote.

usage: builders_test.py PROFD
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import answers

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILDERS = os.path.join(ROOT, "builders")
PROFD = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else ""

SCRIPT = """
def leaf(n):
    return sum(i * i for i in range(n))
def busy():
    return [leaf(3000) for _ in range(200)]
busy()
"""
PROGRAM = """
#include <cstdio>
extern "C" __attribute__((noinline)) long spin(long n) { long s = 0; for (long i = 0; i < n; ++i) s += i ^ s; return s; }
extern "C" __attribute__((noinline)) long outer() { return spin(20000000) + spin(10000000); }
int main() { std::printf("%ld", outer()); }
"""


def needs(found, why):
    """For a test of what may not be here; ./dev test lists what was not run."""
    if not found:
        print("PARTLY NOT RUN:", why, flush=True)
    return unittest.skipUnless(found, why)


def rows(path, metric):
    out = subprocess.run([PROFD, "top", "--json", "-n", "0", "--no-cache", "--metric", metric, path], check=True, capture_output=True)
    return answers.rows_of(json.loads(out.stdout))


class Examples(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.out = os.path.join(self.folder, "out.profd")

    def file(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def test_python_profiles_calls(self):
        script = self.file("script.py", SCRIPT)
        environment = {**os.environ, "PYTHONPATH": os.path.join(BUILDERS, "python")}
        subprocess.run([sys.executable, os.path.join(BUILDERS, "examples/python/profile_calls.py"), self.out, script],
                       check=True, env=environment)
        top = {row["name"]: row for row in rows(self.out, "wall") if row["file"] == script}
        self.assertEqual(top["leaf"]["file"], script)
        self.assertEqual(top["leaf"]["line"], 2)
        self.assertGreater(top["<genexpr>"]["self"], top["busy"]["self"])
        self.assertGreaterEqual(top["busy"]["total"], top["leaf"]["total"])

    def test_python_builder_keeps_everything(self):
        sys.path.insert(0, os.path.join(BUILDERS, "python"))
        import profd_builder as pb
        b = pb.Builder("test")
        b.metric("cpu", "nanoseconds")
        main = b.frame(b.function("main", "m.py", 1), 10, 3)
        thread = b.thread("T", 7, "P", 8)
        labels = b.labels({"route": "/x", "size": 3}, {"size": "bytes"})
        b.sample(b.stack([main]), [4], thread=thread, time=5, labels=labels)
        b.sample(b.stack([main, main]), [6])
        b.tie(b.association("race", ["a", "b"]), [b.stack([main]), None])
        with self.assertRaises(ValueError):
            b.sample(pb.Context(99), [1])
        with self.assertRaises(ValueError):
            b.add(pb.ROOT, pb.Metric(0), 1)
        b.write(self.out)
        self.assertEqual(rows(self.out, "cpu"), [{"name": "main", "file": "m.py", "line": 1, "module": "", "self": 10, "total": 10, "estimated": False}])
        summary = json.loads(subprocess.run([PROFD, "summary", "--json", self.out], check=True, capture_output=True).stdout)
        self.assertEqual(summary["threads"], 1)
        self.assertEqual(summary["metrics"][0]["records"], 2)
        self.assertEqual(summary["report"], [])

    @needs(shutil.which("g++"), "no g++: the C++ example")
    def test_cpp_profiles_instrumented_functions(self):
        library = os.path.join(self.folder, "builder.o")
        subprocess.run(["gcc", "-std=c99", "-O1", "-c", os.path.join(BUILDERS, "c/profd_builder.c"), "-o", library], check=True)
        program = os.path.join(self.folder, "program")
        source = self.file("program.cpp", PROGRAM)
        traced = os.path.join(self.folder, "traced.o")
        subprocess.run(["g++", "-O1", "-finstrument-functions", "-c", source, "-o", traced], check=True)
        subprocess.run(["g++", "-std=c++17", "-O1", "-rdynamic", traced, os.path.join(BUILDERS, "examples/cpp/instrument.cpp"), library,
                        "-o", program, "-ldl"], check=True)
        subprocess.run([program], check=True, stdout=subprocess.DEVNULL, env={**os.environ, "PROFD_OUT": self.out})
        top = rows(self.out, "wall")
        self.assertEqual(top[0]["name"], "spin")
        by_name = {row["name"]: row for row in top}
        self.assertGreater(by_name["spin"]["self"], by_name["outer"]["self"])
        self.assertGreaterEqual(by_name["main"]["total"], by_name["outer"]["total"])

    @needs(shutil.which("go") or os.path.exists("/usr/local/go/bin/go"), "no go: the Go example")
    def test_go_profiles_its_heap(self):
        go = shutil.which("go") or "/usr/local/go/bin/go"
        program = os.path.join(self.folder, "heap")
        subprocess.run([go, "build", "-o", program, "."], check=True, cwd=os.path.join(BUILDERS, "examples/go-heap"),
                       env={**os.environ, "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local"})
        subprocess.run([program, self.out], check=True)
        hoard = next(row for row in rows(self.out, "alloc_space") if row["name"] == "main.hoard")
        # A thousand blocks of 4 KiB; the slice that holds them comes on top.
        self.assertGreaterEqual(hoard["total"], 1000 * 4096)
        objects = next(row for row in rows(self.out, "alloc_objects") if row["name"] == "main.hoard")
        self.assertGreaterEqual(objects["total"], 1000)


if __name__ == "__main__":
    unittest.main()
