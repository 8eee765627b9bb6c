"""What every group of rows needs to know."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from harness.data import Inputs
from harness.measure import Cost, Runner, available_mb
from harness.report import Report, Row
from peers.install import Peers


@dataclass
class Context:
    profd: Path
    floor: Path
    runner: Runner
    work: Path  # scratch, below build/
    inputs: Inputs
    peers: Peers
    sizes: list[str]
    runs: int
    rows: re.Pattern[str]
    heavy: bool
    report: Report

    def wants(self, *names: str) -> bool:
        return any(self.rows.search(name) for name in names)

    def add(self, row: Row) -> None:
        if self.rows.search(row.name):
            self.report.rows.append(row)

    def environment(self, *, fresh_cache: bool = True) -> dict[str, str]:
        """profd's cache of imported profiles below our own folder, emptied unless the second open is the point."""
        cache = self.work / "cache"
        if fresh_cache:
            shutil.rmtree(cache, ignore_errors=True)
        cache.mkdir(parents=True, exist_ok=True)
        return {"XDG_CACHE_HOME": str(cache), "XDG_RUNTIME_DIR": str(cache), "XDG_CONFIG_HOME": str(cache)}

    @staticmethod
    def ready_mb(path: Path) -> int:
        """Memory to make ready before a program reads a file: what pprof takes for it (25 times what is packed in it)."""
        packed = 3 if path.suffix == ".gz" else 1
        return int(min(2500, max(64, 25 * packed * path.stat().st_size / 1e6)))

    def cold(self, path: Path, *, fresh_cache: bool = True) -> Cost | str:
        """profd from its start to the first layout written out; a layout without boxes is a failure."""
        if not self.profd.exists():
            return "profd is not built"
        output = self.work / "layout.json"
        argv = [str(self.profd), "flame", "--json", "--width", "1600", str(path)]
        environment = self.environment(fresh_cache=fresh_cache)
        cost = self.runner.run(argv, ready_mb=self.ready_mb(path), env=environment, output=output)
        if isinstance(cost, str):
            return cost
        try:
            return cost if json.loads(output.read_bytes())["boxes"]["width"] else "the layout has no boxes"
        except (ValueError, KeyError, TypeError):
            return "the layout is not as the protocol says"

    def peer(self, name: str, *options: str, path: Path, needs_mb: float = 0, timeout_s: float = 300) -> Cost | str:
        if needs_mb > available_mb():
            return f"not run: needs {needs_mb / 1000:.0f} GB"
        argv = [*self.peers.commands[name], *options, str(path)]
        return self.runner.run(argv, ready_mb=self.ready_mb(path), timeout_s=timeout_s)

    def floors(self, path: Path) -> dict[str, float]:
        """CPU seconds of the floor program by work, such as `gunzip libdeflate`: what its wall is on a quiet machine."""
        runs = "1" if path.stat().st_size > 1e8 else "3"
        done = subprocess.run([str(self.floor), "--runs", runs, str(path)], capture_output=True, text=True, check=True)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        return {f"{row['work']} {row['with']}": float(row["cpu_s"]) for row in rows}
