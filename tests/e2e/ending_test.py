"""The daemon ends within a second of a signal, whatever it is doing, and no other signal ends it.

usage: ending_test.py <profd>
"""

import json
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from listening import wait_until_it_listens

PROFD = os.path.abspath(sys.argv.pop(1))
LIMIT_S = 1.0


def framed(message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


class Client:
    """What a client of a stream does, and no more: reads when it is told to."""

    def __init__(self, send, recv, root=None):
        self.send_bytes, self.recv_bytes = send, recv
        self.buffer, self.next_id = b"", 1
        params = {"capabilities": {}}
        if root:
            params["rootUri"] = Path(root).as_uri()
        self.call("initialize", params)
        self.notify("initialized", {})

    def start(self, method, params):
        self.next_id += 1
        self.send_bytes(framed({"id": self.next_id, "method": method, "params": params}))
        return self.next_id

    def notify(self, method, params):
        self.send_bytes(framed({"method": method, "params": params}))

    def read(self):
        while True:
            head, mark, rest = self.buffer.partition(b"\r\n\r\n")
            if mark:
                size = int(head.split(b":")[1])
                if len(rest) >= size:
                    self.buffer = rest[size:]
                    return json.loads(rest[:size])
            more = self.recv_bytes(1 << 16)
            if not more:
                raise EOFError("the daemon closed the connection")
            self.buffer += more

    def call(self, method, params):
        wanted = self.start(method, params)
        while True:
            message = self.read()
            if message.get("id") == wanted and "method" not in message:
                return message


class Daemon:
    def __init__(self, folder, *options, stdio=False, preexec_fn=None, poll_s=0.01):
        self.socket = str(Path(folder) / "profd.sock")
        where = ["--stdio"] if stdio else ["--socket", self.socket]
        environment = dict(os.environ, XDG_RUNTIME_DIR=str(folder), PROFD_CACHE="off")
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE} if stdio else {"stdin": subprocess.DEVNULL}
        self.process = subprocess.Popen(
            [PROFD, "serve", *where, "--threads", "3", *options],
            stderr=subprocess.DEVNULL, env=environment, preexec_fn=preexec_fn, **pipes)
        self.connections = []
        if not stdio:
            until = time.monotonic() + 20
            while not os.path.exists(self.socket):
                if time.monotonic() > until:
                    raise TimeoutError("the daemon does not listen")
                time.sleep(poll_s)

    def client(self, root=None):
        wait_until_it_listens(self.socket)
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(self.socket)
        self.connections.append(connection)
        return Client(connection.sendall, connection.recv, root)

    def stdio_client(self):
        def send(data):
            self.process.stdin.write(data)
            self.process.stdin.flush()
        return Client(send, lambda n: os.read(self.process.stdout.fileno(), n))

    def seconds_to_end(self, *signals):
        begin = time.monotonic()
        for number in signals:
            self.process.send_signal(number)
        self.process.wait(timeout=30)
        return time.monotonic() - begin

    def close(self):
        for connection in self.connections:
            connection.close()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe:
                pipe.close()


def big_file(folder):
    path = Path(folder) / "big.folded"
    if not path.exists():
        with open(path, "w") as out:
            for i in range(600_000):
                out.write(f"main;f{i % 97};g{i % 1009};h{i};i{i * 7 % 50021} {1 + i % 9}\n")
    return path


class Ending(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(prefix="profd-ending-")
        cls.big = big_file(cls.scratch.name)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="profd-ending-")
        self.addCleanup(self.folder.cleanup)

    def daemon(self, *options, **how):
        daemon = Daemon(self.folder.name, *options, **how)
        self.addCleanup(daemon.close)
        return daemon

    def ends(self, daemon, *signals):
        took = daemon.seconds_to_end(*(signals or (signal.SIGTERM,)))
        self.assertLess(took, LIMIT_S)
        self.assertEqual(daemon.process.returncode, 0)
        self.assertFalse(os.path.exists(daemon.socket))

    def test_idle(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            self.ends(self.daemon(), number)

    def test_as_soon_as_the_socket_has_its_name(self):
        for _ in range(10):
            self.ends(self.daemon(poll_s=0))

    def test_while_a_file_is_read(self):
        daemon = self.daemon()
        client = daemon.client()
        client.start("profile/open", {"uri": self.big.as_uri()})
        time.sleep(0.1)
        self.ends(daemon)

    def test_while_views_are_computed(self):
        daemon = self.daemon()
        client = daemon.client()
        self.assertIn("result", client.call("profile/open", {"uri": self.big.as_uri()}))
        for i in range(300):
            client.start("view/flameGraph", {"spec": {"filters": [{"op": "drop", "by": "function", "pattern": f"h{i}"}]}})
        time.sleep(0.2)
        self.ends(daemon, signal.SIGHUP)

    def test_stdio_with_answers_that_nobody_reads(self):
        daemon = self.daemon(stdio=True)
        client = daemon.stdio_client()
        self.assertIn("result", client.call("profile/open", {"uri": self.big.as_uri()}))
        for _ in range(300):
            client.start("view/table", {"limit": 1000})
        time.sleep(0.5)
        self.ends(daemon)

    def test_pipes_that_nobody_writes_to(self):
        daemon = self.daemon()
        client = daemon.client()
        held = []
        for i in range(5):
            path = Path(self.folder.name) / f"pipe{i}"
            os.mkfifo(path)
            held.append(os.open(path, os.O_RDWR))
            client.start("profile/open", {"uri": path.as_uri()})
        time.sleep(0.1)
        self.ends(daemon)
        for descriptor in held:
            os.close(descriptor)

    def test_while_globs_are_looked_for(self):
        (Path(self.folder.name) / ".profd.toml").write_text('profiles = ["/**/*.no-such-profile"]\n')
        daemon = self.daemon()
        daemon.client(root=self.folder.name)
        time.sleep(0.05)
        self.ends(daemon)

    def test_many_connections(self):
        daemon = self.daemon()
        clients = [daemon.client() for _ in range(200)]
        for client in clients:
            client.start("profile/list", {})
        self.ends(daemon)

    def test_a_second_signal_ends_it_at_once(self):
        daemon = self.daemon()
        client = daemon.client()
        client.start("profile/open", {"uri": self.big.as_uri()})
        self.ends(daemon, signal.SIGTERM, signal.SIGTERM)

    def test_a_file_that_may_not_grow_is_an_error_and_not_the_end(self):
        def small_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        daemon = self.daemon(preexec_fn=small_files)
        client = daemon.client()
        self.assertIn("result", client.call("profile/open", {"uri": self.big.as_uri()}))
        target = Path(self.folder.name) / "out.folded"
        answer = client.call("profile/export", {"format": "folded", "uri": target.as_uri()})
        self.assertEqual(answer["error"]["code"], -32803)
        self.assertIn("too large", answer["error"]["message"])
        self.assertEqual([p.name for p in Path(self.folder.name).glob("out*")], [])
        for number in (signal.SIGXFSZ, signal.SIGPIPE):
            daemon.process.send_signal(number)
        self.assertEqual(len(client.call("profile/list", {})["result"]["profiles"]), 1)
        self.ends(daemon)


if __name__ == "__main__":
    unittest.main()
