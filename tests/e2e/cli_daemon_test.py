#!/usr/bin/env python3
"""Commands that ask a daemon, or are one.

usage: cli_daemon_test.py PROFD
"""
import json
import os
import subprocess
import unittest

from cli_program import CPU, FOLDED, PROFD, InFolder, run
from listening import wait_until_it_listens


class Daemon(InFolder):
    def daemon(self):
        socket = os.path.join(self.folder.name, "s")
        daemon = subprocess.Popen([PROFD, "serve", "--socket", socket], stderr=subprocess.DEVNULL)
        self.addCleanup(lambda: (daemon.terminate(), daemon.wait(10)))
        wait_until_it_listens(socket)
        return socket

    def test_json_of_commands_is_the_answer_of_the_daemon(self):
        ask = ("query", "--socket", self.daemon(), "--no-start")
        opening = ("profile/open", json.dumps({"uri": "file://" + os.path.abspath(CPU)}))

        def same(method, params, *command):
            theirs = json.loads(run(*ask, *opening, method, json.dumps(params)).stdout.splitlines()[1])
            ours = json.loads(run(*command, CPU).stdout)
            for answer in (ours, theirs):
                self.assertEqual(answer.pop("revision"), 1)
                answer.pop("profile")
                answer.get("boxes", {}).pop("node", None)
            self.assertEqual(ours, theirs)

        view = {"width": 1200}
        for spec in ("top-down by function", "bottom-up by file", "top-down by function | keep function /main/",
                     "top-down by function | hide function /^runtime/ | metric samples", "callers of main.main by function"):
            same("view/flameGraph", {"spec": spec, "viewport": view}, "flame", "--json", "--spec", spec)
            # A share is of the view, and no part of a view is more than the view.
            boxes = json.loads(run("flame", "--json", "--spec", spec, CPU).stdout)
            self.assertEqual(boxes["total"]["share"], 1)
            self.assertLessEqual(boxes["zoomTotal"]["share"], 1)
        same("view/flameGraph", {"spec": "top-down by function", "viewport": {"width": 100, "minWidth": 1}, "order": "weight"},
             "tree", "--json", "--min-share", "1")
        same("view/hotPath", {"spec": "callees of main.main by function", "limit": 4},
             "tree", "--hot", "--json", "--spec", "callees of main.main by function", "--depth", "4")
        same("view/table", {"spec": "flat by line", "limit": 7, "sort": "total"},
             "top", "--json", "-n", "7", "--sort", "total", "--granularity", "line")
        same("view/search", {"spec": "top-down by function", "pattern": "json", "limit": 3}, "search", "--json", "-n", "3", "json")

    def test_query_asks_several_things_over_one_connection(self):
        socket = self.daemon()
        path = self.file("a.folded", FOLDED)
        opening = json.dumps({"uri": "file://" + path})
        ask = ("query", "--socket", socket, "--no-start")
        # What the connection opened is open for its next request, and closed after the last.
        lines = run(*ask, "profile/open", opening, "profile/list", "view/hotspots", '{"limit": 1}').stdout.splitlines()
        self.assertEqual(len(lines), 3)
        handle = json.loads(lines[0])["profile"]
        self.assertEqual([p["profile"] for p in json.loads(lines[1])["profiles"]], [handle])
        self.assertEqual(json.loads(lines[2])["places"][0]["name"], "gc")
        self.assertEqual(json.loads(run(*ask, "profile/list").stdout)["profiles"], [])
        text = f"# comment\n\nprofile/open {opening}\n  metric/list  \nno/such {{}}\nprofile/list\nprofile/list nonsense\n"
        mixed = run(*ask, "-", stdin=text.encode(), code=1)
        self.assertEqual(len(mixed.stdout.splitlines()), 3)
        self.assertEqual(json.loads(mixed.stdout.splitlines()[1])["default"], "samples")
        self.assertIn(b"no/such", mixed.stderr)
        self.assertIn(b"line 7", mixed.stderr)
        run(*ask, '{"limit": 1}', code=2)
        run(*ask, "profile/list", "{broken", code=2)
        run(*ask, "no/such", code=1)

    def test_a_daemon_on_stdio_ends_with_the_process_of_its_client(self):
        parent = subprocess.Popen(["sleep", "60"])
        self.addCleanup(lambda: parent.poll() is None and parent.kill())
        daemon = subprocess.Popen([PROFD, "serve", "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(lambda: (daemon.poll() is None and daemon.kill(), daemon.wait(), daemon.stdin.close(), daemon.stdout.close()))
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"processId": parent.pid, "capabilities": {}}})
        daemon.stdin.write(f"Content-Length: {len(body)}\r\n\r\n{body}".encode())
        daemon.stdin.flush()
        daemon.stdout.read(20)
        self.assertIsNone(daemon.poll())
        parent.kill()
        parent.wait()
        # Its stdin is still open: that alone would keep it.
        self.assertEqual(daemon.wait(20), 0)

    def test_a_wrong_request_is_1(self):
        self.assertIn("nonsense", run("top", "--metric", "nonsense", CPU, code=1).stderr.decode())
        self.assertIn("there is no profile", run("top", "--profile", "9", CPU, code=1).stderr.decode())


if __name__ == "__main__":
    unittest.main(verbosity=1)
