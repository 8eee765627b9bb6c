"""Opening pprof files: time, memory, how the cost grows, the second open."""

from __future__ import annotations

import os
import signal
import socket
import statistics
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

from harness.context import Context
from harness.data import SIZES_MB
from harness.measure import Cost, Costs, Task, available_mb, interleave
from harness.report import Row, megabytes, seconds

# Size, then the limit in multiples of libdeflate's gunzip (or seconds), then how many times faster than each peer.
TARGETS: dict[str, tuple[float, dict[str, float]]] = {
    "1MB": (0.020, {"pprof": 15}),
    "10MB": (6, {"pprof": 25}),
    "100MB": (5, {"pprof": 35, "pprof web": 70, "speedscope": 150}),
    "1GB": (4, {}),
}
# The least number of runs. A run of 15 ms is lost in the noise of a shared machine, and cheap to repeat.
LEAST_RUNS = {"1MB": 15, "10MB": 9, "100MB": 9, "1GB": 5}
# What a peer took at that size when it was measured last, MB: it is not started with less to be had.
NEEDS_MB = {("speedscope", "100MB"): 15_000, ("pprof web", "100MB"): 23_000, ("pprof", "100MB"): 3_000,
            ("go tool pprof", "100MB"): 3_000}
HEAVY_MB = 8_000


def pprof_web(ctx: Context, path: Path, timeout_s: float = 240) -> Cost | str:
    """pprof's web server from its start until the flame graph page has arrived."""
    ctx.runner.run(["true"], ready_mb=ctx.ready_mb(path))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    start = time.perf_counter()
    child = subprocess.Popen(
        [*ctx.peers.commands["pprof"], f"-http=127.0.0.1:{port}", "-no_browser", str(path)],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )
    wall = 0.0
    while wall == 0.0 and time.perf_counter() - start < timeout_s:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/ui/flamegraph", timeout=timeout_s) as page:
                while page.read(1 << 20):
                    pass
            wall = time.perf_counter() - start
        except (urllib.error.URLError, OSError):
            time.sleep(0.005)
            if os.waitpid(child.pid, os.WNOHANG)[0] != 0:
                child.returncode = -1
                return "failed"
    os.killpg(child.pid, signal.SIGKILL)
    _, _, usage = os.wait4(child.pid, 0)
    child.returncode = -signal.SIGKILL
    if wall == 0.0:
        return f"not finished in {timeout_s:.0f} s"
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6)


def _peer_tasks(ctx: Context, size: str, path: Path) -> tuple[dict[str, Task], dict[str, int]]:
    tasks: dict[str, Task] = {}
    runs: dict[str, int] = {}
    if size == "1GB":  # no peer finishes
        return tasks, runs
    big = size == "100MB"

    def plan(name: str, program: str, n: int, task: Task) -> None:
        needs = NEEDS_MB.get((name, size), 0)
        if program not in ctx.peers.commands:
            return
        if needs > HEAVY_MB and not ctx.heavy:
            task = lambda: f"not run: takes {needs / 1000:.0f} GB, ask with --heavy"  # noqa: E731
        elif needs > available_mb():
            task = lambda: f"not run: {needs / 1000:.0f} GB are not free"  # noqa: E731
        tasks[name], runs[name] = task, n

    plan("pprof", "pprof", 2 if big else max(ctx.runs, LEAST_RUNS[size]), lambda: ctx.peer("pprof", "-top", path=path))
    plan("go tool pprof", "go tool pprof", 1 if big else min(3, ctx.runs), lambda: ctx.peer("go tool pprof", "-top", path=path))
    plan("pprof web", "pprof", 1 if big else min(3, ctx.runs), lambda: pprof_web(ctx, path))
    plan("speedscope", "speedscope", 1 if big else min(2, ctx.runs), lambda: ctx.peer("speedscope", path=path))
    return tasks, runs


def _cold_row(ctx: Context, size: str, costs: dict[str, Costs], gunzip_s: float) -> Row:
    limit, factors = TARGETS[size]
    wanted = [f"<= {seconds(limit)}" if size == "1MB" else f"<= {limit:g}x libdeflate's gunzip"]
    wanted += [f"{factor:g}x {name}" for name, factor in factors.items()]
    row = Row(f"pprof cold {size}", "; ".join(wanted), floor=f"libdeflate {seconds(gunzip_s)}")
    ours = costs["profd"]
    if ours.failure:
        row.measured = ours.failure
    if ours.ok:
        row.measured = f"{seconds(ours.wall_s)} (CPU {seconds(ours.cpu_s)})"
        row.floor = f"{ours.wall_s / gunzip_s:.1f}x libdeflate's {seconds(gunzip_s)}"
        row.check(ours.wall_s <= (limit if size == "1MB" else limit * gunzip_s))
    row.compare(ours, {name: cost for name, cost in costs.items() if name != "profd"}, factors)
    return row


