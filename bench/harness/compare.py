"""Several profiles as one: a diff and an aggregate, beside the time of opening what they are made of."""

from __future__ import annotations

import re
import statistics
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.context import Context
from harness.data import SIZES_MB
from harness.measure import Cost, interleave
from harness.report import Row, megabytes, seconds
from harness.warm import paths_of_boxes
from measured import percentile, process_cpu_s, process_memory_mb
from psp_client import Answer, Client, ClientError, Daemon

FILES_OF_10MB = 100
FILES_OF_1MB = 1000
REPEATS = 20
SPEC = {"shape": "topDown"}


def _asked(client: Client, method: str, params: dict[str, Any], timeout_s: float = 600) -> Answer:
    answer = client.request(method, params, timeout_s)
    if answer.error:
        raise ClientError(f"{method}: {answer.error.get('message')}")
    return answer


def _layout(client: Client, profile: str, **more: Any) -> Answer:
    return _asked(client, "view/flameGraph", {"profile": profile, "spec": SPEC, "viewport": {"width": 1600}, **more})


def _side(path: Path) -> list[dict[str, str]]:
    return [{"uri": path.as_uri()}]


def _in_daemon(ctx: Context, ask: Callable[[Client], None]) -> Cost | str:
    """What a daemon that knows nothing took from its start until `ask` had its answers."""
    try:
        with Daemon([str(ctx.profd), "serve", "--stdio"], ctx.environment()) as daemon:
            client = daemon.stdio_client()
            client.initialize(ctx.work)
            ask(client)
            wall = time.perf_counter() - daemon.started
            return Cost(wall, process_cpu_s(daemon.process.pid), process_memory_mb(daemon.process.pid)[1])
    except ClientError as error:
        return str(error)


def _open_all(client: Client, files: list[Path]) -> None:
    """All are asked for at once, as an aggregate asks for them."""
    options = {"watch": False, "makeDefault": False}
    begun = [client.begin("profile/open", {"uri": path.as_uri(), "options": options}) for path in files]
    for request in begun:
        answer = client.finish(request, 600)
        if answer.error:
            raise ClientError(f"profile/open: {answer.error.get('message')}")


def _open_in_turn(client: Client, files: list[Path]) -> None:
    """Each is closed before the next but one is opened, so that a hundred need the memory of two."""
    options = {"watch": False, "makeDefault": False}
    waiting: list[int] = []
    for path in [*files, None, None]:
        if len(waiting) == 2 or (path is None and waiting):
            answer = client.finish(waiting.pop(0), 600)
            if answer.error:
                raise ClientError(f"profile/open: {answer.error.get('message')}")
            _asked(client, "profile/close", {"profile": answer.result["profile"]})
        if path is not None:
            waiting.append(client.begin("profile/open", {"uri": path.as_uri(), "options": options}))


def _compared(ctx: Context, name: str, target: str, opened: Callable[[Client], None],
              composed: Callable[[Client], None], runs: int) -> None:
    """A row of how much longer several profiles as one take than opening them."""
    row = Row(name, target)
    print(f"bench: {name}", flush=True)
    costs = interleave({"opened": lambda: _in_daemon(ctx, opened), "as one": lambda: _in_daemon(ctx, composed)},
                       {"opened": runs, "as one": runs})
    ctx.report.costs += [(name, work, cost) for work, cost in costs.items()]
    first, second = costs["opened"], costs["as one"]
    if first.ok and second.ok:
        # Pairs that ran side by side, so that a slow spell of the machine hits both.
        ratio = statistics.median(b.wall_s / a.wall_s for a, b in zip(first.runs, second.runs))
        row.measured = (f"{seconds(second.wall_s)} beside {seconds(first.wall_s)} = {ratio:.2f}x; "
                        f"CPU {seconds(second.cpu_s)} beside {seconds(first.cpu_s)}; peak {megabytes(second.peak_mb)}")
        row.check(ratio <= 1.3)
    else:
        row.measured = first.failure or second.failure
    ctx.add(row)


def _cold_diff(ctx: Context, size: str) -> None:
    name = f"diff of two {size}, cold"
    if not ctx.wants(name):
        return
    before, after = ctx.inputs.file("pprof", size), ctx.inputs.file("pprof", size, run=2)

    def both(client: Client) -> None:
        _open_all(client, [before, after])

    def diff(client: Client) -> None:
        opened = _asked(client, "profile/diff", {"before": _side(before), "after": _side(after)})
        _layout(client, opened.result["profile"])

    _compared(ctx, name, "to the first layout <= 1.3x the time of opening both", both, diff, max(3, ctx.runs))


