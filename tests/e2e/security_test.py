#!/usr/bin/env python3
"""What docs/security.md promises, asked of a running daemon: strangers, descriptors, names, project files.

usage: security_test.py PROFD
"""
import json
import os
import resource
import select
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))

import psp_client
from other_user import as_another_user
from psp_client import ClientError, Frames, encode
from sanitized import is_sanitized

PROFD = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "profd"
FOLDED = "main;http.serve;json.parse 40\nmain;http.serve 10\nmain;gc 50\n"


def request(number, method, params):
    return {"id": number, "method": method, "params": params}


def initialize(token=None):
    options = {} if token is None else {"token": token}
    return request(1, "initialize", {"processId": None, "rootUri": None, "capabilities": {}, "initializationOptions": options})


INITIALIZED = {"method": "initialized", "params": {}}


class Client(psp_client.Client):
    def __init__(self, connection):
        super().__init__(connection.fileno(), connection.fileno(), connection)
        self.keep_notices = True

    def start(self, token=None, root=None):
        options = {} if token is None else {"token": token}
        return self.initialize(None if root is None else Path(root), "security", options, 20, {"selection": True})

    def call(self, method, params):
        answer = self.request(method, params, 20)
        return {"result": answer.result} if answer.error is None else {"error": answer.error}

    def said(self, *methods):
        return [notice["params"]["message"] for notice in self.notices if notice["method"] in methods]


def messages(connection, count):
    """The first so many."""
    connection.settimeout(20)
    frames, found = Frames(), []
    while len(found) < count:
        data = connection.recv(1 << 16)
        if not data:
            raise EOFError("closed")
        frames.feed(data)
        while (body := frames.next()) is not None:
            found.append(json.loads(body))
    return found


def read_to_end(connection, seconds=10):
    """What the other side sends until it closes; None when it does not."""
    connection.settimeout(seconds)
    data = b""
    try:
        while True:
            more = connection.recv(1 << 16)
            if not more:
                return data
            data += more
    except ConnectionResetError:
        return data
    except socket.timeout:
        return None


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def listens(path):
    """Whether somebody can connect: a socket has its name before it listens. Asked without connecting, which would count."""
    try:
        with open("/proc/net/unix", encoding="utf-8", errors="replace") as table:
            return any(line.endswith(f" {path}\n") and line.split()[3] == "00010000" for line in table)
    except FileNotFoundError:
        return os.path.exists(path)


