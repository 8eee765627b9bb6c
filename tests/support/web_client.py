"""HTTP and WebSocket as a page speaks them, written by hand: tests and hostile clients say what no library would."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import socket
import struct
from collections.abc import Mapping, Sequence
from typing import IO, Any

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class Answer:
    def __init__(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        self.status, self.headers, self.body = status, headers, body

    def __getitem__(self, name: str) -> str:
        return dict((k.lower(), v) for k, v in self.headers).get(name.lower(), "")


def read_answer(stream: IO[bytes], head_only: bool = False) -> Answer:
    status = stream.readline()
    if not status:
        raise ConnectionError("closed without an answer")
    headers = []
    while (line := stream.readline().decode("latin-1").rstrip("\r\n")):
        name, _, value = line.partition(":")
        headers.append((name, value.strip()))
    answer = Answer(int(status.split()[1]), headers, b"")
    length = int(answer["Content-Length"] or 0)
    if not head_only and answer.status != 101:
        answer.body = stream.read(length)
    return answer


class WebSocket:
    def __init__(self, sock: socket.socket, stream: IO[bytes]) -> None:
        self.sock, self.stream, self.next_id = sock, stream, 1

    def send_frame(self, payload: bytes, opcode: int = 1, length: int | None = None) -> None:
        size = len(payload) if length is None else length
        head = bytes([0x80 | opcode])
        if size < 126:
            head += bytes([0x80 | size])
        elif size < 65536:
            head += bytes([0x80 | 126]) + struct.pack(">H", size)
        else:
            head += bytes([0x80 | 127]) + struct.pack(">Q", size)
        mask = b"\x01\x02\x03\x04"
        self.sock.sendall(head + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(payload)))

    def receive_frame(self) -> tuple[int, bytes]:
        first, second = self.stream.read(2)
        size = second & 127
        if size == 126:
            (size,) = struct.unpack(">H", self.stream.read(2))
        elif size == 127:
            (size,) = struct.unpack(">Q", self.stream.read(8))
        return first & 15, self.stream.read(size)

    def ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        request_id, self.next_id = self.next_id, self.next_id + 1
        self.send_frame(json.dumps({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}).encode())
        while True:
            opcode, payload = self.receive_frame()
            if opcode == 9:
                self.send_frame(payload, 10)
            elif opcode == 8:
                raise ConnectionError("closed: %r" % payload)
            elif opcode == 1:
                message: dict[str, Any] = json.loads(payload)
                if message.get("id") == request_id and "method" not in message:
                    return message

    def tell(self, method: str, params: Mapping[str, Any]) -> None:
        self.send_frame(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode())

    def begin(self, roots: Sequence[str] = ()) -> dict[str, Any]:
        folders = [{"uri": root, "name": "root"} for root in roots]
        answer = self.ask("initialize", {"capabilities": {"profd": {"profileChanged": True}}, "workspaceFolders": folders})
        self.send_frame(b'{"jsonrpc":"2.0","method":"initialized","params":{}}')
        return answer

    def close(self) -> None:
        self.stream.close()
        self.sock.close()


def ask_http(sock: socket.socket, port: int, method: str = "GET", target: str = "/", body: bytes = b"",
             headers: Mapping[str, str] | None = None) -> Answer:
    """A header whose value is "-" is left out."""
    sent = {"Host": f"127.0.0.1:{port}", **(headers or {})}
    if body:
        sent["Content-Length"] = str(len(body))
    lines = [f"{method} {target} HTTP/1.1"] + [f"{k}: {v}" for k, v in sent.items() if v != "-"]
    sock.sendall(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + body)
    return read_answer(sock.makefile("rb"), method == "HEAD")


def open_web_socket(sock: socket.socket, port: int, token: str | None,
                    headers: Mapping[str, str] | None = None) -> tuple[Answer, WebSocket | None]:
    key = base64.b64encode(os.urandom(16))
    sent = {"Host": f"127.0.0.1:{port}", "Upgrade": "websocket", "Connection": "Upgrade",
            "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": key.decode(), "Origin": f"http://127.0.0.1:{port}"}
    if token is not None:
        sent["Sec-WebSocket-Protocol"] = f"profd.v1, profd.t.{token}"
    sent.update(headers or {})
    lines = ["GET /psp HTTP/1.1"] + [f"{k}: {v}" for k, v in sent.items() if v != "-"]
    sock.sendall(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))
    stream = sock.makefile("rb")
    answer = read_answer(stream)
    if answer.status != 101:
        sock.close()
        return answer, None
    accept = base64.b64encode(hashlib.sha1(key + GUID).digest()).decode()
    if answer["Sec-WebSocket-Accept"] != accept:
        raise ConnectionError("another key was accepted")
    return answer, WebSocket(sock, stream)
