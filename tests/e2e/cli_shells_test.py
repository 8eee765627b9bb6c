#!/usr/bin/env python3
"""Completions of shells, run in the shells, and the manual.

usage: cli_shells_test.py PROFD
"""
import os
import pty
import select
import shlex
import shutil
import subprocess
import time
import unittest

from cli_program import COMMANDS, FOLDED, InFolder, run


class Shells(InFolder):
    def test_completions_and_the_manual_know_every_command_and_option(self):
        for shell, check in (("bash", ["bash", "-n"]), ("zsh", ["zsh", "-n"]), ("fish", ["fish", "-n"])):
            script = run("completion", shell).stdout.decode()
            for command in COMMANDS:
                self.assertIn(command, script, shell)
            self.assertIn("min-share", script)
            if shutil.which(check[0]):
                subprocess.run(check, input=script, text=True, check=True)
        words = ("_profd; printf '%s\\n' \"${COMPREPLY[@]}\"")
        script = run("completion", "bash").stdout.decode()

        def completed(*line):
            typed = " ".join(f"'{word}'" for word in line)
            done = subprocess.run(["bash", "-c", f"{script}\nCOMP_WORDS=({typed}); COMP_CWORD={len(line) - 1}; {words}"], capture_output=True, text=True, check=True)
            return done.stdout.split()

        self.assertEqual(completed("profd", "hots"), ["hotspots"])
        self.assertEqual(completed("profd", "top", "--sor"), ["--sort", "--sort-metric"])
        self.assertEqual(completed("profd", "top", "--sort", "t"), ["total"])
        self.assertEqual(completed("profd", "tree", "--granularity", "f"), ["function", "file"])
        # bash takes --sort=t for three words.
        self.assertEqual(completed("profd", "top", "--sort", "=", "t"), ["total"])
        self.assertEqual(completed("profd", "top", "--sort", "="), ["self", "total"])
        self.assertEqual(completed("profd", "completion", ""), ["bash", "zsh", "fish"])
        self.assertEqual(completed("profd", "convert", "--to", "fold"), ["folded"])
        self.assertEqual(completed("profd", "top", "--format", "pst"), ["pstats"])
        self.assertEqual(completed("profd", "top", "--metric", ""), [])
        self.file("a name.folded", FOLDED)
        self.assertEqual(completed("profd", "top", os.path.join(self.folder.name, "a n")), [os.path.join(self.folder.name, "a"), "name.folded"])
        page = run("man").stdout.decode()
        for command in COMMANDS:
            self.assertIn(f".SS \\fBprofd {command}", page)
        if shutil.which("man"):
            shown = subprocess.run(["man", "-l", "-"], input=page, text=True, capture_output=True, env=dict(os.environ, MANWIDTH="100"))
            self.assertIn("--min-share", shown.stdout)

    @unittest.skipUnless(shutil.which("fish"), "NOT RUN: there is no fish")
    def test_fish_completes(self):
        script = self.file("profd.fish", run("completion", "fish").stdout)
        self.file("one.folded", FOLDED)
        environment = dict(os.environ, HOME=self.folder.name, XDG_CONFIG_HOME=self.folder.name, XDG_DATA_HOME=self.folder.name)

        def completed(line):
            done = subprocess.run(["fish", "--no-config", "-c", f"source {script}; complete -C {shlex.quote(line)}"], cwd=self.folder.name, env=environment, capture_output=True, text=True, timeout=60)
            self.assertEqual(done.stderr, "")
            return [row.split("\t")[0] for row in done.stdout.splitlines()]

        self.assertEqual(completed("profd to"), ["top"])
        self.assertEqual(set(completed("profd ")) & set(COMMANDS), set(COMMANDS))
        self.assertEqual(completed("profd one"), ["one.folded"])
        self.assertEqual(completed("profd top one"), ["one.folded"])
        self.assertEqual(completed("profd top --so"), ["--sort"])
        self.assertEqual(completed("profd top --sort "), ["self", "total"])
        self.assertEqual(completed("profd top --sort=t"), ["--sort=total"])
        self.assertEqual(completed("profd --filter x to"), ["top"])
        # The first command is meant, and an argument may be called like another one.
        self.assertEqual(completed("profd search top --so"), [])
        self.assertEqual(completed("profd completion "), ["bash", "fish", "zsh"])
        self.assertEqual(completed("profd convert --to fold"), ["folded"])
        self.assertEqual(completed("profd top --metric "), [])
        self.assertEqual(completed("profd flame -o one"), ["one.folded"])

    @unittest.skipUnless(shutil.which("zsh"), "NOT RUN: there is no zsh")
    def test_zsh_completes(self):
        self.file("_profd", run("completion", "zsh").stdout)
        self.file("one.folded", FOLDED)
        self.file(".zshrc", "PS1='> '\nfpath=($PWD $fpath)\nautoload -Uz compinit; compinit -D -u\n[[ -n $SOURCED ]] && source _profd\n"
                  "unsetopt beep auto_menu; setopt no_list_ambiguous auto_list; zstyle ':completion:*' list-colors ''\nbindkey '^I' complete-word\n")

        def screen_after(line, sourced):
            """What stands on the terminal of an interactive zsh after a line and two tabs."""
            primary, terminal = pty.openpty()
            environment = {"HOME": self.folder.name, "ZDOTDIR": self.folder.name, "PATH": os.environ["PATH"], "TERM": "dumb", "LANG": "C.UTF-8", "COLUMNS": "200", "LINES": "100"}
            if sourced:
                environment["SOURCED"] = "1"
            shell = subprocess.Popen(["zsh", "-d", "-i"], stdin=terminal, stdout=terminal, stderr=terminal, cwd=self.folder.name, env=environment, start_new_session=True)
            os.close(terminal)
            text = ""

            def until(mark, since=0):
                nonlocal text
                end = time.monotonic() + 30
                while mark not in text[since:]:
                    ready, _, _ = select.select([primary], [], [], max(0, end - time.monotonic()))
                    self.assertTrue(ready, f"zsh did not show {mark!r}: {text!r}")
                    text += os.read(primary, 65536).decode(errors="replace")

            try:
                until("> ")
                begin = len(text)
                # What follows the tabs is typed when the completion is done, and comes back when it is shown.
                os.write(primary, (line + "\t").encode())
                os.write(primary, b"\t\x05 #done")
                until("#done", begin)
                return text[begin:]
            finally:
                shell.kill()
                shell.wait()
                os.close(primary)

        for sourced in (False, True):
            self.assertIn("profd top", screen_after("profd to", sourced))
            self.assertIn("profd one.folded", screen_after("profd on", sourced))
            self.assertIn("profd top one.folded", screen_after("profd top on", sourced))
            self.assertIn("--sort", screen_after("profd top --so", sourced))
        self.assertRegex(screen_after("profd top --sort ", False), r"self +total")
        self.assertIn("--sort=total", screen_after("profd top --sort=t", False))
        self.assertRegex(screen_after("profd completion ", False), r"bash +fish +zsh")
        self.assertIn("folded", screen_after("profd convert --to fold", False))
        self.assertNotIn("one.folded", screen_after("profd top --metric ", False))
        self.assertIn("--filter x top", screen_after("profd --filter x to", False))
        self.assertIn("flame -o one.folded", screen_after("profd flame -o on", False))


if __name__ == "__main__":
    unittest.main(verbosity=1)
