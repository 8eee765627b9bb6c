#!/usr/bin/env python3
"""Profiles at addresses: on the command line, in the daemon, from servers that harm and from a program of Go.

usage: endpoint_test.py PROFD
"""
from __future__ import annotations

import gzip
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))

from psp_client import Daemon
from web_client import open_web_socket

ROOT = Path(__file__).resolve().parents[2]
PROFD = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "profd"
GO = shutil.which("go") or ("/usr/local/go/bin/go" if os.path.exists("/usr/local/go/bin/go") else None)
FOLDED = b"main;parse 60\nmain;draw 40\n"
CPU = (ROOT / "formats/pprof/testdata/recorded-cpu.pb.gz").read_bytes()
PROGRAM = """package main

import (
	"fmt"
	"net"
	"net/http"
	_ "net/http/pprof"
)

var kept [][]byte

//go:noinline
func spin(n int) int {
	sum := 0
	for i := 0; i < n; i++ {
		sum += i * i % 7
	}
	return sum
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go func() {
		for {
			spin(1 << 20)
		}
	}()
	for i := 0; i < 64; i++ {
		kept = append(kept, make([]byte, 1<<20))
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	http.Serve(listener, nil)
}
"""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def whole(self, body: bytes, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def raw(self, data: bytes) -> None:
        self.wfile.write(data)
        self.close_connection = True

    def do_GET(self) -> None:
        server: Server = self.server  # type: ignore[assignment]
        path = urllib.parse.urlsplit(self.path).path
        server.saw(self.path)
        if path == "/cpu.folded":
            self.whole(FOLDED)
        elif path == "/next":  # another one each time
            self.whole(b"main;parse %d\n" % (10 * server.count(self.path)))
        elif path == "/debug/pprof/heap":
            self.whole(CPU, Content_Type="application/octet-stream")
        elif path == "/gzip":
            self.whole(gzip.compress(FOLDED), Content_Encoding="gzip")
        elif path == "/chunked":
            self.raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n" + FOLDED[:16] + b"\r\n%x\r\n" % (len(FOLDED) - 16)
                     + FOLDED[16:] + b"\r\n0\r\n\r\n")
        elif path == "/debug/pprof/profile":  # records until the other side leaves, unless it is told to be busy
            if "seconds=2" in self.path:
                return self.whole(b"Could not enable CPU profiling: cpu profiling already in use\n", 500, Content_Type="text/plain")
            server.left.put(self.connection)
        elif path == "/large":
            self.raw(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999\r\n\r\nmain 1\n")
        elif path == "/elsewhere":
            self.whole(b"", 302, Location=server.target)
        elif path == "/here":
            self.whole(b"", 301, Location="/cpu.folded")
        elif path == "/round":
            self.whole(b"", 302, Location="/round")
        elif path == "/half":
            self.raw(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + FOLDED)
        elif path == "/half.gz":
            self.whole(gzip.compress(FOLDED * 100)[:60])
        elif path == "/headers":
            self.raw(b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%d: %s\r\n" % (i, b"a" * 1000) for i in range(100)) + b"\r\n" + FOLDED)
        elif path == "/smuggled":
            self.raw(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 9\r\n\r\n" + FOLDED)
        elif path == "/no-http":
            self.raw(b"SSH-2.0-OpenSSH_9.2\r\n")
        elif path == "/nothing":
            self.close_connection = True
        elif path == "/page":
            self.whole(b"<!doctype html><script>alert(1)</script>", Content_Type="text/html")
        elif path == "/escapes":
            self.whole(b"\x1b]0;owned\x07", 503)
        else:
            self.whole(b"404 page not found\n", 404)


class Waiting:
    """Connections whose answer does not come: left() is true once the other side has closed one."""

    def __init__(self) -> None:
        self.begun, self.closed = threading.Event(), threading.Event()

    def put(self, connection: socket.socket) -> None:
        self.begun.set()
        connection.settimeout(60)
        try:
            if connection.recv(1) == b"":
                self.closed.set()
        except OSError:
            self.closed.set()


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[str] = []
        self.lock = threading.Lock()
        self.left = Waiting()
        self.target = ""
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_: object) -> None:  # who leaves early is part of these tests
        pass

    def saw(self, target: str) -> None:
        with self.lock:
            self.asked.append(target)

    def count(self, target: str) -> int:
        with self.lock:
            return self.asked.count(target)

    def at(self, target: str) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}{target}"


class EndpointTest(unittest.TestCase):
    def setUp(self) -> None:
        self.server = Server()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()
        self.environment = {"PROFD_CACHE": "off", "PROFD_SYMBOLS": "off", "XDG_RUNTIME_DIR": str(self.folder)}

    def run_profd(self, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run([PROFD, *arguments], env={**os.environ, **self.environment}, cwd=self.folder, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, code, (arguments, done.stdout, done.stderr))
        return done

    def refused(self, target: str, *said: str) -> str:
        text = self.run_profd(self.server.at(target), code=1).stderr
        for part in (self.server.at(target), *said):
            self.assertIn(part, text)
        self.assertEqual(text.count(self.server.at(target)), 1, text)
        self.assertEqual(len(text.strip().splitlines()), 1, text)
        return text

    def serve(self) -> tuple[Daemon, Path]:
        path = self.folder / "daemon.sock"
        daemon = Daemon([PROFD, "serve", "--socket", str(path)], self.environment)
        self.addCleanup(daemon.end)
        return daemon, path

    # -- the command line

    def test_an_address_stands_where_a_file_does(self) -> None:
        at = self.server.at
        self.assertIn("parse", self.run_profd(at("/cpu.folded")).stdout)
        rows = self.run_profd("top", "--csv", at("/debug/pprof/heap")).stdout
        (self.folder / "cpu.pb.gz").write_bytes(CPU)
        self.assertEqual(rows.replace(at("/debug/pprof/heap"), "cpu.pb.gz"), self.run_profd("top", "--csv", "cpu.pb.gz").stdout)
        self.assertIn("draw", self.run_profd("diff", at("/next"), at("/cpu.folded")).stdout)
        self.run_profd("convert", at("/cpu.folded"), "cpu.profd")
        self.assertIn("parse", self.run_profd("top", "cpu.profd").stdout)
        self.assertIn('"outcome":"ok"', self.run_profd("check", "--json", at("/gzip")).stdout.replace(" ", ""))
        for target in ("/gzip", "/chunked", "/here"):
            self.assertEqual(self.run_profd("top", "--csv", at(target)).stdout.replace(at(target), at("/cpu.folded")),
                             self.run_profd("top", "--csv", at("/cpu.folded")).stdout)

    def test_what_a_server_answers_instead_is_said_in_a_sentence(self) -> None:
        self.refused("/debug/pprof/profile?seconds=2", "status 500", "another client may be recording", "already in use")
        self.refused("/missing", "status 404", "look at the path", "404 page not found")
        self.refused("/large", "larger than")
        self.refused("/half", "ended in the middle")
        self.refused("/headers", "headers are larger")
        self.refused("/smuggled", "does not speak HTTP")
        self.refused("/no-http", "does not speak HTTP")
        self.refused("/nothing", "without an answer")
        self.refused("/round", "sends on and on")
        self.refused("/half.gz")
        self.refused("/page")
        self.assertNotIn("\x1b", self.refused("/escapes", "status 503"))

    def test_a_redirect_leads_to_no_other_host(self) -> None:
        other = Server()
        self.addCleanup(other.server_close)
        self.addCleanup(other.shutdown)
        for target in (other.at("/cpu.folded"), "file:///etc/passwd", f"http://localhost:{self.server.server_address[1]}/cpu.folded"):
            self.server.target = target
            self.refused("/elsewhere", "sends on to another place")
        self.assertEqual(other.asked, [])
        self.assertEqual(self.server.count("/cpu.folded"), 0)

    def test_what_is_no_address_is_never_asked(self) -> None:
        self.assertIn("download it", self.run_profd("https://127.0.0.1/heap", code=1).stderr)
        self.assertIn("no name and password", self.run_profd("http://me:secret@127.0.0.1/heap", code=1).stderr)
        self.assertIn("at most 3600 seconds", self.run_profd(self.server.at("/debug/pprof/profile?seconds=9000"), code=1).stderr)
        self.assertEqual(self.server.asked, [])
        with socket.socket() as held:  # nobody listens
            held.bind(("127.0.0.1", 0))
            text = self.run_profd(f"http://127.0.0.1:{held.getsockname()[1]}/heap", code=1).stderr
            self.assertIn("nobody answers there", text)

    # -- the daemon

    def test_opening_it_again_asks_again_and_keeps_the_handle(self) -> None:
        daemon, path = self.serve()
        client = daemon.socket_client(path)
        client.initialize(None)
        uri = self.server.at("/next")
        first = client.request("profile/open", {"uri": uri}).result
        self.assertEqual(first["profiles"][0]["name"], uri.removeprefix("http://"))
        self.assertEqual(first["revision"], 1)
        again = client.request("profile/open", {"uri": uri}).result
        self.assertEqual((again["profile"], again["revision"], again["alreadyOpen"]), (first["profile"], 2, True))
        self.assertEqual(self.server.count("/next"), 2)
        # What is put together of it takes what is open.
        diff = client.request("profile/diff", {"before": [{"uri": f"previous://?of={urllib.parse.quote(uri, safe='')}&revision=1"}],
                                               "after": [{"profile": first["profile"]}]})
        self.assertIsNone(diff.error)
        self.assertEqual(self.server.count("/next"), 2)
        self.assertIsNone(client.request("workspace/executeCommand", {"command": "profd.reload", "arguments": [first["profile"]]}).error)
        client.request("profile/open", {"uri": uri})
        self.assertGreaterEqual(self.server.count("/next"), 3)

    def test_giving_up_closes_the_connection(self) -> None:
        daemon, path = self.serve()
        client = daemon.socket_client(path)
        client.keep_notices = True
        client.initialize(None, can={"window": {"workDoneProgress": True}})
        opening = client.begin("profile/open", {"uri": self.server.at("/debug/pprof/profile"), "workDoneToken": "w"})
        self.assertTrue(self.server.left.begun.wait(30))

        def told() -> list[dict]:
            return [n["params"]["value"] for n in client.notices if n["method"] == "$/progress" and n["params"]["token"] == "w"]

        until = time.monotonic() + 30
        while not any("of 30 s" in str(value.get("message")) for value in told()) and time.monotonic() < until:
            client.listen(0.05)
        begin = told()[0]
        self.assertTrue(begin["title"].startswith("Recording 30 s of 127.0.0.1:"), begin)
        self.assertTrue(any(str(value.get("message", "")).startswith("recording, ") for value in told()), told())
        client.cancel(opening)
        self.assertIsNotNone(client.finish(opening).error)
        self.assertTrue(self.server.left.closed.wait(30))

    def test_a_page_makes_the_daemon_ask_no_address(self) -> None:
        daemon, path = self.serve()
        client = daemon.socket_client(path)
        client.initialize(None)
        address = client.request("web/address", {}).result["address"]
        url = urllib.parse.urlsplit(address)
        token = urllib.parse.parse_qs(url.fragment)["t"][0]
        answer, page = open_web_socket(socket.create_connection(("127.0.0.1", url.port), timeout=30), url.port, token)
        self.assertEqual(answer.status, 101)
        self.addCleanup(page.close)
        page.begin()
        uri, other = self.server.at("/next"), self.server.at("/cpu.folded")
        quoted = urllib.parse.quote(uri, safe="")
        twice = urllib.parse.quote(quoted, safe="")
        file = self.folder / "cpu.folded"
        file.write_bytes(FOLDED)
        tries = [("profile/open", {"uri": uri}), ("profile/open", {"uri": f"diff://?before={file}&after={quoted}"}),
                 ("profile/open", {"uri": f"aggregate://?of=aggregate%3A%2F%2F%3Fof%3D{twice}"}),
                 ("profile/open", {"uri": f"pairs://?of={quoted}&table=x&role=y"}),
                 ("profile/open", {"uri": f"script://?run=gc-share&of={quoted}"}),
                 ("profile/diff", {"before": [{"uri": str(file)}], "after": [{"uri": uri}]}),
                 ("profile/aggregate", {"of": [{"uri": uri}]}), ("profile/join", {"of": [{"uri": uri}]}),
                 ("analysis/run", {"name": "gc-share", "of": [{"uri": uri}]}),
                 ("workspace/executeCommand", {"command": "profd.open", "arguments": [uri]})]
        for method, params in tries:
            said = page.ask(method, params).get("error", {}).get("message", "")
            self.assertIn("a page asks no address", said, (method, params))
        self.assertEqual(self.server.asked, [])
        # What the user has opened it shows, and asks nobody for that.
        opened = client.request("profile/open", {"uri": uri}).result
        shown = page.ask("profile/open", {"uri": uri})
        self.assertEqual((shown["result"]["profile"], shown["result"]["revision"]), (opened["profile"], 1))
        self.assertIn("error", page.ask("profile/open", {"uri": other}))
        self.assertIn("result", page.ask("profile/diff", {"before": [{"uri": str(file)}], "after": [{"profile": opened["profile"]}]}))
        self.assertEqual(self.server.asked, ["/next"])

    def test_a_project_file_names_no_address(self) -> None:
        uri = self.server.at("/cpu.folded")
        (self.folder / ".profd.toml").write_text(f"profiles = [{json.dumps(uri)}, \"*.folded\"]\n")
        (self.folder / "cpu.folded").write_bytes(FOLDED)
        daemon, path = self.serve()
        client = daemon.socket_client(path)
        client.initialize(self.folder)
        until = time.monotonic() + 30
        while not (listed := client.request("profile/list", {}).result["profiles"]) and time.monotonic() < until:
            client.listen(0.05)
        client.wait_idle()
        self.assertEqual([one["uri"] for one in listed], [(self.folder / "cpu.folded").as_uri()])
        self.assertEqual(self.server.asked, [])

    # -- a program

    def test_a_program_of_go_is_recorded_and_read(self) -> None:
        if GO is None:
            print("PARTLY NOT RUN: profiles of a running program of Go (go is not here)", flush=True)
            return
        (self.folder / "main.go").write_text(PROGRAM)
        cache = os.environ.get("GOCACHE") or os.path.expanduser("~/.cache/go-build")
        built = subprocess.run([GO, "build", "-o", "spinner", "main.go"], cwd=self.folder, capture_output=True, text=True,
                               env={**os.environ, "GOCACHE": cache, "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local", "GO111MODULE": "off"})
        self.assertEqual(built.returncode, 0, built.stderr)
        with subprocess.Popen([self.folder / "spinner"], stdout=subprocess.PIPE, text=True) as program:
            try:
                base = f"http://127.0.0.1:{int(program.stdout.readline())}/debug/pprof"
                held = subprocess.Popen([PROFD, "top", "--csv", f"{base}/profile?seconds=1"], stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, **self.environment}, stdin=subprocess.DEVNULL)
                rows = held.communicate(timeout=60)[0]
                self.assertIn("main.spin", rows)
                self.assertIn("main.main", self.run_profd("top", "--csv", f"{base}/heap").stdout)
                self.assertIn("status 404", self.run_profd(f"{base}/nothing", code=1).stderr)
            finally:
                program.kill()


if __name__ == "__main__":
    unittest.main(verbosity=2)
