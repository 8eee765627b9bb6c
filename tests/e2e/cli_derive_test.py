#!/usr/bin/env python3
"""Metrics by formula on the command line, against what callgrind_annotate says and sums of a real capture of two counters.

usage: cli_derive_test.py PROFD
"""
import csv
import io
import json
import os
import re
import subprocess
import unittest

from cli_program import PROFD, ROOT, InFolder

COUNTERS = os.path.join(ROOT, "tests/fixtures/compare/counters")
MATRIX = os.path.join(COUNTERS, "matrix-700.callgrind")
CORPUS = os.environ.get("PROFD_CORPUS") or os.path.join(ROOT, "..", "shared", "corpus")
CAPTURE = os.path.join(CORPUS, "perf-script", "perf-cycles-instructions-01.txt")


def run_in(folder, *arguments):
    environment = dict(os.environ, PROFD_CACHE="off", COLUMNS="120", NO_COLOR="1")
    return subprocess.run([PROFD, *arguments], capture_output=True, env=environment, cwd=folder, stdin=subprocess.DEVNULL, timeout=120)


def output(*arguments, code=0, folder=ROOT):
    done = run_in(folder, *arguments)
    assert done.returncode == code, (arguments, done.returncode, done.stderr.decode())
    return done.stdout.decode()


def refusal(*arguments, code):
    done = run_in(ROOT, *arguments)
    assert done.returncode == code, (arguments, done.returncode, done.stderr.decode())
    return done.stderr.decode()


def annotated(path):
    """function -> {event: self} as callgrind_annotate reports them; "." is 0."""
    rows, events = {}, []
    with open(path, encoding="utf-8") as report:
        for line in report:
            words = line.split()
            if "file:function" in line:
                events = words[:-1]
            elif events and len(words) > len(events) and re.match(r"[\d,.]+$", words[0]):
                name = " ".join(words[len(events):]).split(":", 1)[1].split("(")[0].split(" [")[0]
                # What is inlined from another file is a row of its own there.
                row = rows.setdefault(name, dict.fromkeys(events, 0))
                for event, word in zip(events, words):
                    row[event] += 0 if word == "." else int(word.replace(",", ""))
    assert rows, path
    return rows


