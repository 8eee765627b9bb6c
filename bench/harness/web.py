"""The views in a browser on the biggest profile: first picture, work a frame, answers, memory, and what a page is to load."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.context import Context
from harness.data import SIZES_MB
from harness.report import Row, megabytes, seconds
from measured import percentile
from psp_client import ClientError, Daemon
from web_page import ROOT, why_no_page

LOOKING_S = 20
FIRST_RUNS = 5


def _bundle() -> Row:
    row = Row("page: what it is to load", "<= 1 MB, <= 400 KB compressed")
    files = [file.read_bytes() for file in (ROOT / "clients" / "web" / "dist").glob("*") if file.is_file()]
    whole, packed = sum(map(len, files)), sum(len(gzip.compress(file)) for file in files)
    row.measured = f"{whole / 1000:.0f} KB, {packed / 1000:.0f} KB compressed"
    row.check(0 < whole <= 1_000_000 and packed <= 400_000)
    return row


def _fill_cache(ctx: Context, path: Path, environment: dict[str, str]) -> None:
    with Daemon([str(ctx.profd), "serve", "--stdio"], environment) as daemon:
        client = daemon.stdio_client()
        client.initialize(None)
        answer = client.request("profile/open", {"uri": path.as_uri(), "options": {"watch": False}}, timeout_s=300)
        if answer.error:
            raise ClientError(f"profile/open: {answer.error.get('message')}")
        client.wait_idle()


def _drive(ctx: Context, path: Path, environment: dict[str, str]) -> dict[str, Any]:
    argv = ["node", str(ROOT / "bench" / "measure" / "page.mjs"), str(ctx.profd), str(ROOT), str(path), str(LOOKING_S),
            str(FIRST_RUNS)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=600, env={**os.environ, **environment})
    if done.returncode != 0:
        raise ClientError((done.stderr or done.stdout).strip()[-300:])
    return dict(json.loads(done.stdout))


def run(ctx: Context) -> None:
    size = ctx.sizes[-1]
    if ctx.wants("page: what it is to load") and not why_no_page(build=True):
        ctx.add(_bundle())
    _page(ctx, size, lambda: ctx.inputs.file("pprof", size))
    if SIZES_MB[size] >= SIZES_MB["1GB"]:
        _page(ctx, "1GB trace", lambda: ctx.inputs.file("chrome-trace", "1GB"))


def _page(ctx: Context, size: str, input_of: Callable[[], Path]) -> None:
    first = Row(f"page {size}: `profd view` to the first picture, cached", "<= 2 s")
    frames = Row(f"page {size}: work of the page a frame, panning and zooming {LOOKING_S} s", "p95 <= 16 ms")
    answers = Row(f"page {size}: answers meanwhile, as the page hears them", "p95 <= 50 ms")
    memory = Row(f"page {size}: memory of the page after it", "<= 150 MB")
    driven = (first, frames, answers, memory)
    if not ctx.wants(*(row.name for row in driven)):
        return
    if problem := why_no_page(build=True):
        for row in driven:
            row.measured = f"not yet: {problem}"
            ctx.add(row)
        return
    print(f"bench: the page on {size}", flush=True)
    environment = ctx.environment()
    try:
        path = input_of()
        _fill_cache(ctx, path, environment)
        told = _drive(ctx, path, environment)
        pictures = [ms / 1000 for ms in told["first"]]
        first.measured = f"{seconds(percentile(pictures, 0.5))}, at most {seconds(max(pictures))} of {len(pictures)}"
        first.check(percentile(pictures, 0.5) <= 2)
        for row, times, limit, what in ((frames, told["frames"]["cpu"], 0.016, "frames"),
                                        (answers, told["answers"], 0.050, "answers")):
            if not times:
                raise ClientError(f"no {what}")
            p50, p95 = percentile(times, 0.5) / 1000, percentile(times, 0.95) / 1000
            row.measured = f"p50 {seconds(p50)}, p95 {seconds(p95)}, at most {seconds(max(times) / 1000)} of {len(times)} {what}"
            row.check(p95 <= limit)
        frames.measured += f"; with waiting for a processor p95 {seconds(percentile(told['frames']['wall'], 0.95) / 1000)}"
        own, share = told["memory"]["own"] / 1e6, told["memory"]["share"] / 1e6
        memory.measured = (f"{megabytes(own)} of its process alone ({megabytes(share)} with its part of the browser's), "
                           f"JavaScript {megabytes(told['heap'] / 1e6)}")
        memory.check(own <= 150)
        note = (f"The page runs in Chromium {told['browser']}, headless, 1600 x 900, software drawing: the "
                "canvas is painted on the thread whose work is measured.")
        if note not in ctx.report.notes:
            ctx.report.notes.append(note)
    except (ClientError, KeyError, TypeError, ValueError, subprocess.TimeoutExpired) as error:
        for row in driven:
            row.measured = f"not yet: {error}"
            row.checks.clear()
    ctx.environment()  # empties the cache
    for row in driven:
        ctx.add(row)
