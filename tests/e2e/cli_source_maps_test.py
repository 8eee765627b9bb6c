#!/usr/bin/env python3
"""Profiles of bundled scripts, shown by their sources: against a run of the sources themselves.

usage: cli_source_maps_test.py PROFD
"""
import json
import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from cli_program import PROFD, ROOT, InFolder

sys.path.insert(0, os.path.join(ROOT, "tests/support"))

from psp_client import Daemon

FIXTURE = os.path.join(ROOT, "tests/fixtures/source-maps")
PAGE = os.path.join(ROOT, "docs/source-maps.md")


class SourceMaps(InFolder):
    """A project where the recordings of the fixture were made."""

    def setUp(self):
        super().setUp()
        self.project = os.path.realpath(os.path.join(self.folder.name, "project"))
        shutil.copytree(FIXTURE, self.project)
        for name in os.listdir(self.project):
            if name.endswith(".cpuprofile"):
                with open(self.at(name), encoding="utf-8") as recorded:
                    text = recorded.read().replace("/src/source-maps", self.project)
                with open(self.at(name), "w", encoding="utf-8") as out:
                    out.write(text)

    def at(self, name):
        return os.path.join(self.project, name)

    def profd(self, *arguments, cwd=None, code=0):
        done = subprocess.run([PROFD, *arguments], capture_output=True, stdin=subprocess.DEVNULL, timeout=120, cwd=cwd or self.project,
                              env=dict(os.environ, PROFD_CACHE="off"))
        self.assertEqual(done.returncode, code, done.stderr.decode())
        return done.stdout.decode()

    def functions(self, name, *options, cwd=None):
        """(name, file, line) -> share of all samples, of functions with files of the project."""
        top = json.loads(self.profd("top", name, "--json", "-n", "0", "--metric", "samples", *options, cwd=cwd))
        rows = top["rows"]
        found = {}
        for row, file in enumerate(rows["file"]):
            # webpack says no folder.
            path = (top["files"][file] if file >= 0 else "").replace("webpack://demo", self.project)
            if path.startswith(self.project):
                key = (top["names"][rows["name"][row]], os.path.relpath(path, self.project), rows["line"][row])
                found[key] = rows["self"][row] / top["total"]["value"]
        return found

    def test_check_says_which_scripts_have_source_maps(self):
        def scripts(name, *options):
            return {os.path.basename(s["script"]): s for s in json.loads(self.profd("check", "--json", *options, name))["profiles"][0].get("scripts", [])}

        mapped = scripts("minified.cpuprofile")
        states = {name: script["state"] for name, script in mapped.items() if script["state"] != "not here"}
        self.assertIn("mapped", states.values(), mapped)
        self.assertIn("mapped", self.profd("check", "minified.cpuprofile"))
        self.assertEqual(scripts("minified.cpuprofile", "--no-source-maps"), {})

    def test_functions_of_a_minified_bundle_are_those_of_a_run_of_the_sources(self):
        ran = self.functions("sources.cpuprofile")
        for bundle in ("minified.cpuprofile", "bundled.cpuprofile", "webpack.cpuprofile"):
            mapped = self.functions(bundle)
            for function, share in ran.items():
                if share >= 0.01:
                    self.assertIn(function, mapped, bundle)
                    self.assertAlmostEqual(mapped[function], share, delta=0.06, msg=function)
            for function, share in mapped.items():
                if share >= 0.01:
                    self.assertIn(function, ran, bundle)
        self.assertIn(("splitWords", "src/words.ts", 9), ran)

    def test_lines_of_a_bundle_that_has_lines_are_those_of_a_run_of_the_sources(self):
        def lines(name):
            listed = self.profd("list", "neighbourSum", name)
            return {int(line) for line in re.findall(r"^ +\d.* [mµ]s +(\d+) ", listed, re.MULTILINE)}

        self.assertLessEqual({20, 21}, lines("bundled.cpuprofile"))
        self.assertLessEqual(lines("bundled.cpuprofile"), {18, 19, 20, 21, 22, 24})
        self.assertLessEqual({20, 21}, lines("sources.cpuprofile"))

    def test_without_maps_it_is_shown_as_it_ran(self):
        self.assertEqual({file for _, file, _ in self.functions("minified.cpuprofile", "--no-source-maps")}, {"dist/minified/app.js"})

    def test_a_command_reads_scripts_below_its_folders_alone(self):
        elsewhere = os.path.join(self.folder.name, "elsewhere")
        os.mkdir(elsewhere)
        shutil.move(self.at("minified.cpuprofile"), elsewhere)
        path = os.path.join(elsewhere, "minified.cpuprofile")
        self.assertEqual({file for _, file, _ in self.functions(path, cwd=elsewhere)}, {"dist/minified/app.js"})
        self.assertIn(("smooth", "src/grid.ts", 27), self.functions(path))

    def test_what_is_built_again_after_the_recording_is_not_used(self):
        shutil.copy(self.at("dist/limited/app.js"), self.at("dist/minified/app.js"))
        summary = json.loads(self.profd("summary", "minified.cpuprofile", "--json"))
        self.assertIn("source-map-other-script", json.dumps(summary))
        self.assertEqual({file for _, file, _ in self.functions("minified.cpuprofile")}, {"dist/minified/app.js"})

    def test_what_is_exported_needs_no_maps_any_more(self):
        self.profd("convert", "minified.cpuprofile", "out.profd")
        expected = self.functions("minified.cpuprofile")
        shutil.rmtree(self.at("dist"))
        self.assertEqual(self.functions("out.profd"), expected)

    def test_two_builds_are_compared_by_their_sources(self):
        diff = json.loads(self.profd("diff", "bundled.cpuprofile", "minified.cpuprofile", "--json", "-n", "0"))
        names = [diff["names"][name] for name in diff["rows"]["name"]]
        for name in ("smooth", "splitWords", "countWords", "neighbourSum", "Grid"):
            self.assertEqual(names.count(name), 1)
        self.assertNotIn("h", names)

    def test_hints_stand_in_the_sources_unless_that_is_switched_off(self):
        for wanted in (True, False):
            daemon = Daemon([PROFD, "serve", "--stdio"], {"PROFD_CACHE": "off"})
            try:
                client = daemon.stdio_client()
                root = Path(self.project)
                client.request("initialize", {"processId": None, "rootUri": root.as_uri(), "capabilities": {},
                                              "initializationOptions": {"sourceMaps": wanted}})
                client.notify("initialized", {})
                answer = client.request("workspace/executeCommand", {"command": "profd.open", "arguments": [(root / "bundled.cpuprofile").as_uri()]})
                self.assertIsNone(answer.error)
                source = root / "src/grid.ts"
                text = source.read_text()
                client.notify("textDocument/didOpen", {"textDocument": {"uri": source.as_uri(), "languageId": "typescript", "version": 1, "text": text}})
                hints = client.request("textDocument/inlayHint", {"textDocument": {"uri": source.as_uri()}, "range": {
                    "start": {"line": 0, "character": 0}, "end": {"line": text.count("\n"), "character": 0}}})
                self.assertIsNone(hints.error)
                lines = {hint["position"]["line"] + 1 for hint in hints.result or []}
                if wanted:
                    self.assertLessEqual({20, 21, 29}, lines)
                else:
                    self.assertEqual(lines, set())
            finally:
                daemon.end()

    def test_the_examples_of_the_page_are_what_is_printed(self):
        with open(PAGE, encoding="utf-8") as page:
            text = page.read()

        def shown(block):
            command = block[1].splitlines()[0].removeprefix("$ profd ").split()
            return f"```console\n{block[1].splitlines()[0]}\n{self.profd(*command).replace(self.project, '/src/source-maps')}```"

        written = re.sub(r"```console\n(\$ profd .*?)```", shown, text, flags=re.DOTALL)
        if os.environ.get("PROFD_BLESS"):
            with open(PAGE, "w", encoding="utf-8") as page:
                page.write(written)
        self.assertEqual(text.count("$ profd"), 3)
        self.assertEqual(written, text)


if __name__ == "__main__":
    unittest.main()
