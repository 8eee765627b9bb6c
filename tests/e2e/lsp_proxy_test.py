#!/usr/bin/env python3
"""`profd lsp --wrap`: what an editor sees of it, with a real daemon and a wrapped server that is good, bad or gone.

usage: lsp_proxy_test.py PROFD
"""
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from lsp_peer import Ended, Peer
from listening import listens, wait_until_it_listens

PROFD = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "profd"
SERVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lsp_hostile_server.py")
SOURCE = "int work(int n) {\n  int sum = 0;\n  for (int i = 0; i < n; ++i) sum += i;\n  return sum;\n}\n"
PROFILE = "# callgrind format\nevents: Instructions\nfl={source}\nfn=work\n1 10\n3 900\n4 90\n"


class Proxied(unittest.TestCase):
    """A project with a profile in it, a daemon of this test's own, and editors before the proxy."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()
        self.source = self.root / "work.c"
        self.source.write_text(SOURCE)
        (self.root / "cpu.callgrind").write_text(PROFILE.format(source=self.source))
        (self.root / ".profd.toml").write_text('profiles = ["cpu.callgrind"]\n')
        self.socket = str(self.root / "socket")
        self.env = {"PROFD_CACHE": "off", "PROFD_SYMBOLS": "off", "XDG_RUNTIME_DIR": str(self.root)}

    def daemon(self):
        daemon = subprocess.Popen([PROFD, "serve", "--socket", self.socket], stderr=subprocess.DEVNULL, env={**os.environ, **self.env})
        self.addCleanup(lambda: (daemon.poll() is None and daemon.kill(), daemon.wait()))
        wait_until_it_listens(self.socket)
        return daemon

    def editor(self, *argv):
        peer = Peer(argv, self.env)
        self.addCleanup(peer.close)
        return peer

    def proxied(self, what, *options):
        return self.editor(PROFD, "lsp", "--socket", self.socket, "--patience", "60000", *options, "--", sys.executable, SERVER, what)

    def hints(self, editor):
        """Asked for until the profile is there."""
        whole = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
        for _ in range(600):
            found = editor.ask("textDocument/inlayHint", {"textDocument": {"uri": self.source.as_uri()}, "range": whole})["result"]
            if found:
                return found
            time.sleep(0.05)
        raise AssertionError("no hints came")


class WithADaemon(Proxied):
    def test_an_editor_has_the_answers_of_both(self):
        self.daemon()
        editor = self.proxied("")
        hello = editor.initialize(self.root, options={"profd": {"threshold": 0.01}, "theirs": 1})["result"]
        self.assertEqual(hello["serverInfo"], {"name": "hostile"})
        self.assertEqual(hello["options"], {"theirs": 1})
        self.assertTrue(hello["capabilities"]["inlayHintProvider"])
        editor.open(self.source, "c")
        self.assertIn("90.0 %", self.hints(editor)[1]["label"])
        # What the wrapped server refuses stays refused, in its words.
        refused = editor.ask("textDocument/hover", {"textDocument": {"uri": self.source.as_uri()}, "position": {"line": 2, "character": 4}})
        self.assertEqual(refused["error"], {"code": -32601, "message": "not here: textDocument/hover"})
        self.assertEqual(editor.ask("no/such")["error"]["message"], "not here: no/such")
        self.assertIn("Instructions", json.dumps(editor.ask("workspace/executeCommand", {"command": "profd.summary"})["result"]))
        self.assertEqual(editor.ask("seen")["result"],
                         ["initialize", "initialized", "textDocument/didOpen", "textDocument/hover", "no/such", "seen"])
        self.assertIsNone(editor.ask("shutdown")["result"])
        editor.tell("exit")
        self.assertEqual(editor.ending(), (0, ""))

    def test_a_daemon_is_started_where_none_runs(self):
        editor = self.editor(PROFD, "lsp", "--idle-timeout", "1", "--patience", "60000", "--wrap", f"'{sys.executable}' \"{SERVER}\"")
        editor.initialize(self.root)
        editor.open(self.source, "c")
        self.assertTrue(self.hints(editor))
        editor.process.stdin.close()
        self.assertEqual(editor.ending()[0], 0)

    def test_the_wrapped_server_answers_before_a_late_daemon_which_is_registered_then(self):
        self.daemon()
        editor = self.editor(PROFD, "lsp", "--socket", self.socket, "--patience", "0", "--", sys.executable, SERVER)
        refreshes = {"inlayHint": {"refreshSupport": True}}
        hello = editor.initialize(self.root, {"textDocument": {"inlayHint": {"dynamicRegistration": True}}, "workspace": refreshes})["result"]
        if "inlayHintProvider" in hello["capabilities"]:
            return  # it was not late
        editor.open(self.source, "c")
        registered = editor.until(lambda m: m.get("method") == "client/registerCapability" and "inlayHint" in json.dumps(m))
        self.assertEqual(registered["params"]["registrations"][0]["method"], "textDocument/inlayHint")
        editor.until(lambda m: m.get("method") == "workspace/inlayHint/refresh")
        self.assertTrue(self.hints(editor))
        said = [m["params"]["message"] for m in editor.messages if m.get("method") == "window/showMessage"]
        self.assertEqual(len(said), 1)
        self.assertIn("it has none of profd's codeLens", said[0])

    def test_a_daemon_that_says_nothing_holds_up_no_answer(self):
        silent = socket.socket(socket.AF_UNIX)
        self.addCleanup(silent.close)
        silent.bind(self.socket)
        os.chmod(self.socket, 0o600)
        silent.listen()
        editor = self.editor(PROFD, "lsp", "--socket", self.socket, "--", sys.executable, SERVER)
        hello = editor.initialize(self.root)["result"]
        self.assertEqual(hello["capabilities"], {"hoverProvider": True, "textDocumentSync": 2})
        self.assertEqual(editor.ask("echo", {"a": 1})["result"], {"a": 1})
        editor.ask("shutdown")
        editor.tell("exit")
        self.assertEqual(editor.ending()[0], 0)

    def test_diagnostics_that_are_asked_for_are_those_of_both(self):
        self.daemon()
        editor = self.proxied("pulled")
        editor.initialize(self.root, {"textDocument": {"diagnostic": {}}, "workspace": {"diagnostics": {"refreshSupport": True}}},
                          {"profd": {"diagnostics": True}})
        editor.open(self.source, "c")

        def pull(known=None):
            editor.messages.clear()
            return editor.ask("textDocument/diagnostic", {"textDocument": {"uri": self.source.as_uri()},
                                                          **({"previousResultId": known} if known else {})})["result"]

        report = pull()
        while len(report["items"]) == 1:
            editor.until(lambda m: m.get("method") == "workspace/diagnostic/refresh")
            report = pull(report["resultId"])
        self.assertEqual(report["items"][0], {"message": "of the server"})
        self.assertEqual({item["source"] for item in report["items"][1:]}, {"profd"})
        self.assertEqual(pull(report["resultId"])["kind"], "unchanged")
        editor.tell("workspace/didChangeConfiguration", {"settings": {"profd": {"diagnostics": False}}})
        editor.until(lambda m: m.get("method") == "workspace/diagnostic/refresh")
        self.assertEqual(pull(report["resultId"]), {"kind": "full", "items": [{"message": "of the server"}], "resultId": "own"})

    def test_a_daemon_that_dies_costs_one_message_and_comes_back_once(self):
        daemon_socket = self.root / "profd/daemon.sock"
        editor = self.editor(PROFD, "lsp", "--idle-timeout", "5", "--patience", "60000", "--", sys.executable, SERVER)

        def kill_the_daemon():
            wait_until_it_listens(str(daemon_socket))
            pids = subprocess.run(["pgrep", "-f", f"serve --socket {daemon_socket}"], capture_output=True, text=True).stdout.split()
            self.assertEqual(len(pids), 1)
            os.kill(int(pids[0]), signal.SIGKILL)

        def messages():
            return [m["params"]["message"] for m in editor.messages if m.get("method") == "window/showMessage"]

        editor.initialize(self.root)
        editor.open(self.source, "c")
        self.hints(editor)
        kill_the_daemon()
        editor.until(lambda m: m.get("method") == "window/showMessage")
        # The same document, as the editor has it, in the new one.
        self.assertTrue(self.hints(editor))
        self.assertEqual(editor.ask("echo", {"a": 1})["result"], {"a": 1})
        self.assertEqual(messages(), ["profd: the daemon ended; it is started again. Profiles that a command opened are to be opened anew"])
        kill_the_daemon()
        editor.until(lambda m: m.get("method") == "window/showMessage" and "again, so" in m["params"]["message"])
        self.assertEqual(editor.ask("echo", {"a": 2})["result"], {"a": 2})
        end = time.monotonic() + 60
        while listens(str(daemon_socket)):  # the one that was killed, until it is gone
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)
        self.assertEqual(len(messages()), 2)

    def test_a_server_can_be_wrapped_twice(self):
        self.daemon()
        editor = self.editor(PROFD, "lsp", "--socket", self.socket, "--patience", "60000", "--",
                             PROFD, "lsp", "--socket", self.socket, "--patience", "60000", "--", sys.executable, SERVER)
        editor.initialize(self.root)
        editor.open(self.source, "c")
        self.hints(editor)
        self.assertEqual(editor.ask("echo", {"a": 1})["result"], {"a": 1})
        editor.ask("shutdown")
        editor.tell("exit")
        self.assertEqual(editor.ending()[0], 0)

    def test_a_transcript_has_every_message_and_is_private(self):
        self.daemon()
        log = self.root / "said.log"
        editor = self.proxied("", "--log", str(log))
        editor.initialize(self.root)
        editor.ask("echo", {"a": "\u202e\u001b[31m"})
        editor.ask("shutdown")
        editor.tell("exit")
        editor.ending()
        lines = log.read_text().splitlines()
        for way in ("editor > proxy", "proxy > server", "server > proxy", "proxy > editor", "proxy > profd", "profd > proxy"):
            self.assertTrue(any(way in line for line in lines), way)
        self.assertNotIn("\x1b", log.read_text())
        self.assertNotIn("\u202e", log.read_text())
        self.assertEqual(stat.S_IMODE(log.stat().st_mode), 0o600)

    def test_without_a_server_it_is_profd_alone(self):
        self.daemon()
        editor = self.editor(PROFD, "lsp", "--socket", self.socket)
        self.assertEqual(editor.initialize(self.root)["result"]["serverInfo"]["name"], "profd")


class WithoutADaemon(Proxied):
    """`--no-start`, and none runs: the wrapped server is all there is."""

    def proxied(self, what, *options):
        return super().proxied(what, "--no-start", *options)

    def begun(self, what):
        editor = self.proxied(what)
        editor.initialize()
        return editor

    def test_the_wrapped_server_alone_works(self):
        editor = self.begun("")
        self.assertNotIn("inlayHintProvider", editor.messages[0]["result"]["capabilities"])
        self.assertEqual(editor.ask("echo", {"a": [1, None, "é"]})["result"], {"a": [1, None, "é"]})
        said = editor.until(lambda m: m.get("method") == "window/showMessage")["params"]["message"]
        self.assertIn("no daemon, so nothing is measured here", said)

    def test_a_program_that_is_not_there_is_127(self):
        editor = self.editor(PROFD, "lsp", "--socket", self.socket, "--no-start", "--", "/no/such/server", "-x")
        code, said = editor.ending()
        self.assertEqual(code, 127)
        self.assertIn("the wrapped language server cannot be started: /no/such/server: No such file or directory", said)

    def test_command_lines_that_make_no_sense_are_2(self):
        for argv in (["--wrap", "a 'b"], ["--wrap", " "], ["--wrap", "a", "--", "b"], ["--log", "x"], ["clangd"]):
            self.assertEqual(subprocess.run([PROFD, "lsp", *argv], capture_output=True, stdin=subprocess.DEVNULL).returncode, 2, argv)

    def test_its_end_is_told_to_who_waits_and_is_the_end_with_its_code(self):
        for what, expected, how in (("ends", 3, "ended with code 3"), ("killed", 128 + signal.SIGSEGV, "was ended by signal 11"),
                                    ("closes", 128 + signal.SIGTERM, "was ended by signal 15"), ("half", 0, "ended with code 0")):
            with self.subTest(what):
                editor = self.begun(what)
                waiting = editor.begin("echo", {}), editor.begin("other")
                for request in waiting:
                    self.assertIn(how, editor.finish(request)["error"]["message"])
                code, said = editor.ending()
                self.assertEqual(code, expected)
                self.assertIn(how, said)

    def test_a_server_that_ends_before_it_answers_initialize(self):
        editor = self.proxied("ends-at-once")
        self.assertIn("ended with code 5", editor.ask("initialize", {"capabilities": {}})["error"]["message"])
        self.assertEqual(editor.ending()[0], 5)

    def test_what_is_no_message_is_left_out_and_the_rest_arrives(self):
        for what in ("pieces", "huge", "headers", "prints", "nonsense", "stderr", "slow"):
            with self.subTest(what):
                editor = self.begun(what)
                for n in range(2):
                    self.assertEqual(editor.ask("echo", {"n": n})["result"], {"n": n})
                editor.ask("shutdown")
                editor.tell("exit")
                code, said = editor.ending()
                self.assertEqual(code, 0)
                self.assertLess(len(said), 10_000 if what != "stderr" else 2_000_000)
                if what in ("huge", "headers", "prints"):
                    self.assertIn("from server: left out:", said)
                if what == "stderr":
                    self.assertEqual(said.count("the server says this\n"), 40_000)

    def test_ids_that_nobody_knows_are_the_editors_to_judge(self):
        editor = self.begun("ids")
        request = editor.begin("echo", {})
        editor.until(lambda m: m.get("result") == "second")
        self.assertEqual([m["result"] for m in editor.messages if m.get("id") == request], ["first", "second"])

    def test_floods_arrive_whole_and_in_order_at_an_editor_that_reads_late(self):
        editor = self.begun("floods")
        request = editor.begin("echo", {"a": 1})
        self.assertEqual(editor.finish(request)["result"], {"a": 1})
        numbers = [int(m["params"]["message"].split()[0]) for m in editor.messages if m.get("method") == "window/logMessage"]
        self.assertEqual(numbers, list(range(20_000)))

    def test_a_server_that_never_answers_delays_only_its_answer(self):
        editor = self.begun("silent")
        request = editor.begin("echo", {})
        self.assertEqual(editor.ask("seen")["result"], ["initialize", "initialized", "echo", "seen"])
        editor.tell("$/cancelRequest", {"id": request})
        editor.process.stdin.close()
        self.assertEqual(editor.ending()[0], 0)

    def test_an_editor_that_vanishes_or_says_stop_takes_the_server_along(self):
        for stop in ("stdin", signal.SIGTERM, signal.SIGINT):
            with self.subTest(stop):
                editor = self.begun("")
                server = int(subprocess.run(["pgrep", "-P", str(editor.process.pid)], capture_output=True, text=True, check=True).stdout)
                if stop == "stdin":
                    editor.process.stdin.close()
                else:
                    editor.process.send_signal(stop)
                editor.ending()
                self.assertFalse(os.path.exists(f"/proc/{server}"))

    def test_nonsense_of_an_editor_is_left_out(self):
        editor = self.begun("")
        editor.raw(b"GET / HTTP/1.1\r\n\r\nContent-Length: x\r\n\r\n")
        editor.raw(b"Content-Length: 8\r\n\r\n{\"id\":7}")
        self.assertEqual(editor.ask("echo", {"a": 1})["result"], {"a": 1})


class HostileBesideADaemon(Proxied):
    def test_what_a_wrapped_server_floods_harms_neither_the_daemon_nor_another_editor(self):
        self.daemon()
        other = self.proxied("")
        other.initialize(self.root)
        other.open(self.source, "c")
        self.hints(other)
        for what in ("diagnostics", "registers", "nonsense", "ids"):
            with self.subTest(what):
                editor = self.proxied(what)
                editor.initialize(self.root)
                editor.open(self.source, "c")
                editor.ask("echo", {})
                self.assertTrue(self.hints(editor))
                editor.process.kill()
                self.assertTrue(self.hints(other))

    def test_a_registration_that_the_editor_asks_for_already_is_answered_here(self):
        self.daemon()
        editor = self.proxied("registers")
        editor.initialize(self.root)
        editor.ask("echo", {})
        self.assertNotIn("client/registerCapability", [m.get("method") for m in editor.messages])


if __name__ == "__main__":
    unittest.main(verbosity=1)
