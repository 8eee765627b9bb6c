#!/usr/bin/env python3
"""`profd check` and `profd formats`: which files are read, and which formats there are.

usage: cli_formats_test.py PROFD
"""
import json
import os
import unittest

from cli_program import FOLDED, InFolder, run


class Formats(InFolder):
    def test_check_tells_outcomes_one_line_a_file(self):
        fine = self.file("a.folded", FOLDED)
        lossy = self.file("lossy.folded", FOLDED + "a line without a number\n")
        empty = self.file("empty.pprof", "")
        unknown = self.file("unknown.bin", os.urandom(64) + b"\x00\xff")
        lines = run("check", "--json", fine, lossy, empty, unknown, "/no/such/file", code=1).stdout.decode().splitlines()
        answers = [json.loads(line) for line in lines]
        self.assertEqual([a["outcome"] for a in answers][0:2], ["ok", "ok with losses"])
        self.assertTrue(answers[1]["report"])
        self.assertEqual({a["outcome"] for a in answers[2:]} - {"refused", "failed"}, set())
        for answer in answers[2:]:
            self.assertTrue(answer["error"]["message"])
            self.assertIsNone(answer["format"])
        broken = self.file("broken.speedscope.json", '{"$schema": "https://www.speedscope.app/file-format-schema.json", "profiles": 1}')
        answer = json.loads(run("check", "--json", broken, code=1).stdout)
        self.assertEqual((answer["outcome"], answer["format"]), ("failed", "speedscope"))
        run("check", fine)
        self.assertEqual(run("check", "--formats").stdout, run("formats").stdout)

    def test_formats_are_a_table_that_fits(self):
        known = json.loads(run("formats", "--json").stdout)["formats"]
        self.assertGreater(len(known), 60)
        for columns in (60, 80, 100, 160):
            lines = run("formats", env={"COLUMNS": str(columns)}).stdout.decode().splitlines()
            self.assertLessEqual(max(map(len, lines[: lines.index("")])), columns)
            self.assertEqual([line.split()[0] for line in lines[1 : lines.index("")]], [f["id"] for f in known])
            marked = [line.split()[0] for line in lines[1 : lines.index("")] if line.split()[1] == "w"]
            self.assertEqual(marked, [f["id"] for f in known if f["writer"]])
        wide = run("formats", env={"COLUMNS": "160"}).stdout.decode()
        self.assertIn("written by", wide)
        self.assertNotIn("\x1b", wide)

    def test_one_format_is_shown_in_full(self):
        for columns in (80, 160):
            text = run("formats", "pprof", env={"COLUMNS": str(columns)}).stdout.decode()
            for label in ("written by", "usual names", "versions", "what is kept", "how to record", "verified with", "profd writes"):
                self.assertIn(label, text)
            self.assertLessEqual(max(map(len, text.splitlines())), columns)
        self.assertIn("*.pb.gz *.pprof", text)
        self.assertIn("go test -cpuprofile", text)
        gmon = run("formats", "gmon").stdout.decode()
        self.assertRegex(gmon, r"profd writes +no\n")
        self.assertIn("gprof", gmon)

    def test_formats_json_has_the_documented_shape(self):
        known = json.loads(run("formats", "--json").stdout)["formats"]
        self.assertEqual([f["id"] for f in known], sorted(f["id"] for f in known))
        for format in known:
            self.assertEqual(list(format), ["id", "title", "extensions", "read", "producer", "versions", "keeps",
                                            "recording", "verified", "writer"])
            if format["read"]:
                for note in ("versions", "keeps", "recording", "verified"):
                    self.assertTrue(format[note], format["id"])
        one = json.loads(run("formats", "--json", "folded").stdout)["formats"]
        self.assertEqual([f["id"] for f in one], ["folded"])
        self.assertEqual(list(one[0]["writer"]), ["extensions", "holds"])
        self.assertIn(".folded", one[0]["extensions"])

    def test_a_format_that_is_none_names_those_that_were_meant(self):
        error = run("formats", "valgrind", code=2).stderr.decode()
        for id in ("callgrind", "cachegrind", "massif", "dhat"):
            self.assertIn(id, error)
        self.assertIn("`profd formats`", run("formats", "unheard-of", code=2).stderr.decode())


if __name__ == "__main__":
    unittest.main(verbosity=1)
