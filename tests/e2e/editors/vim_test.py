#!/usr/bin/env python3
"""clients/vim in a real Vim, driven in a terminal, with the configuration of docs/editors/vim.md.

usage: vim_test.py PROFD      Skipped where there is no Vim 9 or no tmux.
"""
import os
import shutil
import subprocess
import sys
import unittest

from driven import PROFD, ROOT, Terminal, not_run

ABLE = "if has('patch-9.0.0438') && has('job') && has('channel') && has('textprop') && has('popupwin') | qa! | else | cq | endif"

# Each request of the editor is preceded by one of the daemon that has the same number, as may happen: both count from one.
SAME_NUMBERS = """#!%s
import json, subprocess, sys, threading
daemon = subprocess.Popen([%r] + sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
lock, asked = threading.Lock(), set()

def messages(stream):
    while header := stream.readline():
        length = int(header.split(b":")[1]) if header.lower().startswith(b"content-length") else length
        if not header.strip():
            yield json.loads(stream.read(length))

def send(stream, message):
    text = json.dumps(message).encode()
    with lock:
        stream.write(b"Content-Length: %%d\\r\\n\\r\\n" %% len(text) + text)
        stream.flush()

def answers():
    for message in messages(daemon.stdout):
        send(sys.stdout.buffer, message)

threading.Thread(target=answers, daemon=True).start()
for message in messages(sys.stdin.buffer):
    if message.get("method") == "workspace/executeCommand":
        asked.add(message["id"])
        send(sys.stdout.buffer, {"jsonrpc": "2.0", "id": message["id"], "method": "window/showDocument",
                                 "params": {"uri": "http://127.0.0.1/%%d" %% message["id"], "external": True}})
    if "method" in message or message["id"] not in asked:
        send(daemon.stdin, message)
daemon.stdin.close()
daemon.wait()
"""


class Vim(Terminal):
    def setUp(self):
        program = shutil.which("vim")
        if not program or subprocess.run([program, "-es", "-u", "NONE", "-c", ABLE], check=False, stdin=subprocess.DEVNULL).returncode != 0:
            not_run("no Vim 9.0.0438 or newer with jobs, text properties and popups")
        super().setUp()
        config = self.documented("vim.md", "vim").replace("/path/to/profd", ROOT)
        self.write(os.path.join(self.home, ".vimrc"), "set nocompatible noswapfile shortmess+=I\n" + config)
        self.start(program, "sums.go")
        self.shows(r"foldSum\(sum\)  10\.2 %  1\.41 s", r"0xbf58476d1ce4e5b9  8\.1 %  1\.12 s · self 8\.1 %")
        self.type("19G")

    def command(self, text):
        self.type(":" + text)
        self.keys("Enter")

    def test_the_five_questions(self):
        # All of a line.
        self.type("K")
        self.shows("│ main.foldSum sums.go:19 ", "│ cpu: total 1.12 s")
        self.keys("Escape")
        self.type("0")
        self.shows("^ +sum = .*0xbf58476d1ce4e5b9  8.1 %")
        # What is hot.
        self.command("Profd hotspots")
        self.shows(r"batch\.go\|25\| main\.parseRow  34\.3 %")
        self.command("cclose")
        self.shows_no(r"batch\.go\|25")
        # Who calls it.
        self.command("Profd callers")
        self.shows("Callers of `main.foldSum`", "100 %.*main.summarise")
        self.type("q")
        self.shows_no("# Callers")
        # Where in the function.
        self.command("Profd within")
        self.shows("Within `main.foldSum`", "sums.go:19")
        self.type("q")
        self.shows_no("# Within")
        # The flame graph.
        self.command("Profd flame")
        self.assertRegex(self.browser(), r"^http://127\.0\.0\.1:\d+/.*foldSum")
        # What changed; hints are of the change then.
        self.command("Profd changes before-1.pb.gz")
        self.shows("What changed", r"\+1\.41 s.*main.foldSum")
        self.type("q")
        self.shows(r"0xbf58476d1ce4e5b9  \[A\]  \+1\.12 s")

    def test_a_new_recording_is_seen_and_compared(self):
        recorded = os.path.join(self.project, "after-1.pb.gz")
        shutil.copy(os.path.join(self.project, "before-1.pb.gz"), recorded + ".new")
        os.replace(recorded + ".new", recorded)
        self.shows_no("1.41 s")
        self.command("Profd changes")
        self.shows("# What changed", r"-1\.29 s \(-27 %\).*main.parseRow")

    def test_hints_move_with_what_is_typed_and_say_when_a_line_is_another(self):
        self.type("ggO")
        self.type("// one more")
        self.keys("Escape")
        self.shows(r"^// one more\n+", r"0xbf58476d1ce4e5b9  8\.1 %  1\.12 s")
        self.type("20GA + 1")
        self.keys("Escape")
        self.shows(r"0xbf58476d1ce4e5b9 \+ 1  ~ ?8\.1 %")
        self.command("Profd toggle")
        self.shows_no("1.12 s")
        self.command("Profd toggle")
        self.shows("1.12 s")

    def test_a_request_of_the_daemon_is_not_taken_for_the_answer_to_one_of_vim_with_the_same_number(self):
        self.command("Profd stop")
        self.shows_no("1.12 s")
        os.remove(os.path.join(self.home, "bin", "profd"))
        self.program("profd", SAME_NUMBERS % (sys.executable, PROFD))
        self.command("Profd start")
        self.shows("1.12 s")
        self.command("Profd metric no-such")
        self.assertRegex(self.browser(), r"^http://127\.0\.0\.1/\d+$")
        self.shows("^profd: .*no-such")

    def test_a_hover_is_folded_between_words_and_scrolls(self):
        self.tmux("resize-window", "-x", "50", "-y", "14")
        self.shows(r"^ {20,}19,\d+-\d+ +\d+%$")
        self.type("K")
        self.shows(r"^│ main\.foldSum sums\.go:19 +│")
        before = self.screen()
        self.keys("C-d")
        self.until(lambda: self.screen() != before, "other lines of the hover")
        self.shows("^┌─+┐$", "^└─+┘$")
        self.type("0")
        self.shows_no("┌─")

    def test_the_menu_of_a_line(self):
        self.command("Profd")
        self.shows("Who calls main.foldSum", "flame graph")
        self.keys("Escape")
        self.type("3G")
        self.command("Profd no-such")
        self.shows("profd: no command no-such; there are actions,")

    def test_the_help_finds_its_tags(self):
        shutil.copytree(os.path.join(ROOT, "clients/vim/doc"), os.path.join(self.home, "doc"))
        tags = os.path.join(self.home, "doc", "tags")
        with open(tags, encoding="utf-8") as file:
            before = file.read()
        self.command(f"helptags {os.path.dirname(tags)} | help profd-commands")
        self.shows(r"^COMMANDS")
        with open(tags, encoding="utf-8") as file:
            self.assertEqual(file.read(), before)

    def test_a_daemon_that_is_not_there_is_told(self):
        self.command("Profd stop")
        self.shows_no("1.12 s")
        self.command("Profd start")
        self.shows("1.12 s")
        self.command("Profd stop")
        self.shows_no("1.12 s")
        os.remove(os.path.join(self.home, "bin", "profd"))
        self.command("let g:profd_command = ['/nowhere/profd']")
        self.command("Profd hover")
        self.shows("profd: the daemon ended.*")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
