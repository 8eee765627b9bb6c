#!/usr/bin/env python3
"""Writes the small files by hand: the basic mode, and the flight data recorder's buffers before and after they told their length."""
import os
import struct

HERE = os.path.dirname(os.path.abspath(__file__))
ENTRY, EXIT, TAIL, WITH_ARGUMENTS = range(4)
BUFFER, END, CPU, WRAP, WALL, CUSTOM, ARGUMENT, EXTENTS, TYPED, PROCESS = range(10)


def header(version, kind, buffer=0, frequency=2_000_000_000):
    return struct.pack("<HHIQQQ", version, kind, 3, frequency, buffer, 0)


def basic(kind, function, ticks, tid, pid=0):
    return struct.pack("<HBBiQIIQ", 0, 1, kind, function, ticks, tid, pid, 0)


def argument(function, value, tid, pid=0):
    return struct.pack("<HBBiIIQQ", 1, 0, 0, function, tid, pid, value, 0)


def event(kind, function, delta):
    return struct.pack("<II", kind << 1 | function << 4, delta)


def metadata(kind, form="", *values):
    return (struct.pack("<B" + form, kind << 1 | 1, *values)).ljust(16, b"\0")


def write(name, data):
    with open(os.path.join(HERE, name), "wb") as file:
        file.write(data)


# A recursion, a tail exit, an argument, and a function that an exception has left, on two threads in turns.
two_threads = (basic(ENTRY, 1, 1000, 11, 7) + basic(ENTRY, 2, 3000, 12, 7) + basic(ENTRY, 1, 5000, 11, 7) + basic(EXIT, 1, 9000, 11, 7)
               + basic(WITH_ARGUMENTS, 3, 10000, 11, 7) + argument(3, 42, 11, 7) + basic(TAIL, 3, 16000, 11, 7)
               + basic(ENTRY, 4, 16000, 11, 7) + basic(EXIT, 1, 21000, 11, 7) + basic(EXIT, 2, 23000, 12, 7) + basic(EXIT, 5, 24000, 12, 7))
write("minimal-basic.xray", header(3, 0) + two_threads)
write("corrupt-basic.xray", header(3, 0) + two_threads[:-5])

events = event(ENTRY, 1, 100) + event(ENTRY, 2, 200) + event(EXIT, 2, 400)
first = (metadata(BUFFER, "i", 11) + metadata(WALL, "QI", 1700000000, 5) + metadata(CPU, "HQ", 1, 1 << 40) + events
         + metadata(WRAP, "Q", (1 << 40) + (1 << 33)) + event(EXIT, 1, 50) + metadata(END))
write("minimal-recorder-1.xray", header(1, 1, 256) + first.ljust(256, b"\xee")
      + (metadata(BUFFER, "i", 12) + metadata(WALL, "QI", 1700000001, 5) + metadata(CPU, "HQ", 0, (1 << 40) + 10) + event(ENTRY, 3, 0)
         + event(TAIL, 3, 70) + metadata(END)).ljust(256, b"\xee"))


def buffer(tid, ticks, body):
    data = (metadata(BUFFER, "i", tid) + metadata(WALL, "QI", 1700000000, 5) + metadata(PROCESS, "i", 7)
            + metadata(CPU, "HQ", 1, ticks) + body)
    return metadata(EXTENTS, "Q", len(data)) + data


# The second buffer of thread 11 was written before its first.
recorder = (buffer(11, 9000, event(EXIT, 2, 0) + event(EXIT, 1, 100)) + buffer(12, 500, event(ENTRY, 3, 0) + event(EXIT, 3, 600))
            + buffer(11, 1000, event(ENTRY, 1, 0) + metadata(CUSTOM, "ii", 5, 100) + b"hello" + event(WITH_ARGUMENTS, 2, 100)
                     + metadata(ARGUMENT, "Q", 42) + metadata(TYPED, "iIH", 3, 300, 9) + b"abc"))
write("minimal-recorder-5.xray", header(5, 1) + recorder)
write("corrupt-recorder.xray", header(5, 1) + recorder[:-30])
