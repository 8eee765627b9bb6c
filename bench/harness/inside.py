"""What happens inside one profile: windows of a timeline, scripts over a large tree, where within a function."""

from __future__ import annotations

import random
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

from harness.context import Context
from harness.data import SIZES_MB
from harness.report import Row, seconds
from measured import percentile
from psp_client import Answer, Client, ClientError, Daemon

N_SAMPLES = 10_000_000
YEAR_NS = 365 * 86_400 * 10**9
WINDOWS = 200
TRACE_SIZE = "1GB"


def _samples(ctx: Context) -> Path:
    """A .cpuprofile of ten million samples; made when it is not there yet."""
    path = ctx.inputs.folder / f"samples-{N_SAMPLES}.cpuprofile"
    if not path.exists():
        ctx.inputs.folder.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".part")
        print(f"bench: generating {N_SAMPLES:,} samples", flush=True)
        subprocess.run([str(ctx.inputs.generator), "--format", "cpuprofile", "--samples", str(N_SAMPLES), "--seed", "1", "-o",
                        str(unfinished)], check=True)
        unfinished.rename(path)
    return path


def _over_a_year(ctx: Context) -> Path:
    """The same samples, their times stretched."""
    whole = _samples(ctx)
    path = whole.with_name(f"year-{N_SAMPLES}.cpuprofile")
    if not path.exists():
        text = whole.read_text()
        head, rest = text.split('"timeDeltas":[', 1)
        deltas = [int(delta) for delta in rest[: rest.index("]")].split(",")]
        factor = max(1, YEAR_NS // 1000 // max(1, sum(deltas)))
        start = int(re.search(r'"startTime":(\d+)', head)[1])
        head = re.sub(r'"endTime":\d+', f'"endTime":{start + factor * sum(deltas)}', head)
        unfinished = path.with_suffix(".part")
        unfinished.write_text(head + '"timeDeltas":[' + ",".join(str(delta * factor) for delta in deltas) + "]}")
        unfinished.rename(path)
    return path


def _ask(client: Client, method: str, params: dict[str, object]) -> Answer:
    answer = client.request(method, params, timeout_s=600)
    if answer.error:
        raise ClientError(f"{method}: {answer.error.get('message')}")
    return answer


def _look_around(ctx: Context, row: Row, path: Path) -> None:
    """Windows of any place and length over the tracks with most, after the first picture of the whole."""
    with Daemon([str(ctx.profd), "serve", "--stdio"], ctx.environment()) as daemon:
        client = daemon.stdio_client()
        client.initialize(None)
        _ask(client, "profile/open", {"uri": path.as_uri(), "options": {"watch": False}})
        client.wait_idle(600)
        first = _ask(client, "view/timeline", {"spec": "top-down", "width": 1600})
        tracks = [track["id"] for track in first.result["tracks"][:3]]
        begin, end = int(first.result["begin"]), int(first.result["end"])
        # The charts of a track are made the first time that it is looked into.
        for track in tracks:
            _ask(client, "view/timeline", {"spec": "top-down", "width": 1600, "charts": [track]})
        pick, times, most = random.Random(1), [], 0
        for _ in range(WINDOWS):
            length = max(1, int((end - begin) * 10 ** pick.uniform(-5, 0)))
            at = begin + pick.randrange(max(1, end - begin - length))
            window = {"spec": "top-down", "width": 1600, "from": at, "to": at + length, "charts": [pick.choice(tracks)]}
            answer = _ask(client, "view/timeline", window)
            times.append(answer.seconds)
            most = max(most, sum(len(chart["boxes"]["x"]) for chart in answer.result.get("charts", [])))
    p50, p99 = percentile(times, 0.5), percentile(times, 0.99)
    row.measured = f"first {seconds(first.seconds)}, then p50 {seconds(p50)}, p99 {seconds(p99)} of {WINDOWS}, at most {most:,} boxes"
    row.check(p99 <= 0.050 and 0 < most <= 5000)


def _script(client: Client, profile: str, text: str) -> Answer:
    return _ask(client, "analysis/run", {"name": "bench", "text": text, "of": [{"profile": profile}]})


def _run_scripts(ctx: Context, rows: tuple[Row, Row, Row]) -> None:
    spawn, visit, columns = rows
    with Daemon([str(ctx.profd), "serve", "--stdio"], ctx.environment()) as daemon:
        client = daemon.stdio_client()
        client.initialize(None)
        path = ctx.inputs.file("pprof", ctx.sizes[-1])
        profile = str(_ask(client, "profile/open", {"uri": path.as_uri(), "options": {"watch": False}}).result["profile"])
        client.wait_idle(600)
        empty = '-- @title t\nprint("")'
        _script(client, profile, empty)  # the columns are laid out for scripts once
        nothing = percentile([_script(client, profile, empty).seconds for _ in range(9)], 0.5)
        n = int(re.search(r"\d+", str(_script(client, profile, "-- @title t\nprint(profile.n_nodes)").result["text"]))[0])
        spawn.measured = f"{seconds(nothing)} for a script that does nothing, beside {n:,} nodes"
        spawn.check(nothing <= 0.010)
        walk = "-- @title t\nlocal n = 0\nprofile:visit(function(node) n = n + 1 end, {min_share = 0})\nprint(n)"
        took = percentile([_script(client, profile, walk).seconds for _ in range(3)], 0.5) - nothing
        visit.measured = f"{seconds(took * 1e7 / n)} for ten million, {took * 1e9 / n:.0f} ns a node; measured with {n:,}"
        visit.check(took * 1e7 / n <= 1.5)
        times = 20
        sums = f"-- @title t\nlocal a, b = profile:self(), profile:totals()\nlocal c = a\nfor _ = 1, {times} do c = a + b end\nprint(c:sum())"
        took = percentile([_script(client, profile, sums).seconds for _ in range(3)], 0.5) - nothing
        columns.measured = f"{took * 1e9 / n / times:.1f} ns a node for one operation, with {n:,} nodes"
        columns.check(took * 1e9 / n / times <= 10)


def _ranges(ctx: Context, row: Row) -> None:
    """The first answer of a daemon that has made nothing ahead for them, then those for other functions."""
    with Daemon([str(ctx.profd), "serve", "--stdio"], ctx.environment()) as daemon:
        client = daemon.stdio_client()
        client.initialize(None)
        path = ctx.inputs.file("pprof", ctx.sizes[-1])
        _ask(client, "profile/open", {"uri": path.as_uri(), "options": {"watch": False}})
        top = _ask(client, "view/table", {"spec": {"shape": "flat", "metric": "cpu"}, "limit": 40}).result
        names = [top["names"][name] for name in top["rows"]["name"]]
        spec = {"shape": "flat", "metric": "cpu"}
        first = _ask(client, "view/ranges", {"spec": spec, "function": names[0]}).seconds
        client.wait_idle(600)
        times = [_ask(client, "view/ranges", {"spec": spec, "function": name}).seconds for name in names[1:]]
    p50, p99 = percentile(times, 0.5), percentile(times, 0.99)
    row.measured = f"first {seconds(first)}, then p50 {seconds(p50)}, p99 {seconds(p99)} of {len(times)} functions"
    row.check(first <= 1 and p99 <= 0.050)


def run(ctx: Context) -> None:
    size = ctx.sizes[-1]
    within = Row(f"within a function, {size}: first ranges cold", "<= 1 s, then p99 <= 50 ms")
    scripts = (Row(f"scripts, {size}: start", "<= 10 ms"), Row(f"scripts, {size}: visit of ten million nodes", "<= 1.5 s"),
               Row(f"scripts, {size}: columns", "<= 10 ns a node"))
    every = Row(f"timeline of {N_SAMPLES // 1_000_000} M samples", "p99 <= 50 ms, <= 5,000 boxes")
    year = Row(f"timeline of {N_SAMPLES // 1_000_000} M samples over a year", "p99 <= 50 ms, <= 5,000 boxes")
    trace = Row(f"timeline of a {TRACE_SIZE} trace", "p99 <= 50 ms, <= 5,000 boxes")
    work: list[tuple[tuple[Row, ...], Callable[[], None]]] = [
        ((within,), lambda: _ranges(ctx, within)),
        (scripts, lambda: _run_scripts(ctx, scripts)),
    ]
    if SIZES_MB[size] >= SIZES_MB[TRACE_SIZE] or ctx.rows.pattern:
        work += [((every,), lambda: _look_around(ctx, every, _samples(ctx))),
                 ((year,), lambda: _look_around(ctx, year, _over_a_year(ctx))),
                 ((trace,), lambda: _look_around(ctx, trace, ctx.inputs.file("chrome-trace", TRACE_SIZE)))]
    for rows, measure in work:
        if not ctx.wants(*(row.name for row in rows)):
            continue
        print(f"bench: {rows[0].name}", flush=True)
        try:
            measure()
        except (ClientError, KeyError, TypeError, ValueError, subprocess.SubprocessError) as error:
            for row in rows:
                row.measured = f"not yet: {error}"
                row.checks.clear()
        for row in rows:
            ctx.add(row)
