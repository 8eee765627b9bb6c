#!/usr/bin/env python3
"""Writes the files of this folder that are made by hand. Needs nothing but Python; run it here."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Sequence
from pathlib import Path


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def block(field: int, content: bytes) -> bytes:
    return varint(field << 3 | 2) + varint(len(content)) + content


def packed(field: int, values: Sequence[int]) -> bytes:
    return block(field, b"".join(varint(v) for v in values))


class Strings:
    def __init__(self) -> None:
        self.table = [""]

    def __call__(self, text: str) -> int:
        if text not in self.table:
            self.table.append(text)
        return self.table.index(text)

    def encoded(self) -> bytes:
        return b"".join(block(6, text.encode()) for text in self.table)


def from_zero() -> bytes:
    """Functions and locations counted from 0, as protobuf's third version writes it: a 0 is not there at all."""
    s = Strings()
    out = block(1, number(1, s("cpu")) + number(2, s("nanoseconds")))
    out += block(2, packed(1, [2, 1, 0]) + packed(2, [30]))
    out += block(2, packed(1, [1, 0]) + packed(2, [20]))
    out += block(2, packed(1, [0]) + packed(2, [10]))
    for row, name in enumerate(["main", "work", "parse"]):
        line = (number(1, row) if row else b"") + number(2, 10 + row)
        out += block(4, (number(1, row) if row else b"") + block(4, line))
        out += block(5, (number(1, row) if row else b"") + number(2, s(name)) + number(4, s("app.cs")))
    return out + s.encoded()


def small(tail: bytes = b"", negative: bool = False) -> bytes:
    s = Strings()
    types = [("samples", "count"), ("cpu", "nanoseconds")]
    functions = [("main", "app/main.go"), ("work", "app/work.go"), ("parse", "app/parse.go"), ("inline me", "app/x.go")]
    out = b"".join(block(1, number(1, s(t)) + number(2, s(u))) for t, u in types)
    sign = -1 if negative else 1
    labels = block(3, number(1, s("request")) + number(2, s("GET /orders")))
    sizes = block(3, number(1, s("bytes")) + number(3, 512) + number(4, s("bytes")))
    out += block(2, packed(1, [3, 2, 1]) + packed(2, [2 * sign, 20_000_000 * sign]) + labels)
    out += block(2, packed(1, [2, 2, 1]) + packed(2, [1, 10_000_000]) + sizes)
    out += block(2, number(1, 1) + number(2, 4) + number(2, 40_000_000))  # not packed
    out += block(2, packed(1, [4, 1]) + packed(2, [1, 10_000_000]))  # ends in code without symbols
    out += block(3, number(1, 1) + number(2, 0x400000) + number(3, 0x500000) + number(5, s("/usr/bin/app"))
                 + number(6, s("abcdef0123")))
    lines = {1: [(1, 11)], 2: [(2, 22)], 3: [(4, 5), (3, 33)], 4: []}
    for location, rows in lines.items():
        out += block(4, number(1, location) + number(2, 1) + number(3, 0x400000 + location)
                     + b"".join(block(4, number(1, f) + number(2, line)) for f, line in rows))
    for row, (name, file) in enumerate(functions, 1):
        out += block(5, number(1, row) + number(2, s(name)) + number(3, s(name)) + number(4, s(file)))
    out += packed(13, [s("made by hand")])
    return out + s.encoded() + tail


def main() -> None:
    here = Path(__file__).parent
    time = number(9, 1_700_000_000_000_000_000) + number(10, 800_000_000)
    whole = small(time)
    (here / "minimal.pb").write_bytes(whole)
    (here / "minimal.pb.gz").write_bytes(gzip.compress(whole, mtime=0))
    (here / "negative.pb").write_bytes(small(negative=True))
    (here / "ids-from-zero.pb").write_bytes(from_zero())
    (here / "corrupt-concatenated.pb").write_bytes(whole + whole)
    (here / "corrupt-location.pb").write_bytes(small().replace(packed(1, [4, 1]), packed(1, [9, 1])))
    (here / "corrupt-truncated.pb").write_bytes(whole[:-40])

    # What the Cloud Profiler API answers; the second profile has the alphabet of URLs and no padding.
    text = base64.b64encode(gzip.compress(whole, mtime=0)).decode()
    deployment = {"projectId": "demo", "target": "server", "labels": {"version": "1.2", "zone": "eu-1a"}}
    reply = {"profiles": [
        {"name": "projects/demo/profiles/1", "profileType": "CPU", "deployment": deployment, "duration": "10s",
         "profileBytes": text, "labels": {"instance": "i-1"}, "startTime": "2026-01-01T00:00:00Z"},
        {"name": "projects/demo/profiles/2", "profileType": "HEAP", "deployment": deployment,
         "profileBytes": text.replace("+", "-").replace("/", "_").rstrip("=")}], "nextPageToken": ""}
    (here / "cloud-reply.json").write_text(json.dumps(reply) + "\n")
    (here / "corrupt-cloud-reply.json").write_text('{"profileType": "WALL", "profileBytes": "H4sI!"}\n')


if __name__ == "__main__":
    main()
