#!/usr/bin/env python3
"""Writes the small binary files by hand: the same profile in words of four sizes and orders."""
import os
import struct

HERE = os.path.dirname(os.path.abspath(__file__))
MAP = b"build=/opt/app\n00400000-00410000 r-xp 00000000 08:02 77 $build/app\n00410000-00420000 rw-p 00010000 08:02 77 $build/app\n" \
      b"7f000000-7f100000: /lib/libc-2.15.so (@1000) abc123\n"


def words(order, size, *values):
    return struct.pack(order + ("Q" if size == 8 else "I") * len(values), *values)


def cpu(order, size, java=0):
    # A period of 10 ms; a signal frame second in every stack, then 0x400100 called from 0x400200.
    out = words(order, size, 0, 3, java, 10000, 0)
    out += words(order, size, 5, 4, 0x400100, 0x7F000010, 0x400201, 0x400301)
    out += words(order, size, 2, 3, 0x400104, 0x7F000010, 0x400301)
    # The leaf twice, one of them as a call.
    out += words(order, size, 1, 4, 0x400108, 0x7F000010, 0x400108, 0x400301)
    return out + words(order, size, 0, 1, 0)


for name, order, size in (("minimal-64-le", "<", 8), ("minimal-64-be", ">", 8), ("minimal-32-le", "<", 4), ("minimal-32-be", ">", 4)):
    with open(os.path.join(HERE, name + ".prof"), "wb") as f:
        f.write(cpu(order, size) + MAP)
java = words("<", 8, 0, 3, 1, 10000, 0) + words("<", 8, 3, 2, 1, 2) + words("<", 8, 4, 1, 3) + words("<", 8, 0, 1, 0)
java += b" 0x1 com.example.A.run (A.java:12)\n 0x2 main (A.java:3)\n 0x3 GC\n"
with open(os.path.join(HERE, "minimal-java.prof"), "wb") as f:
    f.write(java)
with open(os.path.join(HERE, "corrupt-truncated.prof"), "wb") as f:
    f.write(cpu("<", 8)[:-40])
