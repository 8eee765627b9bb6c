#!/usr/bin/env python3
"""`profd convert`: formats and views as files.

usage: cli_convert_test.py PROFD
"""
import json
import os
import unittest

import answers
from cli_program import CPU, FOLDED, InFolder, csv_rows, read, refused, run


class Convert(InFolder):
    def test_rows_are_the_same_in_csv_and_json_and_say_what_the_columns_say(self):
        path = self.file("a.folded", FOLDED + 'main;"odd", name 3\n')
        for command in (["top", "-n", "0"], ["tree", "--min-share", "0"], ["search", "-n", "0", "."], ["hotspots", "-n", "0"]):
            objects = [json.loads(line) for line in run(*command, "--rows", path).stdout.splitlines()]
            table = csv_rows(*command, "--csv", path)
            self.assertEqual([list(row) for row in objects], [list(row) for row in table], command)
            text = lambda value: "" if value is None else str(int(value)) if isinstance(value, bool) else str(value)
            self.assertEqual([[text(cell) for cell in row.values()] for row in objects], [list(row.values()) for row in table])
        rows = answers.rows_of(json.loads(run("top", "--json", "-n", "0", path).stdout))
        flat = [json.loads(line) for line in run("top", "-n", "0", "--rows", path).stdout.splitlines()]
        self.assertEqual([(r["name"], r["self"], r["total"]) for r in flat], [(r["name"], r["self"], r["total"]) for r in rows])
        self.assertEqual({(r["metric"], r["unit"], r["profile"]) for r in flat}, {("samples", "count", path)})
        tree = [json.loads(line) for line in run("tree", "--rows", "--min-share", "0", path).stdout.splitlines()]
        self.assertEqual(sum(row["self"] for row in tree), 103)
        self.assertEqual(tree[0]["parent"], None)
        for row in tree[1:]:
            self.assertLess(row["parent"], row["id"])
        # What was joined is a row that says so, and what was left out is told.
        joined = [row for row in map(json.loads, run("tree", "--rows", "--min-share", "45", path).stdout.splitlines()) if row["joined"]]
        self.assertEqual(sum(row["joined"] for row in joined), 2)
        self.assertIn("3 more", run("top", "--csv", "-n", "2", path).stderr.decode())

    def test_folded_merges_equal_stacks_and_keeps_lines_that_are_asked_for(self):
        path = self.file("a.folded", "main (a.c:1);work (a.c:7) 5\nmain (a.c:2);work (a.c:7) 3\nmain (a.c:2);work (a.c:9) 2\nmain (a.c:2) 1\n")
        plain = run("convert", "--to", "folded", path, "-").stdout.decode()
        self.assertEqual(sorted(plain.splitlines()), ["main 1", "main;work 10"])
        lined = run("convert", "--to", "folded", "--granularity", "line", path, "-").stdout.decode()
        self.assertEqual(sorted(lined.splitlines()), sorted(read(path).decode().splitlines()))

    def test_notes_of_convert_name_the_file_and_can_be_quiet(self):
        out = os.path.join(self.folder.name, "out.csv")
        notes = run("convert", "--filter", "hide file x.c", CPU, out).stderr.decode()
        self.assertTrue(notes)
        for line in notes.splitlines():
            self.assertTrue(line.startswith(out + ": "), line)
        self.assertEqual(run("convert", "--force", "--quiet", "--filter", "hide file x.c", CPU, out).stderr, b"")
        self.assertIn("No such file", refused("convert", "--force", "--quiet", "/nowhere/x", out, code=1))

    def test_convert_writes_the_native_format_with_equal_numbers(self):
        out = os.path.join(self.folder.name, "out.profd")
        run("convert", CPU, out)
        for command in (["summary", "--json"], ["top", "--json", "-n", "0"]):
            before = json.loads(run(*command, CPU).stdout)
            after = json.loads(run(*command, out).stdout)
            for answer in (before, after):
                for of_the_file in ("format", "profile"):
                    answer.pop(of_the_file, None)
            self.assertEqual(before, after)

    def test_convert_writes_views(self):
        top = json.loads(run("top", "--json", "-n", "0", "--granularity", "module", CPU).stdout)
        table = run("convert", "--to", "csv", "--view", "flat by module", CPU, "-").stdout.decode().split("\r\n")
        self.assertEqual(len(table), top["rowCount"] + 2)
        self.assertIn(f"self {top['metric']} (", table[0])
        tree = json.loads(run("convert", "--to", "json", "--view", "bottom-up", "--filter", "drop module libc.so.6", CPU, "-").stdout)
        self.assertEqual(tree["rows"][0]["total"][0], tree["metrics"][0]["total"])
        self.assertTrue(run("convert", "--to", "svg", "--granularity", "file", CPU, "-").stdout.startswith(b"<"))
        # A format of stacks holds what the filters leave, and no other shape.
        left = os.path.join(self.folder.name, "left.pb.gz")
        run("convert", "--filter", "keep function /main/", CPU, left)
        kept = answers.view_total(json.loads(run("top", "--json", "--filter", "keep function /main/", CPU).stdout))
        self.assertEqual(answers.view_total(json.loads(run("top", "--json", left).stdout)), kept)
        self.assertIn("top-down", run("convert", "--force", "--view", "bottom-up", CPU, left, code=1).stderr.decode())
        run("convert", "--force", "--view", "gibberish", CPU, left, code=2)
        self.assertEqual(answers.view_total(json.loads(run("top", "--json", left).stdout)), kept)


if __name__ == "__main__":
    unittest.main(verbosity=1)
