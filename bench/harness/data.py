"""The inputs, generated once and kept by content of the generator."""

from __future__ import annotations

import hashlib
import subprocess
from dataclasses import dataclass
from pathlib import Path

EXTENSIONS = {
    "pprof": "pb.gz", "folded": "folded", "perf-script": "perf.txt",
    "cpuprofile": "cpuprofile", "speedscope": "speedscope.json",
    "chrome-trace": "trace.json", "firefox": "firefox.json",
}
SIZES_MB = {"1MB": 1, "10MB": 10, "100MB": 100, "500MB": 500, "1GB": 1000}


@dataclass(frozen=True)
class Inputs:
    generator: Path
    folder: Path
    seed: int = 1

    def file(self, kind: str, size: str, run: int = 1) -> Path:
        """A profile of that format and size before compression; made when it is not there yet. Another run is of the same
        program and has other samples."""
        digest = hashlib.sha256(self.generator.read_bytes()).hexdigest()[:12]
        which = f"{kind}-{size}-{self.seed}" + (f"-run{run}" if run > 1 else "")
        path = self.folder / f"{which}-{digest}.{EXTENSIONS[kind]}"
        if not path.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            for stale in self.folder.glob(f"{which}-{'?' * len(digest)}.*"):
                stale.unlink()
            if run < 3:
                print(f"bench: generating {kind} {size}", flush=True)
            unfinished = path.with_suffix(".part")
            argv = [str(self.generator), "--format", kind, "--size", size, "--seed", str(self.seed), "-o", str(unfinished)]
            argv += ["--run", str(run)] if run > 1 else []
            subprocess.run(argv + (["--gzip"] if kind == "pprof" else []), check=True)
            unfinished.rename(path)
        path.read_bytes() if path.stat().st_size < 1 << 24 else _touch_pages(path)
        return path


def _touch_pages(path: Path) -> None:
    """Brings a file into the page cache: cold, here, is the process, not the disk."""
    with path.open("rb", buffering=0) as file:
        while file.read(1 << 22):
            pass
