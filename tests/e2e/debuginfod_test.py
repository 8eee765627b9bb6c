#!/usr/bin/env python3
"""Debug information from servers: asked for with consent alone, by build id, and checked. Usage: debuginfod_test.py PROFD

The servers are of this test, on the loopback; one class asks the real `debuginfod`, where it is installed. Exits with 77 where
libdebuginfod or objcopy is missing."""
import ctypes
import http.server
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
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from psp_client import Daemon  # noqa: E402

PROFD = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "profd"
FIXTURES = Path(__file__).resolve().parents[2] / "tests/fixtures/symbols"
ID = "0123456789abcdef0123456789abcdef01234567"  # of the program
OTHER, GONE = "ab" * 20, "cd" * 20


class Servers(http.server.ThreadingHTTPServer):
    """Has files by build id, and counts who comes."""

    daemon_threads = True

    def __init__(self):
        self.files, self.asked, self.n_connections, self.slow = {}, [], 0, None
        super().__init__(("127.0.0.1", 0), Answers)
        self.address = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def get_request(self):
        self.n_connections += 1
        return super().get_request()


class Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self):  # noqa: N802, the name is the library's
        self.server.asked.append(self.path)
        content = self.server.files.get(self.path)
        if content is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("X-DEBUGINFOD-SIZE", str(len(content)))
        self.end_headers()
        if self.server.slow is None:
            self.wfile.write(content)
            return
        try:
            for at in range(0, len(content), 64):
                self.wfile.write(content[at:at + 64])
                self.wfile.flush()
                if self.server.slow.wait(0.1):
                    return
        except OSError:
            pass

    def log_message(self, *_):
        pass