def _warm_diff(ctx: Context, size: str) -> None:
    first = Row(f"first layout of an open diff of two {size}", "<= 1 s")
    warm = Row(f"warm diff of two {size}", "p99 <= 50 ms")
    if not ctx.wants(first.name, warm.name):
        return
    print(f"bench: warm diff of two {size}", flush=True)
    before, after = ctx.inputs.file("pprof", size), ctx.inputs.file("pprof", size, run=2)
    try:
        with Daemon([str(ctx.profd), "serve", "--stdio"], ctx.environment()) as daemon:
            client = daemon.stdio_client()
            client.initialize(ctx.work)
            _open_all(client, [before, after])
            client.wait_idle(600)
            start = time.perf_counter()
            opened = _asked(client, "profile/diff", {"before": _side(before), "after": _side(after)})
            made = time.perf_counter() - start
            profile = opened.result["profile"]
            layout = _layout(client, profile)
            first.measured = (f"{seconds(layout.seconds)}, {layout.bytes / 1000:.0f} KB; opened in {seconds(made)}, both sides "
                              f"open; peak {megabytes(process_memory_mb(daemon.process.pid)[1])}")
            first.check(layout.seconds <= 1)
            client.wait_idle(600)
            zooms = [path for path in paths_of_boxes(layout.result) if path][:REPEATS]
            times: list[float] = []
            for i, zoom in enumerate(zooms):
                for method, params in (
                    ("view/flameGraph", {"viewport": {"width": 400 + 60 * i}, "spec": SPEC}),
                    ("view/flameGraph", {"viewport": {"width": 1600}, "spec": SPEC, "zoom": zoom,
                                         "revision": layout.result["revision"]}),
                    ("view/table", {"spec": {"shape": "flat"}, "offset": 100 * i, "limit": 100, "sort": "change"}),
                    ("view/search", {"spec": SPEC, "pattern": f"func{i}"}),
                ):
                    times.append(_asked(client, method, {"profile": profile, **params}).seconds)
            p50, p99 = percentile(times, 0.5), percentile(times, 0.99)
            warm.measured = f"p50 {seconds(p50)}, p99 {seconds(p99)}, at most {seconds(max(times))} of {len(times)}"
            warm.check(p99 <= 0.050)
    except ClientError as error:
        first.measured = first.measured if first.checks else str(error)
        warm.measured = str(error)
    ctx.add(first)
    ctx.add(warm)


def _aggregate(ctx: Context) -> None:
    name = f"aggregate of {FILES_OF_10MB} files of 10MB"
    if not ctx.wants(name):
        return
    files = [ctx.inputs.file("pprof", "10MB", run=i) for i in range(1, FILES_OF_10MB + 1)]

    def aggregate(client: Client) -> None:
        opened = _asked(client, "profile/aggregate", {"of": [{"uri": path.as_uri()} for path in files]})
        _layout(client, opened.result["profile"])

    _compared(ctx, name, "to the first layout <= 1.3x the time of opening them",
              lambda client: _open_in_turn(client, files), aggregate, 2)


def _memory(ctx: Context) -> None:
    row = Row(f"aggregate of {FILES_OF_1MB:,} files of 1MB: memory", "peak <= union + 16 B a value + one input")
    measure = ctx.floor.parent / "profd-measure-several"
    if not ctx.wants(row.name):
        return
    if not measure.exists():
        row.measured = "not yet: profd-measure-several is not built"
        ctx.add(row)
        return
    print(f"bench: {row.name}", flush=True)
    files = [ctx.inputs.file("pprof", "1MB", run=i) for i in range(1, FILES_OF_1MB + 1)]
    done = subprocess.run([str(measure), "merge", *map(str, files)], capture_output=True, text=True, timeout=600)
    if found := re.search(r"^peak ([\d.]+) MiB; .* are ([\d.]+) MiB$", done.stdout, re.MULTILINE):
        peak, allowed = float(found[1]) * 1.048576, float(found[2]) * 1.048576
        row.measured = f"{megabytes(peak)} = {peak / allowed:.2f}x of {megabytes(allowed)}"
        row.check(peak <= allowed)
    else:
        row.measured = f"profd-measure-several failed (exit {done.returncode})"
    ctx.add(row)


def run(ctx: Context) -> None:
    size = "100MB" if "100MB" in ctx.sizes else ctx.sizes[-1]
    _cold_diff(ctx, size)
    _warm_diff(ctx, ctx.sizes[-1])
    if SIZES_MB[ctx.sizes[-1]] >= 100:
        _aggregate(ctx)
        _memory(ctx)
