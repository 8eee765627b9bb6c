#!/usr/bin/env python3
"""Helix with the configuration of docs/editors/helix.md, driven in a terminal.

usage: helix_test.py PROFD      Skipped where there is no Helix 25.07 or newer, on $PATH or to be had, or no tmux.
"""
import os
import re
import shutil
import subprocess
import sys
import unittest

from driven import Terminal, fetched, not_run


def helix():
    """The program, and where its runtime is if it is one that was unpacked; None where there is none new enough."""
    for program in (shutil.which("hx"), shutil.which("helix"), fetched("hx", "hx", "forky")):
        if not program:
            continue
        said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
        version = re.search(r"(\d+)\.(\d+)", said)
        if version and (int(version[1]), int(version[2])) >= (25, 7):
            runtime = os.path.join(os.path.dirname(os.path.dirname(program)), "root/usr/lib/hx/runtime")
            return program, runtime if os.path.isdir(runtime) else None
    return None


class Helix(Terminal):
    def setUp(self):
        found = helix()
        if not found:
            not_run("no Helix 25.07 or newer on $PATH, and none to be had from the package mirror")
        super().setUp()
        program, runtime = found
        if runtime:
            self.environment["HELIX_RUNTIME"] = runtime
        folder = os.path.join(self.environment["XDG_CONFIG_HOME"], "helix")
        self.write(os.path.join(folder, "languages.toml"), self.documented("helix.md", "toml", 0))
        self.write(os.path.join(folder, "config.toml"), self.documented("helix.md", "toml", 1))
        self.program("gopls", "#!/bin/sh\nexit 1\n")  # the other server of the page's example, which is not what is tested
        self.start(program, "sums.go:19")
        self.shows(r"foldSum\(sum\).* 10\.2 %  1\.41 s", r"0xbf58476d1ce4e5b9 8\.1 %  1\.12 s · self 8\.1 %")

    def test_the_five_questions(self):
        # All of a line.
        self.type(" k")
        self.shows("main.foldSum sums.go:19", r"cpu: total 1\.12 s \(8\.1 %\), self 1\.12 s",
                   "callers of main.foldSum: main.summarise 100 %")
        self.escape("callers of main.foldSum")
        # What is hot.
        self.type("+h")
        self.shows("# Hot spots", r"34\.3 %.*main.parseRow")
        self.type(":bc")
        self.keys("Enter")
        self.shows("^ +17 +func foldSum")
        # Who calls it.
        self.type("+c")
        self.shows("# Callers of `main.foldSum`", "100 %.*main.summarise")
        self.type(":bc")
        self.keys("Enter")
        self.shows("^ +17 +func foldSum")
        # Where in the function.
        self.type("+w")
        self.shows("# Within `main.foldSum`", "sums.go:19")
        self.type(":bc")
        self.keys("Enter")
        self.shows("^ +17 +func foldSum")
        # The flame graph.
        self.type("+f")
        self.assertRegex(self.browser(), r"^http://127\.0\.0\.1:\d+/.*foldSum")
        # What changed.
        self.type(':lsp-workspace-command profd.compare "before-1.pb.gz"')
        self.keys("Enter")
        self.shows(r"# What changed", r"\+1\.41 s.*main.foldSum")
        self.type(":bc")
        self.keys("Enter")
        self.shows("^ +17 +func foldSum")
        self.type("+r")
        self.shows(r"0xbf58476d1ce4e5b9 \[A\]  \+1\.12 s")

    def test_actions_and_symbols(self):
        self.type(" S")
        self.type("parseRow")
        self.shows(r"main\.parseRow +34\.3 % +batch\.go")
        self.escape("container +path")
        self.type(" a")
        self.shows("Who calls main.foldSum", "flame graph")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
