#!/usr/bin/env python3
"""Live sessions by samples: Go's endpoint, Node's inspector, pipes, files that grow. Programs whose shares are known say them.

usage: live_sampling_test.py PROFD [NODE]
"""
from __future__ import annotations

import importlib.util
import json
import math
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))

from psp_client import Daemon
from web_client import open_web_socket

ROOT = Path(__file__).resolve().parents[2]
PROFD = os.path.abspath(sys.argv.pop(1))
NODE = sys.argv.pop(1) if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else None
NODE = NODE if NODE and os.path.exists(NODE) else shutil.which("node")
GO = shutil.which("go") or ("/usr/local/go/bin/go" if os.path.exists("/usr/local/go/bin/go") else None)
# What is inlined is counted with the function around it.
NOT_INLINED = ["--no-opt", "--no-maglev"]
TRIES = 3  # three sigma are left now and then

# Both account for the processor time that each function had, which is what is sampled, however often they are put aside.
GO_PROGRAM = """package main

import (
	"fmt"
	"net"
	"net/http"
	_ "net/http/pprof"
	"sync/atomic"
	"syscall"
	"time"
)

var sink int
var spent [2]int64

func processor() int64 {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return usage.Utime.Nano() + usage.Stime.Nano()
}

//go:noinline
func parse(from time.Time) {
	for time.Since(from) < 30*time.Millisecond {
		for i := 0; i < 20000; i++ {
			sink += i * i % 7
		}
	}
}

//go:noinline
func draw(from time.Time) {
	for time.Since(from) < 10*time.Millisecond {
		for i := 0; i < 20000; i++ {
			sink += i * i % 5
		}
	}
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	http.HandleFunc("/spent", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "[%d, %d]", atomic.LoadInt64(&spent[0]), atomic.LoadInt64(&spent[1]))
	})
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	go http.Serve(listener, nil)
	for {
		begin := processor()
		parse(time.Now())
		middle := processor()
		draw(time.Now())
		atomic.AddInt64(&spent[0], middle-begin)
		atomic.AddInt64(&spent[1], processor()-middle)
	}
}
"""

NODE_PROGRAM = """
const spent = [0, 0];
const processor = () => { const { user, system } = process.cpuUsage(); return user + system; };
function parse(ms) { const begin = performance.now(); let x = 0; while (performance.now() - begin < ms) for (let i = 0; i < 20000; i++) x += i % 7; return x; }
function draw(ms) { const begin = performance.now(); let x = 0; while (performance.now() - begin < ms) for (let i = 0; i < 20000; i++) x += i % 5; return x; }
let until = Infinity;
process.stdin.once("data", () => { until = performance.now() + 3000; });
(function turn() {
  const begin = processor();
  parse(9 + Math.random() * 12);
  const middle = processor();
  draw(3 + Math.random() * 4);
  spent[0] += middle - begin;
  spent[1] += processor() - middle;
  if (performance.now() < until) setTimeout(turn, 0);
  else { console.log(JSON.stringify(spent)); process.exit(0); }
})();
"""

# Two workers, of which one is always busy and one for a quarter of the time at most; the main thread waits.
NODE_WORKERS = """
const { Worker, isMainThread, workerData } = require('worker_threads');
function hash(ms) { const begin = performance.now(); let x = 0; while (performance.now() - begin < ms) for (let i = 0; i < 20000; i++) x += i % 7; return x; }
function sort(ms) { const begin = performance.now(); let x = 0; while (performance.now() - begin < ms) for (let i = 0; i < 20000; i++) x += i % 5; return x; }
if (isMainThread) {
  new Worker(__filename, { workerData: 'hash', name: 'hasher' });
  new Worker(__filename, { workerData: 'sort' });
} else {
  (function turn() { workerData === 'hash' ? hash(40) : sort(20); setTimeout(turn, workerData === 'hash' ? 0 : 60); })();
}
"""

# What a scan of memory costs is the kernel's affair: it computes.
C_PROGRAM = """
#include <stdio.h>
volatile double sum;
static inline double half(int i) { return i * 0.5; }
__attribute__((noinline)) void parse(int n) { for (int i = 0; i < n; i++) sum += half(i); }
int main(void) {
  puts("begun");
  fflush(stdout);
  for (;;) parse(100000);
}
"""


