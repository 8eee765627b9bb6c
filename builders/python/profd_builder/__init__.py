"""Writes .profd files: what a profiler in Python imports. No dependencies.

    b = Builder("myprof")
    cpu = b.metric("cpu", "nanoseconds")
    main = b.frame(b.function("main", "main.py", 1), line=10)
    work = b.frame(b.function("work", "main.py", 4), line=5)
    b.add(b.stack([main, work]), cpu, 1_500_000)
    b.write("out.profd")

Equal functions, frames, threads, labels and contexts given twice are one. Ids belong to their builder; wrong ones
raise ValueError. A builder may be used by one thread at a time. The file is docs/profd-format.md, version 1.
"""

from __future__ import annotations

import os
import sys
from array import array
from collections.abc import Hashable, Iterable, Mapping, Sequence
from enum import IntEnum
from typing import NewType, Optional, TypeVar, Union

__all__ = ["Builder", "Kind", "ROOT", "Metric", "Module", "Function", "Frame", "Context", "Thread", "Labels"]

Metric = NewType("Metric", int)
Module = NewType("Module", int)
Function = NewType("Function", int)
Frame = NewType("Frame", int)
Context = NewType("Context", int)
Thread = NewType("Thread", int)
Labels = NewType("Labels", int)
Association = NewType("Association", int)

ROOT = Context(0)
_NONE = 0xFFFFFFFF
_NO_TIME = -(1 << 63)
_Row = TypeVar("_Row", bound=Hashable)


class Kind(IntEnum):
    NATIVE = 0
    JIT = 1
    INTERPRETED = 2
    KERNEL = 3
    GC = 4
    WAKER = 5
    DATA_OBJECT = 6


