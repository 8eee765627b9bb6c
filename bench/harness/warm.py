"""A daemon with a profile in it: latencies of requests, memory, idling, and a hover while another client loads."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.context import Context
from harness.data import SIZES_MB
from harness.report import Row, megabytes, seconds
from measured import percentile, process_cpu_s, process_memory_mb
from psp_client import Answer, Client, ClientError, Daemon

REPEATS = 40
WORKSPACE_FILES = 50
Request = tuple[str, dict[str, Any]]


@dataclass
class Hot:
    """Source files and functions of the profile that cost the most, to ask about."""

    functions: list[str] = field(default_factory=list)
    places: list[tuple[str, int]] = field(default_factory=list)  # URI, 0-based line


def _rows(answer: dict[str, Any]) -> list[dict[str, Any]]:
    columns = answer["rows"]
    return [{"name": answer["names"][name], "file": answer["files"][file] if file >= 0 else "", "line": line}
            for name, file, line in zip(columns["name"], columns["file"], columns["line"])]


def _hottest(ctx: Context, path: Path, granularity: str, n: int) -> list[dict[str, Any]]:
    argv = [str(ctx.profd), "top", "--json", "-n", str(n), "--metric", "cpu", "--granularity", granularity, str(path)]
    try:
        done = subprocess.run(argv, capture_output=True, timeout=120, env={**os.environ, **ctx.environment()})
        return _rows(json.loads(done.stdout)) if done.returncode == 0 else []
    except (OSError, ValueError, KeyError, subprocess.TimeoutExpired):
        return []


def make_workspace(ctx: Context) -> Path:
    root = ctx.work / "workspace"
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    return root


def add_sources(ctx: Context, root: Path, size: str) -> Hot:
    """Source files named as a profile of that size names them, so that hovers and lenses have something to map to."""
    hot = Hot()
    path = ctx.inputs.file("pprof", size)
    hot.functions = [row["name"] for row in _hottest(ctx, path, "function", 60)]
    # Lines that were measured, one a file: where a function begins nothing need have been.
    files: set[Path] = set()
    for row in _hottest(ctx, path, "line", 2000):
        name = row.get("file") or ""
        if not name.startswith(("github.com/", "src/")) or not row.get("line") or len(hot.places) >= WORKSPACE_FILES:
            continue
        file = root / name
        if file in files or ".." in file.parts or not file.resolve().is_relative_to(root.resolve()):
            continue
        files.add(file)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n" * 4000)
        hot.places.append((file.as_uri(), int(row["line"]) - 1))
    return hot


def paths_of_boxes(layout: dict[str, Any]) -> Iterator[list[int]]:
    """Paths of keys to boxes of a layout, wide and narrow."""
    boxes = layout["boxes"]
    keys, parents = boxes["key"], boxes["parent"]
    step = max(1, len(keys) // REPEATS)
    for box in range(0, len(keys), step):
        path: list[int] = []
        at = box
        while at >= 0:
            path.append(keys[at])
            at = parents[at]
        yield path[::-1][1:] or []  # the root itself is not part of a path


def _requests(hot: Hot, layout: dict[str, Any]) -> dict[str, list[Request]]:
    def spec(shape: str, **more: Any) -> dict[str, Any]:
        return {"shape": shape, "metric": "cpu", **more}

    def flame(view: dict[str, Any], width: int = 1600, **more: Any) -> Request:
        return "view/flameGraph", {"spec": view, "viewport": {"width": width}, **more}

    zooms = [path for path in paths_of_boxes(layout) if path]
    patterns = [
        "malloc", "(?i)lock", r"^runtime\.", "Writer", r"\(\*.*Reader\)", "std::", "func1$", "codec|index", "zzz", "e",
        "free", "alloc", "Read", "^main", "http", "json|xml", "server", "Buffer", "close", "encode", "decode$", "parse", "Handle.*",
        "get", "set", "a", "o", "table", "cache", "sync",
    ]
    documents = [{"uri": uri} for uri, _ in hot.places]
    everywhere = {"start": {"line": 0, "character": 0}, "end": {"line": 4000, "character": 0}}
    return {
        "layout, top-down, any width": [flame(spec("topDown"), 400 + 60 * i) for i in range(REPEATS)],
        "layout, top-down, any zoom": [flame(spec("topDown"), zoom=path, revision=layout["revision"]) for path in zooms],
        "layout, bottom-up": [flame(spec("bottomUp"), 400 + 60 * i) for i in range(REPEATS)],
        "layout, other metrics": [flame({"shape": "topDown", "metric": m}) for m in ("alloc_space", "samples", "alloc_objects")],
        "layout with a search": [flame(spec("topDown"), search=pattern) for pattern in patterns],
        "callers of a function": [flame(spec("callers", focus=[name])) for name in hot.functions[:10]],
        "callees of a function": [flame(spec("callees", focus=[name])) for name in hot.functions[:10]],
        "table page": [("view/table", {"spec": spec("flat"), "offset": 100 * i, "limit": 100}) for i in range(REPEATS)],
        "search": [("view/search", {"spec": spec("topDown"), "pattern": pattern}) for pattern in patterns],
        "hot spots": [("view/hotspots", {"metric": "cpu", "limit": 50})] * 10,
        "hover": [("textDocument/hover", {"textDocument": {"uri": uri}, "position": {"line": line, "character": 0}})
                  for uri, line in hot.places] * 2,
        "annotations of a file": [("source/annotations", {"textDocument": d}) for d in documents],
        "inlay hints of a file": [("textDocument/inlayHint", {"textDocument": d, "range": everywhere}) for d in documents],
        "lenses of a file": [("textDocument/codeLens", {"textDocument": d}) for d in documents],
    }


# A view that must be made from the whole profile the first time may take up to a second then.
FIRST_TIME_SLOW = ("layout, bottom-up", "layout with a search", "callers of a function", "callees of a function", "table page")
# Each of these requests is of a view of its own: every focus, and where in the whole tree each pattern matches.
EACH_OF_ITS_OWN = ("layout with a search", "callers of a function", "callees of a function")


def _open(client: Client, path: Path) -> Answer:
    answer = client.request("profile/open", {"uri": path.as_uri(), "options": {"watch": False}}, timeout_s=300)
    if answer.error:
        raise ClientError(f"profile/open: {answer.error.get('message')}")
    return answer


def _ask(ctx: Context, client: Client, size: str, hot: Hot, layout: dict[str, Any]) -> None:
    """One row a kind of request: the first apart where it builds a view, then p50 and p99 of the rest."""
    sizes: list[tuple[int, int]] = []
    for kind, requests in _requests(hot, layout).items():
        slow_first = kind in FIRST_TIME_SLOW
        name = f"warm {size}: {kind}"
        row = Row(name, ("first <= 1 s, then " if slow_first else "") + "p50 <= 10 ms, p99 <= 50 ms")
        if not ctx.wants(name, "a layout answer"):
            continue
        per_request_first = kind in EACH_OF_ITS_OWN
        firsts, times, largest, told, empty, problem = [], [], 0, False, 0, ""
        for repeat in range(2 if per_request_first else 1):
            for i, (method, params) in enumerate(requests):
                answer = client.request(method, params)
                if answer.error:
                    problem = "not yet" if answer.missing else f"{method}: {answer.error.get('message')}"
                    break
                largest, told = max(largest, answer.bytes), told or bool(answer.result)
                if slow_first and (repeat == 0 if per_request_first else i == 0):
                    firsts.append(answer.seconds)
                else:
                    times.append(answer.seconds)
                empty += 0 if answer.result else 1
                if method == "view/flameGraph":
                    sizes.append((len(answer.result["boxes"]["x"]) + len(answer.result["remainder"]["x"]), answer.bytes))
            if problem:
                break
        if problem or not times:
            row.measured = problem or "not yet: nothing to ask about"
        elif not told:
            row.measured = "not yet: every answer is empty"
        else:
            p50, p99 = percentile(times, 0.5), percentile(times, 0.99)
            row.measured = (f"first {seconds(max(firsts))}, then " if firsts else "") + f"p50 {seconds(p50)}, p99 {seconds(p99)}"
            if empty:
                row.measured += f" ({empty} of {len(times) + len(firsts)} empty)"
            row.check(p50 <= 0.010 and p99 <= 0.050 and max(firsts, default=0) <= 1)
            ctx.report.latencies.append((kind, len(times), p50, p99, largest))
        ctx.add(row)
    row = Row("a layout answer", "<= 5,000 boxes, <= 300 KB")
    if sizes:
        boxes, length = max(n for n, _ in sizes), max(b for _, b in sizes)
        row.measured = f"at most {boxes:,} boxes and {length / 1000:.0f} KB in {len(sizes)} answers"
        row.check(boxes <= 5000 and length <= 300_000)
    ctx.add(row)


def session(ctx: Context, root: Path, hot: Hot) -> None:
    """Opens the biggest profile in a daemon on stdio and asks it everything."""
    size = ctx.sizes[-1]
    first = Row(f"daemon {size}: start to first layout", "as pprof cold; here for the memory", has_target=False)
    prepared = Row(f"daemon {size}: views made ahead", "nobody waits for it; here for the time and the memory",
                   has_target=False)
    resident = Row(f"resident after loading {size}", "<= 1.5x the uncompressed size; peak <= 2.5x")
    path = ctx.inputs.file("pprof", size)
    print(f"bench: warm requests on pprof {size}", flush=True)
    try:
        with Daemon([str(ctx.profd), "serve", "--stdio"], ctx.environment()) as daemon:
            client = daemon.stdio_client()
            client.initialize(root)
            _open(client, path)
            spec = {"shape": "topDown", "metric": "cpu"}
            answer = client.request("view/flameGraph", {"spec": spec, "viewport": {"width": 1600}})
            if answer.error:
                first.measured = "not yet" if answer.missing else str(answer.error.get("message"))
            else:
                elapsed = time.perf_counter() - daemon.started
                first.measured = f"{seconds(elapsed)}, layout {answer.bytes / 1000:.0f} KB"
            rss, peak = process_memory_mb(daemon.process.pid)
            resident.measured = f"{megabytes(rss)} = {rss / SIZES_MB[size]:.2f}x; peak {peak / SIZES_MB[size]:.2f}x"
            if SIZES_MB[size] >= 100:
                resident.check(rss <= 1.5 * SIZES_MB[size] and peak <= 2.5 * SIZES_MB[size])
            ctx.add(first)
            ctx.add(resident)
            client.wait_idle()
            rss, _ = process_memory_mb(daemon.process.pid)
            views = client.request("$/memory", {}).result["rows"]
            views_mb = next((row["bytes"] / 1e6 for row in views if row["path"] == "views"), 0)
            prepared.measured = (f"{seconds(time.perf_counter() - daemon.started)} after the start; "
                                 f"{megabytes(rss)} resident, {megabytes(views_mb)} of it views")
            ctx.add(prepared)
            if not answer.error:
                _ask(ctx, client, size, hot, answer.result)
    except (ClientError, KeyError, TypeError, ValueError) as error:
        ctx.add(Row(f"warm {size}", "p50 <= 10 ms, p99 <= 50 ms", measured=f"not yet: {error}"))


def idle(ctx: Context, root: Path) -> None:
    row = Row("idle daemon", "<= 30 MB, 0 % CPU")
    if not ctx.wants(row.name):
        return
    try:
        with Daemon([str(ctx.profd), "serve", "--stdio"], ctx.environment()) as daemon:
            daemon.stdio_client().initialize(root)
            time.sleep(1)
            before = process_cpu_s(daemon.process.pid)
            time.sleep(5)
            share = (process_cpu_s(daemon.process.pid) - before) / 5
            rss, _ = process_memory_mb(daemon.process.pid)
        row.measured = f"{rss:.1f} MB, {share:.1%} CPU"
        row.check(rss <= 30 and share < 0.005)
    except ClientError as error:
        row.measured = f"not yet: {error}"
    ctx.add(row)


def hover_under_load(ctx: Context, root: Path, hot: Hot) -> None:
    """One client hovers in a small profile while another has the daemon load the biggest."""
    size = ctx.sizes[-1]
    row = Row(f"a hover while another client loads {size}", "p99 <= 50 ms")
    if not ctx.wants(row.name) or not hot.places:
        return ctx.add(row)
    # Paths of sockets are short: at most some 100 bytes.
    folder = tempfile.TemporaryDirectory(prefix="profd-bench-")
    socket_path = Path(folder.name) / "socket"
    print(f"bench: hovers while pprof {size} loads", flush=True)
    failures: list[str] = []
    try:
        with Daemon([str(ctx.profd), "serve", "--socket", str(socket_path)], ctx.environment()) as daemon:
            editor, other = daemon.socket_client(socket_path), daemon.socket_client(socket_path)
            editor.initialize(root)
            other.initialize(root)
            _open(editor, ctx.inputs.file("pprof", ctx.sizes[0]))
            big = ctx.inputs.file("pprof", size)

            def load() -> None:
                try:
                    options = {"watch": False, "makeDefault": False, "attach": False}
                    answer = other.request("profile/open", {"uri": big.as_uri(), "options": options}, timeout_s=300)
                    if answer.error:
                        failures.append(str(answer.error.get("message")))
                except ClientError as error:
                    failures.append(str(error))

            loader = threading.Thread(target=load)
            start = time.perf_counter()
            loader.start()
            times: list[float] = []
            told = False
            while loader.is_alive() and time.perf_counter() - start < 300:
                uri, line = hot.places[len(times) % len(hot.places)]
                where = {"textDocument": {"uri": uri}, "position": {"line": line, "character": 0}}
                answer = editor.request("textDocument/hover", where)
                if answer.error:
                    failures.append("not yet" if answer.missing else str(answer.error.get("message")))
                    break
                told = told or bool(answer.result)
                times.append(answer.seconds)
                time.sleep(0.005)
            loader.join()
            took = time.perf_counter() - start
        if failures:
            row.measured = failures[0]
        elif not told:
            row.measured = "not yet: every hover is empty"
        else:
            p50, p99 = percentile(times, 0.5), percentile(times, 0.99)
            row.measured = f"p50 {seconds(p50)}, p99 {seconds(p99)} of {len(times)} hovers in {took:.1f} s of loading"
            row.check(p99 <= 0.050)
    except ClientError as error:
        row.measured = f"not yet: {error}"
    finally:
        folder.cleanup()
    ctx.add(row)


# Kind of request -> how long the first of it may take right after the profile is open.
FIRST_LIMITS = {
    "layout, top-down, any width": 0.5, "layout with a search": 0.5, "table page": 0.5, "search": 0.5, "layout, bottom-up": 1.5,
    "callers of a function": 1.5, "annotations of a file": 1.5, "hover": 1.5,
}


def first_requests(ctx: Context, root: Path, hot: Hot) -> None:
    """Each kind asked of a daemon that has just opened the biggest profile and made nothing else of it."""
    size = ctx.sizes[-1]
    rows = {kind: Row(f"first {size}: {kind}", f"<= {limit} s") for kind, limit in FIRST_LIMITS.items()}
    if not ctx.wants(*(row.name for row in rows.values())):
        return
    print(f"bench: first requests on pprof {size}", flush=True)
    path = ctx.inputs.file("pprof", size)
    requests = _requests(hot, {"revision": 1, "boxes": {"key": [], "parent": []}})
    environment = ctx.environment()
    try:
        # From the cache, so that opening takes no time; what the opening daemon made is not in it.
        with Daemon([str(ctx.profd), "serve", "--stdio"], environment) as daemon:
            client = daemon.stdio_client()
            client.initialize(root)
            _open(client, path)
            client.wait_idle()
        for kind, row in rows.items():
            if not ctx.wants(row.name) or not requests[kind]:
                continue
            times = []
            for repeat in range(min(3, len(requests[kind]))):
                with Daemon([str(ctx.profd), "serve", "--stdio"], environment) as daemon:
                    client = daemon.stdio_client()
                    client.initialize(root)
                    _open(client, path)
                    answer = client.request(*requests[kind][repeat])
                    if answer.error:
                        raise ClientError(f"{kind}: {answer.error.get('message')}")
                    times.append(answer.seconds)
            row.measured = f"{seconds(percentile(times, 0.5))}, at most {seconds(max(times))}"
            row.check(percentile(times, 0.5) <= FIRST_LIMITS[kind])
    except ClientError as error:
        next(iter(rows.values())).measured = f"not yet: {error}"
    for row in rows.values():
        ctx.add(row)


def run(ctx: Context) -> None:
    size = ctx.sizes[-1]
    kinds = [f"warm {size}: {kind}" for kind in _requests(Hot(), {"revision": 1, "boxes": {"key": [], "parent": []}})]
    asked = ctx.wants(*kinds, f"resident after loading {size}", f"daemon {size}: start to first layout",
                      f"daemon {size}: views made ahead", "a layout answer")
    firsts = [f"first {size}: {kind}" for kind in FIRST_LIMITS]
    if not asked and not ctx.wants("idle daemon", f"a hover while another client loads {size}", *firsts):
        return
    root = make_workspace(ctx)
    small = add_sources(ctx, root, ctx.sizes[0])
    # Of one program from 100 MB on, which tells its hottest lines sooner than 1 GB of it.
    hot = add_sources(ctx, root, "100MB" if size == "1GB" and "100MB" in ctx.sizes else size)
    idle(ctx, root)
    if asked:
        session(ctx, root, hot)
    first_requests(ctx, root, hot)
    hover_under_load(ctx, root, small)
