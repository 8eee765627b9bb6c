"""The table of rows, and the page it goes on."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.measure import Costs

NOT_YET = "not yet"


@dataclass
class Row:
    """One promise: what is asked, what was measured in this run, and whether every check held."""

    name: str
    target: str
    measured: str = NOT_YET
    peers: list[str] = field(default_factory=list)
    floor: str = ""
    checks: list[bool] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)  # peers the target names that did not run
    has_target: bool = True  # False: a figure to know, that nothing is asked of

    def check(self, held: bool) -> None:
        self.checks.append(held)

    def compare(self, ours: Costs, peers: Mapping[str, Costs], factors: Mapping[str, float]) -> None:
        """Fills the peers' column and checks that each is as many times slower as asked."""
        for name, theirs in peers.items():
            ratio = f" ({theirs.wall_s / ours.wall_s:.1f}x)" if ours.ok and theirs.ok else ""
            self.peers.append(f"{name} {seconds(theirs.wall_s)}{ratio}" if theirs.ok else f"{name}: {theirs.failure}")
        for name, factor in factors.items():
            if name not in peers or not peers[name].ok:
                self.unchecked.append(name)
            elif ours.ok:
                self.check(peers[name].wall_s >= factor * ours.wall_s)

    @property
    def verdict(self) -> str:
        if not self.checks:
            return NOT_YET if self.has_target or self.measured.startswith(NOT_YET) else "no target"
        if not all(self.checks):
            return "**miss**"
        return f"pass; {', '.join(self.unchecked)} not compared" if self.unchecked else "pass"


@dataclass
class Report:
    rows: list[Row] = field(default_factory=list)
    costs: list[tuple[str, str, Costs]] = field(default_factory=list)  # work, program, cost
    floors: list[tuple[str, str, float]] = field(default_factory=list)  # input, work, seconds
    latencies: list[tuple[str, int, float, float, int]] = field(default_factory=list)  # request, n, p50, p99, bytes
    notes: list[str] = field(default_factory=list)


def seconds(value: float) -> str:
    if value >= 1:
        return f"{value:.2f} s"
    return f"{value * 1000:.{0 if value >= 0.01 else 1 if value >= 0.001 else 2}f} ms"


def megabytes(value: float) -> str:
    return f"{value:,.0f} MB"


def table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)


def machine() -> str:
    """Processor, cores, memory, kernel, system; nothing that names the machine."""
    model = platform.processor() or platform.machine()
    memory = ""
    try:
        if found := re.search(r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE):
            model = found[1]
        if found := re.search(r"^MemTotal:\s+(\d+) kB", Path("/proc/meminfo").read_text(), re.MULTILINE):
            memory = f", {int(found[1]) / 2**20:.0f} GiB"
    except OSError:
        pass
    release = re.match(r"[\d.]+", platform.release())
    busy = f", load {os.getloadavg()[1]:.1f} when done"
    return f"{os.cpu_count()} cores, {model}{memory}, {platform.system()} {release[0] if release else ''}".strip() + busy


def revision(root: Path) -> str:
    done = subprocess.run(["git", "-C", str(root), "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def render(report: Report, root: Path, versions: dict[str, str], absent: dict[str, str], options: str) -> str:
    programs = [f"{name} {version}" for name, version in versions.items()]
    missing = [f"{name} ({reason})" for name, reason in absent.items()]
    parts = [
        "# Speed and memory, measured",
        f"Written by `./dev bench{' ' + options if options else ''}` at {revision(root)}; do not edit. {machine()}. Medians; "
        "a peer's ratio is its wall seconds over profd's. Sizes are before compression. Only ratios within one run carry over.",
        "Peers: " + ("; ".join(programs) or "none") + (". Not to be had: " + "; ".join(missing) if missing else "") + ".",
        table(
            ["row", "target", "measured", "peers", "floor", "verdict"],
            [[r.name, r.target, r.measured, "<br>".join(r.peers), r.floor, r.verdict] for r in report.rows],
        ),
    ]
    if report.costs:
        parts += ["## Every program that ran", table(
            ["work", "program", "wall", "CPU", "peak", "runs"],
            [[work, name, seconds(c.wall_s), seconds(c.cpu_s), megabytes(c.peak_mb), str(len(c.runs))] if c.ok
             else [work, name, c.failure or NOT_YET, "", "", ""] for work, name, c in report.costs])]
    if report.floors:
        parts += ["## The floor: one thread, buffers faulted in anew every time", table(
            ["input", "work", "CPU"], [[name, work, seconds(value)] for name, work, value in report.floors])]
    if report.latencies:
        parts += ["## Requests to a warm daemon", table(
            ["request", "n", "p50", "p99", "largest answer"],
            [[name, str(n), seconds(p50), seconds(p99), f"{size / 1000:.0f} KB"] for name, n, p50, p99, size in report.latencies])]
    parts += [f"- {note}" for note in report.notes]
    return "\n\n".join(parts) + "\n"