def perf_pipe(app: Path, build_id: str = "0123456789abcdef" * 2 + "01234567") -> bytes:
    """What perf would write into a pipe of tests/fixtures/symbols/app: nine of ten samples in `fill`, mostly in what is inlined."""
    spec = importlib.util.spec_from_file_location("by_hand", ROOT / "tests/fixtures/record/perf-data-by-hand.py")
    by_hand = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(by_hand)

    class Recorded(by_hand.Writer):
        def records(self):
            yield self.comm(0, 7, 7, "app", 1)
            yield self.mmap2(7, 0x400000, 0x1000, 0, str(app), bytes.fromhex(build_id), 2)
            for i, ip in enumerate([0x400189] * 6 + [0x4001AC] * 2 + [0x4001AF, 0x4001E4]):
                chain = [by_hand.USER, ip] + ([0x4001E1] if ip < 0x4001D0 else [])
                yield self.sample(2, 11, ip, 7, 7, 10 + i, 0, 1000000, chain)

    return Recorded("<").pipe()


class Live(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.environment = dict(os.environ, PROFD_CACHE="off", NO_COLOR="1", XDG_RUNTIME_DIR=self.folder.name)

    def at(self, name: str) -> str:
        return os.path.join(self.folder.name, name)

    def process(self, *command: str, **more) -> subprocess.Popen:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, env=self.environment, cwd=self.folder.name, **more)

        def end() -> None:
            process.kill()
            process.communicate()

        self.addCleanup(end)
        return process

    def live(self, *options: str, **more) -> subprocess.Popen:
        more.setdefault("stdin", subprocess.DEVNULL)
        return self.process(PROFD, "live", "--json", *options, stderr=subprocess.PIPE, **more)

    def pictures(self, live: subprocess.Popen, enough):
        """The first picture that is enough; fails where the stream ends before."""
        for line in live.stdout:
            picture = json.loads(line)
            if enough(picture):
                return picture
        raise AssertionError(live.stderr.read().decode())

    def fails(self, *options: str, **more) -> str:
        done = subprocess.run([PROFD, "live", *options], env=self.environment, capture_output=True, timeout=60, check=False,
                              **({"stdin": subprocess.DEVNULL} | more))
        self.assertNotEqual(done.returncode, 0, done.stdout)
        return done.stderr.decode()

    def go_program(self) -> int:
        if GO is None:
            self.skipTest("Go is not installed")
        Path(self.at("main.go")).write_text(GO_PROGRAM)
        environment = dict(os.environ, GOFLAGS="-mod=mod", GO111MODULE="off")
        subprocess.run([GO, "build", "-o", self.at("shop"), self.at("main.go")], env=environment, check=True, timeout=300)
        return int(self.process(self.at("shop")).stdout.readline())

    def near(self, picture: dict, spent: list[int]) -> bool:
        """Whether the samples of the two functions are within three sigma of what they had."""
        rows = {row["name"].split(".")[-1]: row for row in picture["methods"]}
        n = rows["parse"]["samples"] + rows["draw"]["samples"]
        truth = spent[0] / sum(spent)
        return abs(rows["parse"]["samples"] / n - truth) <= 3 * math.sqrt(truth * (1 - truth) / n)

    def test_a_go_program_is_within_three_sigma_of_what_it_does(self) -> None:
        port = self.go_program()
        live = self.live(f"http://127.0.0.1:{port}", "--window", "60")
        near = False
        for attempt in range(TRIES):
            last = self.pictures(live, lambda p, n=attempt: p.get("estimate", {}).get("samples", 0) > 100 * (n + 1))
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/spent", timeout=60) as answer:
                spent = json.load(answer)
            near = near or self.near(last, spent)
            if near:
                break
        self.assertEqual((last["program"], last["language"]), ("shop", "go"))
        self.assertIn("estimates from", last["estimate"]["text"])
        self.assertIn("threads are not told apart", last["estimate"]["text"])
        self.assertEqual(last["estimate"]["period_ns"], 10_000_000)
        self.assertEqual([t["name"] for t in last["threads"]], ["all threads"])
        self.assertTrue(near, (spent, last))
        row = next(row for row in last["methods"] if row["name"] == "main.parse")
        self.assertNotIn("calls", row)
        self.assertTrue(0 < row["plus_minus"] < 0.2, row)
        # Between two recordings a little is unknown, and is said.
        self.assertGreater(last["threads"][0]["unknown_ns"], 0)

    def test_a_node_program_is_within_three_sigma_of_what_it_accounts_for(self) -> None:
        if NODE is None:
            self.skipTest("Node is not installed")
        Path(self.at("known.js")).write_text(NODE_PROGRAM)
        for _ in range(TRIES):
            program = self.process(NODE, *NOT_INLINED, "--inspect=127.0.0.1:0", self.at("known.js"), stdin=subprocess.PIPE, stderr=subprocess.PIPE)
            told = program.stderr.readline().decode()
            address = told.split("listening on ")[1].strip()
            threading.Thread(target=program.stderr.read, daemon=True).start()
            live = self.live(address, "--window", "60", "--once")
            self.assertIn("waiting for samples", live.stderr.readline().decode())
            program.stdin.write(b"go\n")
            program.stdin.flush()
            spent = json.loads(program.stdout.readline())
            out, err = live.communicate(timeout=60)
            self.assertEqual(live.returncode, 0, err)
            picture = json.loads(out)
            self.assertEqual((picture["program"], picture["state"]), ("known.js", "ended"))
            self.assertEqual(picture["estimate"]["period_ns"], 1_000_000)
            self.assertEqual([t["name"] for t in picture["threads"]], ["main"])
            if self.near(picture, spent):
                return
        self.fail(f"{spent} {picture}")

    def test_workers_of_node_have_threads_of_their_own(self) -> None:
        if NODE is None:
            self.skipTest("NOT RUN: Node is not installed")
        Path(self.at("pool.js")).write_text(NODE_WORKERS)
        program = self.process(NODE, *NOT_INLINED, "--inspect=127.0.0.1:0", self.at("pool.js"), stderr=subprocess.PIPE)
        address = program.stderr.readline().decode().split("listening on ")[1].strip()
        threading.Thread(target=program.stderr.read, daemon=True).start()
        live = self.live(address, "--window", "60")

        def samples(picture: dict) -> dict:
            return {row["name"].split(".")[-1]: row["samples"] for row in picture["methods"]}

        picture = self.pictures(live, lambda p: min(samples(p).get("hash", 0), samples(p).get("sort", 0)) >= 100)
        threads = {thread["name"]: thread for thread in picture["threads"]}
        self.assertEqual(sorted(threads), ["hasher (worker 1)", "main", "pool.js (worker 2)"])
        rows = {row["name"].split(".")[-1]: row for row in picture["methods"]}
        for name in ("hash", "sort"):
            self.assertEqual(rows[name]["threads"], 1, rows[name])
            self.assertTrue(rows[name]["file"].endswith("pool.js"), rows[name])
        hasher, main, sorter = (threads[name]["busy_ns"] for name in sorted(threads))
        self.assertTrue(main < sorter < hasher, threads)
        self.assertTrue(rows["hash"]["ns"] <= hasher and rows["sort"]["ns"] <= sorter, (rows, threads))

    def test_perf_in_a_pipe_has_functions_files_and_lines(self) -> None:
        recording = self.at("app.plive")
        live = self.live("-", "--once", "--record", recording, stdin=subprocess.PIPE)
        out, err = live.communicate(perf_pipe(ROOT / "tests/fixtures/symbols/app"), timeout=120)
        self.assertEqual(live.returncode, 0, err)
        rows = {row["name"]: row for row in json.loads(out)["methods"]}
        self.assertEqual({name: row["samples"] for name, row in rows.items() if row["samples"]}, {"mix": 6, "round2": 2, "fill": 1, "_start": 1}, rows)
        self.assertEqual((rows["mix"]["file"], rows["mix"]["line"]), ("/w/app.c", 2))
        # What is inlined is called by what it is inlined into, as in a file of perf.
        opened = subprocess.run([PROFD, "tree", recording], env=self.environment, capture_output=True, check=True, timeout=60).stdout.decode()
        self.assertLess(opened.index("_start"), opened.index("fill"))
        self.assertLess(opened.index("fill"), opened.index("round2"))
        self.assertLess(opened.index("round2"), opened.index("mix"))

    def test_perf_in_a_pipe_has_no_names_of_another_build(self) -> None:
        live = self.live("-", "--once", stdin=subprocess.PIPE)
        out, err = live.communicate(perf_pipe(ROOT / "tests/fixtures/symbols/app", "ab" * 20), timeout=120)
        self.assertEqual(live.returncode, 0, err)
        self.assertEqual([(row["name"], row["samples"]) for row in json.loads(out)["methods"]], [("[app]", 10)])

    def test_a_c_program_under_perf_in_a_pipe_has_its_functions(self) -> None:
        compiler = shutil.which("gcc") or shutil.which("cc")
        perf = ["perf", "record", "--buildid-mmap", "-e", "cpu-clock", "-F", "499", "-g", "-m", "4", "-o"]
        if compiler is None or shutil.which("perf") is None:
            self.skipTest("NOT RUN: there is no compiler of C, or no perf")
        if subprocess.run([*perf, "/dev/null", "--", "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("NOT RUN: perf may not record here, or is older than --buildid-mmap")
        Path(self.at("shop.c")).write_text(C_PROGRAM)
        subprocess.run([compiler, "-g", "-O1", "-Wl,--build-id", "-o", self.at("shop"), self.at("shop.c")], check=True)
        program = self.process(self.at("shop"))
        program.stdout.readline()
        recorder = self.process(*perf, "-", "-p", str(program.pid), stderr=subprocess.DEVNULL)
        live = self.live("-", "--window", "60", stdin=recorder.stdout)
        picture = self.pictures(live, lambda p: any(row["name"].endswith("half") and row["samples"] >= 20 for row in p["methods"]))
        rows = {row["name"].split(".")[-1]: row for row in picture["methods"]}
        self.assertEqual((rows["parse"]["file"], rows["parse"]["line"]), (self.at("shop.c"), 5))
        self.assertEqual(rows["half"]["line"], 4)
        self.assertEqual(picture["program"], "shop")

    def test_folded_stacks_of_a_pipe_are_shares_of_their_samples(self) -> None:
        live = self.live("-", "--once", stdin=subprocess.PIPE)
        # A third in two runs, and a line that comes in halves.
        live.stdin.write(b"main;parse 30\nmain;draw 10\nmai")
        live.stdin.flush()
        live.stdin.write(b"n;parse 10\nmain;draw 10\n")
        live.stdin.close()
        live.stdin = None
        out = live.stdout.read()
        picture = json.loads(out)
        rows = {row["name"]: row for row in picture["methods"]}
        self.assertEqual(picture["estimate"]["samples"], 60)
        self.assertEqual((rows["parse"]["samples"], rows["draw"]["samples"]), (40, 20))
        self.assertAlmostEqual(rows["parse"]["most_ns"] / (rows["parse"]["most_ns"] + rows["draw"]["most_ns"]), 2 / 3, 2)
        self.assertIn("shares are of all samples", picture["estimate"]["source"])

    def test_a_file_that_grows_is_followed_from_now_on(self) -> None:
        path = self.at("out.folded")
        Path(path).write_text("main;old 1000\n")
        live = self.live(path, "--window", "60")
        self.assertIn("waiting for samples", live.stderr.readline().decode())
        over = threading.Event()

        def grow() -> None:
            while not over.wait(0.1):
                with open(path, "a", encoding="ascii") as file:
                    file.write("main;fresh 3\nmain;other 1\n")

        writer = threading.Thread(target=grow)
        writer.start()
        try:
            picture = self.pictures(live, lambda p: p.get("estimate", {}).get("samples", 0) >= 20)
        finally:
            over.set()
            writer.join()
        self.assertEqual([row["name"] for row in picture["methods"]], ["fresh", "other"])

    def test_of_a_file_that_is_written_anew_what_came_since_counts(self) -> None:
        path = self.at("heap.cpuprofile")

        def write(parse: int, draw: int) -> None:
            nodes = [{"id": 1, "callFrame": {"functionName": "(root)", "scriptId": "0", "url": "", "lineNumber": -1, "columnNumber": -1},
                      "children": [2, 3]}]
            for number, name in ((2, "parse"), (3, "draw")):
                nodes.append({"id": number, "callFrame": {"functionName": name, "scriptId": "1", "url": "file:///w/a.js", "lineNumber": 1,
                                                          "columnNumber": 0}})
            samples = [2] * parse + [3] * draw
            made = {"nodes": nodes, "startTime": 0, "endTime": 1000 * len(samples), "samples": samples, "timeDeltas": [1000] * len(samples)}
            with open(path + ".new", "w", encoding="ascii") as file:
                json.dump(made, file)
            os.rename(path + ".new", path)

        write(500, 500)
        live = self.live(path, "--window", "60")
        self.pictures(live, lambda p: "estimate" in p)
        write(530, 510)
        picture = self.pictures(live, lambda p: p["estimate"]["samples"] >= 40)
        rows = {row["name"]: row["samples"] for row in picture["methods"]}
        self.assertEqual(rows, {"parse": 30, "draw": 10})

    def test_of_folded_stacks_that_are_written_anew_what_came_since_counts(self) -> None:
        path = self.at("app.collapsed")

        def dump(parse: int, draw: int) -> None:
            with open(path + ".new", "w", encoding="ascii") as file:
                file.write(f"main;draw {draw}\nmain;parse {parse}\n")
            os.rename(path + ".new", path)

        # Each dump has all that was counted since the profiler began; what the first one has that is taken is nobody's.
        dump(1000, 1000)
        live = self.live(path, "--window", "60")
        begun = threading.Event()

        def dump_the_same() -> None:
            while not begun.wait(0.2):
                dump(1000, 1000)

        writer = threading.Thread(target=dump_the_same)
        writer.start()
        try:
            self.pictures(live, lambda p: "estimate" in p)
        finally:
            begun.set()
            writer.join()
        dump(1030, 1010)
        picture = self.pictures(live, lambda p: p["estimate"]["samples"] >= 40)
        self.assertEqual({row["name"]: row["samples"] for row in picture["methods"]}, {"parse": 30, "draw": 10})
        self.assertIn("shares are of all samples", picture["estimate"]["source"])

    def test_a_sampled_session_is_recorded_and_replayed_as_an_estimate(self) -> None:
        recording = self.at("sampled.plive")
        live = self.live("-", "--once", "--record", recording, stdin=subprocess.PIPE)
        shown, _ = live.communicate(b"main;parse 30\nmain;draw 10\n", timeout=60)
        again = subprocess.run([PROFD, "live", "--json", "--once", "--replay", recording], env=self.environment, capture_output=True, check=True,
                               timeout=60).stdout
        self.assertEqual(json.loads(again), json.loads(shown))
        summary = subprocess.run([PROFD, "top", recording], env=self.environment, capture_output=True, check=True, timeout=60).stdout.decode()
        self.assertIn("parse", summary)

    def test_what_cannot_be_sampled_is_said_with_what_to_do(self) -> None:
        self.assertIn("nobody answers there", self.fails("inspector:1"))
        self.assertIn("nobody answers there", self.fails("http://127.0.0.1:1/"))
        self.assertIn("at most 30 s", self.fails("http://127.0.0.1:1/debug/pprof/profile?seconds=60"))
        self.assertIn("perf record -o -", self.fails(str(ROOT / "formats/perf_data/testdata/minimal.data")))
        with open(ROOT / "formats/austin/testdata/recorded-wall.mojo", "rb") as mojo:
            self.assertIn("can", self.fails("-", stdin=mojo))
        self.assertIn("no sample", self.fails("-"))

    def test_a_client_may_ask_and_a_page_may_not(self) -> None:
        class Handler(BaseHTTPRequestHandler):
            profile = (ROOT / "formats/pprof/testdata/recorded-cpu.pb.gz").read_bytes()
            asked = 0

            def log_message(self, *_) -> None:
                pass

            def do_GET(self) -> None:
                Handler.asked += 1
                busy = Handler.asked == 2
                body = b"cpu profiling already in use\n" if busy else Handler.profile
                self.send_response(500 if busy else 200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
                time.sleep(0.05)

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        address = f"http://127.0.0.1:{server.server_address[1]}/debug/pprof/profile"
        path = Path(self.at("daemon.sock"))
        daemon = Daemon([PROFD, "serve", "--socket", str(path)], self.environment)
        self.addCleanup(daemon.end)
        client = daemon.socket_client(path)
        self.addCleanup(client.close)
        client.initialize(None)

        def ask(method: str, params: dict) -> dict:
            answer = client.request(method, params)
            self.assertIsNone(answer.error)
            return answer.result

        attached = ask("live/attach", {"source": address})
        session = attached["session"]
        self.assertEqual(session["estimate"]["source"], "pprof endpoint " + address + "?seconds=1")
        self.assertFalse(session["estimate"]["threadsKnown"])
        frame: dict = {"frame": 0}
        until = time.monotonic() + 60
        while Handler.asked < 4 and time.monotonic() < until:
            frame = ask("live/frame", {"session": session["session"], "since": 0, "wait": 0})
        self.assertGreaterEqual(Handler.asked, 4)
        self.assertIn("±", frame["rows"][0]["elevationText"])
        self.assertIn("samples", frame["rows"][0]["callsText"])
        self.assertGreater(frame["threadRows"][0]["unknown"], 0)
        opened = ask("profile/open", {"uri": session["uri"]})
        self.assertEqual([m["name"] for m in opened["summary"]["metrics"]], ["wall", "samples"])
        ask("live/control", {"session": session["session"], "operation": "close"})
        # A page shows what there is, and has nothing asked.
        url = urllib.parse.urlsplit(ask("web/address", {})["address"])
        token = urllib.parse.parse_qs(url.fragment)["t"][0]
        _, page = open_web_socket(socket.create_connection(("127.0.0.1", url.port), timeout=30), url.port, token)
        self.addCleanup(page.close)
        page.begin()
        asked = Handler.asked
        refused = page.ask("live/attach", {"source": address})
        self.assertIn("params.source", json.dumps(refused))
        self.assertIn("a page has no program sampled", json.dumps(refused))
        self.assertLessEqual(Handler.asked, asked + 1)


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    unittest.main(verbosity=1)
