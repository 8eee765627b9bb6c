#!/usr/bin/env python3
# Writes the hand-made MOJO files of this folder.
import os

here = os.path.dirname(os.path.abspath(__file__))


def n(value):
    out = [(0x40 if value < 0 else 0) | (abs(value) & 0x3F)]
    rest = abs(value) >> 6
    while rest:
        out[-1] |= 0x80
        out.append(rest & 0x7F)
        rest >>= 7
    return bytes(out)


def s(text):
    return text.encode() + b"\0"


def string(key, text):
    return b"\x0b" + n(key) + s(text)


def frame(key, file, scope, *place):
    return b"\x03" + n(key) + n(file) + n(scope) + b"".join(map(n, place))


def ref(key):
    return b"\x05" + n(key)


def put(name, *parts):
    with open(os.path.join(here, name), "wb") as out:
        out.write(b"".join(parts))


names = string(100, "/src/t.py") + string(101, "main") + string(102, "work")
meta = b"\x01" + s("austin") + s("3.4.0") + b"\x01" + s("interval") + s("100") + b"\x01" + s("mode")
put("version1.mojo", b"MOJ", n(1), meta, s("wall"), b"\x02", n(7), s("1f"), names, frame(5, 100, 101, 3), ref(5),
    b"\x09", n(100), b"\x02", n(7), s("1f"), ref(5), b"\x06", s("do_syscall_64"), b"\x04", b"\x09", n(250))
# Version 4: interpreters, columns, a key defined again, full mode, a collector, a repeated stack, a task.
put("version4.mojo", b"MOJ", n(4), meta, s("full"), b"\x02", n(7), n(0), s("1f"), names, frame(5, 100, 101, 3, 3, 5, 9),
    frame(6, 100, 102, 12, 14, 9, 2), ref(5), ref(6), b"\x09", n(100), b"\x0a", n(4096),
    b"\x02", n(7), n(0), s("1f"), b"\x0d", ref(6), b"\x07\x08\x09", n(50), b"\x0a", n(-1024),
    b"\x0e", n(9), n(101), n(1), ref(5), b"\x0f", n(9), n(8), b"\x10", n(9),
    b"\x02", n(8), n(0), s("2a"), string(100, "/src/u.py") + string(101, "other"), frame(5, 100, 101, 1, 1, 1, 1), ref(5),
    b"\x09", n(10), b"\x0a", n(0))
# As austinp writes: what the first stack needs stands before it.
put("before-stack.mojo", b"MOJ", n(1), meta, s("cpu"), string(100, "native@4f28b6") + string(101, "_Py_HashBytes"),
    frame(5, 100, 101, 620209), b"\x02", n(7), s("1f"), ref(5), b"\x09", n(100))
put("corrupt-frame.mojo", b"MOJ", n(1), meta, s("wall"), b"\x02", n(7), s("1f"), ref(5), b"\x09", n(100))
put("corrupt-truncated.mojo", b"MOJ", n(1), meta, s("wall"), b"\x02", n(7), s("1f"), names[:-3])
