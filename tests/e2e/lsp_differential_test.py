#!/usr/bin/env python3
"""One editing session with a language server, with and without `profd lsp` before it: everything that is not profd's is the same.

The servers are clangd on the C builder, gopls on the Go builder and typescript-language-server on a part of the views; what is not
installed is not run.

usage: lsp_differential_test.py PROFD
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

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from listening import wait_until_it_listens
from lsp_peer import Peer

PROFD = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "profd"
ROOT = Path(__file__).resolve().parents[2]
METHOD_NOT_FOUND = -32601
PROFD_ALONE = {"hints", "lenses", "actions", "prepared", "links", "highlight"}  # where the wrapped server has none
BETWEEN_HOVERS = "\n\n---\n\n"
CAPABILITIES = {
    "general": {"positionEncodings": ["utf-8", "utf-16"]},
    "window": {"workDoneProgress": True},
    "workspace": {"configuration": True, "didChangeWatchedFiles": {"dynamicRegistration": True}, "inlayHint": {"refreshSupport": True},
                  "diagnostics": {"refreshSupport": True}},
    "textDocument": {
        "hover": {"contentFormat": ["markdown", "plaintext"]}, "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
        "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix", "refactor"]}}, "dataSupport": True},
        "completion": {"completionItem": {"snippetSupport": True, "documentationFormat": ["markdown"]}},
        "publishDiagnostics": {"versionSupport": True}, "diagnostic": {"relatedDocumentSupport": True}, "callHierarchy": {}, "inlayHint": {}, "rename": {}, "codeLens": {},
        "semanticTokens": {"requests": {"full": True}, "tokenTypes": ["function", "variable"], "tokenModifiers": [], "formats": ["relative"]},
    },
}


def node():
    own = ROOT / "build/node/bin/node"
    return str(own) if own.exists() else shutil.which("node")


def place(line, character):
    return {"line": line, "character": character}


class Session:
    """What an editor does with one file, and what came back, by what was done."""

    def __init__(self, editor, root, file, language, options):
        self.editor, self.file, self.language = editor, file, language
        self.uri = file.as_uri()
        self.text = file.read_text()
        self.version = 1
        self.said = {"initialize": editor.initialize(root, CAPABILITIES, options)}
        editor.open(file, language)

    def ask(self, name, method, **params):
        self.said[name] = self.editor.ask(method, {"textDocument": {"uri": self.uri}, **params})

    def at(self, needle, offset=0):
        before = self.text[: self.text.index(needle) + offset]
        return place(before.count("\n"), len(before.rsplit("\n", 1)[-1].encode()))

    def diagnostics(self, name):
        """Of this version of the document, or of no version that is told: then after it settled."""
        def wanted(message):
            params = message.get("params")
            return (message.get("method") == "textDocument/publishDiagnostics" and params["uri"] == self.uri
                    and params.get("version", self.version) == self.version)
        self.said[name] = [d for d in self.editor.until(wanted)["params"]["diagnostics"] if d.get("source") != "profd"]

    def edit(self, needle, text):
        start = self.at(needle)
        self.text = self.text.replace(needle, text, 1)
        self.version += 1
        self.editor.messages.clear()
        end = place(start["line"], start["character"] + len(needle.encode()))
        self.editor.tell("textDocument/didChange", {"textDocument": {"uri": self.uri, "version": self.version},
                                                    "contentChanges": [{"range": {"start": start, "end": end}, "text": text}]})

    def questions(self, name, line, symbol):
        """All that editors ask of a place: a name in a line."""
        at = {"position": self.at(line, line.index(symbol))}
        whole = {"start": place(0, 0), "end": place(self.text.count("\n"), 0)}
        for short, method, params in (
                ("hover", "textDocument/hover", at), ("definition", "textDocument/definition", at),
                ("references", "textDocument/references", {**at, "context": {"includeDeclaration": True}}),
                ("highlight", "textDocument/documentHighlight", at), ("symbols", "textDocument/documentSymbol", {}),
                ("folds", "textDocument/foldingRange", {}), ("tokens", "textDocument/semanticTokens/full", {}),
                ("links", "textDocument/documentLink", {}),
                ("actions", "textDocument/codeAction", {"range": {"start": at["position"], "end": at["position"]}, "context": {"diagnostics": []}}),
                ("completion", "textDocument/completion", at), ("signature", "textDocument/signatureHelp", at),
                ("rename", "textDocument/rename", {**at, "newName": "renamed"}),
                ("selection", "textDocument/selectionRange", {"positions": [at["position"]]}),
                ("hints", "textDocument/inlayHint", {"range": whole}), ("lenses", "textDocument/codeLens", {}),
                ("prepared", "textDocument/prepareCallHierarchy", at), ("pulled", "textDocument/diagnostic", {}),
                ("unknown", "no/suchMethod", {}), ("no document", "textDocument/definition", {"textDocument": {"uri": "file:///none"}, **at})):
            self.ask(f"{name} {short}", method, **params)
        prepared = [item for item in self.said[f"{name} prepared"].get("result") or [] if not is_profds(item)]
        for item in prepared:
            self.said[f"{name} callers"] = self.editor.ask("callHierarchy/incomingCalls", {"item": item})
        self.said[f"{name} workspace"] = self.editor.ask("workspace/symbol", {"query": symbol})
        cancelled = self.editor.begin("textDocument/completion", {"textDocument": {"uri": self.uri}, **at})
        self.editor.tell("$/cancelRequest", {"id": cancelled})
        self.editor.finish(cancelled)  # answered or refused, as it comes

    def end(self):
        self.editor.tell("textDocument/didClose", {"textDocument": {"uri": self.uri}})
        self.said["shutdown"] = self.editor.ask("shutdown")
        self.editor.tell("exit")
        self.said["exit code"] = self.editor.ending()[0]
        return self.said


def is_profds(item):
    return isinstance(item.get("data"), dict) and "profdProxy" in item["data"] or "profd" in json.dumps(item.get("command", ""))


def without_profd(name, answer):
    """An answer without what profd put into it; how much that was."""
    answer = json.loads(json.dumps(answer))
    if not isinstance(answer, dict):
        return answer, 0
    answer.pop("id", None)
    result = answer.get("result")
    kind = name.split(" ", 1)[-1]
    if kind == "hover" and isinstance(result, dict) and isinstance(result.get("contents"), dict):
        value = result["contents"]["value"]
        result["contents"]["value"] = value.split(BETWEEN_HOVERS + "**")[0]
        return answer, int(result["contents"]["value"] != value)
    if kind in ("hints", "lenses", "symbols", "workspace", "prepared", "actions", "links", "highlight") and isinstance(result, list):
        left = [item for item in result if not is_profds(item) and "profd" not in json.dumps(item.get("tooltip", ""))
                and "%" not in str(item.get("name", "")) and "%" not in str(item.get("detail", ""))]
        answer["result"] = left
        return answer, len(result) - len(left)
    return answer, 0


class Differential(unittest.TestCase):
    maxDiff = 4000

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve() / "project"
        self.root.mkdir()
        self.socket = str(Path(folder.name) / "socket")
        self.env = {"PROFD_CACHE": "off", "PROFD_SYMBOLS": "off"}

    def profile(self, file, function, first, n):
        """Every one of these lines costs something."""
        costs = "".join(f"{first + i} {10 + i}\n" for i in range(n))
        (self.root / "cpu.callgrind").write_text(f"# callgrind format\nevents: Instructions\nfl={file}\nfn={function}\n{costs}")
        (self.root / ".profd.toml").write_text('profiles = ["cpu.callgrind"]\n')

    def daemon_with_the_profile(self):
        daemon = subprocess.Popen([PROFD, "serve", "--socket", self.socket], stderr=subprocess.DEVNULL, env={**os.environ, **self.env})
        self.addCleanup(lambda: (daemon.kill(), daemon.wait()))
        wait_until_it_listens(self.socket)

    def session(self, argv, file, language, steps, options=None):
        editor = Peer(argv, self.env, cwd=self.root, answers={"workspace/configuration": lambda params: [None] * len(params["items"])})
        self.addCleanup(editor.close)
        session = Session(editor, self.root, file, language, options)
        steps(session)
        return session.end()

    def compare(self, argv, file, language, steps, options=None):
        self.daemon_with_the_profile()
        alone = self.session(argv, file, language, steps, options)

        def measured(session):
            self.wait_for_profd(session)
            steps(session)
        both = self.session([PROFD, "lsp", "--socket", self.socket, "--patience", "60000", "--", *argv], file, language, measured, options)
        self.assertEqual(list(alone), list(both))
        theirs, ours = alone.pop("initialize")["result"], both.pop("initialize")["result"]
        self.compare_capabilities(theirs, ours)
        n_added = {}
        for name, answer in alone.items():
            with self.subTest(name):
                left, n_added[name] = without_profd(name, both[name])
                if isinstance(answer, dict) and answer.get("error", {}).get("code") == METHOD_NOT_FOUND and name.split()[-1] in PROFD_ALONE \
                        and "error" not in left:
                    continue
                alone_in_it = without_profd(name, answer)[0]
                if n_added[name] and left == {**alone_in_it, "result": []} and alone_in_it.get("result") is None:
                    continue  # nothing of its own, and the list is all profd's
                self.assertEqual(alone_in_it, left)
        return n_added

    def wait_for_profd(self, session):
        for _ in range(600):
            answer = session.editor.ask("workspace/executeCommand", {"command": "profd.summary"})
            if "result" in answer:
                return
            time.sleep(0.05)
        self.fail("the profile was not opened")

    def compare_capabilities(self, theirs, ours):
        self.assertEqual(theirs.get("serverInfo"), ours.get("serverInfo"))
        theirs, ours = theirs["capabilities"], ours["capabilities"]
        merged = {"executeCommandProvider", "codeLensProvider", "codeActionProvider", "textDocumentSync", "workspace", "experimental"}
        for key, value in theirs.items():
            if key not in merged:
                self.assertEqual(ours[key], value, key)
        commands = theirs.get("executeCommandProvider", {}).get("commands", [])
        self.assertEqual(ours["executeCommandProvider"]["commands"][: len(commands)], commands)
        self.assertIn("profd.open", ours["executeCommandProvider"]["commands"])

    def test_clangd(self):
        clangd = shutil.which("clangd") or shutil.which("clangd-14")
        if clangd is None:
            return print("PARTLY NOT RUN: clangd behind profd lsp: it is not installed", flush=True)
        for name in ("profd_builder.c", "profd_builder.h"):
            shutil.copy(ROOT / "builders/c" / name, self.root)
        file = self.root / "profd_builder.c"
        file.write_text(file.read_text().replace('"builders/c/profd_builder.h"', '"profd_builder.h"'))
        (self.root / "compile_flags.txt").write_text("-std=c11\n-Wall\n")
        lines = file.read_text().split("\n")
        function = next(i for i, line in enumerate(lines) if line.startswith("static") and line.endswith("{"))
        symbol = lines[function].split("(")[0].split()[-1].lstrip("*")
        self.profile(file, symbol, function + 1, 4)

        def steps(session):
            session.diagnostics("diagnostics")
            session.questions("before", lines[function], symbol)
            session.edit("#include", "int /* é€ */ broken = \"x\";\n#include")
            session.diagnostics("diagnostics of an edit")
            session.questions("after", lines[function], symbol)
        added = self.compare([clangd, "--background-index=false", "-j=1", "--log=error"], file, "c", steps)
        for name in ("before hover", "after hover", "before workspace"):
            self.assertGreater(added[name], 0, f"profd has no part in {name}: {added}")

    def test_gopls(self):
        gopls = shutil.which("gopls")
        if gopls is None or shutil.which("go") is None:
            return print("PARTLY NOT RUN: gopls behind profd lsp: it is not installed", flush=True)
        for source in (ROOT / "builders/go").glob("*.go"):
            shutil.copy(source, self.root)
        shutil.copy(ROOT / "builders/go/go.mod", self.root)
        file = self.root / "builder.go"
        lines = file.read_text().split("\n")
        function = next(i for i, line in enumerate(lines) if line.startswith("func ") and len(lines[i + 1].strip()) > 1)
        symbol = lines[function].split("(")[-2 if lines[function].startswith("func (") else 0].split()[-1]
        self.profile(file, symbol, function + 1, 3)

        def steps(session):
            session.questions("before", lines[function], symbol)
            session.edit("package ", "// é€\npackage ")
            session.questions("after", lines[function], symbol)
        # Which of the many that a name is like it finds in the standard library is another each time.
        added = self.compare([gopls], file, "go", steps, {"pullDiagnostics": True, "symbolScope": "workspace"})
        for name in ("before hover", "after hover"):
            self.assertGreater(added[name], 0, f"profd has no part in {name}: {added}")

    def test_typescript_language_server(self):
        server = ROOT / "tests/e2e/peers/node_modules/typescript-language-server/lib/cli.mjs"
        typescript = ROOT / "clients/shared/ts/node_modules/typescript/lib"
        if node() is None or not server.exists() or not typescript.exists():
            return print("PARTLY NOT RUN: typescript-language-server behind profd lsp: its packages are not installed", flush=True)
        for source in (ROOT / "clients/web/src/state").glob("*.ts"):
            shutil.copy(source, self.root)
        (self.root / "tsconfig.json").write_text('{"compilerOptions":{"strict":true,"module":"esnext","target":"es2022","moduleResolution":"bundler"}}')
        file = self.root / "spec.ts"
        lines = file.read_text().split("\n")
        function = next(i for i, line in enumerate(lines) if line.startswith(("export function", "function")))
        symbol = lines[function].split("function ")[1].split("(")[0].split("<")[0]
        self.profile(file, symbol, function + 1, 3)

        def steps(session):
            session.questions("before", lines[function], symbol)
            session.edit("export function", "// é€\nexport function")
            session.questions("after", lines[function], symbol)
        added = self.compare([node(), str(server), "--stdio"], file, "typescript", steps,
                             {"tsserver": {"path": str(typescript)}, "disableAutomaticTypingAcquisition": True})
        for name in ("before hover", "after hover", "after hints"):
            self.assertGreater(added[name], 0, f"profd has no part in {name}: {added}")


if __name__ == "__main__":
    unittest.main(verbosity=1)
