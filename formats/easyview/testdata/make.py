#!/usr/bin/env python3
"""Writes the DrCCTProf test files of this folder. Field numbers: docs/formats/easyview.md."""
import os

here = os.path.dirname(os.path.abspath(__file__))


def varint(n):
    n &= (1 << 64) - 1
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def num(field, value):
    return b"" if value == 0 else varint(field << 3) + varint(value)


def msg(field, body):
    return varint(field << 3 | 2) + varint(len(body)) + body


class File:
    def __init__(self):
        self.strings, self.parts = [""], {n: b"" for n in range(1, 8)}

    def s(self, text):
        if text not in self.strings:
            self.strings.append(text)
        return self.strings.index(text)

    def metric(self, value_type, unit, name):
        self.parts[1] += msg(1, num(1, value_type) + num(2, self.s(unit)) + num(3, self.s(name)))

    def sample(self, context, *values):
        body = num(1, context)
        for v in values:
            body += msg(2, num(1, v[0]) + num(2, v[1]) + num(3, v[2]) if isinstance(v, tuple) else num(2, v))
        self.parts[2] += msg(2, body)

    def context(self, id, location, parent, children=()):
        kids = b"".join(varint(c) for c in children)
        self.parts[3] += msg(3, num(1, id) + num(2, location) + num(3, parent) + (msg(4, kids) if kids else b""))

    def location(self, id, *lines):
        self.parts[4] += msg(4, num(1, id) + b"".join(msg(2, num(1, f) + num(2, n)) for f, n in lines))

    def function(self, id, name, file="", line=0, system=""):
        f = self.s(file)
        self.parts[5] += msg(5, num(1, id) + num(2, self.s(name)) + num(3, self.s(system or name)) + num(4, f) + num(5, line))

    def file(self, path):
        i = self.s(path)
        self.parts[6] += msg(6, num(1, i) + num(2, i) + num(3, i))

    def bytes(self):
        return b"".join(self.parts[n] for n in range(1, 7)) + b"".join(msg(7, t.encode()) for t in self.strings)


def write(name, data):
    with open(os.path.join(here, name), "wb") as f:
        f.write(data)


def triples():
    f = File()
    for name in ("sample type", "alloc context", "use context", "counts", "total distance"):
        f.metric(1, " ", name)
    f.function(0, "PROCESS[77]_ROOT_CTXT", "<NULL>")
    f.function(1, "THREAD[0]_ROOT_CTXT", "<NULL>")
    f.function(2, "main", "/src/a.cc", 10)
    f.function(3, "make", "/src/a.cc", 20)
    f.function(4, "work", "/src/a.cc", 30)
    f.function(5, "[static alloc] table", "<NULL>")
    f.function(6, "THREAD[1]_ROOT_CTXT", "<NULL>")
    f.file("<NULL>")
    f.file("/src/a.cc")
    last = (1 << 64) - 1
    f.location(0, (0, 0))
    f.location(last, (1, 0))
    f.location(last - 1, (6, 0))
    f.location(0x401000, (2, 11))
    f.location(0x401010, (2, 12))
    f.location(0x401100, (3, 21))
    f.location(0x401200, (4, 31))
    f.location(0x401208, (4, 32))
    f.location(last - 2, (5, 0))
    f.context(1, 0, 0, [2, 3, 20])
    f.context(2, last, 1, [10, 11])
    f.context(3, last - 1, 1, [30])
    f.context(10, 0x401000, 2, [12])
    f.context(11, 0x401010, 2, [13, 14])
    f.context(12, 0x401100, 10)
    f.context(13, 0x401200, 11)
    f.context(14, 0x401208, 11)
    f.context(20, last - 2, 1)
    f.context(30, 0x401208, 3)
    for alloc, kind, use, reuse, n, distance in ((12, 1, 13, 14, 5, 100), (20, 0, 13, 14, 2, 40), (12, 1, 13, 30, 1, 7)):
        f.sample(alloc, kind, 0, 0, n, distance)
        f.sample(use, 2, alloc, 0, n, distance)
        f.sample(reuse, 3, alloc, use, n, distance)
    return f


