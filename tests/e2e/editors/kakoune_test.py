#!/usr/bin/env python3
"""Kakoune with kakoune-lsp, with the configuration of docs/editors/kakoune.md, driven in a terminal.

usage: kakoune_test.py PROFD      Skipped where there is no kak, no kak-lsp or no tmux.
"""
import os
import shutil
import sys
import unittest

from driven import Terminal, not_run


class Kakoune(Terminal):
    def setUp(self):
        if not shutil.which("kak") or not shutil.which("kak-lsp"):
            not_run("no Kakoune, or no kakoune-lsp")
        super().setUp()
        self.write(os.path.join(self.environment["XDG_CONFIG_HOME"], "kak", "kakrc"), self.documented("kakoune.md", "kak"))
        self.start("kak", "sums.go")
        self.shows(r"foldSum\(sum\) 10\.2 %  1\.41 s", r"0xbf58476d1ce4e5b9 8\.1 %  1\.12 s · self 8\.1 %")
        self.type("19g")

    def test_the_five_questions(self):
        self.type(" e")
        self.shows("main.foldSum sums.go:19", "main.summarise 100 %")
        self.escape("main.summarise 100 %")
        self.type(" c")
        self.shows("main.foldSum is called by main.summarise 100 %")
        self.type(" h")
        self.shows(r"after-1.pb.gz: .*parseRow 34\.3 %")
        self.type(" w")
        self.shows("main.foldSum.*sums.go:19|sums.go:19.*foldSum")
        self.type(":profd compare before-1.pb.gz")
        self.keys("Enter")
        self.shows(r"foldSum.*\+1\.41 s|\+1\.41 s.*foldSum")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
