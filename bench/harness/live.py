"""Live streams: what the daemon takes in on one core, memory over time, and how long an event takes to a client's picture, alone and
with ten of them, one of which takes no answers."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from harness.context import Context
from harness.report import Row, seconds
from measured import percentile
from psp_client import Client, ClientError, Daemon, connect_unix, encode

EVENTS_M = 40
PROBES = 100  # calls that are waited for, a few a second
FLUSH_S = 0.05  # as agents do
VIEWERS = 10
Latencies = list[float]


def _varint(value: int) -> bytes:
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + bytes([value])


def _text(value: str) -> bytes:
    return _varint(len(value)) + value.encode()


def _message(kind: int, payload: bytes) -> bytes:
    return bytes([kind]) + _varint(len(payload)) + payload


class _Agent:
    """A program that calls a method that it has not called before, at times that do not fit the flushes."""

    def __init__(self, path: Path, n_calls: int) -> None:
        self.called: dict[int, float] = {}  # method to time
        self.over = threading.Event()
        self._n_calls = n_calls
        self._connection = connect_unix(path)
        start = time.monotonic_ns()
        hello = (b"PLIVE" + _varint(1) * 3 + _text("c") + _text("bench") + _text("bench 1") + _varint(10**9) + _varint(start)
                 + _varint(time.time_ns()) + _varint(0))
        self._connection.sendall(_message(1, hello))
        self._connection.recv(1000)  # welcome
        self._connection.sendall(_message(5, _varint(1) + _varint(1) + _text("main") + _varint(0)))
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        number, due = 0, time.monotonic() + 1
        flush = time.monotonic()
        try:
            # Time goes on behind the last call, until it has been seen.
            while not self.over.is_set() and time.monotonic() < due + 10:
                flush += FLUSH_S
                time.sleep(max(0.0, flush - time.monotonic()))
                out, now = b"", time.monotonic()
                while due <= now and number < self._n_calls:
                    number += 1
                    at = int(due * 1e9)
                    self.called[number] = due
                    # One ends where the next begins: exit, then enter, both without time between.
                    records = (_varint(1) if number > 1 else b"") + _varint(0) + _varint(number)
                    name = _text("bench") + _text("Main") + _text(f"call{number}") + _text("") + _text("")
                    out += _message(4, _varint(number) + name + _varint(0) * 3)
                    out += _message(7, _varint(1) + _varint(at) + records)
                    due += 0.217 + number % 7 * 0.011
                self._connection.sendall(out + _message(8, _varint(int(now * 1e9)) + _varint(2 * number) + _varint(0)))
        except OSError:
            pass
        self._connection.close()

    def end(self) -> None:
        self.over.set()
        self._thread.join()


def _watch(client: Client, session: str, agent: _Agent, late: Latencies) -> None:
    """Asks for picture after picture; a method is on the screen once it stands."""
    since, seen = 0, set[int]()
    while len(seen) < PROBES and not agent.over.is_set():
        answer = client.request("live/frame", {"session": session, "since": since, "wait": 1000, "rows": 20}, timeout_s=30)
        arrived = time.monotonic()
        if answer.error:
            raise ClientError(f"live/frame: {answer.error.get('message')}")
        since = answer.result["frame"]
        methods = answer.result["methods"]
        for method, height in zip(methods["id"], methods["height"]):
            if height > 0 and method in agent.called and method not in seen:
                seen.add(method)
                late.append(arrived - agent.called[method])
        if answer.result["state"] == "ended":
            return


def _viewer(path: Path, session: str, agent: _Agent, late: Latencies, problems: list[str]) -> None:
    try:
        client = Client.of_socket(connect_unix(path))
        client.initialize(None)
        _watch(client, session, agent, late)
        client.close()
    except (OSError, ClientError) as error:
        problems.append(str(error))


def _stopped(path: Path, session: str, agent: _Agent) -> None:
    """Asks for all there is and takes no answers, as a page that hangs."""
    client = Client.of_socket(connect_unix(path))
    client.initialize(None)
    assert client.connection is not None
    client.connection.settimeout(0.2)
    request = encode({"id": 1, "method": "live/frame", "params": {"session": session, "wait": 0, "rows": 1000}})
    left = b""
    while not agent.over.is_set():
        left = left or request
        try:
            left = left[client.connection.send(left):]
        except TimeoutError:
            continue
        except OSError:  # The daemon gave it up.
            break
        time.sleep(0.01)
    client.close()


def _to_screen(ctx: Context, n_viewers: int, stopped: bool) -> Latencies:
    work = ctx.work / "live"
    work.mkdir(parents=True, exist_ok=True)
    path = work / "daemon.sock"
    path.unlink(missing_ok=True)
    with Daemon([str(ctx.profd), "serve", "--socket", str(path)], {**ctx.environment(), "XDG_RUNTIME_DIR": str(work)}) as daemon:
        client = daemon.socket_client(path)
        client.initialize(None)
        answer = client.request("live/attach", {"listen": True})
        if answer.error:
            raise ClientError(f"live/attach: {answer.error.get('message')}")
        address = next(one["address"] for one in answer.result["listening"] if one["address"].startswith("unix:"))
        agent = _Agent(Path(address[5:]), PROBES)
        try:
            session = client.request("live/list", {}).result["sessions"][-1]["session"]
            late: list[Latencies] = [[] for _ in range(n_viewers)]
            problems: list[str] = []
            threads = [threading.Thread(target=_viewer, args=(path, session, agent, one, problems)) for one in late]
            if stopped:
                threads.append(threading.Thread(target=_stopped, args=(path, session, agent)))
            for thread in threads:
                thread.start()
            for thread in threads[:n_viewers]:
                thread.join()
            agent.over.set()
            for thread in threads:
                thread.join()
        finally:
            agent.end()
        if problems:
            raise ClientError(problems[0])
        return [one for all_ in late for one in all_]


def _shown(times: Sequence[float]) -> str:
    return f"p50 {seconds(percentile(times, 0.5))}, p95 {seconds(percentile(times, 0.95))} of {len(times)}"


def _ingest(ctx: Context, few: Row, many: Row, memory: Row) -> None:
    program = ctx.floor.parent / "profd-measure-live"
    done = subprocess.run([str(program), str(EVENTS_M)], capture_output=True, text=True, check=True, timeout=1800)
    told = json.loads(done.stdout)
    for row, name, least in ((few, "few", 40e6), (many, "many", 15e6)):
        one = told[name]
        row.measured = (f"{one['per_second'] / 1e6:.1f} M events/s, {one['contexts']:,} contexts, "
                        f"{one['bytes'] / 2**20:.0f} MiB; {one['stream_bytes'] / one['events']:.2f} bytes an event")
        row.check(one["per_second"] >= least)
    sizes = told["minutes"]
    memory.measured = ", ".join(f"{size / 2**20:.0f} MiB after {5 * i + 5} min" for i, size in enumerate(sizes))
    memory.check(sizes[-1] <= 1.02 * sizes[-2] and max(sizes) <= 512 * 2**20)


def _screens(ctx: Context, alone: Row, ten: Row) -> None:
    one = _to_screen(ctx, 1, stopped=False)
    alone.measured = _shown(one)
    alone.check(len(one) == PROBES and percentile(one, 0.5) <= 0.150 and percentile(one, 0.95) <= 0.250)
    others = _to_screen(ctx, VIEWERS - 1, stopped=True)
    ten.measured = _shown(others)
    ten.check(len(others) == PROBES * (VIEWERS - 1) and percentile(others, 0.95) <= 0.250)


def run(ctx: Context) -> None:
    few = Row("live: ingest on one core, a thousand contexts", ">= 40 M events/s")
    many = Row("live: ingest on one core, a million contexts", ">= 15 M events/s")
    memory = Row("live: memory of a session over 20 minutes", "<= 512 MiB, flat after 15 minutes")
    alone = Row("live: an event to the picture of a client", "p50 <= 150 ms, p95 <= 250 ms")
    ten = Row("live: the same of nine, beside one that takes no answers", "p95 <= 250 ms")
    work: list[tuple[tuple[Row, ...], Callable[[], None]]] = [
        ((few, many, memory), lambda: _ingest(ctx, few, many, memory)),
        ((alone, ten), lambda: _screens(ctx, alone, ten)),
    ]
    for rows, measure in work:
        if not ctx.wants(*(row.name for row in rows)):
            continue
        print(f"bench: {rows[0].name}", flush=True)
        try:
            measure()
        except (ClientError, OSError, KeyError, TypeError, ValueError, StopIteration, subprocess.SubprocessError) as error:
            for row in rows:
                row.measured = f"not yet: {error}"
                row.checks.clear()
        for row in rows:
            ctx.add(row)
