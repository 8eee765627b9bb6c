#!/usr/bin/env python3
"""Editors that were not run here, by what they say of themselves when they connect, and by the commands of their pages.

usage: unrun_test.py PROFD
"""
import json
import os
import sys
import time
import unittest
from pathlib import Path

from driven import HERE, PATIENCE, PROFD, ROOT, Home

sys.path.insert(0, os.path.join(HERE, "../../support"))

from psp_client import Daemon, NoAnswer


class Initialized(Home):
    def connect(self, editor):
        root = Path(self.project).resolve()
        with open(os.path.join(ROOT, "tests/fixtures/lsp/initialize", editor + ".json"), encoding="utf-8") as file:
            said = json.loads(file.read().replace("${ROOT}", str(root)))["params"]
        daemon = Daemon([PROFD, "serve", "--stdio"], {"PROFD_CACHE": "off", "XDG_RUNTIME_DIR": self.environment["XDG_RUNTIME_DIR"]})
        self.addCleanup(daemon.end)
        self.client = daemon.stdio_client()
        self.client.keep_notices = True
        answer = self.client.request("initialize", {"processId": None, **said})
        self.assertIsNone(answer.error)
        self.client.notify("initialized", {})
        self.uri = (root / "sums.go").as_uri()
        self.client.notify("textDocument/didOpen", {"textDocument": {
            "uri": self.uri, "languageId": "go", "version": 1, "text": (root / "sums.go").read_text()}})
        return answer.result["capabilities"]

    def ask(self, method, **params):
        answer = self.client.request(method, params)
        self.assertIsNone(answer.error, (method, params))
        return answer.result

    def command(self, name, *arguments):
        return self.ask("workspace/executeCommand", command=name, arguments=list(arguments))

    def told(self, method, holds=lambda params: True):
        """What the daemon asks or tells the editor, once it does."""
        deadline = time.monotonic() + PATIENCE
        while True:
            for notice in self.client.notices:
                if notice["method"] == method and holds(notice["params"]):
                    return notice["params"]
            self.assertLess(time.monotonic(), deadline, [notice["method"] for notice in self.client.notices])
            try:
                self.client.listen(0.05)
            except NoAnswer:
                pass

    def shows_the_line(self, encoding):
        whole = {"start": {"line": 0, "character": 0}, "end": {"line": 48, "character": 0}}
        hints = self.until(lambda: self.ask("textDocument/inlayHint", textDocument={"uri": self.uri}, range=whole), "hints")
        labels = [hint["label"] for hint in hints if hint["position"]["line"] == 18]
        texts = [label if isinstance(label, str) else "".join(part["value"] for part in label) for label in labels]
        self.assertEqual(texts, ["8.1 %  1.12 s · self 8.1 %"])
        hover = self.ask("textDocument/hover", textDocument={"uri": self.uri}, position={"line": 18, "character": 2})
        self.assertEqual(hover["contents"]["kind"], "markdown")
        self.assertIn("main.summarise", hover["contents"]["value"])
        self.assertEqual(encoding, "utf-16")

    def test_sublime(self):
        can = self.connect("sublime_lsp")
        self.shows_the_line(can.get("positionEncoding", "utf-16"))
        here = {"textDocument": {"uri": self.uri}, "position": {"line": 18, "character": 2}}
        palette = json.loads(self.documented("sublime.md", "json", 1))
        asked = [(entry["args"]["command_name"], entry["args"].get("command_args", [])) for entry in palette]
        self.assertEqual({name for name, _ in asked} - set(can["executeCommandProvider"]["commands"]), set())
        for name, page in (("profd.hotspots", "Hot spots"), ("profd.callers", "Callers of `main.foldSum`"), ("profd.within", "Within `main.foldSum`")):
            arguments = next(arguments for command, arguments in asked if command == name)
            self.command(name, *[here if argument == "$text_document_position" else argument for argument in arguments])
            shown = self.told("window/showDocument", lambda params, word=name.split(".")[1]: word in params["uri"])
            self.assertIn(page, Path(shown["uri"].removeprefix("file://")).read_text())
        self.command("profd.openInBrowser")
        self.assertTrue(self.told("window/showDocument", lambda params: params.get("external"))["uri"].startswith("http://127.0.0.1:"))
        items = self.ask("textDocument/prepareCallHierarchy", **here)
        self.assertEqual([item["name"] for item in items], ["main.foldSum"])
        self.assertEqual([call["from"]["name"] for call in self.ask("callHierarchy/incomingCalls", item=items[0])], ["main.summarise"])

    def test_a_place_stands_for_the_function_there(self):
        self.connect("sublime_lsp")
        self.shows_the_line("utf-16")
        for place in ("sums.go:19", os.path.join(self.project, "sums.go:19"), {"function": "sums.go:19"}):
            self.assertEqual(self.command("profd.callers", place)["function"], "main.foldSum")
        # Where nothing was measured the user is told, whatever the editor shows of an answer.
        said = self.command("profd.within", "sums.go:1")["text"]
        self.assertEqual(said, "no measured function is on this line")
        self.told("window/showMessage", lambda params: params["message"] == said)
        # No place: a name that is none, and what is no line.
        for name in ("nosuch.go:19", "sums.go:0", "sums.go:-1", "sums.go:99999999999", "sums.go:", ":19", "sums.go:1x"):
            refused = self.client.request("workspace/executeCommand", {"command": "profd.callers", "arguments": [name]})
            self.assertIn("no frame is called", refused.error["message"])
        # What takes no function takes no place.
        refused = self.client.request("workspace/executeCommand", {"command": "profd.compare", "arguments": ["sums.go:19"]})
        self.assertIsNotNone(refused.error)

    def test_zed(self):
        can = self.connect("zed")
        self.shows_the_line(can["positionEncoding"])
        at = {"line": 18, "character": 2}
        actions = self.ask("textDocument/codeAction", textDocument={"uri": self.uri}, range={"start": at, "end": at}, context={"diagnostics": []})
        callers = next(action for action in actions if "Who calls" in action["title"])
        self.command(callers["command"]["command"], *callers["command"]["arguments"])
        self.assertIn("main.foldSum is called by main.summarise 100 %", self.told("window/showMessage")["message"])
        self.assertFalse([notice for notice in self.client.notices if notice["method"] == "window/showDocument"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
