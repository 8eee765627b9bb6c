"""What a running process takes, and percentiles of what was measured."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path


def percentile(values: Sequence[float], share: float) -> float:
    """Nearest rank, so that p99 of few values is the worst one."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, -(-int(share * 100 * len(ordered)) // 100) - 1))]


def process_memory_mb(pid: int) -> tuple[float, float]:
    """Resident and peak resident MB of a running process; the peak is 0 where the system does not tell."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        kilobytes = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True).stdout
        return int(kilobytes or 0) * 1024 / 1e6, 0.0
    fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    return tuple(int(fields[key].split()[0]) * 1024 / 1e6 for key in ("VmRSS", "VmHWM"))  # type: ignore[return-value]


def process_cpu_s(pid: int) -> float:
    """CPU seconds a running process has used; Linux only, else 0."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def process_descriptors(pid: int) -> int:
    """Open descriptors of a running process; Linux only, else 0."""
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return 0