def pairs(columns, own):
    f = File()
    for name in columns:
        f.metric(1, "times", name)
    f.function(1, "main", "/src/a.cc", 1)
    f.function(2, "store", "/src/a.cc", 5)
    f.file("/src/a.cc")
    f.location(1, (1, 2))
    f.location(2, (2, 6))
    f.location(3, (2, 7))
    f.context(5, 1, 0, [6, 7])
    f.context(6, 2, 5)
    f.context(7, 3, 5)
    f.sample(7, 6, own)
    f.sample(6, 0, 4)
    return f


def race_of_threads(what="races"):
    """Two threads write one place, 5 times; twice one thread did so from two lines; 1 access is of nobody knows which thread."""
    f = File()
    for name in ("first access context", what):
        f.metric(1, "times", name)
    f.function(0, "PROCESS[77]_ROOT_CTXT", "<NULL>")
    f.function(1, "THREAD[0]_ROOT_CTXT", "<NULL>")
    f.function(2, "THREAD[1]_ROOT_CTXT", "<NULL>")
    f.function(3, "main", "/src/a.cc", 1)
    f.function(4, "store", "/src/a.cc", 5)
    f.file("<NULL>")
    f.file("/src/a.cc")
    last = (1 << 64) - 1
    f.location(0, (0, 0))
    f.location(last, (1, 0))
    f.location(last - 1, (2, 0))
    f.location(0x401000, (3, 2))
    f.location(0x401100, (4, 6))
    f.location(0x401108, (4, 7))
    f.context(1, 0, 0, [2, 3, 30])
    f.context(2, last, 1, [10])
    f.context(3, last - 1, 1, [20])
    f.context(10, 0x401000, 2, [11, 12])
    f.context(11, 0x401100, 10)
    f.context(12, 0x401108, 10)
    f.context(20, 0x401000, 3, [21])
    f.context(21, 0x401108, 20)
    f.context(30, 0x401100, 1)
    f.sample(21, 11, 5)
    f.sample(12, 11, 2)
    f.sample(21, 30, 1)
    return f


f = File()
f.metric(0, "sec", "CPUTIME")
f.metric(2, "", "phase")
f.function(0, "app`main", "/src/a.c", 3)
f.function(1, "app`work", "/src/a.c", 9)
f.function(2, "libc.so.6`memcpy", "<unknown file> [libc.so.6]")
f.function(3, "app`inner", "/src/a.h", 2)
f.file("/src/a.c")
f.file("<unknown file> [libc.so.6]")
f.file("/src/a.h")
f.location(0, (0, 4))
f.location(1, (3, 3), (1, 10))
f.location(2, (2, 0))
f.context(0, 0, 0, [1])
f.context(1, 1, 0, [2])
f.context(2, 2, 1)
f.sample(0, (100, 0, 0), (0, 0, f.s("init")))
f.sample(1, (2000, 0, 0), (0, 0, f.s("run")))
f.sample(1, (0, 500, 0), (0, 0, f.s("run")))
f.sample(2, (30, 0, 0))
write("minimal.drcctprof", f.bytes())
reuse = triples().bytes()
write("reuse.ezview", reuse)
write("race.drcctprof", pairs(("first access context", "races"), 3).bytes())
write("race-threads.drcctprof", race_of_threads().bytes())
write("sharing.drcctprof", race_of_threads("false sharings").bytes())
write("redundancy.drcctprof", pairs(("killing context", "redundant bytes"), 3).bytes())
bad = triples()
bad.context(40, 0x401208, 41)
bad.context(41, 0x401208, 40)
write("corrupt-cycle.drcctprof", bad.bytes())
write("corrupt-truncated.ezview", reuse[: len(reuse) * 2 // 3])
