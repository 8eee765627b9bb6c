#!/usr/bin/env python3
"""profd report: the layout of the reports of virtual machines' profilers, for any profile.

usage: cli_report_test.py PROFD
"""
import json
import os
import re
import unittest

from cli_program import ROOT, InFolder, refused, run

COG = os.path.join(ROOT, "formats/vm_profiler/testdata/report.txt")
CALLGRIND = os.path.join(ROOT, "tests/fixtures/cpp-demo/cpu.callgrind")
ROW = re.compile(r"^( *)([\d.]+)% (?:\( ?([\d.]+)%\) )?(.+?) ?\((\d+)\) \( ?([\d.]+)%\)$")


def rows(text):
    """[(indent, share, share of total, name, count, cumulative)] of the rows of a report."""
    return [match.groups() for match in map(ROW.match, text.splitlines()) if match]


class Reports(InFolder):
    def test_a_report_that_was_read_is_written_again(self):
        with open(COG, encoding="utf-8") as file:
            original = file.read()
        written = run("report", "--ranges", "--min-share", "0", COG).stdout.decode()
        lines = written.splitlines()
        tables = [line for line in original.splitlines() if ROW.match(line) or line.startswith("% of ")]
        self.assertEqual(len(tables), 20)
        for line in tables:
            # One blank of it is missing where the name is cut.
            self.assertIn(line.replace("isra.74(", "isra.74 ("), lines)
        self.assertIn("10007 samples in generated vm code (96.85% of total)", lines)
        self.assertLess(lines.index(next(l for l in lines if "at:put:" in l)), lines.index(next(l for l in lines if "57.95% 1->26" in l)))

    def test_sections_and_ranges_add_up(self):
        written = run("report", "--ranges", CALLGRIND).stdout.decode()
        total = within = 0
        whole = None
        for indent, _, _, name, count, _ in rows(written) + [("", "", "0", "end", "0", "")]:
            if len(indent) >= 4:
                within += int(count)
                continue
            # Of what has no place there are no ranges.
            self.assertIn(within, (0, whole), f"above {name}")
            within, whole = 0, int(count)
            total += whole
        top = json.loads(run("top", "--json", "-n", "0", CALLGRIND).stdout)
        self.assertEqual(total, top["viewTotal"]["value"])

    def test_one_function_is_divided_as_asked(self):
        by_line = rows(run("report", "--function", "stem", CALLGRIND).stdout.decode())
        self.assertTrue(all(re.match(r"[\w.+]+:\d+$", name) for indent, _, _, name, _, _ in by_line if indent))
        self.assertIn("index.cpp:8", [name for _, _, _, name, _, _ in by_line])
        self.assertEqual(sum(int(count) for indent, _, _, _, count, _ in by_line if indent), int(by_line[0][4]))
        by_address = run("report", "--function", "stem", "--by", "address", CALLGRIND).stdout.decode()
        self.assertIn("no address", by_address)
        self.assertIn("nobody", refused("report", "--function", "nobody", CALLGRIND, code=1))

    def test_what_is_below_the_cut_is_counted(self):
        written = run("report", "--min-share", "10", "--sections", "none", CALLGRIND).stdout.decode()
        self.assertRegex(written, r"(?m)^ *[\d.]+% \( *[\d.]+%\) \.\.\.others\.\.\. \d+ functions \(\d+\) \(100\.0%\)$")
        self.assertEqual(written.count("cumulative"), 1)

    def test_the_answer_of_the_daemon_is_printed_as_json(self):
        answer = json.loads(run("report", "--json", "--ranges", COG).stdout)
        self.assertEqual(answer["sectionsBy"], "module")
        self.assertEqual([section["name"] for section in answer["sections"]], ["generated vm code", "vanilla vm code", "(no module)"])
        self.assertEqual(len(answer["lines"]), len(answer["lineRows"]))
        first = answer["lineRows"].index(0)
        self.assertIn(answer["rows"]["name"][0], answer["lines"][first])


if __name__ == "__main__":
    unittest.main()