def _memory_row(size: str, ours: Costs, theirs: Costs | None) -> Row:
    row = Row(f"memory while loading {size}", "peak <= 2.5x the uncompressed size")
    if ours.ok:
        ratio = ours.peak_mb / SIZES_MB[size]
        row.measured = f"{megabytes(ours.peak_mb)} = {ratio:.2f}x"
        row.check(ratio <= 2.5)
    if theirs and theirs.ok:
        row.peers.append(f"pprof {megabytes(theirs.peak_mb)}")
    return row


def _second_open(ctx: Context, size: str) -> None:
    name = f"native cache, second open {size}"
    if not ctx.wants(name):
        return
    row = Row(name, "<= 0.5 s to the first layout" if size == "1GB" else "<= 0.5 s at 1 GB; here for the trend",
              has_target=size == "1GB")
    path = ctx.inputs.file("pprof", size)
    first = ctx.cold(path)
    cached = sum(file.stat().st_size for file in (ctx.work / "cache").rglob("*") if file.is_file())
    if isinstance(first, str):
        row.measured = first
    elif cached < 1000:
        row.measured = "not yet: the first open left nothing in the cache"
    else:
        costs = interleave({"profd": lambda: ctx.cold(path, fresh_cache=False)}, {"profd": ctx.runs})["profd"]
        ctx.report.costs.append((f"pprof {size}, second open", "profd", costs))
        if costs.ok:
            faster = first.wall_s / costs.wall_s
            row.measured = f"{seconds(costs.wall_s)}, {faster:.1f}x faster than the first; cache {cached / 1e6:,.0f} MB"
            row.check(costs.wall_s <= 0.5)
        else:
            row.measured = costs.failure
    ctx.environment()  # empties the cache
    ctx.add(row)


def run(ctx: Context) -> None:
    per_mb: dict[str, float] = {}
    growth = Row("cost as the work grows", "cold time per MB at 1 GB <= 2x that at 10 MB")
    for size in ctx.sizes:
        names = (f"pprof cold {size}", f"memory while loading {size}")
        if not ctx.wants(*names) and not (size in ("10MB", "1GB") and ctx.wants(growth.name)):
            continue
        path = ctx.inputs.file("pprof", size)
        tasks, runs = _peer_tasks(ctx, size, path) if ctx.wants(*names) else ({}, {})
        tasks["profd"] = lambda path=path: ctx.cold(path)  # type: ignore[misc]
        runs["profd"] = max(ctx.runs // 2 if size == "1GB" else ctx.runs, LEAST_RUNS[size])
        rounds: list[dict[str, float]] = []
        tasks["floor"] = lambda path=path, rounds=rounds: rounds.append(ctx.floors(path))  # type: ignore[misc]
        runs["floor"] = 3 if size == "1GB" else runs["profd"]
        print(f"bench: pprof {size}: {', '.join(tasks)}", flush=True)
        costs = interleave(tasks, runs)
        del costs["floor"]
        costs = {"profd": costs.pop("profd"), **costs}
        floors = {work: statistics.median(floor[work] for floor in rounds) for work in rounds[0]}
        ctx.report.floors += [(f"pprof {size}", work, value) for work, value in floors.items()]
        ctx.report.costs += [(f"pprof {size}", name, cost) for name, cost in costs.items()]
        ctx.add(_cold_row(ctx, size, costs, floors["gunzip libdeflate"]))
        if SIZES_MB[size] >= 100:
            ctx.add(_memory_row(size, costs["profd"], costs.get("pprof")))
        if costs["profd"].ok:
            per_mb[size] = costs["profd"].wall_s / SIZES_MB[size]
    if "1GB" in ctx.sizes and "10MB" in ctx.sizes:
        if "1GB" in per_mb and "10MB" in per_mb:
            ratio = per_mb["1GB"] / per_mb["10MB"]
            growth.measured = f"{ratio:.2f}x ({per_mb['10MB'] * 1000:.1f} and {per_mb['1GB'] * 1000:.1f} ms a MB)"
            growth.check(ratio <= 2)
        ctx.add(growth)
    if SIZES_MB[ctx.sizes[-1]] >= 10:
        _second_open(ctx, ctx.sizes[-1])
