"""Runs a program and says what it cost."""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Cost:
    """One run: seconds on the clock, CPU seconds of all threads, peak resident MB (10^6 bytes)."""

    wall_s: float
    cpu_s: float
    peak_mb: float


@dataclass
class Costs:
    """Several runs of one thing, or why there are none."""

    runs: list[Cost] = field(default_factory=list)
    failure: str = ""

    def _median(self, pick: Callable[[Cost], float]) -> float:
        return statistics.median(pick(run) for run in self.runs)

    @property
    def ok(self) -> bool:
        return bool(self.runs) and not self.failure

    @property
    def wall_s(self) -> float:
        return self._median(lambda run: run.wall_s)

    @property
    def cpu_s(self) -> float:
        return self._median(lambda run: run.cpu_s)

    @property
    def peak_mb(self) -> float:
        return self._median(lambda run: run.peak_mb)


@dataclass(frozen=True)
class Runner:
    """Runs programs through profd-bench-run, which says what they cost."""

    program: Path
    result: Path

    def run(
        self, argv: Sequence[str], *, ready_mb: int = 0, env: Mapping[str, str] | None = None, output: Path | None = None,
        input: Path | None = None, timeout_s: float = 600,
    ) -> Cost | str:
        """The cost of a program that ends with 0, else a sentence. Its children count when it has waited for them.
        So much memory is made ready before it starts (see profd-bench-run)."""
        self.result.unlink(missing_ok=True)
        with open(output or os.devnull, "wb") as sink, open(input or os.devnull, "rb") as source:
            child = subprocess.Popen(
                [str(self.program), str(self.result), str(ready_mb), *argv], stdin=source, stdout=sink,
                stderr=subprocess.DEVNULL, env={**os.environ, **(env or {})}, start_new_session=True,
            )
            try:
                child.wait(timeout_s)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)  # a session of its own: ours and its children only
                child.wait()
                return f"not finished in {timeout_s:.0f} s"
        try:
            cost = json.loads(self.result.read_text())
        except (OSError, ValueError):
            return "profd-bench-run failed"
        if cost["exit"] != 0:
            return f"failed (exit {cost['exit']})" if cost["exit"] > 0 else f"killed by signal {-cost['exit']}"
        return Cost(cost["wall_s"], cost["cpu_s"], cost["peak_bytes"] / 1e6)


# What a run cost, why there is none, or None from a task that keeps its own books.
Task = Callable[[], Cost | str | None]


def interleave(tasks: Mapping[str, Task], runs: Mapping[str, int]) -> dict[str, Costs]:
    """Runs every task its number of times, each spread evenly over the whole, so that a slow spell of the machine hits all
    alike."""
    results = {name: Costs() for name in tasks}
    turns = sorted(((i + 0.5) / runs[name], name) for name in tasks for i in range(runs[name]))
    for _, name in turns:
        costs = results[name]
        if costs.failure:
            continue
        outcome = tasks[name]()
        if isinstance(outcome, Cost):
            costs.runs.append(outcome)
        elif outcome is not None:
            costs.failure = outcome
    return results


def available_mb() -> float:
    """Memory that can be had without swapping; infinite where unknown."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024 / 1e6
    except OSError:
        pass
    return float("inf")
