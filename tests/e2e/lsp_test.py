#!/usr/bin/env python3
"""LSP as editors without profd support speak it: the `initialize` of each is replayed, and what that editor would ask is asked.

Every message of the daemon is held against LSP's types (lsp/validate.cjs), and nothing may come that the editor did not announce.

usage: lsp_test.py PROFD [NODE TYPESCRIPT LIBRARY]
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/support"))

from psp_client import Client, Daemon, NoAnswer, encode

PROFD = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "profd"
VALIDATOR = [sys.argv.pop(1) for _ in range(3)] if len(sys.argv) > 3 else []
RECORDED = ROOT / "tests/fixtures/compare/before-after"
EDITORS = {path.stem: json.loads(path.read_text()) for path in sorted((ROOT / "tests/fixtures/lsp/initialize").glob("*.json"))}

RESULTS = {
    "initialize": "InitializeResult",
    "textDocument/inlayHint": "InlayHint[] | null",
    "inlayHint/resolve": "InlayHint",
    "textDocument/codeLens": "CodeLens[] | null",
    "textDocument/hover": "Hover | null",
    "workspace/symbol": "WorkspaceSymbol[] | SymbolInformation[] | null",
    "textDocument/documentSymbol": "DocumentSymbol[] | SymbolInformation[] | null",
    "textDocument/prepareCallHierarchy": "CallHierarchyItem[] | null",
    "callHierarchy/incomingCalls": "CallHierarchyIncomingCall[] | null",
    "callHierarchy/outgoingCalls": "CallHierarchyOutgoingCall[] | null",
    "textDocument/codeAction": "(Command | CodeAction)[] | null",
    "textDocument/diagnostic": "DocumentDiagnosticReport",
    "workspace/textDocumentContent": "TextDocumentContentResult",
    "textDocument/documentLink": "DocumentLink[] | null",
    "textDocument/definition": "Definition | null",
    "workspace/executeCommand": "LSPAny",
    "shutdown": "null",
}
PARAMS = {
    "window/showDocument": "ShowDocumentParams",
    "window/showMessage": "ShowMessageParams",
    "window/logMessage": "LogMessageParams",
    "window/workDoneProgress/create": "WorkDoneProgressCreateParams",
    "client/registerCapability": "RegistrationParams",
    "client/unregisterCapability": "UnregistrationParams",
    "workspace/configuration": "ConfigurationParams",
    "workspace/textDocumentContent/refresh": "TextDocumentContentRefreshParams",
    "textDocument/publishDiagnostics": "PublishDiagnosticsParams",
    "$/progress": "ProgressParams",
    "workspace/inlayHint/refresh": "undefined",
    "workspace/codeLens/refresh": "undefined",
    "workspace/diagnostic/refresh": "undefined",
}
# What an editor has to have announced before it is sent.
NEEDS = {
    "window/showDocument": "window.showDocument.support",
    "window/workDoneProgress/create": "window.workDoneProgress",
    "workspace/configuration": "workspace.configuration",
    "workspace/textDocumentContent/refresh": "workspace.textDocumentContent",
    "workspace/inlayHint/refresh": "workspace.inlayHint.refreshSupport",
    "workspace/codeLens/refresh": "workspace.codeLens.refreshSupport",
    "workspace/diagnostic/refresh": "workspace.diagnostics.refreshSupport",
}
REGISTERED = {"textDocument/diagnostic": "textDocument.diagnostic", "workspace/didChangeConfiguration": "workspace.didChangeConfiguration",
              "workspace/didChangeWatchedFiles": "workspace.didChangeWatchedFiles"}


def has(capabilities, path):
    for name in path.split("."):
        if not isinstance(capabilities, dict) or name not in capabilities:
            return False
        capabilities = capabilities[name]
    return capabilities is not False


class Editor(Client):
    """Answers what the daemon asks as an editor does, and keeps all that it says."""

    settings = None
    shows = True

    def _take(self, raw):
        message = json.loads(raw)
        if "method" in message and "id" in message:
            result = None
            if message["method"] == "workspace/configuration":
                result = [self.settings for _ in message["params"]["items"]]
            elif message["method"] == "window/showDocument":
                result = {"success": self.shows}
            self.send(encode({"id": message["id"], "result": result}))
            self.notices.append(message)
            return
        super()._take(raw)


SAID = []  # of all sessions: {"type", "of", "value"}


class Session:
    def __init__(self, test, capabilities=None, params=None, options=None, root=None):
        folder = tempfile.TemporaryDirectory()
        test.addCleanup(folder.cleanup)
        self.root = root or Path(folder.name).resolve()
        (self.root / "parcels").mkdir(exist_ok=True)
        for source in (RECORDED / "after").glob("*.go"):
            shutil.copy(source, self.root / "parcels")
            os.utime(self.root / "parcels" / source.name, (1_500_000_000, 1_500_000_000))
        self.test = test
        self.editor = params["clientInfo"]["name"] if params and "clientInfo" in params else "an editor"
        daemon = Daemon([PROFD, "serve", "--stdio"], {"PROFD_CACHE": "off"})
        test.addCleanup(daemon.end)
        pipe_in, pipe_out = daemon.process.stdin, daemon.process.stdout
        self.client = Editor(pipe_out.fileno(), pipe_in.fileno())
        self.client.keep_notices = True
        params = params or {"processId": None, "rootUri": "file://${ROOT}", "capabilities": capabilities or {}}
        params = json.loads(json.dumps(params).replace("${ROOT}", str(self.root)))
        if options is not None:
            params["initializationOptions"] = options
        self.capabilities = params["capabilities"]
        self.params = params
        test.addCleanup(self.judge)

    def start(self):
        self.result = self.ask("initialize", self.params)
        self.client.notify("initialized", {})
        return self.result["capabilities"]

    def ask(self, method, params=None):
        answer = self.client.request(method, params)
        self.test.assertIsNone(answer.error, f"{self.editor}: {method}")
        value = answer.result
        if method == "initialize":  # what profd has beside LSP's own
            value = json.loads(json.dumps(value))
            value["capabilities"].pop("profd", None)
        SAID.append({"type": RESULTS[method], "of": f"{self.editor}: {method}", "value": value})
        return answer.result

    def command(self, name, **arguments):
        return self.ask("workspace/executeCommand", {"command": name, "arguments": [arguments]})

    def uri(self, name):
        return (self.root / "parcels" / name).as_uri()

    def open(self, name):
        text = (self.root / "parcels" / name).read_text()
        self.client.notify("textDocument/didOpen", {"textDocument": {"uri": self.uri(name), "languageId": "go", "version": 1, "text": text}})
        return text

    def said(self, method):
        return [notice["params"] if "params" in notice else None for notice in self.client.notices if notice["method"] == method]

    def until(self, holds):
        deadline = time.monotonic() + 30
        while not (found := holds()):
            self.test.assertLess(time.monotonic(), deadline, self.client.notices)
            try:
                self.client.listen(0.05)
            except NoAnswer:
                pass
        return found

    def judge(self):
        for notice in self.client.notices:
            method, params = notice["method"], notice.get("params")
            self.test.assertIn(method, PARAMS, f"{self.editor} knows no {method}")
            if PARAMS[method] != "undefined":
                SAID.append({"type": PARAMS[method], "of": f"{self.editor}: {method}", "value": params})
            else:
                self.test.assertIsNone(params)
            if method == "textDocument/publishDiagnostics" and not has(self.capabilities, "textDocument.publishDiagnostics.relatedInformation"):
                self.test.assertFalse([one for one in params["diagnostics"] if "relatedInformation" in one])
            if method in NEEDS:
                self.test.assertTrue(has(self.capabilities, NEEDS[method]), f"{self.editor} did not announce {NEEDS[method]}")
            for one in (params or {}).get("registrations", []) if method == "client/registerCapability" else []:
                where = REGISTERED.get(one["method"], one["method"].replace("/", "."))
                self.test.assertTrue(has(self.capabilities, where + ".dynamicRegistration"), f"{self.editor}: {one['method']}")


def line_of(text, part):
    return next(number for number, line in enumerate(text.split("\n")) if part in line)


BEFORE, AFTER = (str(RECORDED / f"{side}-1.pb.gz") for side in ("before", "after"))


class Editors(unittest.TestCase):
    """What each editor would ask, with the positions that it takes and the forms that it knows."""

    def ask_all(self, session):
        can = session.start()
        offered = (session.capabilities.get("general") or {}).get("positionEncodings") or ["utf-16"]
        self.assertEqual(can["positionEncoding"], offered[0])
        text = session.open("batch.go")
        profile = session.command("profd.open", uri=Path(AFTER).as_uri())["profile"]
        before = session.command("profd.open", uri=Path(BEFORE).as_uri())["profile"]
        session.command("profd.select", profile=profile)
        document = {"textDocument": {"uri": session.uri("batch.go")}}
        line = line_of(text, "func parseRow")
        here = {**document, "position": {"line": line, "character": 5}}
        hints = session.ask("textDocument/inlayHint", {**document, "range": {"start": {"line": 0, "character": 0}, "end": {"line": 500, "character": 0}}})
        self.assertTrue(hints)
        if isinstance(can["inlayHintProvider"], dict):
            resolved = session.ask("inlayHint/resolve", hints[0])
            self.assertIn("main.", resolved["tooltip"]["value"])
        pulls = has(session.capabilities, "textDocument.diagnostic") and has(session.capabilities, "workspace.diagnostics.refreshSupport")
        if pulls:
            found = session.ask("textDocument/diagnostic", document)["items"]
        else:
            found = session.until(lambda: [one for params in session.said("textDocument/publishDiagnostics") for one in params["diagnostics"]])
        self.assertEqual(found[0]["code"], "hot")
        hover = session.ask("textDocument/hover", here)
        if "markdown" not in ((session.capabilities.get("textDocument") or {}).get("hover") or {}).get("contentFormat", []):
            self.assertEqual(hover["contents"]["kind"], "plaintext")
        self.assertIn("parseRow", hover["contents"]["value"])
        self.assertIn("parseRow", session.ask("workspace/symbol", {"query": "parserow"})[0]["name"])
        symbols = session.ask("textDocument/documentSymbol", document)
        self.assertIn("main.handleBatch", symbols[0]["name"])
        self.assertEqual("selectionRange" in symbols[0], has(session.capabilities, "textDocument.documentSymbol.hierarchicalDocumentSymbolSupport"))
        actions = session.ask("textDocument/codeAction", {**document, "range": {"start": here["position"], "end": here["position"]}, "context": {"diagnostics": []}})
        titles = [action["title"] for action in actions]
        for title in ("profd: Open in flame graph: main.parseRow", "profd: Who calls main.parseRow", "profd: Where in main.parseRow", "profd: Hot spots",
                      "profd: Compare with before-1.pb.gz"):
            self.assertIn(title, titles)
        self.assertEqual("kind" in actions[0], has(session.capabilities, "textDocument.codeAction.codeActionLiteralSupport"))
        self.assertEqual(can.get("callHierarchyProvider", False), has(session.capabilities, "textDocument.callHierarchy"))
        if can.get("callHierarchyProvider"):
            item = session.ask("textDocument/prepareCallHierarchy", here)[0]
            self.assertEqual(item["name"], "main.parseRow")
            callers = session.ask("callHierarchy/incomingCalls", {"item": item})
            self.assertEqual(callers[0]["from"]["name"], "main.readParcels")
            self.assertEqual(callers[0]["fromRanges"][0]["start"]["line"], line_of(text, "parcels[i] = parseRow("))
            called = session.ask("callHierarchy/outgoingCalls", {"item": callers[0]["from"]})
            self.assertEqual(called[0]["to"]["name"], "main.parseRow")
        for action in actions:
            command = action["command"] if isinstance(action["command"], dict) else action
            if "Who calls" in action["title"] or "Where in" in action["title"] or "Hot spots" in action["title"]:
                session.ask("workspace/executeCommand", {"command": command["command"], "arguments": command["arguments"]})
        self.assertIn("main.checkLegacyCodes -1.32 s (-100 %)", session.command("profd.compare", profile=profile, **{"with": before})["text"])
        shown = session.said("window/showDocument")
        if has(session.capabilities, "window.showDocument.support"):
            session.until(lambda: len(session.said("window/showDocument")) >= 4)
        else:
            self.assertEqual(shown, [])
            session.until(lambda: len(session.said("window/showMessage")) >= 4)
        session.ask("shutdown")


def add_editor(name, editor):
    def test(self):
        self.ask_all(Session(self, params=editor["params"], options={"diagnostics": True}))

    test.__doc__ = f"{editor['editor']} {editor['version']}"
    setattr(Editors, f"test_{name.replace('.', '_')}", test)


for name, editor in EDITORS.items():
    add_editor(name, editor)


class Types(unittest.TestCase):
    """Runs last: all that was said above."""

    def test_every_message_is_one_of_lsp(self):
        self.assertGreaterEqual(len(EDITORS), 10)
        if not VALIDATOR:
            print("PARTLY NOT RUN: LSP's types; node, or the packages of tests/e2e/peers, are not here")
            return
        node, typescript, library = VALIDATOR
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "said.json")
            file.write_text(json.dumps(SAID))
            done = subprocess.run([node, ROOT / "tests/e2e/lsp/validate.cjs", typescript, library, file], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr[:5000])
        print(done.stdout.strip())


if __name__ == "__main__":
    unittest.main()