class Builder:
    def __init__(self, profiler: str = "") -> None:
        self._info = {"profiler": profiler}
        self._comments: list[str] = []
        self._numbers: dict[int, int] = {}
        self._texts: dict[str, int] = {"": 0}
        self._metrics: list[tuple[str, str, bool]] = []
        self._default = 0
        self._modules: dict[tuple[int, int], int] = {}
        self._functions: dict[tuple[int, int, int], int] = {}
        self._frames: dict[tuple[int, int, int, int, int, int, bool], int] = {}
        self._threads: dict[tuple[int, int, int, int], int] = {}
        self._contexts: dict[tuple[int, int], int] = {}
        self._labels: dict[tuple[tuple[int, Union[int, str], int], ...], int] = {(): 0}
        self._sums: dict[tuple[int, int], Union[int, float]] = {}
        self._samples: list[tuple[int, tuple[int, ...], int, int, int]] = []
        self._associations: list[tuple[str, tuple[str, ...], list[tuple[tuple[int, ...], int]]]] = []

    # About the measured program; all optional.
    def program(self, path: str) -> None:
        self._info["program"] = path

    def comment(self, text: str) -> None:
        self._comments.append(text)

    def time(self, start_unix_ns: int, duration_ns: int) -> None:
        self._numbers.update({5: start_unix_ns, 6: duration_ns})

    def period(self, period: int, kind: str, unit: str) -> None:
        self._numbers[7] = period
        self._info.update(period_type=kind, period_unit=unit)

    def metric(self, name: str, unit: str, *, real: bool = False) -> Metric:
        """`unit`: "nanoseconds", "bytes", "count" or any other word. `real`: values are floats."""
        if self._sums or self._samples:
            raise ValueError("a metric was declared after the first value")
        self._metrics.append((name, unit, real))
        return Metric(len(self._metrics) - 1)

    def default_metric(self, metric: Metric) -> None:
        self._default = self._known(metric, len(self._metrics), "metric")

    def module(self, name: str, build_id: str = "") -> Module:
        return Module(_row(self._modules, (self._text(name), self._text(build_id))))

    def function(self, name: str, file: str = "", start_line: int = 0) -> Function:
        return Function(_row(self._functions, (self._text(name), self._text(file), start_line)))

    def frame(self, function: Function, line: int = 0, column: int = 0, *, address: int = 0,
              module: Optional[Module] = None, kind: Kind = Kind.INTERPRETED, inlined: bool = False) -> Frame:
        self._known(function, len(self._functions), "function")
        at = _NONE if module is None else self._known(module, len(self._modules), "module")
        return Frame(_row(self._frames, (function, at, line, column, address, int(kind), inlined)))

    def thread(self, name: str = "", tid: int = -1, process: str = "", pid: int = -1) -> Thread:
        return Thread(_row(self._threads, (self._text(name), self._text(process), tid, pid)))

    def labels(self, labels: Mapping[str, Union[str, int]], units: Mapping[str, str] = {}) -> Labels:
        """Texts, and numbers with the units of `units`."""
        key = tuple((self._text(k), self._text(v) if isinstance(v, str) else v,
                     -1 if isinstance(v, str) else self._text(units.get(k, ""))) for k, v in labels.items())
        return Labels(_row(self._labels, key))

    def context(self, parent: Context, frame: Frame) -> Context:
        self._known(parent, len(self._contexts) + 1, "context")
        self._known(frame, len(self._frames), "frame")
        return Context(_row(self._contexts, (parent, frame)) + 1)

    def stack(self, frames: Iterable[Frame]) -> Context:
        """Root first."""
        at = ROOT
        for frame in frames:
            at = self.context(at, frame)
        return at

    def add(self, context: Context, metric: Metric, value: Union[int, float]) -> None:
        """Adds to the self value of a context. A profile has sums or samples, not both."""
        self._known(context, len(self._contexts) + 1, "context")
        self._known(metric, len(self._metrics), "metric")
        if self._samples:
            raise ValueError("a profile has sums or samples, not both")
        self._sums[context, metric] = self._sums.get((context, metric), 0) + value

    def sample(self, context: Context, values: Sequence[int], *, thread: Optional[Thread] = None,
               time: Optional[int] = None, labels: Labels = Labels(0)) -> None:
        """One value per metric; `time` in nanoseconds since the start."""
        self._known(context, len(self._contexts) + 1, "context")
        at = _NONE if thread is None else self._known(thread, len(self._threads), "thread")
        self._known(labels, len(self._labels), "label set")
        if self._sums or len(values) != len(self._metrics) or any(real for _, _, real in self._metrics):
            raise ValueError("a sample has one integer for each metric, and no sums were added before")
        self._samples.append((context, tuple(values), at, _NO_TIME if time is None else time, labels))

    def association(self, name: str, roles: Sequence[str]) -> Association:
        """Ties contexts together: the two sides of a race, allocation and use."""
        self._associations.append((name, tuple(roles), []))
        return Association(len(self._associations) - 1)

    def tie(self, association: Association, contexts: Sequence[Optional[Context]], value: int = 1) -> None:
        _, roles, ties = self._associations[association]
        if len(contexts) != len(roles):
            raise ValueError("a record has one context for each role")
        ids = tuple(_NONE if c is None else self._known(c, len(self._contexts) + 1, "context") for c in contexts)
        ties.append((ids, value))

    def to_bytes(self) -> bytes:
        if not self._metrics:
            raise ValueError("a profile needs a metric")
        return b"".join([_blob(1, b"profd profile"), _tag(2, 5), _u32([1]), _blob(3, b"profd builder for Python"),
                         _tag(4, 5), _u32([1]), _blob(7, self._profile())])

    def write(self, path: Union[str, os.PathLike[str]]) -> None:
        """Whole or not at all: who watches the path never sees half a file."""
        part = f"{os.fspath(path)}.part"
        with open(part, "wb") as file:
            file.write(self.to_bytes())
        os.replace(part, path)

    def _text(self, text: str) -> int:
        return _row(self._texts, text)

    @staticmethod
    def _known(value: int, n: int, what: str) -> int:
        if not 0 <= value < n:
            raise ValueError(f"this builder has no {what} {value}")
        return value

    def _profile(self) -> bytes:
        info = {3: "profiler", 4: "program", 8: "period_type", 9: "period_unit"}
        texts = [t.encode("utf-8", "replace") for t in self._texts]
        ends = [0]
        for text in texts:
            ends.append(ends[-1] + len(text))
        modules, functions, frames = list(self._modules), list(self._functions), list(self._frames)
        threads, contexts = list(self._threads), list(self._contexts)
        parts = [
            _blob(1, b"".join([*(_blob(n, self._info[k].encode()) for n, k in info.items() if self._info.get(k)),
                               *(_tag(n, 0) + _varint((v << 1) ^ (v >> 63)) for n, v in self._numbers.items()),
                               *(_blob(10, c.encode()) for c in self._comments)])),
            _blob(2, _blob(1, b"".join(texts)) + _blob(2, _i64(ends))),
            _blob(3, _columns({n: _u32(r[i] for r in modules) for n, i in ((1, 0), (2, 1))})),
            _blob(4, _columns({n: _u32(r[i] for r in functions) for n, i in ((1, 0), (3, 1), (4, 2))})),
            _blob(5, _columns({1: _u32(r[0] for r in frames), 2: _u32(r[1] for r in frames),
                               4: _u32(r[2] for r in frames), 5: _u32(r[3] for r in frames),
                               6: _u64(r[4] for r in frames), 7: bytes(r[5] for r in frames),
                               8: bytes(r[6] for r in frames)})),
            _blob(6, _columns({1: _u32(r[0] for r in threads), 2: _u32(r[1] for r in threads),
                               3: _i64(r[2] for r in threads), 4: _i64(r[3] for r in threads)})),
            self._label_sets(),
            *(_blob(8, _blob(1, name.encode()) + _blob(2, unit.encode()) + (b"\x18\x01" if real else b""))
              for name, unit, real in self._metrics),
            _tag(9, 0) + _varint(self._default),
            _blob(12, _columns({1: _u32(r[0] for r in contexts), 2: _u32(r[1] for r in contexts)})),
            self._values(),
            *map(_association, self._associations),
        ]
        return b"".join(parts)

    def _label_sets(self) -> bytes:
        entries = [entry for labels in self._labels for entry in labels]
        first = [0]
        for labels in self._labels:
            first.append(first[-1] + len(labels))
        if not entries:
            return b""
        return _blob(7, _columns({
            1: _u32(first), 2: _u32(k for k, _, _ in entries),
            3: _u32(int(v) if u < 0 else 0 for _, v, u in entries),
            4: _i64(0 if u < 0 else int(v) for _, v, u in entries),
            5: _u32(max(u, 0) for _, _, u in entries), 6: bytes(u >= 0 for _, _, u in entries)}))

    def _values(self) -> bytes:
        n = range(len(self._metrics))
        if self._samples:
            columns = {1: _u32(s[0] for s in self._samples)}
            values = b"".join(_blob(2, _blob(1, _i64(s[1][m] for s in self._samples))) for m in n)
            rest = {5: _i64(s[3] for s in self._samples)}
            if len(self._labels) > 1:
                rest[3] = _u32(s[4] for s in self._samples)
            if self._threads:
                rest[4] = _u32(s[2] for s in self._samples)
            return _blob(14, _columns(columns) + values + _columns(dict(sorted(rest.items()))))
        contexts = list(dict.fromkeys(context for context, _ in self._sums))
        values = b""
        for m in n:
            column = [self._sums.get((context, m), 0) for context in contexts]
            values += _blob(3, _blob(2, _f64(column)) if self._metrics[m][2] else _blob(1, _i64(map(int, column))))
        return _blob(13, _columns({2: _u32(contexts)}) + values)


