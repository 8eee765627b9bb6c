#!/usr/bin/env python3
"""A picture of an editor at work, for docs/images: picture.py PROFD helix|vim OUT.png

Needs what the editor's test needs, and chromium with a monospaced font.
"""
import os
import subprocess
import sys

EDITOR, OUT = sys.argv.pop(2), os.path.abspath(sys.argv.pop(2))

import driven
from driven import ROOT

driven.COLUMNS, driven.ROWS = 112, 30


def drawn(editor):
    screen = editor.tmux("capture-pane", "-p", "-e", "-N").stdout
    page = subprocess.run([sys.executable, os.path.join(ROOT, "tests/e2e/neovim/ansi_to_html.py"), str(driven.COLUMNS), str(driven.ROWS)],
                          input=screen, capture_output=True, text=True, check=True).stdout
    editor.write(os.path.join(editor.home, "screen.html"), page)
    subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
                    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
                    f"--user-data-dir={editor.home}/chromium", "--force-device-scale-factor=1.5",
                    f"--window-size={driven.COLUMNS * 8 + 24},{driven.ROWS * 18 + 24}", f"--screenshot={OUT}",
                    f"file://{editor.home}/screen.html"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def helix():
    from helix_test import Helix as Editor

    class Picture(Editor):
        def runTest(self):
            self.type(" a")
            self.shows("Who calls main.foldSum")
            drawn(self)
    return Picture()


def vim():
    from vim_test import Vim as Editor

    class Picture(Editor):
        def runTest(self):
            self.command("set background=dark | syntax on")
            self.type("19GK")
            self.shows("cpu: total")
            drawn(self)
    return Picture()


problems = {"helix": helix, "vim": vim}[EDITOR]().run()
sys.exit("\n".join(text for _, text in problems.errors + problems.failures))
