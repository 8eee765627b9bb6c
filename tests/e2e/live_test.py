#!/usr/bin/env python3
"""Live sessions end to end: programs that dial in, recordings, what is refused, methods that lose their probes.

usage: live_test.py PROFD
"""
import importlib.util
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROFD = os.path.abspath(sys.argv.pop(1))
FIXTURE = os.path.join(ROOT, "tests/fixtures/live/tetris.plive")
MS = 1_000_000


def by_hand():
    spec = importlib.util.spec_from_file_location("by_hand", os.path.join(ROOT, "tests/fixtures/record/plive-by-hand.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


HAND = by_hand()


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


class Live(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.environment = dict(os.environ, PROFD_CACHE="off", NO_COLOR="1", XDG_RUNTIME_DIR=self.folder.name)

    def start(self, *options):
        live = subprocess.Popen([PROFD, "live", "--once", "--json", *options], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, env=self.environment, cwd=self.folder.name)

        def end():
            live.kill()
            live.communicate()

        self.addCleanup(end)
        told = live.stderr.readline().decode()
        self.assertIn("waiting for a program", told)
        given = dict(part.split("=", 1) for part in told.split() if "=" in part)
        return live, given

    def dial(self, given):
        where = given["PROFD_LIVE"]
        if where.startswith("unix:"):
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(where[5:])
        else:
            connection = socket.create_connection(("127.0.0.1", int(where.rsplit(":", 1)[1])))
        connection.settimeout(20)
        self.addCleanup(connection.close)
        return connection

    def message(self, connection):
        """(type, payload), or None at the end."""
        head = b""
        while len(head) < 2 or head[-1] >= 128:
            byte = connection.recv(1)
            if not byte:
                return None
            head += byte
        length, _ = varint(head, 1)
        payload = b""
        while len(payload) < length:
            payload += connection.recv(length - len(payload))
        return head[0], payload

    def picture(self, live, code=0):
        out, err = live.communicate(timeout=60)
        self.assertEqual(live.returncode, code, err.decode())
        return json.loads(out)

    def replayed(self, path):
        return json.loads(subprocess.run([PROFD, "live", "--once", "--json", "--replay", path], env=self.environment, capture_output=True,
                                         check=True, timeout=60).stdout)

    def test_a_program_is_shown_as_its_recording_is(self):
        recording = os.path.join(self.folder.name, "game.plive")
        live, given = self.start("--record", recording)
        where = given["PROFD_LIVE"][5:]
        self.assertEqual(os.stat(where).st_mode & 0o777, 0o600)
        connection = self.dial(given)
        with open(FIXTURE, "rb") as file:
            sent = file.read()
        connection.sendall(sent[:300])
        kind, payload = self.message(connection)
        self.assertEqual((kind, payload[:2]), (2, bytes([1, 50])))
        for at in range(300, len(sent), 7000):
            connection.sendall(sent[at:at + 7000])
        shown = self.picture(live)
        expected = self.replayed(FIXTURE)
        self.assertEqual(shown, expected)
        with open(recording, "rb") as file:
            self.assertEqual(file.read(), sent)
        self.assertEqual(os.stat(recording).st_mode & 0o777, 0o600)
        self.assertFalse(os.path.exists(where))

    def test_what_was_read_of_a_program_that_is_killed_is_kept(self):
        live, given = self.start()
        connection = self.dial(given)
        stream = HAND.Stream("killed")
        stream.enter(1, 0, 1)
        stream.tick(4000 * MS)
        connection.sendall(stream.out + b"\x07\x7f")
        self.message(connection)
        connection.close()
        shown = self.picture(live)
        self.assertEqual([(m["most_ns"], m["calls"]) for m in shown["methods"]], [(3000 * MS, 0)])

    def test_a_program_of_less_than_a_tenth_of_a_second_is_shown(self):
        live, given = self.start()
        connection = self.dial(given)
        stream = HAND.Stream("short")
        stream.enter(1, 0, 1)
        stream.exit(1, 30 * MS)
        stream.bye(40 * MS)
        connection.sendall(stream.out)
        self.message(connection)
        shown = self.picture(live)
        self.assertEqual([(m["most_ns"], m["calls"]) for m in shown["methods"]], [(30 * MS, 1)])
        self.assertEqual(shown["time_ns"], 40 * MS)

    def test_who_brings_no_token_or_no_stream_is_told_why(self):
        live, given = self.start("--tcp")
        with open(given["PROFD_LIVE_TOKEN_FILE"], encoding="utf-8") as file:
            token = file.read().strip()
        self.assertEqual(os.stat(given["PROFD_LIVE_TOKEN_FILE"]).st_mode & 0o777, 0o600)

        def auth(text):
            return b"\x10" + HAND.varint(len(HAND.text(text))) + HAND.text(text)

        stream = HAND.Stream("demo", "c")
        stream.enter(1, 0, 1)
        stream.bye(500 * MS)
        for begin, why, words in ((auth("x" * len(token)), 2, b"PROFD_LIVE_TOKEN_FILE"), (b"", 2, b"PROFD_LIVE_TOKEN_FILE")):
            connection = self.dial(given)
            connection.sendall(begin + stream.out)
            kind, payload = self.message(connection)
            self.assertEqual((kind, payload[0]), (3, why))
            self.assertIn(words, payload)
        connection = self.dial(given)
        connection.sendall(b"GET / HTTP/1.1\r\n\r\n")
        kind, payload = self.message(connection)
        self.assertEqual((kind, payload[0]), (3, 4))
        connection = self.dial(given)
        connection.sendall(auth(token) + stream.out)
        self.assertEqual(self.message(connection)[0], 2)
        self.assertEqual(self.picture(live)["events"], 1)

    def test_a_method_that_is_called_all_the_time_is_asked_to_lose_its_probe(self):
        live, given = self.start()
        connection = self.dial(given)
        stream = HAND.Stream("hot", "c")
        # The abilities are the last field of `hello`: to demote.
        connection.sendall(stream.out[:-1] + b"\x04")
        self.assertEqual(self.message(connection)[0], 2)
        stream.out = b""
        stream.method(2, "demo", "", "hot")
        stream.enter(1, 0, 1)
        for i in range(10_000):
            stream.enter(1, i * 10_000, 2)
            stream.exit(1, i * 10_000 + 100)
            if i % 4000 == 3999:
                stream.flush()
        stream.tick(100 * MS)
        begun = time.monotonic()
        connection.sendall(stream.out)
        kind, payload = self.message(connection)
        self.assertLess(time.monotonic() - begun, 10)
        self.assertEqual((kind, payload), (12, bytes([4, 0, 2])))
        stream.out = b""
        stream.message(13, HAND.varint(4) + HAND.varint(stream.start + 110 * MS) + HAND.varint(2))
        stream.bye(300 * MS)
        connection.sendall(stream.out)
        states = {m["name"]: m["state"] for m in self.picture(live)["methods"]}
        self.assertEqual(states["demo.hot"], "in callers")


if __name__ == "__main__":
    unittest.main(verbosity=1)
