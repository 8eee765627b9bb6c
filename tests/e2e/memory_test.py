#!/usr/bin/env python3
"""What the daemon holds is bounded by --memory-budget, whatever files and clients do; out of memory is an answer.

usage: memory_test.py PROFD

The figures are the system's: VmHWM and VmRSS of a real daemon, under limits that do not depend on the machine.
"""
import gzip
import json
import os
import resource
import select
import socket
import subprocess
import sys
import tempfile
import time
import unittest

from listening import listens

PROFD = sys.argv.pop(1) if len(sys.argv) > 1 else "profd"
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CPU = os.path.join(ROOT, "formats/pprof/testdata/recorded-cpu.pb.gz")
MIB = 1 << 20


class Daemon:
    def __init__(self, folder, *arguments, environment=None):
        self.path = os.path.join(folder, "profd.sock")
        self.clients = []
        self.log = open(os.path.join(folder, "log"), "w+")
        self.process = subprocess.Popen(
            [PROFD, "serve", "--socket", self.path, *arguments], stderr=self.log,
            env=dict(os.environ, PROFD_CACHE="off", **(environment or {})))
        end = time.monotonic() + 20
        while not listens(self.path):
            assert self.process.poll() is None, "the daemon did not start"
            assert time.monotonic() < end, "the daemon does not listen"
            time.sleep(0.01)

    def status(self, field):
        with open(f"/proc/{self.process.pid}/status") as lines:
            return next(int(line.split()[1]) << 10 for line in lines if line.startswith(field + ":"))

    def alive(self):
        return self.process.poll() is None

    def stop(self):
        for client in self.clients:
            client.close()
        self.process.terminate()
        self.process.wait(20)
        self.log.close()


class Client:
    def __init__(self, daemon, timeout=60):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(timeout)
        self.socket.connect(daemon.path)
        daemon.clients.append(self)
        self.received = b""
        self.answers = {}
        self.next_id = 1
        self.call("initialize", {"capabilities": {}})
        self.tell("initialized", {})

    @staticmethod
    def frame(message):
        body = json.dumps(message).encode()
        return b"Content-Length: %d\r\n\r\n" % len(body) + body

    def ask(self, method, params):
        self.socket.sendall(self.request(method, params))
        return self.next_id - 1

    def request(self, method, params):
        self.next_id += 1
        return self.frame({"jsonrpc": "2.0", "id": self.next_id - 1, "method": method, "params": params})

    def tell(self, method, params):
        self.socket.sendall(self.frame({"jsonrpc": "2.0", "method": method, "params": params}))

    def wait(self, id):
        while id not in self.answers:
            self.read()
        return self.answers.pop(id)

    def read(self):
        piece = self.socket.recv(1 << 20)
        if not piece:
            raise ConnectionError("the daemon closed the connection")
        self.received += piece
        while True:
            head, found, rest = self.received.partition(b"\r\n\r\n")
            if not found:
                return
            length = int(head.split(b":")[1])
            if len(rest) < length:
                return
            message = json.loads(rest[:length])
            self.received = rest[length:]
            if "method" not in message:
                self.answers[message["id"]] = message

    def call(self, method, params):
        return self.wait(self.ask(method, params))

    def result(self, method, params):
        answer = self.call(method, params)
        assert "result" in answer, answer
        return answer["result"]

    def rows(self):
        return {row["path"]: row["bytes"] for row in self.result("$/memory", {})["rows"]}

    def close(self):
        self.socket.close()


