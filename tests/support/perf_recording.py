"""A program of a test's own, built and recorded with perf."""
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path


class Recording:
    """app.cc, app and perf.data in a folder of their own; `environment` is that of perf, whose cache is there as well.
    Skips the class's tests where a tool is missing or the kernel lets nobody sample."""

    def __init__(self, of, program, compiled_with, recorded_with, tools=()):
        folder = tempfile.TemporaryDirectory()
        of.addClassCleanup(folder.cleanup)
        self.work = Path(folder.name).resolve()
        for tool in ("perf", "g++", *tools):
            if shutil.which(tool) is None:
                raise unittest.SkipTest(f"no {tool}")
        (self.work / "app.cc").write_text(program)
        # perf keeps a copy of what it records in the home: of these tests alone.
        self.home = {"HOME": str(self.work / "home")}
        self.environment = dict(os.environ, **self.home)
        subprocess.run(["g++", "-O2", *compiled_with, "-o", "app", "app.cc"], cwd=self.work, check=True)
        self.data = self.work / "perf.data"
        done = subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", *recorded_with, "-o", self.data, "./app"], cwd=self.work,
                              capture_output=True, check=False, env=self.environment)
        if done.returncode != 0 or not self.data.exists():
            raise unittest.SkipTest("perf cannot sample here: " + done.stderr.decode(errors="replace")[:200])
