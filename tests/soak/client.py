"""Very many clients in one process: requests are awaited, answers are parsed only when somebody looks into them."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from psp_client import ClientError, Frames, encode

# How our daemon writes an answer. What does not look like this is parsed.
ANSWER = re.compile(rb'\{"jsonrpc":"2\.0","id":(\d+),"(result|error)":')


@dataclass(frozen=True)
class Reply:
    raw: bytes
    seconds: float
    failed: bool

    @property
    def result(self) -> Any:
        return json.loads(self.raw).get("result")

    @property
    def error(self) -> dict[str, Any]:
        error: dict[str, Any] = json.loads(self.raw).get("error") or {}
        return error


class CrowdClient(asyncio.Protocol):
    """Over a Unix socket, TCP or a child's pipes: whatever a transport can be made of."""

    def __init__(self) -> None:
        self._frames = Frames()
        self._transport: Any = None
        self._next_id = 0
        self._waiting: dict[int, tuple[float, asyncio.Future[Reply], str]] = {}
        self.n_sent = self.n_answered = 0

    @staticmethod
    async def to_unix(path: Path) -> CrowdClient:
        try:
            _, client = await asyncio.get_running_loop().create_unix_connection(CrowdClient, str(path))
        except OSError as error:
            raise ClientError(f"the daemon is gone: {error.strerror}") from error
        return client

    # ---- what asyncio calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        now = time.perf_counter()
        self._frames.feed(data)
        while (body := self._frames.next()) is not None:
            self._take(body, now)

    def connection_lost(self, error: Exception | None) -> None:
        waiting, self._waiting = self._waiting, {}
        for _, future, _ in waiting.values():
            if not future.done():
                future.set_exception(ClientError("the daemon closed the connection"))
                future.exception()  # who left does not ask for it

    # ----

    def _take(self, body: bytes, now: float) -> None:
        match = ANSWER.match(body)
        if match:
            number, failed = int(match.group(1)), match.group(2) == b"error"
        else:
            message = json.loads(body)
            if "method" in message:
                if "id" in message:
                    self._transport.write(encode({"id": message["id"], "result": None}))
                return
            number, failed = message.get("id"), "error" in message
        if (begun := self._waiting.pop(number, None)) is not None:
            self.n_answered += 1
            if not begun[1].done():
                begun[1].set_result(Reply(body, now - begun[0], failed))

    def begin(self, method: str, params: Mapping[str, Any] | None = None) -> asyncio.Future[Reply]:
        self._next_id += 1
        message = {"id": self._next_id, "method": method} | ({} if params is None else {"params": params})
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        if self._transport.is_closing():
            raise ClientError("the daemon closed the connection")
        self._waiting[self._next_id] = (time.perf_counter(), future, method)
        self.n_sent += 1
        self._transport.write(encode(message))
        return future

    async def request(self, method: str, params: Mapping[str, Any] | None = None) -> Reply:
        return await self.begin(method, params)

    @property
    def waiting_for(self) -> list[str]:
        return [method for _, _, method in self._waiting.values()]

    def notify(self, method: str, params: Mapping[str, Any]) -> None:
        self._transport.write(encode({"method": method, "params": params}))

    async def initialize(self, root: Path | None, name: str) -> None:
        folders = [] if root is None else [{"uri": root.as_uri(), "name": root.name}]
        capabilities = {"profd": {"protocolVersion": 1}}
        options = {"codeLens": True}
        await self.request("initialize", {
            "processId": None, "rootUri": root.as_uri() if root else None, "workspaceFolders": folders,
            "capabilities": capabilities, "initializationOptions": options, "clientInfo": {"name": name}})
        self.notify("initialized", {})

    def send_half_a_message(self) -> None:
        self._transport.write(b'Content-Length: 5000\r\n\r\n{"jsonrpc": "2.0", "method": "view/fla')

    def vanish(self) -> None:
        """Without a word, with answers unread: the daemon sees a reset."""
        self._transport.abort()

    async def leave(self) -> None:
        await self.request("shutdown")
        self.notify("exit", {})
        self._transport.close()