class Memory(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.daemons = []

    def daemon(self, *arguments, **how):
        daemon = Daemon(self.folder.name, *arguments, **how)
        self.addCleanup(daemon.stop)
        return daemon

    def file(self, name, content):
        path = os.path.join(self.folder.name, name)
        with open(path, "wb") as out:
            out.write(content)
        return path

    def stacks(self, n, name="stacks.folded"):
        lines = (f"main;f{i % 97};g{i % 1009};h{i};i{i * 7 % 50021} {1 + i % 9}\n" for i in range(n))
        return self.file(name, "".join(lines).encode())

    def returns_to(self, daemon, resident):
        end = time.monotonic() + 20
        while daemon.status("VmRSS") > resident and time.monotonic() < end:
            time.sleep(0.1)
        self.assertLess(daemon.status("VmRSS"), resident)

    @staticmethod
    def tree(spec):
        return {"spec": spec, "viewport": {"width": 1200}}

    def refused(self, answer, *parts):
        self.assertIn("error", answer)
        self.assertEqual(answer["error"]["data"]["reason"], "limit", answer)
        for part in parts:
            self.assertIn(part, answer["error"]["message"])

    def test_a_file_that_expands_without_end_is_a_limit_and_the_rest_goes_on(self):
        daemon = self.daemon("--memory-budget", "256MB")
        client = Client(daemon)
        client.result("profile/open", {"uri": "file://" + CPU})
        base = daemon.status("VmRSS")
        member = gzip.compress(b"a;b 1\n" * (64 * MIB // 6))
        bomb = self.file("bomb.folded.gz", member * 64)  # 4 GiB
        self.assertLess(os.path.getsize(bomb), 40 * MIB)
        self.refused(client.call("profile/open", {"uri": "file://" + bomb}), "--memory-budget")
        self.assertLess(daemon.status("VmHWM") - base, 2 * 256 * MIB)
        # The profile that was open is still there.
        self.assertEqual(len(client.result("profile/list", {})["profiles"]), 1)
        client.result("view/flameGraph", self.tree("top-down"))

    def test_what_reading_needs_is_said_with_the_setting(self):
        daemon = self.daemon("--memory-budget", "32MiB")
        client = Client(daemon)
        answer = client.call("profile/open", {"uri": "file://" + self.stacks(300_000)})
        self.refused(answer, "--memory-budget", "takes at least", "budget of 32 MiB")
        client.result("profile/open", {"uri": "file://" + CPU})

    def test_only_files_are_read_on_the_word_of_a_client(self):
        daemon = self.daemon()
        client = Client(daemon)
        pipe = os.path.join(self.folder.name, "pipe")
        os.mkfifo(pipe)
        link = os.path.join(self.folder.name, "link")
        os.symlink("/dev/zero", link)
        start = time.monotonic()
        for path in (pipe, link, daemon.path, "/dev/zero", "/proc/self/pagemap", "/proc", "/sys/kernel/mm", "/sys"):
            if not os.path.exists(path):
                continue
            answer = client.call("profile/open", {"uri": "file://" + path})
            self.assertIn("error", answer, path)
            self.assertRegex(answer["error"]["message"], "not a file|made up by the kernel")
        self.assertLess(time.monotonic() - start, 5)
        # A person may name them.
        command = subprocess.run([PROFD, "top", "/dev/stdin"], input=b"main;a 1\n", capture_output=True, timeout=30)
        self.assertEqual(command.returncode, 0, command.stderr)

    def test_many_views_stay_within_the_budget(self):
        daemon = self.daemon("--memory-budget", "256MB", "--threads", "3")
        client = Client(daemon)
        path = self.stacks(150_000)
        client.result("profile/open", {"uri": "file://" + path})
        waiting = []
        for i in range(120):
            spec = f"bottom-up | drop function h{i}"
            waiting.append(client.ask("view/flameGraph", self.tree(spec)))
        for id in waiting:
            answer = client.wait(id)
            self.assertTrue("result" in answer or answer["error"]["data"]["reason"] == "limit", answer)
        rows = client.rows()
        self.assertLess(rows["views"] + rows["profiles"], 256 * MIB)
        self.assertLess(daemon.status("VmHWM"), 3 * 256 * MIB)
        # What closing gives back is the system's again.
        for profile in client.result("profile/list", {})["profiles"]:
            client.result("profile/close", {"profile": profile["profile"]})
        self.returns_to(daemon, 100 * MIB)
        self.assertEqual(client.rows()["views"], 0)

    def test_what_comes_behind_a_large_message_is_left_with_its_sender(self):
        daemon = self.daemon("--memory-budget", "256MB")
        client = Client(daemon)
        watcher = Client(daemon)
        base = daemon.status("VmRSS")
        large = client.request("profile/list", {"padding": ["x" * 80] * 200_000})
        rest = client.request("profile/list", {}) * 2000 + large * 20
        client.socket.setblocking(False)
        out = memoryview(large + rest)
        most, idle = 0, 0
        while out and idle < 5:
            ready = select.select([client.socket], [client.socket], [], 0.2)
            if client.socket in ready[0]:
                client.socket.recv(1 << 20)
            if client.socket in ready[1]:
                out = out[client.socket.send(out[: 1 << 20]):]
            idle = 0 if ready[0] or ready[1] else idle + 1
            rows = watcher.rows()
            most = max(most, rows.get("requests", 0))
        self.assertFalse(out, "the daemon stopped reading")
        self.assertLess(most, 3 * len(large))
        self.assertLess(daemon.status("VmHWM") - base, 2 * 256 * MIB)
        self.returns_to(daemon, base + 64 * MIB)

    def test_clients_that_read_nothing_are_slowed_and_then_let_go(self):
        daemon = self.daemon("--memory-budget", "256MB")
        watcher = Client(daemon)
        base = daemon.status("VmRSS")
        deaf = [Client(daemon) for _ in range(8)]
        # An answer repeats the id of its request.
        request = Client.frame({"jsonrpc": "2.0", "id": "x" * MIB, "method": "nothing"})
        left = {client: memoryview(request * 40) for client in deaf}
        most, idle = 0, 0
        for client in deaf:
            client.socket.setblocking(False)
        while left and idle < 20:
            idle += 1
            for client in list(left):
                try:
                    left[client] = left[client][client.socket.send(left[client]):]
                    idle = 0
                except BlockingIOError:
                    continue
                except OSError:  # let go
                    left[client] = b""
                if not left[client]:
                    del left[client]
            most = max(most, watcher.rows().get("answers", 0))
            time.sleep(0.01)
        # Some were not read any more, some let go; who reads is served.
        self.assertLess(most, 100 * MIB)
        self.assertLess(daemon.status("VmHWM") - base, 256 * MIB)
        watcher.result("profile/open", {"uri": "file://" + CPU})

    def test_a_document_of_nothing_but_lines_does_not_take_the_machine(self):
        daemon = self.daemon("--memory-budget", "256MB")
        client = Client(daemon)
        for i in range(6):
            text = {"uri": f"file:///tmp/lines{i}.c", "languageId": "c", "version": 1, "text": "\n" * (8 * MIB)}
            client.tell("textDocument/didOpen", {"textDocument": text})
        self.assertLess(client.rows().get("documents", 0), 256 * MIB // 3)
        self.assertLess(daemon.status("VmHWM"), 3 * 256 * MIB)
        for i in range(6):
            client.tell("textDocument/didClose", {"textDocument": {"uri": f"file:///tmp/lines{i}.c"}})
        self.assertEqual(client.rows().get("documents", 0), 0)

    def test_what_closing_gives_back_goes_to_the_system(self):
        daemon = self.daemon()
        client = Client(daemon)
        client.result("profile/list", {})
        before = daemon.status("VmRSS")
        handle = client.result("profile/open", {"uri": "file://" + self.stacks(1_000_000)})["profile"]
        client.result("view/flameGraph", self.tree("bottom-up"))
        self.assertGreater(daemon.status("VmRSS"), before + 48 * MIB)
        client.result("profile/close", {"profile": handle})
        deadline = time.monotonic() + 20
        while daemon.status("VmRSS") > before + 24 * MIB:
            self.assertLess(time.monotonic(), deadline, daemon.status("VmRSS") >> 20)
            time.sleep(0.05)

    def test_out_of_memory_is_an_answer(self):
        path, small = self.stacks(200_000), self.stacks(20_000, "small.folded")
        daemon = self.daemon("--threads", "3")
        client = Client(daemon, timeout=3)
        unanswered = []
        client.result("profile/open", {"uri": "file://" + small})
        client.result("view/flameGraph", self.tree("top-down"))
        hard = resource.prlimit(daemon.process.pid, resource.RLIMIT_AS)
        padding = ["x" * 80] * 200_000
        for more in (0, 256 << 10, MIB, 4 * MIB, 16 * MIB, 48 * MIB, 54 * MIB, 58 * MIB, 62 * MIB):
            room = daemon.status("VmSize") + more
            resource.prlimit(daemon.process.pid, resource.RLIMIT_AS, (room, hard[1]))
            asked = [
                ("profile/open", {"uri": "file://" + path}),
                ("view/flameGraph", self.tree(f"bottom-up | drop function h{more % 1000}")),
                ("view/table", {"limit": 1000, "spec": f"flat by line | drop function g{more % 1000}"}),
                ("view/search", {"spec": "top-down", "pattern": "h1"}),
                ("profile/summary", {}),
                ("profile/list", {"padding": padding}),
                ("$/memory", {}),
            ]
            for method, params in asked:
                with self.subTest(method=method, more=more):
                    try:
                        answer = self.answered(client, method, params)
                    except TimeoutError:
                        unanswered.append((method, more))
                        continue
                    if "error" in answer:
                        self.assertNotIn("no such method", answer["error"]["message"])
            self.assertTrue(daemon.alive())
            resource.prlimit(daemon.process.pid, resource.RLIMIT_AS, hard)
        self.assertEqual(unanswered, [])
        last = Client(daemon, timeout=30)
        last.result("view/flameGraph", self.tree("bottom-up"))
        last.result("profile/open", {"uri": "file://" + path})
        client.socket.settimeout(30)
        client.result("profile/list", {})

    def answered(self, client, method, params):
        """The answer; or the one to nothing in particular, where there was no memory even for the request's id."""
        id = client.ask(method, params)
        while id not in client.answers and None not in client.answers:
            client.read()
        return client.answers.pop(id) if id in client.answers else client.answers.pop(None)


if __name__ == "__main__":
    unittest.main(verbosity=2)
