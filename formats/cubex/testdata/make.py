#!/usr/bin/env python3
"""Writes the Cube reports of this folder: tar archives. Layout: pycubexr's docs/cube_file_format.md."""
import gzip
import io
import os
import struct
import tarfile
import zlib

here = os.path.dirname(os.path.abspath(__file__))

# main calls a and b, a calls c; wide order: main, a, b, c.
ANCHOR = """<?xml version="1.0" encoding="UTF-8"?>
<cube version="4.4">
<attr key="Creator" value="made by hand"/>
<metrics>
<metric id="0" type="EXCLUSIVE"><disp_name>Visits</disp_name><uniq_name>visits</uniq_name><dtype>UINT64</dtype><uom>occ</uom></metric>
<metric id="1" type="INCLUSIVE"><disp_name>Time</disp_name><uniq_name>time</uniq_name><dtype>DOUBLE</dtype><uom>sec</uom></metric>
<metric id="2" type="EXCLUSIVE"><disp_name>Min</disp_name><uniq_name>min_time</uniq_name><dtype>MINDOUBLE</dtype><uom>sec</uom></metric>
<metric id="3" type="EXCLUSIVE"><disp_name>Bytes</disp_name><uniq_name>bytes_put</uniq_name><dtype>UINT64</dtype><uom>bytes</uom></metric>
<metric id="4" type="POSTDERIVED"><disp_name>Rate</disp_name><uniq_name>rate</uniq_name><dtype>DOUBLE</dtype><uom>1/sec</uom><cubepl>metric::time()</cubepl></metric>
</metrics>
<program>
<region id="0" mod="src/app.c" begin="3" end="9"><name>main</name><mangled_name>main</mangled_name><paradigm>compiler</paradigm></region>
<region id="1" mod="src/app.c" begin="11" end="-1"><name>a(int)</name><mangled_name>_Z1ai</mangled_name></region>
<region id="2" mod="MPI" begin="-1" end="-1"><name>MPI_Send</name><mangled_name>MPI_Send</mangled_name></region>
<region id="3" mod="src/app.c" begin="30" end="-1"><name>c</name><mangled_name>c</mangled_name></region>
<cnode id="0" calleeId="0"><cnode id="1" calleeId="1"><cnode id="2" calleeId="3"></cnode></cnode><cnode id="3" calleeId="2"></cnode></cnode>
</program>
<system><systemtreenode Id="0"><name>node n1</name><class>node</class>
<locationgroup Id="0"><name>MPI Rank 0</name><rank>0</rank><type>process</type>
<location Id="0"><name>Master thread</name><rank>0</rank><type>thread</type></location>
<location Id="1"><name>OMP thread 1</name><rank>1</rank><type>thread</type></location></locationgroup>
<locationgroup Id="1"><name>MPI Rank 1</name><rank>1</rank><type>process</type>
<location Id="2"><name>Master thread</name><rank>0</rank><type>thread</type></location></locationgroup>
</systemtreenode></system>
</cube>
"""


def index(positions, order="<"):
    return b"CUBEX.INDEX" + struct.pack(order + "ihbi", 1, 0, 1, len(positions)) + struct.pack(f"{order}{len(positions)}i", *positions)


def data(rows, code, order="<"):
    return b"CUBEX.DATA" + b"".join(struct.pack(f"{order}{len(r)}{code}", *r) for r in rows)


def packed(rows, code):
    heads, streams, raw = b"", b"", 0
    for r in rows:
        body = struct.pack(f"<{len(r)}{code}", *r)
        z = zlib.compress(body)
        heads += struct.pack("<qqq", raw, len(streams), len(z))
        raw += len(body)
        streams += z
    return b"ZCUBEX.DATA" + struct.pack("<q", len(rows)) + heads + streams


visits = [[1, 1, 1], [4, 0, 4], [8, 2, 8]]  # preorder: main, a, c (b has none)
time = [[10.0, 5.0, 8.0], [6.0, 0.0, 4.0], [1.5, 0.0, 2.0], [2.0, 0.0, 1.0]]  # wide: main, a, MPI_Send, c


def write(name, files):
    with tarfile.open(os.path.join(here, name), "w", format=tarfile.USTAR_FORMAT) as tar:
        for file, content in files:
            info = tarfile.TarInfo(file)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))


xml = ANCHOR.encode()
plain = [("0.data", data(visits, "Q")), ("0.index", index([0, 1, 2])), ("1.data", data(time, "d")), ("1.index", index([0, 1, 2, 3])), ("anchor.xml", xml)]
write("minimal.cubex.tar", plain)
write("compressed.cubex.tar", [("0.data", packed(visits, "Q")), ("0.index", index([0, 1, 2])), ("1.data", packed(time, "d")), ("1.index", index([0, 1, 2, 3])), ("anchor.xml", gzip.compress(xml, mtime=0))])
write("big-endian.cubex.tar", [("0.data", data(visits, "Q", ">")), ("0.index", index([0, 1, 2], ">")), ("1.data", data(time, "d", ">")), ("1.index", index([0, 1, 2, 3], ">")), ("anchor.xml", xml)])
write("corrupt-cut-data.cubex.tar", [(n, d[:-8] if n == "1.data" else d) for n, d in plain])
write("corrupt-index.cubex.tar", [(n, index([0, 1, 2, 9]) if n == "1.index" else d) for n, d in plain])
with open(os.path.join(here, "corrupt-anchor-alone.xml"), "wb") as f:
    f.write(xml)
