#!/usr/bin/env python3
"""Regressions as LSP's diagnostics, for a client that knows nothing of profd.

usage: diagnostics_test.py PROFD
"""
import os
import shutil
import sys
import tempfile
import time
import unittest
from pathlib import Path
from urllib.parse import quote

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/support"))

from psp_client import Daemon, NoAnswer

PROFD = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "profd"
RECORDED = ROOT / "tests/fixtures/compare/before-after"


def recorded(side):
    return str(RECORDED / f"{side}-1.pb.gz")


def diff_uri(before, after):
    return f"diff://?before={quote(before, safe='')}&after={quote(after, safe='')}"


class Diagnostics(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()
        (self.root / "parcels").mkdir()
        for source in (RECORDED / "after").glob("*.go"):
            shutil.copy(source, self.root / "parcels")
            os.utime(self.root / "parcels" / source.name, (1_500_000_000, 1_500_000_000))
        (self.root / ".profd.toml").write_text('[gate]\nrules = ["total(main.parseRow) < +5%", "total(main.stir) < +50%", "total(nobody) < +5%"]\n')
        self.daemon = Daemon([PROFD, "serve", "--stdio"], {"PROFD_CACHE": "off"})
        self.addCleanup(self.daemon.end)
        self.client = self.daemon.stdio_client()
        self.client.keep_notices = True

    def start(self, **options):
        self.client.request("initialize", {"processId": None, "rootUri": self.root.as_uri(), "capabilities": {}, "initializationOptions": options})
        self.client.notify("initialized", {})

    def uri(self, name):
        return (self.root / "parcels" / name).as_uri()

    def open_document(self, name):
        text = (self.root / "parcels" / name).read_text()
        self.client.notify("textDocument/didOpen", {"textDocument": {"uri": self.uri(name), "languageId": "go", "version": 1, "text": text}})

    def command(self, name, argument):
        answer = self.client.request("workspace/executeCommand", {"command": name, "arguments": [argument]})
        self.assertIsNone(answer.error)

    def published(self, name):
        """What the client shows of a document now; None: nothing was ever said of it."""
        found = None
        for notice in self.client.notices:
            if notice["method"] == "textDocument/publishDiagnostics" and notice["params"]["uri"] == self.uri(name):
                found = notice["params"]["diagnostics"]
        return found

    def until(self, name, holds):
        deadline = time.monotonic() + 30
        while not holds(self.published(name)):
            self.assertLess(time.monotonic(), deadline, self.client.notices)
            try:
                self.client.listen(0.05)
            except NoAnswer:
                pass
        return self.published(name)

    def test_what_became_slower_is_a_warning_at_its_function(self):
        self.start(diagnostics=True)
        self.open_document("batch.go")
        self.command("profd.open", diff_uri(recorded("before"), recorded("after")))
        found = self.until("batch.go", bool)
        lines = (self.root / "parcels/batch.go").read_text().splitlines()
        at = next(i for i, line in enumerate(lines) if line.startswith("func parseRow"))
        by_code = {one["code"]: one for one in found if one["range"]["start"]["line"] == at}
        self.assertEqual(sorted(by_code), ["regression", "rule"])
        self.assertIn("main.parseRow: self +1.29 s (+37 %)", by_code["regression"]["message"])
        self.assertIn("beyond sampling noise.", by_code["regression"]["message"])
        self.assertIn("total(main.parseRow) < +5% is broken: 3.47 s → 4.76 s, +1.29 s (+37 %). It grew most here.", by_code["rule"]["message"])
        for one in found:
            self.assertEqual((one["severity"], one["source"]), (2, "profd"))
            self.assertEqual(one["range"]["end"], {"line": one["range"]["start"]["line"], "character": len(lines[one["range"]["start"]["line"]])})
        # What became faster is none, and what is like it was is none.
        self.open_document("sums.go")
        found = self.until("sums.go", bool)
        named = {one["message"].split(":")[0] for one in found}
        self.assertIn("main.foldSum", named)
        self.assertNotIn("main.stir", named)
        self.assertEqual([one for one in found if one["code"] == "rule"], [])

    def test_they_move_with_edits_and_go_with_the_document(self):
        self.start(diagnostics=True)
        self.open_document("batch.go")
        self.command("profd.open", diff_uri(recorded("before"), recorded("after")))
        before = self.until("batch.go", bool)[0]["range"]["start"]["line"]
        self.client.notify("textDocument/didChange", {"textDocument": {"uri": self.uri("batch.go"), "version": 2}, "contentChanges": [
            {"range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}, "text": "// one\n// two\n"}]})
        self.client.notify("textDocument/didSave", {"textDocument": {"uri": self.uri("batch.go")}})
        self.until("batch.go", lambda found: bool(found) and found[0]["range"]["start"]["line"] == before + 2)
        self.client.notify("textDocument/didClose", {"textDocument": {"uri": self.uri("batch.go")}})
        self.until("batch.go", lambda found: found == [])

    def test_they_are_off_until_wanted_and_go_when_they_are_not(self):
        self.start()
        self.open_document("batch.go")
        self.command("profd.open", diff_uri(recorded("before"), recorded("after")))
        self.client.listen(1)
        self.assertIsNone(self.published("batch.go"))
        self.client.notify("workspace/didChangeConfiguration", {"settings": {"profd": {"diagnostics": True}}})
        self.until("batch.go", bool)
        self.client.notify("workspace/didChangeConfiguration", {"settings": {"profd": {"diagnostics": False}}})
        self.until("batch.go", lambda found: found == [])

    def test_they_go_with_the_comparison(self):
        self.start(diagnostics=True)
        self.open_document("batch.go")
        uri = diff_uri(recorded("before"), recorded("after"))
        self.command("profd.open", uri)
        self.until("batch.go", bool)
        # Another profile is meant: of one that is no comparison its hottest lines are told.
        hot = lambda found: bool(found) and {(one["code"], one["severity"]) for one in found} == {("hot", 3)}
        self.command("profd.open", Path(recorded("after")).as_uri())
        lines = [one["range"]["start"]["line"] for one in self.until("batch.go", hot)]
        self.assertLessEqual(len(lines), 10)
        self.command("profd.open", uri)
        self.until("batch.go", lambda found: not hot(found))
        profiles = self.client.request("profile/list", {}).result["profiles"]
        handle = next(one["profile"] for one in profiles if one["name"] == "before-1.pb.gz → after-1.pb.gz")
        self.client.request("profile/close", {"profile": handle})
        self.until("batch.go", hot)

    def test_the_same_run_twice_warns_of_nothing(self):
        self.start(diagnostics=True)
        self.open_document("batch.go")
        self.command("profd.open", diff_uri(str(RECORDED / "before-1.pb.gz"), str(RECORDED / "before-2.pb.gz")))
        self.client.listen(2)
        self.assertIn(self.published("batch.go"), (None, []))


if __name__ == "__main__":
    unittest.main()
