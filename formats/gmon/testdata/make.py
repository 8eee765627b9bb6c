#!/usr/bin/env python3
"""Writes the small files by hand: the same records with addresses of 32 and 64 bits, in both byte orders."""
import os
import struct

HERE = os.path.dirname(os.path.abspath(__file__))


def gmon(order, size, bins=(0, 3, 0, 5, 1, 0, 0, 2)):
    word = "Q" if size == 8 else "I"
    out = b"gmon" + struct.pack(order + "I", 1) + bytes(12)
    out += b"\0" + struct.pack(order + word * 2, 0x1000, 0x1020) + struct.pack(order + "II", len(bins), 100)
    out += b"seconds".ljust(15, b"\0") + b"s" + struct.pack(order + "H" * len(bins), *bins)
    for source, target, count in ((0x1002, 0x1008, 7), (0x100A, 0x1010, 14), (0, 0x1000, 1)):
        out += b"\1" + struct.pack(order + word * 2, source, target) + struct.pack(order + "I", count)
    out += b"\2" + struct.pack(order + "I", 2) + struct.pack(order + word * 4, 0x1000, 1, 0x1008, 7)
    return out


for name, order, size in (("64-le", "<", 8), ("64-be", ">", 8), ("32-le", "<", 4), ("32-be", ">", 4)):
    with open(os.path.join(HERE, f"minimal-{name}.gmon"), "wb") as f:
        f.write(gmon(order, size))
with open(os.path.join(HERE, "corrupt-truncated.gmon"), "wb") as f:
    f.write(gmon("<", 8)[:-10])
with open(os.path.join(HERE, "corrupt-record.gmon"), "wb") as f:
    f.write(gmon("<", 8) + b"\7")