class Security(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def file(self, name, content):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as out:
            out.write(content.encode() if isinstance(content, str) else content)
        return path

    def serve(self, *options, limit=None, environment=None, before=()):
        """A daemon on a Unix socket and, with --port, on TCP. Its log is self.log()."""
        self.socket = self.path("profd.sock")
        few = (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))) if limit else None
        self.stderr = open(self.path("stderr"), "wb")
        self.addCleanup(self.stderr.close)
        self.daemon = subprocess.Popen(
            [*before, PROFD, "serve", "--socket", self.socket, "--token-file", self.path("token"), *options], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=self.stderr, preexec_fn=few, cwd="/",
            env={**os.environ, "PROFD_CACHE": "off", **(environment or {})})
        self.addCleanup(self.end)
        deadline = time.monotonic() + 20
        while not listens(self.socket) or ("--port" in options and not os.path.exists(self.path("token"))):
            self.assertLess(time.monotonic(), deadline, self.log())
            time.sleep(0.01)
        if "--port" in options:
            with open(self.path("token"), encoding="ascii") as file:
                port, self.token = file.read().split()
            self.port = int(port)

    def end(self):
        self.daemon.terminate()
        try:
            self.daemon.wait(10)
        except subprocess.TimeoutExpired:
            self.daemon.kill()
            self.daemon.wait()
            raise

    def log(self):
        with open(self.path("stderr"), "rb") as file:
            return file.read().decode(errors="replace")

    def unix(self):
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.addCleanup(connection.close)
        connection.connect(self.socket)
        return connection

    def tcp(self):
        connection = socket.create_connection(("127.0.0.1", self.port), 10)
        self.addCleanup(connection.close)
        return connection

    def owner(self, root=None):
        client = Client(self.unix())
        client.start(root=root)
        return client

    # Before the token

    def test_what_is_not_the_protocol_is_closed_at_its_first_bytes(self):
        self.serve("--port", "0")
        for first in (b"G", b"POST / HT", b"OPTIONS * HTTP/1.1\r\n", b"\x16\x03\x01\x02\x00", b"\r\n", b"{"):
            stranger = self.tcp()
            stranger.sendall(first)
            self.assertEqual(read_to_end(stranger, 2.5), b"", first)

    def test_a_message_with_the_token_inside_another_protocol_is_never_executed(self):
        self.serve("--port", "0")
        inner = encode(initialize(self.token)) + encode(request(2, "profile/list", {}))
        for outer in (b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n" % len(inner),
                      b"Content-Length: 5\r\n\r\nhello", b"Content-Length: nine\r\n\r\n", b"Content-Length: 999999999\r\n\r\n",
                      b"Content-Type: x\r\nX Y\r\n\r\n"):
            stranger = self.tcp()
            stranger.sendall(outer + inner)
            answer = read_to_end(stranger, 5)
            self.assertIsNotNone(answer, outer)
            self.assertNotIn(b"serverInfo", answer, outer)
            self.assertNotIn(b'"id":2', answer, outer)

    def test_the_token_lets_in_and_what_came_behind_it_is_answered(self):
        self.serve("--port", "0")
        connection = self.tcp()
        connection.sendall(encode(initialize(self.token)) + encode(INITIALIZED) + encode(request(2, "profile/list", {})))
        first, second = messages(connection, 2)
        self.assertIn("serverInfo", first["result"])
        self.assertEqual(second["result"]["profiles"], [])
        # After it, a message may be as large as on any other connection.
        connection.sendall(encode(request(3, "profile/list", {"padding": "x" * 200_000})))
        self.assertIn("result", messages(connection, 1)[0])

    def test_without_the_token_nothing_is_executed_and_nothing_more_is_read(self):
        self.serve("--port", "0")
        for first in (initialize(), initialize("0" * 64), initialize(self.token[:-1]), request(1, "profile/list", {})):
            stranger = self.tcp()
            stranger.sendall(encode(first) + encode(initialize(self.token)))
            answer = read_to_end(stranger, 5)
            self.assertIn(b'"error"', answer)
            self.assertNotIn(b"serverInfo", answer)

    def test_strangers_have_few_bytes_and_few_seconds_and_do_not_keep_others_out(self):
        self.serve("--port", "0")
        begun = time.monotonic()
        silent = [self.tcp() for _ in range(40)]
        client = Client(self.tcp())
        self.assertIsNone(client.start(self.token).error)
        large = self.tcp()
        large.sendall(b"Content-Length: 40000\r\n\r\n")
        self.assertEqual(read_to_end(large, 2.5), b"")
        slow = self.tcp()
        slow.sendall(b"Content-Le")
        for stranger in (*silent, slow):
            self.assertEqual(read_to_end(stranger), b"")
        self.assertLess(time.monotonic() - begun, 15)
        self.assertIn("result", client.call("profile/list", {}))

    def test_tcp_cannot_take_the_places_of_the_owner(self):
        self.serve("--port", "0", limit=120)  # 56 connections, 14 of them for the owner
        inside = []
        for _ in range(60):
            client = Client(self.tcp())
            try:
                client.start(self.token)
                inside.append(client)
            except ClientError:
                client.close()
        self.assertEqual(len(inside), 42)
        owner = self.owner()
        opened = owner.call("profile/open", {"uri": "file://" + self.file("a.folded", FOLDED)})
        self.assertIn("result", opened)

    def test_who_finds_no_place_is_told_why(self):
        self.serve(limit=72)  # 8 connections
        inside = [self.owner() for _ in range(8)]
        for command in (["connect", "--no-start"], ["query", "--no-start", "profile/list", "{}"]):
            command = [command[0], "--socket", self.socket, *command[1:]]
            done = subprocess.run([PROFD, *command], stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
            self.assertEqual(done.returncode, 1, done)
            self.assertIn(b"turned this connection away: it has 8, as many as it takes", done.stderr)
        self.assertIn("result", inside[0].call("profile/list", {}))

    # Messages

    def test_what_one_client_sends_cuts_no_other_one_off(self):
        self.serve("--memory-budget", "256MB")  # of which messages may have 96
        readers = [self.owner() for _ in range(5)]
        opened = readers[0].call("profile/open", {"uri": "file://" + self.file("a.folded", FOLDED)})["result"]["profile"]
        sender = self.owner()
        refused = sender.call("selection/set", {"selection": {"profile": opened, "function": "x" * (30 << 20)}})
        self.assertEqual(refused["error"]["data"]["path"], "params.selection.function")
        largest = {"profile": opened, "function": "x" * 65536, "file": "y" * 16384, "spec": "z" * 16384}
        for _ in range(200):
            self.assertIn("result", sender.call("selection/set", {"selection": largest}))
        # Four who send what never ends, of which together there is too much.
        half = b"Content-Length: 60000000\r\n\r\n" + b" " * (40 << 20)
        hostile = [self.unix() for _ in range(4)]
        for connection in hostile:
            connection.settimeout(1)
            try:
                connection.sendall(half)
            except OSError:
                pass
        deadline = time.monotonic() + 30
        while "sends more than there is memory for" not in self.log():
            self.assertLess(time.monotonic(), deadline, self.log())
            readers[0].call("profile/list", {})
        for reader in readers:
            self.assertIn("result", reader.call("profile/list", {}))
            self.assertIn("selection/changed", {notice["method"] for notice in reader.notices})
        self.assertNotIn("does not read its answers", self.log())

    # Descriptors

    def test_a_daemon_that_query_starts_inherits_no_descriptor(self):
        read, write = os.pipe()
        path = self.path("auto.sock")
        done = subprocess.run([PROFD, "query", "--socket", path, "profile/list"], pass_fds=[write], stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=60, env=dict(os.environ, PROFD_CACHE="off"))
        os.close(write)
        self.assertEqual(done.returncode, 0, done.stderr)
        peer = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        peer.connect(path)
        pid = struct.unpack("3i", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
        self.addCleanup(os.kill, pid, signal.SIGTERM)
        # Listening, the connection above, and what the daemon made itself: nothing of ours.
        inherited = os.readlink(f"/proc/self/fd/{read}")
        self.assertNotIn(inherited, [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")
                                     if os.path.lexists(f"/proc/{pid}/fd/{fd}")])
        self.assertTrue(select.select([read], [], [], 2)[0], "the pipe is still open somewhere")
        self.assertEqual(os.read(read, 1), b"")
        os.close(read)
        peer.close()

    def test_no_descriptor_of_a_daemon_goes_on_to_what_it_starts(self):
        self.serve("--port", "0", "--log", self.path("daemon.log"))
        self.file("project/.profd.toml", 'profiles = ["*.folded"]\n')
        self.file("project/a.folded", FOLDED)
        owner = self.owner(root=self.path("project"))
        Client(self.tcp()).start(self.token)
        self.listed(owner, ["a.folded"])
        for fd in os.listdir(f"/proc/{self.daemon.pid}/fdinfo"):
            if int(fd) <= 2:
                continue
            with open(f"/proc/{self.daemon.pid}/fdinfo/{fd}", encoding="ascii") as info:
                flags = int(info.read().split("flags:")[1].split()[0], 8)
            self.assertTrue(flags & os.O_CLOEXEC, os.readlink(f"/proc/{self.daemon.pid}/fd/{fd}"))

    def test_standard_descriptors_that_are_closed_are_no_trap(self):
        path = self.file("a.folded", FOLDED)
        for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
            done = subprocess.run(["sh", "-c", f'exec "$0" top "$1" {closed}', PROFD, path], capture_output=True, timeout=60,
                                  env=dict(os.environ, PROFD_CACHE="off"))
            self.assertEqual(done.returncode, 0, (closed, done.stderr))
        with open(path, encoding="ascii") as file:
            self.assertEqual(file.read(), FOLDED)

    def test_out_of_descriptors_accepting_rests_says_so_once_and_goes_on(self):
        if is_sanitized(Path(PROFD)):
            # To look at an object's type UBSan opens a pipe; where that cannot be, it takes the object for broken.
            print("PARTLY NOT RUN: a sanitizer needs descriptors itself")
            return
        self.serve()
        kept = self.owner()
        taken = {int(fd) for fd in os.listdir(f"/proc/{self.daemon.pid}/fd")}
        lowest_free = min(set(range(len(taken) + 1)) - taken)
        resource.prlimit(self.daemon.pid, resource.RLIMIT_NOFILE, (lowest_free, 4096))
        waiting = self.unix()
        waiting.sendall(encode(initialize()))
        time.sleep(0.3)
        before = cpu_seconds(self.daemon.pid)
        time.sleep(1.5)
        self.assertLess(cpu_seconds(self.daemon.pid) - before, 0.15)
        self.assertIn("result", kept.call("profile/list", {}))
        self.assertEqual(self.log().count("no client can be accepted"), 1)
        resource.prlimit(self.daemon.pid, resource.RLIMIT_NOFILE, (4096, 4096))
        self.assertIn("result", messages(waiting, 1)[0])
        self.assertEqual(self.log().count("accepted again"), 1)

    def test_clients_that_leave_give_back_descriptors_and_watches(self):
        self.serve()
        for i in range(20):
            self.file(f"project/runs/{i}/a.folded", FOLDED)
        self.file("project/.profd.toml", 'profiles = ["runs/**/*.folded"]\n')

        def watches():
            total = 0
            for fd in os.listdir(f"/proc/{self.daemon.pid}/fdinfo"):
                try:
                    with open(f"/proc/{self.daemon.pid}/fdinfo/{fd}", encoding="ascii") as info:
                        total += info.read().count("inotify wd:")
                except FileNotFoundError:  # closed meanwhile
                    continue
            return total

        keeps = self.owner()
        before = len(os.listdir(f"/proc/{self.daemon.pid}/fd"))
        for _ in range(3):
            client = self.owner(root=self.path("project"))
            deadline = time.monotonic() + 20
            while watches() < 20:
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.02)
            client.close()
            while watches() > 0:
                self.assertLess(time.monotonic(), deadline, f"{watches()} watches are left")
                time.sleep(0.02)
        keeps.call("profile/list", {})
        self.assertLessEqual(len(os.listdir(f"/proc/{self.daemon.pid}/fd")), before + 3)

    # Names

    def test_no_control_character_reaches_the_log_or_stderr(self):
        nasty = "evil\x1b]0;owned\x07\x9b31m\u202e\u2028\x7f\nFORGED.folded"
        path = self.file(nasty, "not a profile \x1b[2J at all")
        log = self.path("daemon.log")
        self.serve("--log", log, environment={"PROFD_LOG": "trace"})
        client = self.owner()
        self.assertIn("error", client.call("profile/open", {"uri": "file://" + path}))
        self.assertIn("error", client.call("no/such\x1b[31mmethod\n2026 FORGED", {}))
        client.notify("textDocument/didOpen\x1b", {"\x9b": 1})
        client.call("profile/list", {})
        self.end()
        with open(log, "rb") as file:
            text = file.read().decode()
        self.assertIn("\\x1b", text)
        shown = [text]
        for command in (["top", path], ["check", path], ["summary", path + "x"], ["serve", "--socket", path],
                        ["connect", "--no-start", "--socket", path], ["convert", "--to", nasty, path],
                        ["flame", "-o", self.path("missing", nasty), self.file("b.folded", FOLDED)]):
            done = subprocess.run([PROFD, *command], stdin=subprocess.DEVNULL, capture_output=True, timeout=60,
                                  env=dict(os.environ, PROFD_CACHE="off"))
            self.assertNotEqual(done.returncode, 0, command)
            shown.append(done.stderr.decode())
            shown.append(done.stdout.decode())
        for text in shown:
            for line in text.splitlines(keepends=True):
                self.assertFalse(line.startswith("FORGED") or line.startswith("2026 FORGED"), text)
            bad = [hex(ord(c)) for c in text if (ord(c) < 32 and c != "\n") or 127 <= ord(c) < 160 or c in "\u202e\u2028"]
            self.assertEqual(bad, [], text)

    def test_a_flood_of_one_message_is_folded(self):
        self.serve()
        client = self.owner()
        for _ in range(1000):
            client.notify("workspace/didChangeConfiguration", {"settings": {"profd": {"threshold": 7}}})
        client.call("profile/list", {})
        said = client.said("window/logMessage", "window/showMessage")
        self.assertLess(len(said), 10, said[:20])
        self.assertTrue(any("said 1,000 times" in text for text in said), said)

    # Project files

    def shown(self, client, part):
        """Waits for a message that has this part."""
        deadline = time.monotonic() + 20
        while True:
            client.call("profile/list", {})
            said = client.said("window/showMessage")
            if any(part in text for text in said):
                return
            self.assertLess(time.monotonic(), deadline, (part, said))
            time.sleep(0.02)

    def listed(self, client, wanted):
        """Waits for these profiles to be open, and sees that they are all."""
        deadline = time.monotonic() + 20
        while True:
            names = sorted(p["name"] for p in client.call("profile/list", {})["result"]["profiles"])
            if names == wanted or time.monotonic() > deadline:
                return self.assertEqual(names, wanted)
            time.sleep(0.02)

    def test_a_project_file_reaches_nothing_outside_its_folder(self):
        self.serve()
        self.file("secret/passwords.folded", FOLDED)
        self.file("project/runs/a.folded", FOLDED)
        os.symlink("../../secret/passwords.folded", self.path("project/runs/b.folded"))
        os.symlink("a.folded", self.path("project/runs/c.folded"))
        os.symlink("../secret", self.path("project/elsewhere"))
        self.file("project/.profd.toml", 'profiles = ["runs/*.folded", "../secret/*", "%s/secret/*.folded", "elsewhere/*.folded"]\n'
                  'filters = ["hide function /(/"]\nthreshold = 9\n[[map]]\nfrom = "/"\nto = "/"\n' % self.folder)
        client = self.owner(root=self.path("project"))
        for part in ("../secret/*", self.folder + "/secret/*.folded", "elsewhere/*.folded", "b.folded is not loaded", "/(/", "threshold",
                     '"/" leads out'):
            self.shown(client, part)
        self.listed(client, ["a.folded", "c.folded"])

    def test_a_project_file_where_others_can_write_is_not_used(self):
        self.serve()
        self.file("shared/.profd.toml", 'profiles = ["*.folded"]\n')
        self.file("shared/mine/a.folded", FOLDED)
        os.chmod(self.path("shared"), 0o1777)
        client = self.owner(root=self.path("shared/mine"))
        self.shown(client, "is not used: its folder can be written to by everybody")
        self.listed(client, [])

    def test_watches_that_are_used_up_are_said(self):
        limited = ["unshare", "--user", "--map-root-user", "sh", "-c", 'echo 3 >/proc/sys/user/max_inotify_watches && exec "$0" "$@"']
        if subprocess.run([*limited, "true"], capture_output=True, check=False).returncode != 0:
            print("PARTLY NOT RUN: no user namespace with a limit of its own on inotify watches")
            return
        self.serve(before=limited)
        for i in range(10):
            self.file(f"project/{i}/a.folded", FOLDED)
        self.file("project/.profd.toml", 'profiles = ["**/*.folded"]\n')
        client = self.owner(root=self.path("project"))
        self.shown(client, "max_user_watches")
        self.listed(client, ["a.folded"] * 10)
        # It is noticed all the same.
        self.file("project/9/b.folded", FOLDED)
        self.listed(client, ["a.folded"] * 10 + ["b.folded"])

    # Who and where

    def test_another_user_gets_no_answer(self):
        self.serve()

        def knock():
            with socket.socket(socket.AF_UNIX) as stranger:
                stranger.settimeout(20)
                stranger.connect(self.socket)
                stranger.sendall(encode(initialize()))
                return repr(stranger.recv(100))

        said = as_another_user(knock)
        if said is None:
            return
        self.assertEqual(said, "PermissionError")
        # Nor when somebody has opened the way.
        os.chmod(self.folder, 0o755)
        os.chmod(self.socket, 0o666)
        self.assertIn(as_another_user(knock), ["b''", "ConnectionResetError", "BrokenPipeError"])
        self.owner().call("profile/list", {})

    def test_every_port_is_of_this_machine_alone(self):
        self.serve("--port", "0")

        def listening():
            mine = {os.readlink(entry.path) for entry in os.scandir(f"/proc/{self.daemon.pid}/fd") if os.path.islink(entry.path)}
            found = []
            for table in ("tcp", "tcp6"):
                with open(f"/proc/{self.daemon.pid}/net/{table}", encoding="ascii") as lines:
                    fields = [line.split() for line in list(lines)[1:]]
                found += [row[1].split(":")[0] for row in fields if row[3] == "0A" and f"socket:[{row[9]}]" in mine]
            return found

        self.assertEqual(listening(), ["0100007F"])
        self.owner().call("web/address", {})
        self.assertEqual(listening(), ["0100007F"] * 2)

    def test_the_runtime_folder_is_where_the_page_says(self):
        runtime = self.path("runtime")
        os.mkdir(runtime, 0o700)
        environment = {**os.environ, "XDG_RUNTIME_DIR": runtime}
        daemon = subprocess.Popen([PROFD, "serve", "--port", "0"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + 20
            while not os.path.isdir(runtime) or not (found := [entry for entry in os.scandir(runtime)]):
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.02)
            self.assertEqual([entry.name for entry in found], ["profd"])
            self.assertEqual(stat.S_IMODE(os.stat(found[0].path).st_mode), 0o700)
        finally:
            daemon.terminate()
            daemon.wait(20)

    # Limits that are nowhere else

    def test_documents_beyond_ten_thousand_are_not_tracked(self):
        log = self.path("daemon.log")
        self.serve("--log", log)
        client = self.owner()
        for i in range(10_001):
            client.notify("textDocument/didOpen", {"textDocument": {"uri": f"file:///w/{i}.c", "languageId": "c", "version": 1, "text": "a\n"}})
        client.call("profile/list", {})
        with open(log, encoding="utf-8") as lines:
            said = [line for line in lines if "10,000 documents" in line]
        self.assertEqual(len(said), 1, said)

    def test_an_index_that_is_beyond_the_budget_is_left_out_and_said(self):
        log = self.path("daemon.log")
        self.serve("--log", log, "--memory-budget", "1MB")
        for i in range(3000):
            self.file(f"one/a-file-of-some-length-{i}.c", "")
        one = self.owner(root=self.path("one"))
        deadline = time.monotonic() + 20
        # Told to who is in it; another one has its share.
        while not any("no room for more within the memory budget" in text for text in one.said("window/showMessage")):
            self.assertLess(time.monotonic(), deadline, one.said("window/showMessage"))
            one.call("profile/list", {})
            time.sleep(0.02)
        self.file("three/small.c", "int f() {}\n")
        three = self.owner(root=self.path("three"))
        three.call("profile/open", {"uri": "file://" + self.file("p.folded", "main;f (/build/three/small.c:1) 5\n")})
        while not three.call("source/resolve", {"path": "/build/three/small.c"})["result"]["candidates"]:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        self.assertEqual(three.said("window/showMessage"), [])
        self.assertIn("no room for all that lies below a workspace's folders", Path(log).read_text(encoding="utf-8"))

    def test_the_status_names_twenty_files_and_counts_the_rest(self):
        self.serve()
        client = self.owner()
        text = "".join(f"main;f{i % 50000};g{i % 977} 1\n" for i in range(100_000))
        files = [self.file(f"{i}.folded", text) for i in range(41)]
        begun = [client.begin("profile/open", {"uri": "file://" + file}) for file in files]
        for one in begun:
            client.finish(one, 60)
        client.wait_idle(20)
        said = [notice["params"] for notice in client.notices if notice["method"] == "profd/status"]
        most = max(len(one.get("tasks", [])) for one in said)
        self.assertEqual(most, 20)
        self.assertTrue(any(one["text"].endswith("40 more") for one in said), [one["text"] for one in said])

    def test_rows_and_boxes_beyond_what_may_be_asked_are_cut_and_counted(self):
        self.serve()
        client = self.owner()
        handle = client.call("profile/open", {"uri": "file://" + self.file(
            "wide.folded", "".join(f"main;f{i} {i + 1}\n" for i in range(8000)))})["result"]["profile"]
        rows = client.call("view/table", {"profile": handle, "spec": "flat", "limit": 1000})["result"]
        self.assertEqual(len(rows["rows"]["name"]), 1000)
        self.assertEqual(rows["rowCount"], rows["remainder"]["count"] + 1000)
        self.assertIn("error", client.call("view/table", {"profile": handle, "spec": "flat", "limit": 1001}))
        layout = {"profile": handle, "spec": "top-down"}
        boxes = client.call("view/flameGraph", {**layout, "viewport": {"width": 1_000_000, "minWidth": 0.001, "maxBoxes": 5000}})["result"]
        shown, joined = len(boxes["boxes"]["name"]), boxes["remainder"]["count"]
        self.assertGreater(shown, 2000)
        self.assertLessEqual(shown + len(joined), 5000)
        self.assertLess(len(json.dumps(boxes, separators=(",", ":"))), 300_000)
        self.assertEqual(shown + sum(joined), 8002)
        self.assertIn("error", client.call("view/flameGraph", {**layout, "viewport": {"width": 100, "maxBoxes": 5001}}))

    def test_a_regular_expression_of_more_than_1024_bytes_is_an_error(self):
        self.serve()
        client = self.owner()
        handle = client.call("profile/open", {"uri": "file://" + self.file("a.folded", FOLDED)})["result"]["profile"]
        ask = {"profile": handle, "spec": "top-down"}
        self.assertIn("result", client.call("view/search", {**ask, "pattern": "x" * 1024}))
        refused = client.call("view/search", {**ask, "pattern": "x" * 1025})
        self.assertIn("1024", refused["error"]["message"])

    def test_output_goes_into_a_pipe_and_a_device(self):
        source = self.file("a.folded", FOLDED)
        os.mkfifo(self.path("pipe"))
        with subprocess.Popen(["cat", self.path("pipe")], stdout=subprocess.PIPE) as reader:
            done = subprocess.run([PROFD, "convert", "--to", "folded", source, self.path("pipe")], capture_output=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(b"json.parse 40", reader.communicate(timeout=20)[0])
        device = subprocess.run([PROFD, "convert", "--to", "folded", source, "/dev/null"], capture_output=True, timeout=60)
        self.assertEqual(device.returncode, 0, device.stderr)
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))

    # Files

    def test_an_export_replaces_regular_files_alone(self):
        self.serve()
        client = self.owner()
        handle = client.call("profile/open", {"uri": "file://" + self.file("a.folded", FOLDED)})["result"]["profile"]
        os.mkfifo(self.path("pipe"))
        os.symlink("pipe", self.path("link"))
        targets = [self.path("pipe"), self.path("link"), self.folder]
        if os.geteuid() == 0:  # a /dev/null of our own, so that a failure costs nothing
            os.mknod(self.path("null"), 0o666 | stat.S_IFCHR, os.makedev(1, 3))
            targets.append(self.path("null"))
        for target in targets:
            before = os.lstat(target)
            answer = client.call("profile/export", {"profile": handle, "format": "folded", "uri": "file://" + target, "overwrite": True})
            self.assertIn("only a regular file is replaced", answer["error"]["message"])
            self.assertEqual(os.lstat(target).st_ino, before.st_ino)
        if os.geteuid() == 0:
            done = subprocess.run([PROFD, "flame", "-o", self.path("null"), self.path("a.folded")], capture_output=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(stat.S_ISCHR(os.stat(self.path("null")).st_mode))

    def test_a_cache_entry_that_is_cut_while_it_is_mapped_kills_nothing(self):
        self.serve(environment={"PROFD_CACHE": "on", "XDG_CACHE_HOME": self.path("cache")})
        client = self.owner()

        def entries():
            folder = self.path("cache/profd")
            return [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".profd")] if os.path.isdir(folder) else []

        def opened():
            return client.call("profile/open", {"uri": "file://" + path})["result"]["profile"]

        # What is read in a moment is not kept; how much that is depends on the machine.
        for n in (150_000, 600_000, 2_400_000):
            path = self.file("big.folded", "".join(f"main;f{i % 97};g{i % 1009};h{i} {1 + i % 9}\n" for i in range(n)))
            total = sum(1 + i % 9 for i in range(n))
            handle = opened()
            deadline = time.monotonic() + 5
            while not entries() and time.monotonic() < deadline:
                time.sleep(0.05)
            if entries():
                break
            client.call("profile/close", {"profile": handle})
        self.assertEqual(len(entries()), 1)
        client.call("profile/close", {"profile": handle})
        handle = opened()
        with open(f"/proc/{self.daemon.pid}/maps", encoding="utf-8") as maps:
            self.assertIn(entries()[0], maps.read())
        os.truncate(entries()[0], 0)
        summary = client.call("profile/summary", {"profile": handle})["result"]
        self.assertEqual([m["total"] for m in summary["metrics"]], [total])
        self.assertIn("result", client.call("view/table", {"spec": "flat by function | keep function main", "profile": handle}))
        client.call("profile/close", {"profile": handle})
        handle = opened()
        self.assertEqual([m["total"] for m in client.call("profile/summary", {"profile": handle})["result"]["metrics"]], [total])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[1:], verbosity=1)
