"""Live streams: what the daemon takes in on one core, memory over time, and how long an event takes to a client's picture, alone and
with ten of them, one of which takes no answers; how soon a method loses its probe."""

from __future__ import annotations

import json
import random
import select
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from harness import live_replay
from harness.context import Context
from harness.report import Row, seconds
from measured import percentile
from psp_client import Client, ClientError, Daemon, connect_unix, encode

EVENTS_M = 80  # as many as it takes to meet nearly all of a million contexts
PROBES = 100  # calls that are waited for, a few a second
FLUSH_S = 0.05  # as agents do
VIEWERS = 10
DEMOTIONS = 40  # methods that become hot one after the other
CAN_DEMOTE = 4
CONTROL = 12
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


@contextmanager
def _listening(ctx: Context) -> Iterator[tuple[Client, Path, Path]]:
    """A daemon: a client of it, where others reach it, and where agents do."""
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
        yield client, path, Path(address.removeprefix("unix:"))


def _to_screen(ctx: Context, n_viewers: int, stopped: bool) -> Latencies:
    with _listening(ctx) as (client, path, address):
        agent = _Agent(address, PROBES)
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


class _Frames:
    """What the daemon sends to an agent, message by message."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection, self._bytes = connection, b""

    def come_until(self, deadline: float) -> Iterator[int]:
        """The kinds of messages that come until then."""
        while True:
            kind = self._take()
            if kind is not None:
                yield kind
                continue
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._connection], [], [], left)[0]:
                return
            more = self._connection.recv(65536)
            if not more:
                raise ClientError("the daemon has closed the connection")
            self._bytes += more

    def _take(self) -> int | None:
        size = shift = 0
        for at in range(1, len(self._bytes)):
            size |= (self._bytes[at] & 127) << shift
            shift += 7
            if self._bytes[at] < 128:
                if len(self._bytes) < at + 1 + size:
                    return None
                kind = self._bytes[0]
                self._bytes = self._bytes[at + 1 + size:]
                return kind
        return None


def _until_demoted(path: Path, late: Latencies) -> None:
    """A program in which one method after the other begins to be called 200,000 times a second, at times that fit no bucket."""
    with connect_unix(path) as connection:
        start = time.monotonic_ns()
        connection.sendall(_message(1, b"PLIVE" + _varint(1) * 3 + _text("c") + _text("bench") + _text("bench 1") + _varint(10**9)
                                    + _varint(start) + _varint(time.time_ns()) + _varint(CAN_DEMOTE)))
        frames = _Frames(connection)
        connection.sendall(_message(5, _varint(1) + _varint(1) + _text("main") + _varint(0)))
        choose, sent = random.Random(1), 0
        last = flush = time.monotonic()
        for number in range(1, DEMOTIONS + 1):
            begin = last + 0.4 + choose.random() * 0.2
            name = _text("bench") + _text("Main") + _text(f"call{number}") + _text("") + _text("")
            connection.sendall(_message(4, _varint(number) + name + _varint(0) * 3))
            call = _varint(4500 * 4) + _varint(number) + _varint(500 * 4 + 1)  # enters after 4.5 us, leaves 0.5 us later
            at, asked = int(begin * 1e9), False
            while not asked:
                flush += FLUSH_S
                asked = any(kind == CONTROL for kind in frames.come_until(flush))
                now = time.monotonic_ns()
                calls = max(0, (now - at) // 5000)
                for done in range(0, calls, 10_000):
                    part = min(10_000, calls - done)
                    connection.sendall(_message(7, _varint(1) + _varint(at) + call * part))
                    at += 5000 * part
                sent += 2 * calls
                connection.sendall(_message(8, _varint(min(now, at)) + _varint(sent) + _varint(0)))
                if now / 1e9 > begin + 10:
                    raise ClientError("a method that is called too often kept its probe")
            last = time.monotonic()
            late.append(last - begin)


def _demotion(ctx: Context, row: Row) -> None:
    late: Latencies = []
    with _listening(ctx) as (_, _, address):
        _until_demoted(address, late)
    row.measured = _shown(late)
    row.check(percentile(late, 0.95) <= 0.2)


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
    demoted = Row("live: from a method's first call of too many to the request that it lose its probe", "p95 <= 200 ms")
    replay = Row("live: replay of 1 GB", ">= 40 M events/s")
    scrub = Row("live: any part of the time of that replay", "p95 <= 100 ms")
    work: list[tuple[tuple[Row, ...], Callable[[], None]]] = [
        ((few, many, memory), lambda: _ingest(ctx, few, many, memory)),
        ((alone, ten), lambda: _screens(ctx, alone, ten)),
        ((demoted,), lambda: _demotion(ctx, demoted)),
        ((replay, scrub), lambda: live_replay.measure(ctx, replay, scrub)),
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
