#!/usr/bin/env python3
"""Answers: numbers, shapes and filters, as text and as the JSON of the daemon.

usage: cli_answers_test.py PROFD
"""
import json
import os
import subprocess
import unittest

import answers
from cli_program import FOLDED, PROFD, ROOT, InFolder, run


class Answers(InFolder):
    def test_list_shows_the_source_with_what_its_lines_cost(self):
        demo = os.path.join(ROOT, "tests/fixtures/go-demo")
        profile = os.path.join(demo, "cpu.pprof")

        def listed(*arguments, code=0):
            environment = dict(os.environ, PROFD_CACHE="off", PROFD_SYMBOLS="off")
            done = subprocess.run([PROFD, "list", *arguments, profile], cwd=demo, capture_output=True, env=environment, stdin=subprocess.DEVNULL, timeout=60)
            self.assertEqual(done.returncode, code, done.stderr)
            return done.stdout.decode(), done.stderr.decode()

        # As `go tool pprof -list main.sign` has it.
        text, _ = listed("main.sign")
        self.assertRegex(text, r"main\.sign  .*digest\.go")
        self.assertRegex(text, r"10\.0 ms +940 ms +15  .*Sum256")
        rows = [json.loads(line) for line in listed("--rows", "sign")[0].splitlines()]
        line = next(row for row in rows if row["line"] == 15)
        self.assertEqual((line["self"], line["total"], line["name"]), (10_000_000, 940_000_000, "main.sign"))
        with open(os.path.join(demo, "digest.go")) as source:
            source = source.read().splitlines()
        for row in rows:
            if row["path"]:
                self.assertEqual(row["text"] or "", source[row["line"] - 1])
        # An expression means all that match; what is in no folder here has numbers and says so.
        several, _ = listed("^main\\.", "-n", "0")
        self.assertGreater(several.count(" total ("), 3)
        self.assertIn("is not found", listed("runtime.mallocgc")[0])
        self.assertIn("no function with a value", listed("no.such", code=1)[1])

    def test_hotspots_are_places_that_editors_take(self):
        demo = os.path.join(ROOT, "tests/fixtures/go-demo")
        done = subprocess.run([PROFD, "hotspots", "-n", "0", "cpu.pprof"], cwd=demo, capture_output=True, stdin=subprocess.DEVNULL, timeout=60)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout.decode(), r"(?m)^/.*go-demo/digest\.go:15: .* %.* self, .* total in ")

    def test_records_of_the_file_are_no_samples(self):
        path = self.file("two.folded", "a;b 69\na 1\n")
        glance = run(path).stdout.decode()
        self.assertIn("2 records", glance)
        self.assertRegex(glance, r"samples +70")
        self.assertNotIn("2 samples", glance)
        self.assertIn("folded, 2 records,", run("check", path).stdout.decode())
        metric = json.loads(run("summary", "--json", path).stdout)["metrics"][0]
        self.assertEqual((metric["total"], metric["records"]), (70, 2))

    def test_gc_on_stack_moves_the_collector(self):
        def node(id, name, url, **more):
            frame = {"functionName": name, "scriptId": "7" if url else "0", "url": url, "lineNumber": 1, "columnNumber": 1}
            return {"id": id, "callFrame": frame, **more}

        nodes = [node(1, "(root)", "", children=[2, 3]), node(2, "work", "a.js"), node(3, "(garbage collector)", "")]
        profile = {"nodes": nodes, "startTime": 0, "endTime": 4000, "samples": [2, 3], "timeDeltas": [1000, 1000]}
        path = self.file("gc.cpuprofile", json.dumps(profile))
        self.assertNotIn(b"work_[j];(garbage collector)", run("convert", "--to", "folded", path, "-").stdout)
        self.assertIn(b"work_[j];(garbage collector)", run("convert", "--gc-on-stack", "--to", "folded", path, "-").stdout)

    def test_summary_json_has_the_documented_shape(self):
        answer = json.loads(run("summary", "--json", self.file("a.folded", FOLDED)).stdout)
        self.assertEqual(list(answer), ["format", "metrics", "contexts", "threads", "report", "missing", "kinds", "tips"])
        self.assertEqual(answer["format"], "folded")
        self.assertEqual(list(answer["metrics"][0]), ["name", "unit", "total", "records"])
        self.assertEqual(answer["metrics"][0]["total"], 100)
        self.assertEqual(answer["contexts"], 4)
        self.assertEqual(answer["report"], [])

    def test_top_json_has_the_documented_shape_and_conserves(self):
        path = self.file("a.folded", FOLDED)
        answer = json.loads(run("top", "--json", "-n", "1", path).stdout)
        rows = answers.rows_of(answer)
        self.assertEqual(rows[0]["name"], "gc")
        self.assertEqual(answer["rowCount"], 4)
        self.assertEqual(rows[0]["self"] + answer["remainder"]["amount"]["value"], answers.view_total(answer))
        by_total = json.loads(run("top", "--json", "--sort", "total", "-n", "0", path).stdout)
        self.assertEqual(answers.rows_of(by_total)[0]["name"], "main")
        self.assertNotIn("remainder", by_total)
        # What is on no row is said.
        hidden = json.loads(run("top", "--json", "--filter", "hide function /./", path).stdout)
        self.assertEqual(hidden["rowCount"], 0)
        self.assertEqual(hidden["own"]["value"], answers.view_total(hidden))

    def test_filters_and_specs_narrow_the_view(self):
        path = self.file("a.folded", FOLDED)
        kept = json.loads(run("top", "--json", "--filter", "keep function /^http/", path).stdout)
        self.assertEqual(answers.view_total(kept), 50)
        both = json.loads(run("top", "--json", "--spec", "top-down by function | drop function gc", path).stdout)
        self.assertEqual(answers.view_total(both), 50)
        # A list shows no tree; it does not show something else in its place.
        for command in (["top"], ["search", "gc"], ["hotspots"], ["list", "gc"], ["summary"], []):
            self.assertIn("is a tree", run(*command, "--spec", "bottom-up", path, code=2).stderr.decode())

    def test_tree_shows_shares_and_shapes(self):
        path = self.file("a.folded", FOLDED)
        text = run("tree", path).stdout.decode()
        self.assertIn("├ gc", text)
        self.assertIn("100 %", text)
        callers = run("tree", "--shape", "callers of json.parse", path).stdout.decode()
        self.assertIn("http.serve", callers)
        self.assertIn("no frame is called", run("tree", "--shape", "callers of nobody", path, code=1).stderr.decode())

    def test_the_hot_path_goes_down_as_long_as_a_child_has_half(self):
        path = self.file("a.folded", "main;http.serve;json.parse 30\nmain;http.serve;json.parse;alloc 10\nmain;http.serve;write 20\nmain;gc 9\nidle 1\n")
        lines = run("tree", "--hot", path).stdout.decode().splitlines()
        self.assertEqual([line.split()[-1] for line in lines[:-1]], ["samples", "main", "http.serve", "json.parse"])
        self.assertIn("57.1 %", lines[3])
        self.assertIn("has half", lines[4])
        self.assertIn("a larger --depth", run("tree", "--hot", "--depth", "1", path).stdout.decode())
        rows = [json.loads(line) for line in run("tree", "--hot", "--rows", path).stdout.splitlines()]
        self.assertEqual([(row["name"], row["total"]) for row in rows], [("main", 69), ("http.serve", 60), ("json.parse", 40)])
        self.assertIn("85.7 %         60  all", run("tree", "--hot", "--shape", "callees of http.serve", path).stdout.decode())
        callers = run("tree", "--hot", "--csv", "--shape", "callers of alloc", path).stdout.decode().splitlines()
        self.assertEqual([line.split(",")[0] for line in callers], ["name", "json.parse", "http.serve", "main"])
        run("tree", "--hot", "--min-share", "2", path, code=2)

    def test_filters_take_names_as_they_are_shown_and_say_what_matches_nothing(self):
        path = self.file("a.folded", "main;crypto/sha256.block 30\nmain;crypto/sha512.block 10\nmain 2\n")
        for name in ("sha256.block", "crypto/sha256.block"):
            answer = json.loads(run("top", "--json", "--filter", f"drop function {name}", path).stdout)
            self.assertNotIn("crypto/sha256.block", [row["name"] for row in answers.rows_of(answer)])
        several = run("top", "--filter", "drop function block", path, code=1).stderr.decode()
        self.assertIn('"block" is short for 2 functions: crypto/sha256.block, crypto/sha512.block', several)
        for command in ([], ["top"], ["tree"], ["flame"]):
            warned = run(*command, "--filter", "drop function nobody", path)
            self.assertIn("`drop function nobody` matches nothing", warned.stderr.decode())
        out = os.path.join(self.folder.name, "rows.json")
        self.assertIn("matches nothing", run("convert", "--filter", "hide file x.c", path, out).stderr.decode())
        page = os.path.join(self.folder.name, "out.svg")
        run("flame", "--filter", "hide file x.c", "-o", page, path)
        with open(page, encoding="utf-8") as source:
            self.assertIn(">`hide file x.c` matches nothing</text>", source.read())
        answer = run("convert", "--to", "json", "--filter", "hide file x.c", path, "-").stdout
        self.assertEqual(json.loads(answer)["warnings"], ["`hide file x.c` matches nothing"])
        self.assertIn("71.4 %         30  main", run("tree", "--shape", "callers of sha256.block", path).stdout.decode())

    def test_a_unit_has_one_name_in_all_answers(self):
        path = self.file("a.cpuprofile", json.dumps(
            {"nodes": [{"id": 1, "callFrame": {"functionName": "f", "scriptId": "0", "url": "", "lineNumber": 0, "columnNumber": 0},
                        "children": []}], "startTime": 0, "endTime": 10, "samples": [1], "timeDeltas": [10]}))
        units = lambda metrics: {metric["name"]: metric["unit"] for metric in metrics}
        summary = units(json.loads(run("summary", "--json", path).stdout)["metrics"])
        self.assertIn("ns", summary.values())
        self.assertEqual(units(json.loads(run("check", "--json", path).stdout)["profiles"][0]["metrics"]), summary)
        top = json.loads(run("top", "--json", path).stdout)
        self.assertEqual(top["unit"], summary[top["metric"]])


if __name__ == "__main__":
    unittest.main(verbosity=1)
