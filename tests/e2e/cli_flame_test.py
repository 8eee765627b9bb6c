#!/usr/bin/env python3
"""`profd flame`: in the terminal, as JSON, as a page.

usage: cli_flame_test.py PROFD
"""
import json
import os
import unittest
import xml.etree.ElementTree as ElementTree

import answers
from cli_program import CPU, FOLDED, HOSTILE, ROOT, InFolder, read, run


class Flame(InFolder):
    def test_a_page_is_written_under_an_ending_that_says_so(self):
        path = self.file("a.folded", FOLDED)
        for name in ("x.png", "x.pdf", "x.json", "x.unheard"):
            out = os.path.join(self.folder.name, name)
            self.assertIn(".svg", run("flame", "-o", out, path, code=2).stderr.decode())
            self.assertFalse(os.path.exists(out))
        for name, begins in (("x.svg", b"<?xml"), ("x.html", b"<!doctype html>"), ("x", b"<?xml")):
            out = os.path.join(self.folder.name, name)
            run("flame", "-o", out, path)
            self.assertTrue(read(out).startswith(begins), name)
        self.assertTrue(run("flame", "-o", "-", path).stdout.startswith(b"<"))
        run("flame", "-o", "/dev/null", path)

    def test_flame_fits_the_width_without_colours(self):
        text = run("flame", self.file("a.folded", FOLDED), env={"COLUMNS": "60"}).stdout.decode()
        self.assertNotIn("\x1b", text)
        for line in text.splitlines()[1:]:
            self.assertLessEqual(len(line), 60)
        self.assertIn("|gc", text)

    def test_colours_obey_the_option_and_the_environment(self):
        path = self.file("a.folded", FOLDED)
        self.assertIn(b"\x1b[", run("flame", "--color", "always", path).stdout)
        self.assertIn(b"\x1b[", run("flame", path, env={"CLICOLOR_FORCE": "1"}).stdout)
        self.assertNotIn(b"\x1b[", run("flame", path, env={"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}).stdout)
        self.assertNotIn(b"\x1b", run("flame", "--color", "never", path, env={"CLICOLOR_FORCE": "1"}).stdout)

    def test_flame_json_is_a_layout_in_columns(self):
        answer = json.loads(run("flame", "--json", "--width", "800", self.file("a.folded", FOLDED)).stdout)
        boxes = answer["boxes"]
        lengths = {len(column) for column in boxes.values()}
        self.assertEqual(lengths, {5})
        names = [answer["names"][i] for i in boxes["name"]]
        self.assertEqual(names[0], "all")
        self.assertEqual(answer["viewTotal"]["value"], 100)
        for i, parent in enumerate(boxes["parent"]):
            if parent < 0:
                continue
            self.assertGreaterEqual(boxes["x"][i], boxes["x"][parent])
            self.assertLessEqual(boxes["x"][i] + boxes["width"][i], boxes["x"][parent] + boxes["width"][parent])

    def test_the_page_is_well_formed_and_keeps_names_as_text(self):
        out = os.path.join(self.folder.name, "out.svg")
        run("flame", "-o", out, self.file("evil.folded", HOSTILE))
        tree = ElementTree.parse(out)
        with open(out, encoding="utf-8") as source:
            page = source.read()
        self.assertNotIn("<script>alert", page)
        self.assertNotIn("\u202e", page)
        self.assertEqual(len([e for e in tree.iter() if e.tag.endswith("}script")]), 1)
        titles = "".join(e.text or "" for e in tree.iter() if e.tag.endswith("}title"))
        self.assertIn("<script>alert(1)</script>", titles)
        run("flame", "-o", os.path.join(self.folder.name, "no", "such", "out.svg"), CPU, code=1)

    def test_the_page_takes_a_title_palette_and_direction(self):
        out = os.path.join(self.folder.name, "out.svg")
        path = self.file("a.folded", FOLDED)
        run("flame", "--inverted", "--title", "after the <fix>", "--palette", "cool", "-o", out, path)
        with open(out, encoding="utf-8") as source:
            page = source.read()
        self.assertIn("<title>after the &lt;fix&gt; - samples</title>", page)
        self.assertIn('data-inverted="1"', page)
        lines = run("flame", "--inverted", path, env={"COLUMNS": "60"}).stdout.decode().splitlines()
        self.assertIn("|all", lines[-1])
        self.assertIn("--output", run("flame", "--title", "x", path, code=2).stderr.decode())

    def test_boxes_are_coloured_by_kind_of_work_with_what_the_colours_mean(self):
        out, go = os.path.join(self.folder.name, "out.svg"), os.path.join(ROOT, "tests/fixtures/go-demo/cpu.pprof")
        run("flame", "--palette", "work", "-o", out, go)
        with open(out, encoding="utf-8") as source:
            page = source.read()
        legend = page[page.index('<g id="scale">'):]
        legend = legend[: legend.index("</g>")]
        answer = json.loads(run("flame", "--palette", "work", "--json", "--width", "100000", go).stdout)
        kinds = {kind["name"]: kind for kind in answer["works"]}
        for name in ("gc", "serialisation", "allocation"):
            self.assertIn(f'>{kinds[name]["title"]}<', legend)
            self.assertIn(f'--h:{kinds[name]["hue"]};', page)
        self.assertEqual(len(answer["boxes"]["work"]), len(answer["boxes"]["x"]))
        self.assertIn("garbage collection", run("flame", "--palette", "work", go).stdout.decode().splitlines()[1])

    def test_a_page_opens_again_as_the_profile_it_was_drawn_from(self):
        def rows(path):
            answer = json.loads(run("top", "--json", "-n", "0", path).stdout)
            rows = {row["name"]: (row["self"], row["total"]) for row in answers.rows_of(answer)}
            return answer["metric"], answer["unit"], answers.view_total(answer), rows

        for shape in ("top-down", "bottom-up"):
            out = os.path.join(self.folder.name, f"{shape}.svg")
            run("flame", "--shape", shape, "--width", "100000", "-o", out, CPU)
            self.assertEqual(rows(out), rows(CPU))
            self.assertEqual(json.loads(run("check", "--json", out).stdout)["report"], [])


if __name__ == "__main__":
    unittest.main(verbosity=1)