def _row(rows: dict[_Row, int], row: _Row) -> int:
    return rows.setdefault(row, len(rows))


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _tag(field: int, wire: int) -> bytes:
    return _varint(field << 3 | wire)


def _blob(field: int, data: bytes) -> bytes:
    return _tag(field, 2) + _varint(len(data)) + data


def _columns(columns: dict[int, bytes]) -> bytes:
    return b"".join(_blob(field, data) for field, data in columns.items() if data)


def _little(values: array[int] | array[float]) -> bytes:
    if sys.byteorder == "big":
        values.byteswap()
    return values.tobytes()


def _u32(values: Iterable[int]) -> bytes:
    return _little(array("I", values))


def _u64(values: Iterable[int]) -> bytes:
    return _little(array("Q", values))


def _i64(values: Iterable[int]) -> bytes:
    return _little(array("q", values))


def _f64(values: Iterable[float]) -> bytes:
    return _little(array("d", values))


def _association(table: tuple[str, tuple[str, ...], list[tuple[tuple[int, ...], int]]]) -> bytes:
    name, roles, ties = table
    return _blob(16, b"".join([
        _blob(1, name.encode()), *(_blob(2, role.encode()) for role in roles),
        *(_blob(3, _columns({1: _u32(ids[r] for ids, _ in ties)})) for r in range(len(roles))),
        _blob(4, _blob(1, b"count") + _blob(2, b"count")), _blob(5, _columns({1: _i64(v for _, v in ties)}))]))
