#!/usr/bin/env python3
"""One daemon and everybody on it: what they share, what a clumsy or hostile one of them costs the others, and how it ends.

usage: shared_daemon_test.py PROFD
"""
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from listening import listens
from lsp_peer import Ended, Peer

PROFD = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "profd"
SERVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lsp_hostile_server.py")
SOURCE = "int work(int n) {\n  int sum = 0;\n  for (int i = 0; i < n; ++i) sum += i;\n  return sum;\n}\n"
PROFILE = "# callgrind format\nevents: Instructions\nfl={source}\nfn=work\n1 10\n3 900\n4 90\n"
SHARES = {"profd": {"protocolVersion": 1, "selection": True, "profileChanged": True}}


class Shared(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()
        self.source = self.root / "work.c"
        self.source.write_text(SOURCE)
        self.profile = self.root / "cpu.callgrind"
        self.profile.write_text(PROFILE.format(source=self.source))
        self.socket = str(self.root / "profd/daemon.sock")
        self.env = {"PROFD_CACHE": "off", "PROFD_SYMBOLS": "off", "XDG_RUNTIME_DIR": str(self.root)}
        self.addCleanup(self.end_daemons)

    def daemons(self):
        found = subprocess.run(["pgrep", "-f", f"serve --socket {self.socket}"], capture_output=True, text=True)
        return [int(pid) for pid in found.stdout.split()]

    def end_daemons(self):
        for pid in self.daemons():
            os.kill(pid, signal.SIGKILL)

    def editor(self, *argv):
        peer = Peer([PROFD, *(argv or ("connect", "--idle-timeout", "2"))], self.env)
        self.addCleanup(peer.close)
        return peer

    def wrapped(self):
        return self.editor("lsp", "--idle-timeout", "2", "--patience", "60000", "--", sys.executable, SERVER)

    def three_editors(self):
        editors = [self.editor(), self.editor(), self.wrapped()]
        for editor in editors:
            editor.initialize(self.root, SHARES)
        return editors

    def query(self, *requests):
        done = subprocess.run([PROFD, "query", "--no-start", *requests], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              env={**os.environ, **self.env}, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def open(self, editor):
        return editor.ask("profile/open", {"uri": self.profile.as_uri()})["result"]["profile"]

    def hover(self, editor):
        answer = editor.ask("textDocument/hover", {"textDocument": {"uri": self.source.as_uri()}, "position": {"line": 2, "character": 3}})
        return json.dumps(answer.get("result"))


class Together(Shared):
    def test_three_editors_and_a_script_share_a_profile_and_a_selection(self):
        editors = self.three_editors()
        handles = [self.open(editor) for editor in editors]
        self.assertEqual(len(self.daemons()), 1)
        self.assertEqual(len(set(handles)), 1)
        [listed] = self.query("profile/list")
        self.assertEqual([p["profile"] for p in listed["profiles"]], handles[:1])
        # The script chooses, the editors are told; one of them chooses, the others are.
        chosen = {"selection": {"profile": handles[0], "function": "work"}}
        self.query("profile/open", json.dumps({"uri": self.profile.as_uri()}), "selection/set", json.dumps(chosen))
        for editor in editors:
            told = editor.until(lambda m: m.get("method") == "selection/changed")
            self.assertEqual(told["params"]["selection"]["uri"], self.source.as_uri())
            editor.messages.clear()
        editors[2].ask("selection/set", {"selection": None})
        for editor in editors[:2]:
            told = editor.until(lambda m: m.get("method") == "selection/changed")
            self.assertIsNone(told["params"]["selection"])

    def test_a_daemon_ends_when_the_last_has_gone_and_none_came(self):
        editors = self.three_editors()
        [daemon] = self.daemons()
        for editor in editors:
            self.assertTrue(listens(self.socket))
            editor.ask("shutdown")
            editor.tell("exit")
            self.assertEqual(editor.ending()[0], 0)
        end = time.monotonic() + 60
        while self.daemons():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)
        self.assertFalse(os.path.exists(self.socket))
        self.assertTrue(daemon)

    def test_a_daemon_that_dies_is_told_to_each_and_one_takes_its_place(self):
        first, second, proxied = self.three_editors()
        [daemon] = self.daemons()
        os.kill(daemon, signal.SIGKILL)
        # A connection ends, as a language server does that crashed: the editor starts it again.
        for editor in (first, second):
            code, said = editor.ending()
            self.assertEqual(code, 1)
            self.assertEqual(len(said.splitlines()), 1, said)
            self.assertTrue("the daemon ended" in said or "connection to the daemon broke" in said, said)
        proxied.until(lambda m: m.get("method") == "window/showMessage")
        end = time.monotonic() + 60
        while daemon in self.daemons():  # until it is gone
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)
        again = [self.editor(), self.editor()]
        for editor in again:
            editor.initialize(self.root, SHARES)
        self.assertEqual(len({self.open(editor) for editor in again}), 1)
        self.assertEqual(len(self.daemons()), 1)
        self.assertNotEqual(self.daemons(), [daemon])
        self.assertEqual([m["params"]["message"] for m in proxied.messages if m.get("method") == "window/showMessage"],
                         ["profd: the daemon ended; it is started again. Profiles that a command opened are to be opened anew"])

    def test_a_daemon_of_another_version_is_told_apart(self):
        path = str(self.root / "other.sock")
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(path)
            listening.listen()

            def answer():
                """Of each connection the first request: `initialize`."""
                for result in ({"profiles": []}, None):
                    connection, _ = listening.accept()
                    with contextlib.suppress(OSError), connection, connection.makefile("rwb") as stream:
                        n = 0
                        while line := stream.readline():
                            size = int(line.split(b":")[1])
                            stream.readline()
                            message = json.loads(stream.read(size))
                            if "id" not in message:
                                continue
                            n += 1
                            hello = {"capabilities": {}, "serverInfo": {"name": "profd", "version": "99.0"}}
                            body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": hello if n == 1 else result}).encode()
                            stream.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
                            stream.flush()

            threading.Thread(target=answer, daemon=True).start()
            asked = subprocess.run([PROFD, "query", "--no-start", "--socket", path, "profile/list"], capture_output=True, text=True,
                                   stdin=subprocess.DEVNULL, timeout=60)
            self.assertIn("the daemon that runs is profd 99.0, this is profd ", asked.stderr)
            editor = self.editor("lsp", "--no-start", "--socket", path, "--", sys.executable, SERVER)
            editor.initialize(self.root)
            said = editor.until(lambda m: m.get("method") == "window/showMessage")["params"]["message"]
            self.assertIn("the daemon that runs is profd 99.0, this is profd ", said)