class Derive(InFolder):
    def test_a_ratio_of_selfs_is_that_of_what_the_profilers_own_tool_says(self):
        text = output("top", "--csv", "-n", "0", "--derive", "miss=D1mr / Dr", "--derive", "wrong=Bcm / Bc", MATRIX)
        found = {}
        for row in csv.DictReader(io.StringIO(text)):
            found.setdefault(row["name"].split("(")[0], row)
        compared = 0
        for name, events in annotated(os.path.join(COUNTERS, "expected-matrix-700.txt")).items():
            for metric, over, under in (("miss", "D1mr", "Dr"), ("wrong", "Bcm", "Bc")):
                # The report leaves out the smallest rows.
                if events[under] > 1000:
                    self.assertAlmostEqual(float(found[name][f"{metric} self"]), events[over] / events[under], places=5,
                                           msg=(name, metric))
                    compared += 1
        self.assertGreater(compared, 6)

    def test_the_whole_is_the_ratio_of_sums(self):
        answer = json.loads(output("flame", "--json", "--derive", "miss=D1mr / Dr", "--color-by", "miss", MATRIX))
        self.assertAlmostEqual(answer["boxes"]["color"][0], 551441 / 2207046)
        self.assertEqual(answer["boxes"]["colorText"][0], "0.25")

    def test_rows_without_a_value_come_last(self):
        text = output("top", "--csv", "-n", "0", "--derive", "wrong=Bcm / Bc", "--sort-metric", "wrong", MATRIX)
        column = [row["wrong self"] for row in csv.DictReader(io.StringIO(text))]
        with_value = [float(cell) for cell in column if cell]
        self.assertEqual(column[len(with_value):], [""] * (len(column) - len(with_value)))
        self.assertGreater(len(column), len(with_value))
        self.assertEqual(with_value, sorted(with_value, reverse=True))

    def test_a_tree_has_it_for_every_box(self):
        text = output("tree", "--rows", "--min-share", "0", "--derive", "miss=D1mr / Dr", "--column", "Dr", MATRIX)
        rows = [json.loads(line) for line in text.splitlines()]
        self.assertEqual(rows[0]["Dr total"], 2207046)
        self.assertAlmostEqual(rows[0]["miss total"], 551441 / 2207046)
        shown = output("tree", "--derive", "miss=D1mr / Dr", MATRIX)
        self.assertRegex(shown.splitlines()[0], r"miss self +miss total$")
        self.assertRegex(shown, r"100 % +21\.6 M +\S+ +0\.25 +all Ir")

    def test_a_diff_has_the_ratio_of_each_side(self):
        before = os.path.join(COUNTERS, "matrix-200.callgrind")
        answer = json.loads(output("top", "--json", "-n", "0", "--metric", "Ir", "--base", before, "--derive", "miss=D1mr / Dr",
                                   "--derive", 'growth=Ir / "Ir before"', MATRIX))
        at = next(i for i, name in enumerate(answer["rows"]["name"]) if answer["names"][name].startswith("sum_columns"))
        miss, growth = answer["columns"]
        then, now = (annotated(os.path.join(COUNTERS, f"expected-matrix-{n}.txt"))["sum_columns"] for n in (200, 700))
        self.assertAlmostEqual(miss["self"][at], now["D1mr"] / now["Dr"])
        self.assertAlmostEqual(miss["before"]["self"][at], then["D1mr"] / then["Dr"])
        self.assertAlmostEqual(growth["self"][at], now["Ir"] / then["Ir"])
        self.assertNotIn("before", growth)

    def test_the_project_file_defines_it(self):
        with open(".profd.toml", "w", encoding="utf-8") as project:
            project.write('[derive]\nmiss = "D1mr / Dr"\nother = { formula = "cycles / Dr", unit = "x" }\n')
        here = os.getcwd()
        self.assertIn("miss total", output("top", "--column", "miss", MATRIX, folder=here))
        refused = run_in(here, "top", "--column", "other", MATRIX)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("other is cycles / Dr, and there is no metric cycles at character 1", refused.stderr.decode())

    def test_what_is_wrong_is_refused_with_its_place(self):
        heap = os.path.join(ROOT, "tests/fixtures/go-demo/heap.pprof")
        for formula, said in (("(Ir", "the bracket is not closed at character 1 of the formula"),
                              ("Ir +", "a metric or a number is expected at character 5"),
                              ("(" * 10000 + "Ir" + ")" * 10000, "a formula ends at character 4096 at the latest; this one has 20002")):
            self.assertIn(said, refusal("top", "--derive", f"x={formula}", MATRIX, code=2))
        self.assertIn("no derived metric: NAME=FORMULA", refusal("top", "--derive", "Ir / Dr", MATRIX, code=2))
        self.assertIn("there is no metric Irr at character 1 of the formula (did you mean Ir?); there is Ir, Dr",
                      refusal("top", "--derive", "x=Irr / Dr", MATRIX, code=1))
        self.assertIn("bytes and count are of two units and have no sum at character 13 of the formula",
                      refusal("top", "--derive", "x=inuse_space + inuse_objects", heap, code=1))
        self.assertIn("which does not add up: nothing is as wide as it",
                      refusal("top", "--derive", "miss=D1mr / Dr", "--metric", "miss", MATRIX, code=1))

    def test_a_picture_says_what_its_colours_mean(self):
        page = output("flame", "-o", "-", "--derive", "miss=D1mr / Dr", "--color-by", "miss", MATRIX)
        self.assertIn('<g id="scale">', page)
        self.assertNotIn(">n/a</text>", page)
        self.assertRegex(page, r"<title>sum_columns[^<]*\nmiss 1\.00\n")
        # Few functions branch indirectly.
        page = output("flame", "-o", "-", "--derive", "wrong=Bim / Bi", "--color-by", "wrong", MATRIX)
        self.assertIn(">n/a</text>", page)
        self.assertRegex(page, r"<title>sum_columns[^<]*\nwrong n/a\n")

    def test_cpi_of_a_real_capture_is_all_cycles_by_all_instructions(self):
        if not os.path.exists(CAPTURE):
            print("PARTLY NOT RUN: no corpus of real files (PROFD_CORPUS), which has a capture of cycles and instructions")
            return
        with open(CAPTURE, encoding="utf-8") as capture:
            samples = re.findall(r"(?m)^\S.*?\s(cycles|instructions):", capture.read())
        cycles, instructions = samples.count("cycles"), samples.count("instructions")
        self.assertGreater(cycles, 0)
        answer = json.loads(output("flame", "--json", "--metric", "cycles", "--derive", "cpi=cycles / instructions", "--color-by", "cpi",
                                   CAPTURE))
        self.assertAlmostEqual(answer["boxes"]["color"][0], cycles / instructions)
        self.assertGreater(len({text for text in answer["boxes"]["colorText"]}), 2)
        self.assertEqual(answer["colorScale"]["metric"], "cpi")


if __name__ == "__main__":
    unittest.main()
