"""profd as its users start it, for the tests of the command line: what it is called with, and files to call it with."""
import csv
import io
import os
import subprocess
import sys
import tempfile
import unittest

PROFD = sys.argv.pop(1) if len(sys.argv) > 1 else "profd"
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SEVERAL = os.path.join(ROOT, "formats/speedscope/testdata/units.speedscope.json")
CPU = os.path.join(ROOT, "formats/pprof/testdata/recorded-cpu.pb.gz")

FOLDED = "main;http.serve;json.parse 40\nmain;http.serve 10\nmain;gc 50\n"
COMMANDS = ("summary", "top", "tree", "flame", "hotspots", "list", "markers", "heatmap", "search", "diff", "aggregate", "join", "correlate", "offcpu", "leaks", "gate", "check", "convert", "symbolize", "analyse", "annotate", "report", "formats", "view", "serve", "connect", "lsp",
            "query", "completion", "man", "live", "record")
HOSTILE = "main;\x1b]0;owned\x07<script>alert(1)</script> 7\nmain;a\u202eb]]>&amp; 3\n"


def run(*arguments, stdin=None, env=None, code=0):
    inherited = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "CLICOLOR_FORCE", "COLUMNS")}
    environment = dict(inherited, PROFD_CACHE="off", PROFD_SYMBOLS="off", **(env or {}))
    given = {"input": stdin} if stdin is not None else {"stdin": subprocess.DEVNULL}
    result = subprocess.run([PROFD, *arguments], **given, capture_output=True, env=environment, timeout=60)
    if code is not None and result.returncode != code:
        raise AssertionError(f"profd {' '.join(arguments)} ended with {result.returncode}, not {code}\n{result.stderr.decode()}")
    return result


def read(path):
    with open(path, "rb") as file:
        return file.read()


def csv_rows(*arguments):
    return list(csv.DictReader(io.StringIO(run(*arguments).stdout.decode(), newline="")))


def refused(*arguments, code=2):
    return run(*arguments, code=code).stderr.decode()


class InFolder(unittest.TestCase):
    """With a folder of its own, gone afterwards."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def file(self, name, content):
        path = os.path.join(self.folder.name, name)
        with open(path, "wb") as out:
            out.write(content.encode() if isinstance(content, str) else content)
        return path
