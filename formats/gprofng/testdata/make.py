#!/usr/bin/env python3
"""Writes a small experiment (as a tar archive) without the padding that gprofng writes. Layout: gprofng/src/data_pckts.h."""
import io
import os
import struct
import tarfile

here = os.path.dirname(os.path.abspath(__file__))
LOG = """<experiment version="12.4">
<collector>2.40.00</collector>
</experiment>
<system hostname="host" arch="x86_64" os="Linux" pagesz="4096" npages="1">
</system>
<process pid="42"></process>
<process wsize="64"></process>
<process>./app 3</process>
<event kind="run" tstamp="10.000000000" time="1600000000" tm_zone="0"/>
<profile name="profile" ptimer="1000" numstates="1">
  <profdata fname="profile"/>
  <profpckt kind="8" uname="Clock profiling data">
    <field name="LWPID" offset="8" type="INT64"/><field name="THRID" offset="16" type="INT64"/>
    <field name="TSTAMP" offset="28" type="INT64"/><field name="FRINFO" offset="36" type="INT64"/>
    <field name="MSTATE" offset="44" type="INT32"/><field name="NTICK" offset="48" type="INT32"/>
  </profpckt>
</profile>
<event kind="cwarn" id="207">1000 -> 0</event>
"""
MAP = """<event kind="map" object="segment" tstamp="0.1" vaddr="0x0000000000400000" size="4096" pagesz="4096" foffset="+0x00001000" modes="0x005" name="/bin/app"/>
<event kind="map" object="dynfunc" name="JIT" vaddr="0x500000" size="64" funcname="Foo.bar"/>
"""


def clock(thread, time, stack, state, ticks):
    return struct.pack("<HHIqqiqqii4x", 56, 8, 0, thread, thread, 0, 10_000_000_000 + time, stack, state, ticks)[:56]


def frame(uid, info, pcs, link=None):
    payload = b"".join(struct.pack("<Q", p) for p in pcs) + (struct.pack("<Q", link) if link else b"")
    head = struct.pack("<IIQ", 16 + len(payload), 1 | (0x80000000 if link else 0), info)
    return struct.pack("<HHIQ", 16 + len(head) + len(payload), 11, 16, uid) + head + payload


frames = frame(1, 101, [0x400010, 0x400020, 0x400030]) + frame(2, 102, [0x500004], link=103) + frame(3, 103, [0x400020, 0x400030]) + frame(4, 104, [2**64 - 2])
packets = clock(7, 1000, 1, 10, 3) + clock(7, 2000, 2, 10, 2) + clock(8, 1500, 4, 7, 5) + clock(8, 1600, 99, 10, 1)


def write(name, files):
    with tarfile.open(os.path.join(here, name), "w", format=tarfile.USTAR_FORMAT) as tar:
        for file, data in files:
            info = tarfile.TarInfo(file)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))


files = [("log.xml", LOG.encode() + b" " * 64 + b"\0" * 64), ("map.xml", MAP.encode()), ("data.frameinfo", frames), ("profile", packets)]
write("minimal.tar", files)
write("corrupt-version.tar", [(n, d.replace(b'"12.4"', b'"13.0"')) for n, d in files])
with open(os.path.join(here, "corrupt-log-alone.xml"), "wb") as f:
    f.write(LOG.encode())
