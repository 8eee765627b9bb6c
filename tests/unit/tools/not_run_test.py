#!/usr/bin/env python3
"""The list of tests that were not run, from a log as ctest writes it."""
import os
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
sys.dont_write_bytecode = True
import not_run

LOG = """Start testing: today
----------------------------------------------------------
1/4 Testing: a: one
1/4 Test: a: one
Output:
{0}no corpus
<end of output>
2/4 Test: a: two
{0}no corpus
3/4 Test: b
PARTLY {0}no go: the Go example
PARTLY {0}no go: the Go example
4/4 Test: c
words about NOT RUN: tests
""".format("NOT RUN: ")


class List(unittest.TestCase):
    def test_by_reason(self):
        self.assertEqual(not_run.not_run(LOG), {(False, "no corpus"): ["a: one", "a: two"], (True, "no go: the Go example"): ["b"]})

    def test_text(self):
        text = not_run.report(not_run.not_run(LOG))
        self.assertEqual(text.splitlines()[:3], ["Not run: 2 tests", "  no corpus", "      a: one; a: two"])
        self.assertIn("in part: no go: the Go example", text)
        self.assertEqual(not_run.report({}), "Every test was run.\n")

    def test_many_names_are_counted(self):
        text = not_run.report({(False, "why"): [f"t{i}" for i in range(9)]})
        self.assertIn("t0; t1; t2, and 6 more", text)


if __name__ == "__main__":
    unittest.main()
