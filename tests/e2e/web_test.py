#!/usr/bin/env python3
"""The daemon over HTTP and WebSocket, as a browser, another page and an attacker find it. Usage: web_test.py PROFD"""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))

from listening import wait_until_it_listens
from other_user import as_another_user
from psp_client import Client, connect_unix
from web_client import Answer, WebSocket, ask_http, open_web_socket, read_answer

PROFD = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "profd"
FOLDED = b"main;parse 60\nmain;draw 40\n"


class Stream:
    """An editor on the daemon's own socket."""

    def __init__(self, path: str):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(path)
        self.stream, self.next_id = self.sock.makefile("rb"), 1

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self.stream.close()
        self.sock.close()

    def send(self, message: dict) -> None:
        body = json.dumps(dict(message, jsonrpc="2.0")).encode()
        self.sock.sendall(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    def tell(self, method: str, params: dict) -> None:
        self.send({"method": method, "params": params})

    def ask(self, method: str, params: dict) -> dict:
        request_id, self.next_id = self.next_id, self.next_id + 1
        self.send({"id": request_id, "method": method, "params": params})
        while True:
            length = 0
            while (line := self.stream.readline().strip()):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            message = json.loads(self.stream.read(length))
            if message.get("id") == request_id and "method" not in message:
                return message


def messages_that_name_places(model: dict) -> set[str]:
    """Of clients: those with a URI somewhere in their parameters, or with anything at all."""
    types = {one["name"]: one for kind in ("structures", "typeAliases") for one in model[kind]}

    def names(given: dict, seen: frozenset[str]) -> bool:
        name = given.get("name", "")
        if given["kind"] == "base":
            return name in ("URI", "DocumentUri")
        if given["kind"] == "reference":
            if name.startswith("LSPAny"):
                return True
            one = types.get(name) if name not in seen else None
            inner = [] if one is None else [p["type"] for p in one.get("properties", [])] + one.get("extends", []) + one.get("mixins", [])
            inner += [] if one is None or "type" not in one else [one["type"]]
            return any(names(part, seen | {name}) for part in inner)
        inner = given.get("items", []) + [given[part] for part in ("element", "value") if part in given]
        return any(names(part, seen) for part in inner if isinstance(part, dict))

    return {m["method"] for m in model["requests"] + model["notifications"]
            if m["messageDirection"] != "serverToClient" and "params" in m and names(m["params"], frozenset())}


class Web(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        cls.runtime = os.path.join(cls.folder.name, "run")
        cls.work = os.path.join(cls.folder.name, "work")
        os.mkdir(cls.runtime, 0o700)
        os.mkdir(cls.work)
        cls.environment = dict(os.environ, XDG_RUNTIME_DIR=cls.runtime)
        cls.socket_path = os.path.join(cls.folder.name, "daemon.sock")
        cls.log = os.path.join(cls.folder.name, "log")
        cls.daemon = subprocess.Popen([PROFD, "serve", "--socket", cls.socket_path, "--log", cls.log],
                                      env=cls.environment)
        wait_until_it_listens(cls.socket_path)
        cls.profile = os.path.join(cls.work, "cpu.folded")
        with open(cls.profile, "wb") as out:
            out.write(FOLDED)
        # Takes 40 s: it waits beside the other tests.
        cls.deaf, cls.deaf_since = cls().session(), time.time()

    @classmethod
    def tearDownClass(cls) -> None:
        # Ended while a page is there and has files: nothing of them remains.
        test = cls()
        page = test.session()
        page.ask("upload/begin", {"name": "a", "size": 1})
        cls.daemon.terminate()
        code = cls.daemon.wait(20)
        page.close()
        left = os.listdir(os.path.join(cls.runtime, "profd", "uploads"))
        cls.folder.cleanup()
        if code != 0 or left:
            raise AssertionError(f"the daemon ended with {code} and left {left}")

    def page(self, **params) -> dict:
        done = subprocess.run([PROFD, "query", "--socket", self.socket_path, "web/address", json.dumps(params)],
                              cwd=self.work, env=self.environment, capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def parts(self, address: str) -> tuple[int, dict[str, list[str]]]:
        url = urllib.parse.urlsplit(address)
        return url.port, urllib.parse.parse_qs(url.fragment)

    def connect(self) -> tuple[int, socket.socket]:
        port, _ = self.parts(self.page()["address"])
        return port, socket.create_connection(("127.0.0.1", port), timeout=30)

    def request(self, method: str = "GET", target: str = "/", body: bytes = b"", **headers: str) -> Answer:
        port, sock = self.connect()
        with sock:
            return self.request_on(sock, port, method, target, body, **headers)

    def request_on(self, sock, port: int, method: str, target: str, body: bytes = b"", **headers: str) -> Answer:
        sent = {k.replace("_", "-"): v.replace("PORT", str(port)) for k, v in headers.items()}
        return ask_http(sock, port, method, target, body, sent)

    def handshake(self, token: str | None, **headers: str) -> tuple[Answer, WebSocket | None]:
        port, sock = self.connect()
        return open_web_socket(sock, port, token, {k.replace("_", "-"): v.replace("PORT", str(port)) for k, v in headers.items()})

    def token(self) -> str:
        return self.parts(self.page()["address"])[1]["t"][0]

    def session(self, roots: list[str] = []) -> WebSocket:
        answer, page = self.handshake(self.token())
        self.assertEqual(answer.status, 101)
        page.begin(roots)
        return page

    # -- the page

    def test_the_page_is_static_and_carries_every_header(self) -> None:
        for target in ("/", "/psp", "/nothing", "/../../etc/passwd", "/%2e%2e/etc/passwd", "//etc/passwd"):
            answer = self.request(target=target)
            self.assertEqual(answer.status, 200 if target == "/" else 404, target)
            policy = answer["Content-Security-Policy"]
            self.assertTrue(policy.startswith("default-src 'none';"), policy)
            for part in ("base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"):
                self.assertIn(part, policy)
            self.assertNotIn("unsafe", policy)
            for name, value in (("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
                                ("Cache-Control", "no-store"), ("Cross-Origin-Opener-Policy", "same-origin"),
                                ("Cross-Origin-Resource-Policy", "same-origin")):
                self.assertEqual(answer[name], value)
            for name, _ in answer.headers:
                self.assertFalse(name.lower().startswith("access-control"), name)
                self.assertNotEqual(name.lower(), "set-cookie")
            self.assertNotIn(self.token().encode(), answer.body)

    def test_head_has_a_length_and_no_body(self) -> None:
        port, sock = self.connect()
        with sock:
            head = self.request_on(sock, port, "HEAD", "/")
            whole = self.request_on(sock, port, "GET", "/")  # on the same connection
            self.assertEqual(int(head["Content-Length"]), len(whole.body))

    def test_other_methods_and_paths_are_small_answers(self) -> None:
        for method, target, status in (("POST", "/", 405), ("OPTIONS", "/", 405), ("DELETE", "/token", 405),
                                       ("GET", "/token", 405), ("POST", "/psp", 405), ("GET", "*", 404),
                                       ("GET", "http://127.0.0.1/", 404)):
            answer = self.request(method, target)
            self.assertEqual(answer.status, status, (method, target))
            self.assertLess(len(answer.body), 200)

    # -- who is let in

    def test_other_names_and_other_pages_are_refused(self) -> None:
        refused = [{"Host": "evil.com"}, {"Host": "evil.com:PORT"}, {"Host": "127.0.0.1.evil.com:PORT"}, {"Host": "-"},
                   {"Host": "localhost.:PORT"}, {"Origin": "null"}, {"Origin": "http://evil.com"},
                   {"Origin": "http://127.0.0.1:1"}, {"Origin": "http://localhost:PORT"},
                   {"Origin": "https://127.0.0.1:PORT"}, {"Sec_Fetch_Site": "cross-site"},
                   {"Sec_Fetch_Site": "same-site"},
                   {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "iframe"}]
        for headers in refused:
            self.assertEqual(self.request(**headers).status, 403, headers)
        self.assertEqual(self.request(Host="localhost:9").status, 200)  # a forwarded port
        self.assertEqual(self.request(Host="[::1]:PORT", Origin="http://[::1]:PORT").status, 200)
        self.assertEqual(self.request(Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="navigate",
                                      Sec_Fetch_Dest="document").status, 200)

    def test_a_header_that_comes_twice_is_refused(self) -> None:
        port, sock = self.connect()
        with sock:
            sock.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nHost: evil.com\r\n\r\n" % port)
            self.assertIn(read_answer(sock.makefile("rb")).status, (400, 403))

    def test_a_web_socket_needs_the_token_and_its_own_page(self) -> None:
        token = self.token()
        for wrong in (None, "", "x", token[:-1], token + "A", token.swapcase(), "A" * 43):
            self.assertEqual(self.handshake(wrong)[0].status, 401, wrong)
        # A code is no token.
        self.assertEqual(self.handshake(self.parts(self.page()["once"])[1]["c"][0])[0].status, 401)
        for headers in ({"Origin": "null"}, {"Origin": "http://evil.com"}, {"Origin": "http://127.0.0.1:1"},
                        {"Origin": "http://evil.com:PORT", "Host": "evil.com:PORT"}, {"Sec_Fetch_Site": "same-site"},
                        {"Sec_Fetch_Site": "cross-site"}, {"Host": "evil.com:PORT"}):
            self.assertEqual(self.handshake(token, **headers)[0].status, 403, headers)
        self.assertEqual(self.handshake(None, Cookie=f"t={token}", Authorization=f"Bearer {token}")[0].status, 401)
        for headers in ({}, {"Origin": "-"}, {"Host": "localhost:9", "Origin": "http://localhost:9"},
                        {"Sec_Fetch_Site": "same-origin"}):
            answer, page = self.handshake(token, **headers)
            self.assertEqual(answer.status, 101, headers)
            self.assertEqual(answer["Sec-WebSocket-Protocol"], "profd.v1")
            page.close()

    def test_a_code_gives_the_token_once(self) -> None:
        code = self.parts(self.page()["once"])[1]["c"][0]
        self.assertEqual(self.request("POST", "/token").status, 401)
        self.assertEqual(self.request("POST", "/token", Authorization="Code wrong").status, 401)
        self.assertEqual(self.request("POST", "/token", Authorization=f"Bearer {code}").status, 401)
        self.assertEqual(self.request("POST", "/token", Authorization=f"Code {code}", Sec_Fetch_Site="same-site").status, 403)
        answer = self.request("POST", "/token", Authorization=f"Code {code}", Origin="http://127.0.0.1:PORT")
        self.assertEqual((answer.status, json.loads(answer.body)), (200, {"token": self.token()}))
        again = self.request("POST", "/token", Authorization=f"Code {code}")
        self.assertEqual(again.status, 401)
        self.assertIn(b"profd view", again.body)

    def test_no_secret_is_in_the_log(self) -> None:
        once = self.parts(self.page()["once"])[1]["c"][0]
        self.handshake("wrong-token-of-somebody")
        with open(self.log, encoding="utf-8") as log:
            text = log.read()
        for secret in (self.token(), once, "wrong-token-of-somebody"):
            self.assertNotIn(secret, text)

    # -- sessions

    def test_a_text_frame_is_a_message_of_the_protocol(self) -> None:
        page = self.session()
        opened = page.ask("profile/open", {"uri": "file://" + self.profile})
        profile = opened["result"]["profile"]
        flame = page.ask("view/flameGraph", {"profile": profile, "spec": "top-down by function", "viewport": {"width": 1000}})
        self.assertEqual(flame["result"]["names"], ["all", "main", "draw", "parse"])
        self.assertEqual(page.ask("profile/nothing", {})["error"]["code"], -32601)
        # It is told neither the token nor where others find the page.
        self.assertIn("profd view", page.ask("web/address", {})["error"]["message"])
        page.send_frame(b"this is not JSON")
        opcode, payload = page.receive_frame()
        self.assertEqual((opcode, json.loads(payload)["error"]["code"]), (1, -32700))
        page.close()

    def test_a_large_message_and_what_follows_keep_their_order(self) -> None:
        page = self.session()
        page.send_frame(json.dumps({"jsonrpc": "2.0", "id": 77, "method": "view/search",
                                    "params": {"pattern": "x", "spec": "y" * 300_000}}).encode())
        page.send_frame(json.dumps({"jsonrpc": "2.0", "id": 78, "method": "profile/list", "params": {}}).encode())
        ids = []
        while len(ids) < 2:
            opcode, payload = page.receive_frame()
            message = json.loads(payload)
            if opcode == 1 and "id" in message:
                ids.append(message["id"])
        self.assertEqual(ids, [77, 78])
        page.close()

    def test_pages_name_no_roots_but_those_of_who_asked_for_the_address(self) -> None:
        address = self.page()["address"]
        self.assertEqual(self.parts(address)[1]["root"], ["file://" + self.work])
        page = self.session(["file://" + self.work, "file:///etc"])
        text = page.ask("source/text", {"textDocument": {"uri": "file://" + self.profile}})
        self.assertEqual(text["result"]["text"], FOLDED.decode())
        refused = page.ask("source/text", {"textDocument": {"uri": "file:///etc/passwd"}})
        self.assertEqual(refused["error"]["data"]["reason"], "notFound")
        page.close()

    def test_a_page_plays_a_stream_and_records_into_no_file(self) -> None:
        stream = Path(__file__).resolve().parents[2] / "formats/plive/testdata/losses.plive"
        page = self.session()
        played = page.ask("live/attach", {"replay": stream.as_uri(), "speed": 0})["result"]["session"]["session"]
        out = os.path.join(self.work, "written.plive")
        refused = page.ask("live/control", {"session": played, "operation": "record", "text": "file://" + out})
        self.assertIn("a page records into no file", refused["error"]["message"])
        self.assertFalse(os.path.exists(out))
        page.close()

    def test_a_page_starts_no_recording_and_opens_none(self) -> None:
        ran = os.path.join(self.work, "ran")
        place = os.path.join(self.work, ".profd/recordings/20260101T000000Z-touch")
        os.makedirs(place)
        self.addCleanup(shutil.rmtree, os.path.join(self.work, ".profd"))
        with open(os.path.join(place, "meta.json"), "w") as out:
            json.dump({"argv": ["touch", ran], "cwd": self.work, "tool": "perf", "profile": "cpu.folded"}, out)
        shutil.copy(self.profile, os.path.join(place, "cpu.folded"))
        self.page()
        page = self.session(["file://" + self.work])
        for command in ("profd.record", "profd.recordAgain"):
            refused = page.ask("workspace/executeCommand", {"command": command, "arguments": [{"command": ["touch", ran]}]})
            self.assertIn("error", refused)
        for method in ("recording/start", "recording/again", "profd/record"):
            self.assertEqual(page.ask(method, {"command": ["touch", ran]})["error"]["code"], -32601)
        [listed] = page.ask("recording/list", {})["result"]["recordings"]
        self.assertEqual((listed["command"], listed["own"]), ("touch " + ran, False))
        self.assertEqual([one for one in page.ask("profile/list", {})["result"]["profiles"] if "touch" in one["uri"]], [])
        self.assertFalse(os.path.exists(ran))
        page.close()

    def test_a_page_names_no_folder_and_no_mapping_by_any_message(self) -> None:
        secret = os.path.join(self.folder.name, "secret")
        os.makedirs(os.path.join(secret, "build"), exist_ok=True)
        for name in ("key.txt", "build/key.txt"):
            with open(os.path.join(secret, name), "w") as out:
                out.write("the secret\n")
        profile = os.path.join(self.work, "paths.folded")
        with open(profile, "w") as out:
            out.write("main (/build/key.txt:1);f (%s/key.txt:1) 3\n" % secret)
        file, folder = "file://" + os.path.join(secret, "key.txt"), "file://" + secret
        mappings = [{"from": "/build", "to": secret}, {"from": "/", "to": folder}]
        folders = [{"uri": folder, "name": "f"}]
        document = {"uri": file, "languageId": "c", "version": 1, "text": "open\n"}

        def first(**params) -> dict:
            return {"initialize": [dict({"capabilities": {}}, **params)]}

        # What names a place, in every message that has one: method -> parameters, one session an entry.
        nowhere = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}
        tries = [
            first(workspaceFolders=folders), first(rootUri=folder), first(rootPath=secret),
            first(rootUri=folder, rootPath=secret, workspaceFolders=folders),
            first(workspaceFolders=[{"uri": "file:///", "name": "/"}, {"uri": "file://%s/../secret" % self.work, "name": "f"}]),
            first(workspaceFolders=[{"uri": "file://%s/" % self.work, "name": "w"}] + folders),
            first(initializationOptions={"pathMappings": mappings}),
            first(initializationOptions={"profd": {"pathMappings": mappings}}),
            first(initializationOptions={"workspaceFolders": folders, "rootUri": folder, "map": mappings}),
            first(capabilities={"experimental": {"pathMappings": mappings},
                                "workspace": {"workspaceFolders": True, "configuration": True}}),
            {"workspace/didChangeConfiguration": [{"settings": {"pathMappings": mappings}}]},
            {"workspace/didChangeConfiguration": [{"settings": {"profd": {"pathMappings": mappings}}}]},
            {"workspace/didChangeWorkspaceFolders": [{"event": {"added": folders, "removed": []}}]},
            {"workspace/didChangeWatchedFiles": [{"changes": [{"uri": file, "type": 1}]}]},
            {"textDocument/didOpen": [{"textDocument": document}],
             "textDocument/didChange": [{"textDocument": {"uri": file, "version": 2}, "contentChanges": [{"text": "changed\n"}]}],
             "textDocument/didSave": [{"textDocument": {"uri": file}}]},
            {"textDocument/didOpen": [{"textDocument": document}], "textDocument/didClose": [{"textDocument": {"uri": file}}]},
            {method: [{"textDocument": {"uri": file}, "position": {"line": 0, "character": 0}, "line": 0,
                       "range": {"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}}}]
             for method in ("textDocument/hover", "source/hover", "textDocument/inlayHint", "textDocument/codeLens",
                            "source/annotations", "source/disassembly", "source/functions", "source/text", "view/hotspots", "view/ranges",
                            "textDocument/foldingRange", "textDocument/definition", "textDocument/prepareCallHierarchy",
                            "textDocument/documentSymbol", "textDocument/diagnostic", "textDocument/documentLink",
                            "textDocument/documentHighlight")},
            {"textDocument/codeAction": [{"textDocument": {"uri": file}, "context": {"diagnostics": []},
                                          "range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}}],
             "inlayHint/resolve": [{"position": {"line": 0, "character": 0}, "label": [{"value": "1", "location": {"uri": file, "range": nowhere}}],
                                    "data": {"profile": "p1", "revision": 1, "uri": file, "line": 0}}],
             **{method: [{"item": {"name": "main", "kind": 12, "uri": file, "range": nowhere, "selectionRange": nowhere,
                                   "data": {"profile": "p1", "revision": 1, "key": key}}} for key in (0, 1)]
                for method in ("callHierarchy/incomingCalls", "callHierarchy/outgoingCalls")}},
            {"workspace/textDocumentContent": [{"uri": uri} for uri in (file, "profd-asm:/p1/key.txt%2B0x10/" + file, "profd:/p1/within/main.md",
                                                                       "profd:/p1/hotspots.md")],
             "codeLens/resolve": [{"range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}},
                                   "data": {"profile": "p1", "function": "main", "uri": file}}]},
            {"profile/open": [{"uri": "file://" + profile}, {"uri": folder}]},
            {"profile/diff": [{"before": [{"uri": "file://" + profile}], "after": [{"uri": folder}]}],
             "profile/aggregate": [{"of": [{"uri": folder}, {"uri": file}]}], "profile/join": [{"of": [{"uri": folder}]}]},
            {"profile/recordedAgain": [{"before": uri} for uri in (folder, file)]},
            {"profile/export": [{"format": "folded", "uri": "file://" + self.work + "/exported", "options": {"root": folder}}]},
            {"workspace/executeCommand": [{"command": name, "arguments": [given]}
                                          for name in ("profd.goto", "profd.callers", "profd.within", "profd.assembly", "profd.openInBrowser",
                                                       "profd.open")
                                          for given in ({"function": "main", "uri": folder, "root": folder}, folder)]},
            {"profile/symbolize": [{"directories": [folder]}, {"files": [{"module": "main", "uri": file}]}]},
            {"selection/set": [{"selection": {"profile": "", "function": "main", "uri": file, "file": file[7:]}}]},
            {"source/outside": [{"path": path, "allow": folder} for path in (secret + "/key.txt", "/build/key.txt")]},
            {"analysis/run": [{"name": "x", "text": "print(1)", "of": [{"uri": uri}]} for uri in (folder, file)]},
            {"live/attach": [{"replay": uri} for uri in (folder, file)]},
            {"web/address": [{"open": [folder], "roots": [folder]}]},
            {"$/progress": [{"token": 1, "value": {"workspaceFolders": folders}}]},
        ]
        tried = {method for one in tries for method in one}
        model = json.loads((Path(__file__).resolve().parents[2] / "protocol/psp.json").read_text())
        self.assertLessEqual(messages_that_name_places(model), tried, "a message that nothing tries here")

        def begin(one: dict) -> WebSocket:
            answer, page = self.handshake(self.token())
            self.assertEqual(answer.status, 101)
            params = one.get("initialize", [{"capabilities": {}, "workspaceFolders": [{"uri": "file://" + self.work, "name": "w"}]}])
            page.ask("initialize", params[0])
            page.tell("initialized", {})
            return page

        for one in tries:
            page = begin(one)
            page.ask("profile/open", {"uri": "file://" + profile})
            for method, all_params in one.items():
                for params in all_params if method != "initialize" else []:
                    page.tell(method, params) if method.startswith(("textDocument/did", "workspace/did", "$/")) else page.ask(method, params)
            # Answers to what was never asked, as to a pull of the configuration.
            for number in ("1", '"profd-1"', '"configuration"'):
                page.send_frame(b'{"jsonrpc":"2.0","id":%s,"result":[%s]}' % (number.encode(), json.dumps({"pathMappings": mappings}).encode()))
            for wanted in ({"textDocument": {"uri": file}}, {"path": "/build/key.txt"}, {"path": secret + "/key.txt"}):
                text = page.ask("source/text", wanted)
                self.assertIn("error", text, one)
                self.assertNotIn("the secret", json.dumps(text), one)
            if "textDocument/didOpen" not in one:  # what is open may be jumped to, and is the page's own text
                self.assertEqual(page.ask("source/resolve", {"path": "/build/key.txt"})["result"]["candidates"], [], one)
            page.close()
        # An editor may, so the tries would have found it.
        with Stream(self.socket_path) as editor:
            editor.ask("initialize", tries[6]["initialize"][0])
            editor.tell("initialized", {})
            self.assertEqual(editor.ask("source/text", {"textDocument": {"uri": file}})["result"]["text"], "the secret\n")

    def test_a_page_shows_what_its_user_said_yes_to_and_names_no_folder(self) -> None:
        outside = os.path.realpath(tempfile.mkdtemp(dir=self.folder.name))
        texts = {"lib/a.py": "a", "lib/b.py": "b", "lib/c.txt": "c", "lib/.env": "key", "other/d.py": "d", ".ssh/e.py": "e"}
        for name, text in texts.items():
            path = os.path.join(outside, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as out:
                out.write(text)
        os.symlink(os.path.join(outside, ".ssh/e.py"), os.path.join(outside, "lib/link.py"))
        named = [os.path.join(outside, name) for name in (*texts, "lib/link.py") if name != "lib/b.py"] + ["/etc/passwd", "/etc/shadow"]
        profile = os.path.join(self.work, "outside.speedscope.json")
        with open(profile, "w") as out:
            frames = [{"name": f"f{i}", "file": file, "line": 1} for i, file in enumerate(named)]
            samples = [[i] for i in range(len(named))]
            json.dump({"$schema": "https://www.speedscope.app/file-format-schema.json", "shared": {"frames": frames},
                       "profiles": [{"type": "sampled", "name": "p", "unit": "none", "startValue": 0, "endValue": len(named),
                                     "samples": samples, "weights": [1] * len(named)}]}, out)

        def at(name: str) -> str:
            return os.path.join(outside, name)

        page, other = self.session(["file://" + self.work]), self.session(["file://" + self.work])
        handle = page.ask("profile/open", {"uri": "file://" + profile})["result"]["profile"]
        self.assertEqual(other.ask("profile/open", {"uri": "file://" + profile})["result"]["profile"], handle)

        def ask(method: str, by: WebSocket = page, **params: object) -> dict:
            return by.ask(method, {"profile": handle, **params})

        def text(path: str, by: WebSocket = page) -> str | None:
            whole = by.ask("source/text", {"textDocument": {"uri": "file://" + path}})
            part = by.ask("source/text", {"profile": handle, "path": path})
            return next((each["result"]["text"] for each in (whole, part) if "result" in each), None)

        self.assertIsNone(text(at("lib/a.py")))
        question = ask("source/outside", path=at("lib/a.py"))["result"]
        self.assertEqual((question["root"], question["allowed"]), ("file://" + at("lib"), False))
        self.assertIsNone(text(at("lib/a.py")), "a question opens nothing")
        # The folder is the daemon's word, and only files that the profile names are asked about.
        for path, folder in ((at("lib/a.py"), outside), (at("lib/a.py"), "/"), (at("lib/a.py"), "/etc"), (at("lib/b.py"), at("lib")),
                             (at("lib/c.txt"), at("lib")), (at("lib/.env"), at("lib")), (at("lib/link.py"), at("lib")),
                             (at(".ssh/e.py"), at(".ssh")), ("/etc/passwd", "/etc"), ("/etc/shadow", "/etc")):
            self.assertIn("error", ask("source/outside", path=path, allow="file://" + folder), path)
            self.assertIsNone(text(path), path)
        self.assertTrue(ask("source/outside", path=at("lib/a.py"), allow="file://" + at("lib"))["result"]["allowed"])
        self.assertEqual((text(at("lib/a.py")), text(at("lib/b.py"))), ("a", "b"))
        for name in ("lib/c.txt", "lib/.env", "lib/link.py", "other/d.py", ".ssh/e.py"):
            self.assertIsNone(text(at(name)), name)
        self.assertIsNone(text(at("lib/a.py"), other), "another page was not asked")
        page.close()
        other.close()

    def test_a_page_is_shown_sources_of_so_many_folders(self) -> None:
        outside = os.path.realpath(tempfile.mkdtemp(dir=self.folder.name))
        files = [os.path.join(outside, str(i), "a.py") for i in range(65)]
        for path in files:
            os.mkdir(os.path.dirname(path))
            Path(path).write_text("a")
        page = self.session(["file://" + self.work])
        profile = os.path.join(self.work, "many.speedscope.json")
        Path(profile).write_text(json.dumps({
            "$schema": "https://www.speedscope.app/file-format-schema.json",
            "shared": {"frames": [{"name": path, "file": path, "line": 1} for path in files]},
            "profiles": [{"type": "sampled", "name": "p", "unit": "none", "startValue": 0, "endValue": len(files),
                          "samples": [[i] for i in range(len(files))], "weights": [1] * len(files)}]}))
        handle = page.ask("profile/open", {"uri": "file://" + profile})["result"]["profile"]
        said = [page.ask("source/outside", {"profile": handle, "path": path, "allow": "file://" + os.path.dirname(path)})
                for path in files]
        self.assertTrue(all(one["result"]["allowed"] for one in said[:64]))
        self.assertEqual(said[64]["error"]["data"]["reason"], "limit")
        page.close()

    def test_who_has_the_token_gets_codes_for_it_and_nobody_else(self) -> None:
        token = self.token()
        for headers in ({}, {"Authorization": "Token wrong"}, {"Authorization": f"Code {token}"}, {"Authorization": f"Bearer {token}"}):
            self.assertEqual(self.request("POST", "/code", **headers).status, 401, headers)
        self.assertEqual(self.request("POST", "/code", Authorization=f"Token {token}", Sec_Fetch_Site="same-site").status, 403)
        self.assertEqual(self.request("POST", "/code", Authorization=f"Token {token}", Origin="http://127.0.0.1:1").status, 403)
        self.assertEqual(self.request("GET", "/code", Authorization=f"Token {token}").status, 405)
        code = json.loads(self.request("POST", "/code", Authorization=f"Token {token}").body)["code"]
        self.assertNotIn(token, code)
        self.assertEqual(json.loads(self.request("POST", "/token", Authorization=f"Code {code}").body), {"token": token})
        self.assertEqual(self.request("POST", "/token", Authorization=f"Code {code}").status, 401)

    def test_view_takes_from_a_link_what_is_looked_at_and_nothing_that_lets_in(self) -> None:
        place = "view=bottom-up+by+module&tab=flat&zoom=1a.2b&search=a%26b"
        link = f"http://127.0.0.1:1/#t=mine&c=code&root=file:///etc&open={urllib.parse.quote('file://' + self.profile)}&{place}&x=1"
        done = subprocess.run([PROFD, "view", "--no-open", "--socket", self.socket_path, link],
                              cwd=self.work, env=self.environment, capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        port, given = self.parts(done.stdout.decode().strip())
        self.assertNotEqual(port, 1)
        self.assertEqual(given["t"], [self.token()])
        self.assertEqual((given["open"], given["root"]), (["file://" + self.profile], ["file://" + self.work]))
        wanted = {"view": ["bottom-up by module"], "tab": ["flat"], "zoom": ["1a.2b"], "search": ["a&b"]}
        self.assertEqual({key: given[key] for key in wanted}, wanted)
        self.assertEqual(set(given) - set(wanted), {"t", "open", "root"})

    def test_a_page_gets_no_other_address(self) -> None:
        page = self.session()
        self.assertIn("error", page.ask("web/address", {}))
        page.close()

    def test_pages_get_64_folders_of_the_address(self) -> None:
        self.page()
        folders = [os.path.join(self.folder.name, "many", str(i)) for i in range(70)]
        for folder in folders:
            os.makedirs(folder, exist_ok=True)
        with Stream(self.socket_path) as editor:
            editor.ask("initialize", {"capabilities": {}, "workspaceFolders": [{"uri": "file://" + f, "name": "f"} for f in folders]})
            address = editor.ask("web/address", {})["result"]["address"]
        self.assertEqual(len(self.parts(address)[1]["root"]), 63)  # and the one of all other tests

    def test_another_users_connection_does_not_redeem_a_code(self) -> None:
        address = self.page()["once"]
        port, secret = self.parts(address)[0], self.parts(address)[1]["c"][0]

        def redeem() -> str:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
            connection.request("POST", "/token", headers={"Authorization": "Code " + secret})
            return str(connection.getresponse().status)

        theirs = as_another_user(redeem)
        if theirs is not None:
            self.assertEqual(theirs, "401")
            self.assertEqual(redeem(), "200")

    def test_an_upload_opens_like_a_file_and_goes_with_its_page(self) -> None:
        page = self.session()
        upload = page.ask("upload/begin", {"name": "dropped.folded", "size": len(FOLDED)})["result"]["upload"]
        page.ask("upload/piece", {"upload": upload, "offset": 0, "base64": base64.b64encode(FOLDED).decode()})
        uri = page.ask("upload/end", {"upload": upload})["result"]["uri"]
        path = urllib.parse.unquote(uri[len("file://"):])
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        opened = page.ask("profile/open", {"uri": uri, "options": {"watch": False}})["result"]
        self.assertEqual(opened["summary"]["name"], "dropped.folded")
        self.assertTrue(path.startswith(self.runtime))
        page.close()
        deadline = time.time() + 20
        while os.path.exists(path) and time.time() < deadline:
            time.sleep(0.02)
        self.assertFalse(os.path.exists(path))
        # A page that is loaded anew is another one.
        page = self.session()
        self.assertRegex(page.ask("profile/open", {"uri": uri})["error"]["message"], r"^dropped\.folded: was sent by .*drop it again")
        page.close()

    def test_the_thread_that_talks_to_pages_reads_and_writes_no_file(self) -> None:
        counts = Path(f"/proc/{self.daemon.pid}/task/{self.daemon.pid}/io")
        if not counts.exists():
            print("PARTLY NOT RUN: the system does not count what a thread reads")
            return

        def moved() -> int:  # by calls that read and write; sockets have others
            fields = dict(line.split(": ") for line in counts.read_text().splitlines())
            return int(fields["rchar"]) + int(fields["wchar"])

        page = self.session()
        piece = base64.b64encode(FOLDED * 20_000).decode()  # 520 KB
        begin = moved()
        size = 0
        upload = page.ask("upload/begin", {"name": "large.folded", "size": 8 * 20_000 * len(FOLDED)})["result"]["upload"]
        for _ in range(8):
            size = page.ask("upload/piece", {"upload": upload, "offset": size, "base64": piece})["result"]["received"]
        uri = page.ask("upload/end", {"upload": upload})["result"]["uri"]
        self.assertIn("result", page.ask("profile/open", {"uri": uri}))
        for target in ("/", "/app.js", "/nothing", "/../../etc/passwd"):
            self.request(target=target)
        self.request("POST", "/token", Authorization="Code " + "x" * 22)
        page.close()
        self.assertLess(moved() - begin, 64 << 10)

    def test_the_page_finds_open_what_the_address_names(self) -> None:
        opened = subprocess.run(
            [PROFD, "query", "--socket", self.socket_path, "profile/open", json.dumps({"uri": "file://" + self.profile}),
             "web/address", json.dumps({"open": ["file://" + self.profile]})],
            env=self.environment, capture_output=True, timeout=60)
        first, address = [json.loads(line) for line in opened.stdout.splitlines()]
        page = self.session()
        again = page.ask("profile/open", {"uri": self.parts(address["address"])[1]["open"][0]})["result"]
        self.assertEqual((again["profile"], again["alreadyOpen"]), (first["profile"], True))
        page.close()

    # -- bounds

    def test_a_giant_message_ends_the_connection_before_it_is_taken(self) -> None:
        page = self.session()
        page.send_frame(b"", length=65 << 20)
        opcode, payload = page.receive_frame()
        self.assertEqual((opcode, struct.unpack(">H", payload[:2])[0]), (8, 1009))
        page.close()

    def test_what_is_no_text_ends_the_connection(self) -> None:
        for frame, opcode in ((b"\x00\x01", 2), (b"\xff\xfe", 1)):
            page = self.session()
            page.send_frame(frame, opcode)
            try:
                while page.receive_frame()[0] != 8:
                    pass
            except (ValueError, ConnectionError):
                pass  # closed
            page.close()

    def test_headers_and_bodies_are_bounded(self) -> None:
        self.assertEqual(self.request(X="y" * 20_000).status, 431)
        self.assertEqual(self.request("POST", "/token", body=b"x" * 2000).status, 413)
        port, sock = self.connect()
        with sock:
            sock.sendall(b"\x16\x03\x01 this is TLS\r\n\r\n")
            self.assertEqual(read_answer(sock.makefile("rb")).status, 400)

    def test_slow_headers_and_idle_sockets_are_closed(self) -> None:
        port, slow = self.connect()
        idle = socket.create_connection(("127.0.0.1", port), timeout=30)
        begun = time.time()
        slow.sendall(b"GET / HTTP/1.1\r\n")
        slow.settimeout(1)
        closed = False
        while not closed and time.time() - begun < 25:
            try:
                slow.sendall(b"X: y\r\n")
                closed = slow.recv(1) == b""
            except socket.timeout:
                pass
            except OSError:
                closed = True
        self.assertTrue(closed)
        self.assertLess(time.time() - begun, 20)
        self.assertEqual(idle.recv(1), b"")
        slow.close()
        idle.close()

    def test_z_a_web_socket_that_does_not_answer_pings_is_closed(self) -> None:
        self.deaf.sock.settimeout(60)
        opcodes = []
        with contextlib.suppress(OSError, ValueError):
            while True:
                opcodes.append(self.deaf.receive_frame()[0])
        self.assertIn(9, opcodes)
        self.assertGreater(time.time() - self.deaf_since, 30)
        self.assertLess(time.time() - self.deaf_since, 60)

    def test_many_connections_are_bounded_and_leave_the_others_alone(self) -> None:
        page = self.session()
        port, first = self.connect()
        sockets = [first]
        for _ in range(160):
            sockets.append(socket.create_connection(("127.0.0.1", port), timeout=30))
        turned_away = 0
        for sock in sockets:
            sock.settimeout(0.05)
            try:
                turned_away += sock.recv(1) == b""
            except socket.timeout:
                pass
            except OSError:
                turned_away += 1
        self.assertGreaterEqual(turned_away, 30)
        self.assertIn("result", page.ask("profile/list", {}))
        # Those that are still open and say nothing keep no page out.
        for _ in range(130):
            sockets.append(socket.create_connection(("127.0.0.1", port), timeout=30))
        self.session().close()
        for sock in sockets:
            sock.close()
        page.close()
        time.sleep(0.2)
        self.assertEqual(self.request().status, 200)

    # -- the command

    def test_view_prints_the_address_and_gives_the_opener_a_code(self) -> None:
        if not self.page()["hasPage"]:
            done = self.view("--no-open", self.profile)
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"without the views", done.stderr)
            print("PARTLY NOT RUN: profd view: this profd has no page")
            return
        opened = os.path.join(self.folder.name, "opened")
        tools = os.path.join(self.folder.name, "bin")
        os.makedirs(tools, exist_ok=True)
        for name in ("xdg-open", "open"):
            with open(os.path.join(tools, name), "w", encoding="utf-8") as out:
                out.write(f'#!/bin/sh\nprintf %s "$1" > "{opened}"\n')
            os.chmod(os.path.join(tools, name), 0o755)
        environment = {"PATH": tools + os.pathsep + os.environ["PATH"], "DISPLAY": ":99"}
        done = self.view("--view", "bottom-up by function", "cpu.folded", environment=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        address = done.stdout.decode().strip()
        _, printed = self.parts(address)
        self.assertEqual(printed["open"], ["file://" + self.profile])
        self.assertEqual(printed["view"], ["bottom-up by function"])
        with open(opened, encoding="utf-8") as file:
            _, given = self.parts(file.read())
        self.assertNotIn("t", given)
        self.assertEqual(given["open"], printed["open"])
        answer = self.request("POST", "/token", Authorization=f"Code {given['c'][0]}")
        self.assertEqual(json.loads(answer.body)["token"], printed["t"][0])
        os.remove(opened)
        self.assertEqual(self.view("--no-open", "cpu.folded", environment=environment).returncode, 0)
        self.assertFalse(os.path.exists(opened))

    def test_view_says_which_file_cannot_be_read(self) -> None:
        done = self.view("--no-open", "nothing.pprof")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"nothing.pprof", done.stderr)

    def view(self, *arguments: str, environment: dict[str, str] = {}) -> subprocess.CompletedProcess:
        return subprocess.run([PROFD, "view", "--socket", self.socket_path, *arguments], cwd=self.work,
                              env={**self.environment, **environment}, capture_output=True, timeout=60)


class Killed(unittest.TestCase):
    """A daemon that died without a word."""

    def serve(self, folder: str, name: str) -> tuple[subprocess.Popen, str]:
        path = os.path.join(folder, name + ".sock")
        daemon = subprocess.Popen([PROFD, "serve", "--socket", path, "--log", os.path.join(folder, name + ".log")],
                                  env=dict(os.environ, XDG_RUNTIME_DIR=folder))
        self.addCleanup(lambda: (daemon.kill(), daemon.wait()))
        self.soon("the daemon starts", lambda: os.path.exists(path))
        return daemon, path

    def soon(self, what: str, holds) -> None:
        deadline = time.time() + 60
        while not holds():
            self.assertLess(time.time(), deadline, what)
            time.sleep(0.02)

    def test_what_a_killed_daemon_left_goes_when_the_next_one_starts(self) -> None:
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        uploads = os.path.join(folder, "profd", "uploads")

        def upload(path: str) -> None:
            client = Client.of_socket(connect_unix(Path(path)))
            self.addCleanup(client.close)
            client.initialize(None, "uploads", timeout_s=60)
            self.assertIsNone(client.request("upload/begin", {"name": "a.folded", "size": 10}, 60).error)

        killed, path = self.serve(folder, "killed")
        upload(path)
        dead = os.listdir(uploads)
        self.assertEqual(len(dead), 1)
        _, path = self.serve(folder, "living")
        upload(path)
        living = [name for name in os.listdir(uploads) if name not in dead]
        killed.kill()
        killed.wait()
        self.assertIn(dead[0], os.listdir(uploads))
        self.serve(folder, "next")
        self.soon("it is removed", lambda: dead[0] not in os.listdir(uploads))
        self.assertEqual(os.listdir(uploads), living)


if __name__ == "__main__":
    unittest.main(verbosity=1)
