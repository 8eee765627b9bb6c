"""A small client of the daemon: JSON-RPC with LSP's framing, over a child's stdio or a Unix socket."""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

METHOD_NOT_FOUND = -32601


class ClientError(Exception):
    """The daemon is gone, silent, or speaks no protocol we know."""


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
    def __init__(self, read_fd: int, write: Callable[[bytes], Any]) -> None:
        self._read_fd = read_fd
        self._write = write
        self._buffer = bytearray()
        self._next_id = 0
        self._state = "idle"  # what profd/status said last

    def request(self, method: str, params: Any = None, timeout_s: float = 120) -> Answer:
        self._next_id += 1
        request_id = self._next_id
        body = self._encode({"id": request_id, "method": method} | ({} if params is None else {"params": params}))
        start = time.perf_counter()
        self._send(body)
        while True:
            raw = self._read_message(start + timeout_s)
            seconds = time.perf_counter() - start
            message = json.loads(raw)
            if "method" in message:
                self._take(message)
                continue
            if message.get("id") == request_id:
                return Answer(message.get("result"), message.get("error"), seconds, len(raw))

    def wait_idle(self, timeout_s: float = 120) -> float:
        """Until the daemon says that nothing is being done; the seconds it took."""
        start = time.perf_counter()
        while self._state != "idle":
            self._take(json.loads(self._read_message(start + timeout_s)))
        return time.perf_counter() - start

    def _take(self, message: dict[str, Any]) -> None:
        if "id" in message and "method" in message:  # the daemon asks, for one to create progress: always granted
            self._send(self._encode({"id": message["id"], "result": None}))
        elif message.get("method") == "profd/status":
            self._state = message["params"]["state"]

    def notify(self, method: str, params: Any) -> None:
        self._send(self._encode({"method": method, "params": params}))

    def initialize(self, root: Path) -> Answer:
        answer = self.request(
            "initialize",
            {"processId": os.getpid(), "rootUri": root.as_uri(), "capabilities": {"profd": {"protocolVersion": 1, "status": True}},
             "initializationOptions": {"codeLens": True},
             "workspaceFolders": [{"uri": root.as_uri(), "name": root.name}], "clientInfo": {"name": "profd-bench"}},
        )
        self.notify("initialized", {})
        return answer

    @staticmethod
    def _encode(message: dict[str, Any]) -> bytes:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)

    def _send(self, data: bytes) -> None:
        try:
            self._write(data)
        except OSError as error:
            raise ClientError(f"the daemon is gone: {error.strerror}") from error

    def _read_message(self, deadline: float) -> bytes:
        while (end := self._buffer.find(b"\r\n\r\n")) < 0:
            self._read_more(deadline)
        length = 0
        for line in bytes(self._buffer[:end]).split(b"\r\n"):
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        while len(self._buffer) < end + 4 + length:
            self._read_more(deadline)
        body = bytes(self._buffer[end + 4 : end + 4 + length])
        del self._buffer[: end + 4 + length]
        return body

    def _read_more(self, deadline: float) -> None:
        ready, _, _ = select.select([self._read_fd], [], [], max(0.0, deadline - time.perf_counter()))
        if not ready:
            raise ClientError("the daemon did not answer in time")
        try:
            chunk = os.read(self._read_fd, 1 << 20)
        except OSError as error:
            raise ClientError(f"the daemon is gone: {error.strerror}") from error
        if not chunk:
            raise ClientError("the daemon closed the connection")
        self._buffer += chunk


class Daemon:
    """A profd of our own, ended when the block ends."""

    def __init__(self, argv: Sequence[str], env: dict[str, str]) -> None:
        self.started = time.perf_counter()
        try:
            self.process = subprocess.Popen(
                argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**os.environ, **env}
            )
        except OSError as error:
            raise ClientError(f"cannot run profd: {error.strerror}") from error

    def stdio_client(self) -> Client:
        pipe_in, pipe_out = self.process.stdin, self.process.stdout
        assert pipe_in is not None and pipe_out is not None

        def write(data: bytes) -> None:
            pipe_in.write(data)
            pipe_in.flush()

        return Client(pipe_out.fileno(), write)

    def socket_client(self, path: Path, timeout_s: float = 10) -> Client:
        deadline = time.monotonic() + timeout_s
        while True:
            connection = socket.socket(socket.AF_UNIX)
            try:
                connection.connect(str(path))
                client = Client(connection.fileno(), connection.sendall)
                client.connection = connection  # type: ignore[attr-defined]  # keeps it open as long as the client
                return client
            except OSError as error:
                connection.close()
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise ClientError("the daemon does not listen on its socket") from error
                time.sleep(0.02)

    def __enter__(self) -> Daemon:
        return self

    def __exit__(self, *_: object) -> None:
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
