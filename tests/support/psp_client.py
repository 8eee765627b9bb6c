"""A small client of the daemon: JSON-RPC with LSP's framing, over a child's stdio, a Unix socket or TCP.

For whoever measures or harms it: benchmarks (bench/harness) and the soak campaign (tests/soak)."""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

METHOD_NOT_FOUND = -32601


class ClientError(Exception):
    """The daemon is gone, silent, or speaks no protocol we know."""


class NoAnswer(ClientError):
    """It did not answer in time; it may still."""


def encode(message: Mapping[str, Any]) -> bytes:
    return frame(json.dumps({"jsonrpc": "2.0", **message}).encode())


def frame(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


class Frames:
    """Bodies of messages out of bytes that come in pieces."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._wanted = 0  # bytes until the next message can be whole

    def feed(self, data: bytes) -> None:
        self._buffer += data

    def next(self) -> bytes | None:
        if len(self._buffer) < self._wanted:
            return None
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return None
        length = 0
        for line in bytes(self._buffer[:end]).split(b"\r\n"):
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        self._wanted = end + 4 + length
        if len(self._buffer) < self._wanted:
            return None
        body = bytes(self._buffer[end + 4 : self._wanted])
        del self._buffer[: self._wanted]
        self._wanted = 0
        return body


@dataclass(frozen=True)
class Answer:
    result: Any
    error: dict[str, Any] | None
    seconds: float  # from the first byte sent to the last byte received, before parsing
    bytes: int

    @property
    def missing(self) -> bool:
        return self.error is not None and self.error.get("code") == METHOD_NOT_FOUND


class Client:
    """One request after another, or several at once: begin() them, then finish() each."""

    def __init__(self, read_fd: int, write_fd: int, connection: socket.socket | None = None) -> None:
        self.connection = connection  # kept open as long as the client
        self.notices: list[dict[str, Any]] = []  # notifications, when keep_notices
        self.keep_notices = False
        self._read_fd, self._write_fd = read_fd, write_fd
        os.set_blocking(read_fd, False)
        os.set_blocking(write_fd, False)
        self._frames = Frames()
        self._next_id = 0
        self._begun: dict[int, float] = {}
        self._answers: dict[int, Answer] = {}
        self._state = "idle"  # what profd/status said last

    @staticmethod
    def of_socket(connection: socket.socket) -> Client:
        return Client(connection.fileno(), connection.fileno(), connection)

    def request(self, method: str, params: Any = None, timeout_s: float = 120) -> Answer:
        return self.finish(self.begin(method, params, timeout_s), timeout_s)

    def begin(self, method: str, params: Any = None, timeout_s: float = 120) -> int:
        self._next_id += 1
        body = encode({"id": self._next_id, "method": method} | ({} if params is None else {"params": params}))
        self._begun[self._next_id] = time.perf_counter()
        self.send(body, timeout_s)
        return self._next_id

    def finish(self, request_id: int, timeout_s: float = 120) -> Answer:
        deadline = time.perf_counter() + timeout_s
        while request_id not in self._answers:
            self._take(self._read_message(deadline))
        return self._answers.pop(request_id)

    def cancel(self, request_id: int) -> None:
        self.notify("$/cancelRequest", {"id": request_id})

    @property
    def n_unanswered(self) -> int:
        return len(self._begun)

    def wait_idle(self, timeout_s: float = 120) -> float:
        """Until the daemon says that nothing is being done; the seconds it took."""
        start = time.perf_counter()
        while self._state != "idle":
            self._take(self._read_message(start + timeout_s))
        return time.perf_counter() - start

    def listen(self, seconds: float) -> None:
        """Takes what comes for so long."""
        deadline = time.perf_counter() + seconds
        try:
            while True:
                self._take(self._read_message(deadline))
        except NoAnswer:
            pass

    def _take(self, raw: bytes) -> None:
        arrived = time.perf_counter()
        message = json.loads(raw)
        if "method" in message:
            if "id" in message:  # the daemon asks, for one to create progress: always granted
                self.send(encode({"id": message["id"], "result": None}))
            elif message["method"] == "profd/status":
                self._state = message["params"]["state"]
            if self.keep_notices:
                self.notices.append(message)
        elif (begun := self._begun.pop(message.get("id"), None)) is not None:
            self._answers[message["id"]] = Answer(message.get("result"), message.get("error"), arrived - begun, len(raw))

    def notify(self, method: str, params: Any, timeout_s: float = 120) -> None:
        self.send(encode({"method": method, "params": params}), timeout_s)

    def initialize(self, root: Path | None, name: str = "profd-bench", options: Mapping[str, Any] | None = None,
                   timeout_s: float = 120, can: Mapping[str, Any] | None = None) -> Answer:
        folders = [] if root is None else [{"uri": root.as_uri(), "name": root.name}]
        answer = self.request(
            "initialize",
            {"processId": os.getpid(), "rootUri": root.as_uri() if root else None,
             "capabilities": {"profd": {"protocolVersion": 1, "status": True, **(can or {})}},
             "initializationOptions": {"codeLens": True, **(options or {})},
             "workspaceFolders": folders, "clientInfo": {"name": name}}, timeout_s)
        self.notify("initialized", {})
        return answer

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()

    def send(self, data: bytes, timeout_s: float = 120) -> None:
        """Reads on while the daemon takes nothing, as it may wait for us."""
        deadline = time.perf_counter() + timeout_s
        left = memoryview(data)
        while left:
            try:
                left = left[os.write(self._write_fd, left) :]
            except BlockingIOError:
                self._wait(deadline, select.POLLOUT)
            except OSError as error:
                raise ClientError(f"the daemon is gone: {error.strerror}") from error

    def _read_message(self, deadline: float) -> bytes:
        while (body := self._frames.next()) is None:
            if not self._read_some():
                self._wait(deadline, 0)
        return body

    def _read_some(self) -> bool:
        try:
            chunk = os.read(self._read_fd, 1 << 20)
        except BlockingIOError:
            return False
        except OSError as error:
            raise ClientError(f"the daemon is gone: {error.strerror}") from error
        if not chunk:
            raise ClientError("the daemon closed the connection")
        self._frames.feed(chunk)
        return True

    def _wait(self, deadline: float, also: int) -> None:
        poll = select.poll()
        if also and self._write_fd != self._read_fd:
            poll.register(self._write_fd, also)
            also = 0
        poll.register(self._read_fd, select.POLLIN | also)
        ready = dict(poll.poll(max(0.0, deadline - time.perf_counter()) * 1000))
        if not ready:
            raise NoAnswer("the daemon did not answer in time")
        if ready.get(self._read_fd, 0) & (select.POLLIN | select.POLLHUP):
            self._read_some()


class Daemon:
    """A profd of our own, ended when the block ends."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], stderr: int | IO[bytes] = subprocess.DEVNULL) -> None:
        self.started = time.perf_counter()
        try:
            self.process = subprocess.Popen(
                argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, env={**os.environ, **env}
            )
        except OSError as error:
            raise ClientError(f"cannot run profd: {error.strerror}") from error

    def stdio_client(self) -> Client:
        pipe_in, pipe_out = self.process.stdin, self.process.stdout
        assert pipe_in is not None and pipe_out is not None
        return Client(pipe_out.fileno(), pipe_in.fileno())

    def socket_client(self, path: Path, timeout_s: float = 10) -> Client:
        deadline = time.monotonic() + timeout_s
        while True:
            try:
                return Client.of_socket(connect_unix(path))
            except OSError as error:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise ClientError("the daemon does not listen on its socket") from error
                time.sleep(0.02)

    def __enter__(self) -> Daemon:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:
                    pass


def connect_unix(path: Path) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(str(path))
    except OSError:
        connection.close()
        raise
    return connection