class Fixture(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.work = Path(folder.name).resolve()
        self.profile = self.work / "addresses.pprof"
        shutil.copy(FIXTURES / "addresses.pprof", self.profile)
        subprocess.run(["objcopy", "--only-keep-debug", FIXTURES / "app", self.work / "away"], check=True)
        self.debug = (self.work / "away").read_bytes()
        subprocess.run(["objcopy", "--strip-debug", FIXTURES / "app", self.work / "app"], check=True)
        self.server = Servers()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.serve(ID, self.debug)

    def serve(self, build_id, content):
        self.server.files[f"/buildid/{build_id}/debuginfo"] = content

    def environment(self, **more):
        clean = {k: v for k, v in os.environ.items() if not k.startswith("PROFD_") and "proxy" not in k.lower()}
        return clean | dict(XDG_CACHE_HOME=str(self.work / "cache"), DEBUGINFOD_URLS=self.server.address, NO_COLOR="1", COLUMNS="160") | more

    def run_profd(self, *arguments, code=0, **environment):
        done = subprocess.run([PROFD, *map(str, arguments)], capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL,
                              env=self.environment(**environment), check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def modules(self, *arguments, **environment):
        text = self.run_profd("symbolize", "--json", self.profile, *arguments, **environment).stdout
        return {m["path"]: m for m in json.loads(text)["modules"]}

    def kept(self):
        return sorted(str(p.relative_to(self.work / "cache/profd/debuginfod")) for p in (self.work / "cache/profd/debuginfod").glob("*/*"))


class Consent(Fixture):
    def test_servers_that_the_environment_names_are_not_asked(self):
        for environment in ({}, {"PROFD_DEBUGINFOD": "off"}, {"PROFD_DEBUGINFOD": "yes"}):
            app = self.modules(**environment)["/build/app"]
            self.assertEqual(app["state"], "names")
            self.assertNotIn("fetch", app)
        self.run_profd("check", self.profile)
        self.run_profd("summary", self.profile)
        self.assertEqual(self.server.n_connections, 0)
        self.assertFalse((self.work / "cache/profd/debuginfod").exists())

    def test_who_wants_to_be_asked_is_told_what_there_could_be_and_where(self):
        modules = self.modules(PROFD_DEBUGINFOD="ask")
        for path, build_id in (("/build/app", ID), ("/build/gone.so", GONE)):
            self.assertEqual(modules[path]["fetch"], [self.server.address])
            self.assertIn(self.server.address[len("http://"):], modules[path]["remedy"])
            self.assertIn(build_id, modules[path]["remedy"])
            self.assertIn("--debuginfod", modules[path]["remedy"])
        self.assertNotIn("fetch", modules["/build/plain.so"])  # it has no build id
        self.assertEqual(self.server.n_connections, 0)

    def test_what_is_fetched_has_lines_and_is_asked_for_once(self):
        app = self.modules("--debuginfod")["/build/app"]
        self.assertEqual((app["state"], app["known"]), ("full", 7))
        self.assertTrue(app["file"].endswith(f"/debuginfod/{ID}/debuginfo"), app["file"])
        self.assertEqual(self.server.asked.count(f"/buildid/{ID}/debuginfo"), 1)
        n = self.server.n_connections
        # It is a file like others now: without consent, and without a server.
        self.assertEqual(self.modules()["/build/app"]["state"], "full")
        again = self.modules(PROFD_DEBUGINFOD="on")
        self.assertEqual(again["/build/app"]["state"], "full")
        # What no server has is not asked for again soon.
        self.assertTrue(any(t["why"] == "no server has it" for t in again["/build/gone.so"]["tried"]), again["/build/gone.so"])
        self.assertNotIn("fetch", again["/build/gone.so"])
        self.assertEqual(self.server.n_connections, n)

    def test_without_the_binary_the_fetched_file_is_enough(self):
        (self.work / "app").unlink()
        self.assertEqual(self.modules("--debuginfod")["/build/app"]["state"], "full")

    def test_a_file_of_another_build_is_refused(self):
        self.serve(GONE, self.debug)
        gone = self.modules("--debuginfod")["/build/gone.so"]
        self.assertEqual((gone["state"], gone["known"]), ("mismatch", 0))
        self.assertIn(ID, gone["reason"])
        self.assertIn(GONE, gone["reason"])

    def test_what_is_no_binary_is_refused_and_does_no_harm(self):
        self.serve(ID, b"<html>not here</html>" * 100)
        app = self.modules("--debuginfod")["/build/app"]
        self.assertEqual((app["state"], app["known"]), ("names", 4))

    def test_a_server_that_is_not_there_is_not_waited_for_again(self):
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            closed = f"http://127.0.0.1:{one.getsockname()[1]}"
        begun = time.monotonic()
        modules = self.modules("--debuginfod", DEBUGINFOD_URLS=closed)
        self.assertLess(time.monotonic() - begun, 30)
        whys = [t["why"] for path in ("/build/app", "/build/gone.so") for t in modules[path]["tried"]]
        self.assertIn("the server takes no connections", whys)
        self.assertEqual(modules["/build/app"]["state"], "names")

    def test_what_is_kept_is_bounded(self):
        app = self.modules("--debuginfod", PROFD_CACHE_SIZE=str(len(self.debug) - 1))["/build/app"]
        self.assertEqual(app["state"], "names")
        self.assertFalse(any(p.stat().st_size for p in (self.work / "cache/profd/debuginfod").glob("*/*")))
        old = self.work / "cache/profd/debuginfod" / ("ee" * 20) / "debuginfo"
        old.parent.mkdir(parents=True)
        old.write_bytes(b"x" * 5000)
        os.utime(old, (1, 1))
        shutil.rmtree(self.work / "cache/profd/debuginfod" / ID, ignore_errors=True)
        self.assertEqual(self.modules("--debuginfod", PROFD_CACHE_SIZE=str(len(self.debug) + 100))["/build/app"]["state"], "full")
        self.assertFalse(old.exists())

    def test_consent_without_a_server_or_a_place_says_what_is_missing(self):
        self.assertIn("DEBUGINFOD_URLS", self.run_profd("symbolize", self.profile, "--debuginfod", code=1, DEBUGINFOD_URLS="").stderr)
        self.assertIn("cache", self.run_profd("symbolize", self.profile, "--debuginfod", "--no-cache", code=1).stderr)
        # Only addresses of servers are.
        self.assertIn("DEBUGINFOD_URLS",
                      self.run_profd("symbolize", self.profile, "--debuginfod", code=1, DEBUGINFOD_URLS="file:///etc ftp://x").stderr)
        self.assertEqual(self.server.n_connections, 0)


class OfADaemon(Fixture):
    def open(self, **settings):
        daemon = Daemon([PROFD, "serve", "--stdio"], self.environment())
        self.addCleanup(daemon.end)
        client = daemon.stdio_client()
        client.keep_notices = True
        client.initialize(None, "debuginfod", timeout_s=60, options=settings)
        opened = client.request("profile/open", {"uri": self.profile.as_uri()}, 60).result
        return client, opened["profile"]

    def settled(self, client, profile):
        deadline = time.time() + 60
        while True:
            answer = client.request("profile/modules", {"profile": profile}, 60).result
            if not answer.get("symbolizing"):
                return {m["path"]: m for m in answer["modules"]}
            self.assertLess(time.time(), deadline, answer)
            time.sleep(0.05)

    def test_off_is_off_whatever_is_allowed(self):
        client, profile = self.open()
        self.assertFalse(self.settled(client, profile)["/build/app"].get("fetch"))
        refused = client.request("profile/symbolize", {"profile": profile, "allow": True}, 60)
        self.assertIn("debuginfod", refused.error["message"])
        self.assertEqual(self.server.n_connections, 0)

    def test_asked_it_fetches_what_is_allowed_and_tells_how_far_it_is(self):
        client, profile = self.open(debuginfod="ask")
        self.assertEqual(self.settled(client, profile)["/build/app"]["fetch"], [self.server.address])
        self.assertEqual(self.server.n_connections, 0)
        answer = client.request("profile/symbolize", {"profile": profile, "modules": ["app"], "allow": True, "workDoneToken": "here"}, 60)
        self.assertIsNone(answer.error)
        modules = {m["path"]: m for m in answer.result["modules"]}
        self.assertEqual(modules["/build/app"]["state"], "full")
        self.assertFalse(modules["/build/app"].get("fetch"))
        self.assertEqual(self.server.asked, [f"/buildid/{ID}/debuginfo"])
        told = [n["params"]["value"].get("message", "") for n in client.notices
                if n["method"] == "$/progress" and n["params"]["token"] == "here"]
        self.assertTrue(any("debug information of app" in text and "127.0.0.1" in text for text in told), told)
        # For once: others are asked for again.
        self.assertEqual(self.settled(client, profile)["/build/gone.so"]["fetch"], [self.server.address])

    def test_on_it_fetches_by_itself(self):
        client, profile = self.open(debuginfod="on", debuginfodUrls=[self.server.address])
        self.assertEqual(self.settled(client, profile)["/build/app"]["state"], "full")

    def test_a_download_that_is_cancelled_leaves_nothing(self):
        self.server.slow = threading.Event()
        self.addCleanup(self.server.slow.set)
        client, profile = self.open(debuginfod="ask")
        self.settled(client, profile)
        asked = client.begin("profile/symbolize", {"profile": profile, "modules": ["app"], "allow": True}, 60)
        deadline = time.time() + 30
        while not self.server.asked:
            self.assertLess(time.time(), deadline)
            time.sleep(0.02)
        client.cancel(asked)
        self.assertIsNotNone(client.finish(asked, 30).error)
        self.assertEqual(self.settled(client, profile)["/build/app"]["state"], "names")
        while self.kept() and time.time() < deadline:
            time.sleep(0.05)
        self.assertEqual(self.kept(), [])
        # Nor is it taken for what no server has.
        self.server.slow = None
        answer = client.request("profile/symbolize", {"profile": profile, "modules": ["app"], "allow": True}, 60)
        self.assertEqual(next(m for m in answer.result["modules"] if m["path"] == "/build/app")["state"], "full")


@unittest.skipIf(shutil.which("debuginfod") is None, "no debuginfod")
class OfTheRealServer(Fixture):
    def setUp(self):
        super().setUp()
        (self.work / "served").mkdir()
        (self.work / "served/app.debug").write_bytes(self.debug)
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
        self.real = subprocess.Popen(["debuginfod", "-F", "-d", str(self.work / "index.sqlite"), "-p", str(port), str(self.work / "served")],
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(os.environ, DEBUGINFOD_URLS=""))
        self.addCleanup(self.real.wait)
        self.addCleanup(self.real.terminate)
        self.url = f"http://127.0.0.1:{port}"

    def test_what_it_has_is_fetched_and_what_it_has_not_is_said(self):
        deadline = time.time() + 60
        while True:
            shutil.rmtree(self.work / "cache", ignore_errors=True)
            modules = self.modules("--debuginfod", DEBUGINFOD_URLS=self.url)
            if modules["/build/app"]["state"] == "full" or time.time() > deadline:
                break
            time.sleep(0.5)
        self.assertEqual(modules["/build/app"]["state"], "full")
        self.assertTrue(any(t["why"] == "no server has it" for t in modules["/build/gone.so"]["tried"]), modules["/build/gone.so"])


if __name__ == "__main__":
    try:
        ctypes.CDLL("libdebuginfod.so.1")
    except OSError:
        print("NOT RUN: no libdebuginfod")
        sys.exit(77)
    if shutil.which("objcopy") is None:
        print("NOT RUN: no objcopy")
        sys.exit(77)
    if shutil.which("debuginfod") is None:
        print("PARTLY NOT RUN: no debuginfod, the server")
    unittest.main(verbosity=1)