class Clumsy(Shared):
    """A client that does what it should not; afterwards another one, which was there all the time, has its answer."""

    def setUp(self):
        super().setUp()
        self.other = self.editor()
        self.other.initialize(self.root)
        self.open(self.other)
        self.other.open(self.source, "c")
        self.answer = self.hover(self.other)
        self.assertIn("work", self.answer)
        self.clumsy = self.editor()

    def tearDown(self):
        self.assertEqual(self.hover(self.other), self.answer)
        self.assertEqual(len(self.daemons()), 1)

    def begun(self):
        self.clumsy.initialize(self.root)
        self.open(self.clumsy)
        return self.clumsy

    def test_bytes_that_are_no_text_are_refused_and_the_next_message_is_answered(self):
        client = self.begun()
        for body in (b"\xff\xfe\x00\x00", b'{"jsonrpc":"2.0","id":"x","method":"\xc3\x28"}', b'{"jsonrpc":"2.0","id":"y","method":"\\ud800"}',
                     b'"', b"{}", b"[]", b"null", b"[" * 100_000):
            client.raw(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        client.tell("textDocument/didOpen", {"textDocument": {"uri": self.source.as_uri(), "languageId": "c", "version": 1, "text": "\ud800\x00 \udfff"}})
        self.assertEqual(len(client.ask("profile/list")["result"]["profiles"]), 1)

    def test_edits_out_of_order_and_out_of_the_text_cost_its_own_document_alone(self):
        client = self.begun()
        document = {"uri": self.source.as_uri()}

        def change(version, *changes):
            client.tell("textDocument/didChange", {"textDocument": {**document, "version": version}, "contentChanges": list(changes)})

        def at(line, character, to_line, to_character, text="x"):
            return {"range": {"start": {"line": line, "character": character}, "end": {"line": to_line, "character": to_character}}, "text": text}

        change(1, at(0, 0, 0, 0))  # before it is open
        client.tell("textDocument/didClose", {"textDocument": document})
        client.open(self.source, "c")
        client.open(self.source, "c")
        change(9, at(4_000_000_000, 4_000_000_000, 4_000_000_000, 4_000_000_000))
        change(2, at(3, 0, 1, 0))  # the end before the beginning
        change(-1, at(-1, 0, 0, 0))
        change(3, {"text": 7}, {"range": None, "text": ""}, {})
        client.tell("textDocument/didSave", {"textDocument": {"uri": "file:///no/such"}})
        client.tell("textDocument/didClose", {"textDocument": document})
        client.tell("textDocument/didClose", {"textDocument": document})
        client.open(self.source, "c")
        self.assertIn("work", self.hover(client))

    def test_floods_are_answered_or_refused_one_by_one(self):
        client = self.begun()
        ask = {"textDocument": {"uri": self.source.as_uri()}, "position": {"line": 2, "character": 3}}
        asked = [client.begin("textDocument/hover", ask) for _ in range(3000)]
        for request in asked[::2]:
            client.tell("$/cancelRequest", {"id": request})
        self.assertEqual(self.hover(self.other), self.answer)
        for request in asked:
            answer = client.finish(request)
            self.assertTrue("result" in answer or answer["error"]["code"] in (-32800, -32802), answer)

    def test_half_a_message_and_an_end_leave_nothing(self):
        for rest in (b"Content-Length: 100\r\n\r\n{\"jsonrpc\":", b"Content-Le", b"Content-Length: 70000000000\r\n\r\n{", b"\r\n" * 1000):
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(self.socket)
                client.sendall(rest)
        self.begun()

    def test_who_vanishes_with_work_to_do_leaves_the_daemon_to_others(self):
        for _ in range(5):
            client = self.editor()
            client.initialize(self.root)
            client.begin("profile/open", {"uri": self.profile.as_uri()})
            for _ in range(50):
                client.begin("view/flameGraph", {"viewport": {"width": 1000}})
            client.process.kill()
        self.begun()
        [listed] = self.query("profile/list")
        self.assertEqual(len(listed["profiles"]), 1)

    def test_who_says_nothing_or_begins_in_the_middle_is_refused(self):
        self.assertIn("error", self.clumsy.ask("profile/list"))
        self.clumsy.tell("initialized")
        self.begun()
        self.assertIn("error", self.clumsy.ask("initialize", {"capabilities": {}}))
        self.clumsy.ask("shutdown")
        self.assertIn("error", self.clumsy.ask("profile/list"))
        self.clumsy.tell("exit")
        self.assertRaises(Ended, lambda: [self.clumsy.take() for _ in range(1000)])


if __name__ == "__main__":
    unittest.main(verbosity=1)
