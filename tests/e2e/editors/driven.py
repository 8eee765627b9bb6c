"""Editors driven as a person drives them: a home and a project of their own, keys into a terminal, and what its screen shows."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

PROFD = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else shutil.which("profd")
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
PATIENCE = float(os.environ.get("PROFD_TEST_PATIENCE", "60"))
COLUMNS, ROWS = 120, 40


def not_run(why):
    """Before anything was made; unittest takes an orderly end for an error of the test."""
    print("NOT RUN:", why, flush=True)
    os._exit(77)


def fetched(package, program, suite):
    """The program of a newer Debian, unpacked for tests; None where it is not to be had."""
    result = subprocess.run([os.path.join(HERE, "fetch.sh"), package, program, suite], stdout=subprocess.PIPE, text=True, check=False)
    return result.stdout.strip() if result.returncode == 0 else None


class Home(unittest.TestCase):
    """A home with profd on its path, and a project with a profile of it and one of the code before, as its .profd.toml lists them."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="profd-editor.", ignore_cleanup_errors=True)
        self.addCleanup(scratch.cleanup)
        self.addCleanup(self.end_daemons)
        self.home = scratch.name
        for folder in ("config", "cache", "bin", "work"):
            os.mkdir(os.path.join(self.home, folder))
        os.mkdir(os.path.join(self.home, "run"), 0o700)
        os.symlink(PROFD, os.path.join(self.home, "bin", "profd"))
        self.opened = os.path.join(self.home, "opened")
        # What a desktop opens an address with.
        self.program("xdg-open", f'#!/bin/sh\nprintf "%s\\n" "$1" >>"{self.opened}"\n')
        self.project = os.path.join(self.home, "work", "parcels")
        compared = os.path.join(ROOT, "tests/fixtures/compare/before-after")
        shutil.copytree(os.path.join(compared, "after"), self.project)
        for name in ("before-1.pb.gz", "after-1.pb.gz"):
            shutil.copy(os.path.join(compared, name), self.project)
        os.mkdir(os.path.join(self.project, ".git"))
        for name in os.listdir(self.project):
            os.utime(os.path.join(self.project, name), (1600000000, 1600000000))  # older than the recording, as they were
        self.write(os.path.join(self.project, ".profd.toml"), 'profiles = ["after-1.pb.gz", "before-1.pb.gz"]\n')
        self.environment = {
            "PATH": os.path.join(self.home, "bin") + os.pathsep + os.environ["PATH"], "HOME": self.home, "TMPDIR": self.home,
            "LANG": "C.UTF-8", "TERM": "xterm-256color", "COLORTERM": "truecolor", "XDG_CONFIG_HOME": os.path.join(self.home, "config"),
            "XDG_CACHE_HOME": os.path.join(self.home, "cache"), "XDG_RUNTIME_DIR": os.path.join(self.home, "run"),
        }

    @staticmethod
    def write(path, text):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def program(self, name, text):
        path = os.path.join(self.home, "bin", name)
        self.write(path, text)
        os.chmod(path, 0o755)

    def documented(self, page, language, which=0):
        """A block of a page of docs/editors, as a reader copies it."""
        with open(os.path.join(ROOT, "docs/editors", page), encoding="utf-8") as file:
            blocks = re.findall(rf"^```{language}\n(.*?)^```$", file.read(), re.M | re.S)
        return blocks[which]

    def end_daemons(self):
        """Daemons end by themselves when their last client is gone; one that is left is known by its socket."""
        mine = f"serve --socket {self.home}/".encode()
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    if mine in file.read().replace(b"\0", b" "):
                        os.kill(int(pid), 15)
            except OSError:
                pass

    def until(self, condition, what):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = condition()
            if found:
                return found
            time.sleep(0.03)
        return self.fail(f"{what}: did not happen")


class Terminal(Home):
    """An editor in a terminal of its own."""

    def setUp(self):
        if not shutil.which("tmux"):
            not_run("tmux is not installed")
        super().setUp()

    def tmux(self, *arguments):
        return subprocess.run(["tmux", "-S", os.path.join(self.home, "tmux"), "-f", "/dev/null", *arguments], env=self.environment,
                              cwd=self.project, capture_output=True, text=True, check=False)

    def start(self, *command):
        self.addCleanup(self.tmux, "kill-server")
        started = self.tmux("new-session", "-d", "-x", str(COLUMNS), "-y", str(ROWS), *command)
        self.assertEqual(started.returncode, 0, started.stderr)
        self.tmux("set-option", "-s", "escape-time", "0")

    def keys(self, *keys):
        """Keys by their names in tmux; what is none is typed as it stands."""
        self.tmux("send-keys", *keys)

    def type(self, text):
        self.tmux("send-keys", "-l", text)

    def screen(self):
        return self.tmux("capture-pane", "-p").stdout

    def shows(self, *patterns):
        """Waits until the screen shows all of them, and returns it."""
        seen = ""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            seen = self.screen()
            if all(re.search(pattern, seen, re.M) for pattern in patterns):
                return seen
            time.sleep(0.03)
        missing = [pattern for pattern in patterns if not re.search(pattern, seen, re.M)]
        return self.fail(f"the screen does not show {missing}:\n{seen}")

    def shows_no(self, pattern):
        self.until(lambda: not re.search(pattern, self.screen(), re.M), f"a screen without {pattern}")

    def escape(self, pattern):
        """Takes away what shows `pattern`. A key that comes close behind Escape would be taken for one with Alt."""
        self.keys("Escape")
        self.shows_no(pattern)

    def browser(self):
        """The address that was given to the desktop."""
        def last():
            try:
                with open(self.opened, encoding="utf-8") as file:
                    return file.read().split("\n")[-2]
            except (OSError, IndexError):
                return None
        return self.until(last, "an address for the browser")
