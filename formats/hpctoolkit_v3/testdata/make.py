#!/usr/bin/env python3
"""Writes the HPCToolkit 2/3 databases of this folder (as tar archives, since a database is a folder)."""
import io
import os
import struct
import tarfile

here = os.path.dirname(os.path.abspath(__file__))

XML = """<?xml version="1.0"?>
<!DOCTYPE HPCToolkitExperiment [
<!ELEMENT HPCToolkitExperiment (Header, SecCallPathProfile*)>
<!ATTLIST HPCToolkitExperiment version CDATA #REQUIRED>
]>
<HPCToolkitExperiment version="2.2">
<Header n="app"><Info/></Header>
<SecCallPathProfile i="0" n="app">
<SecHeader>
  <MetricTable>
    <Metric i="2" n="CPUTIME (usec):Sum (I)" v="derived-incr" t="inclusive" partner="3" show="1"><MetricFormula t="finalize" frm="$2"/></Metric>
    <Metric i="3" n="CPUTIME (usec):Sum (E)" v="derived-incr" t="exclusive" partner="2" show="1"/>
  </MetricTable>
  <MetricDBTable>
    <MetricDB i="0" n="CPUTIME (usec) (I)" t="inclusive" partner="1" db-glob="*.metric-db" db-id="0" db-num-metrics="2" db-header-sz="24"/>
    <MetricDB i="1" n="CPUTIME (usec) (E)" t="exclusive" partner="0" db-glob="*.metric-db" db-id="1" db-num-metrics="2" db-header-sz="24"/>
  </MetricDBTable>
  <LoadModuleTable><LoadModule i="2" n="/bin/app"/></LoadModuleTable>
  <FileTable><File i="3" n="./src/app.c"/><File i="4" n="./src/inline.h"/><File i="5" n="&lt;unknown file&gt;"/></FileTable>
  <ProcedureTable>
    <Procedure i="6" n="&lt;program root&gt;" f="4"/><Procedure i="7" n="main"/><Procedure i="8" n="work&lt;int&gt;"/><Procedure i="9" n="tiny"/>
  </ProcedureTable>
</SecHeader>
<SecCallPathProfileData>
<M n="2" v="70"/>
<PF i="1" s="20" l="0" lm="2" f="5" n="6"><M n="2" v="70"/>
<C i="2" s="21" l="0" v="0x10"><M n="2" v="70"/>
<PF i="3" s="22" l="3" lm="2" f="3" n="7"><M n="2" v="70"/><M n="3" v="10"/>
<S i="4" s="23" l="4"><M n="2" v="10"/><M n="3" v="10"/></S>
<C i="5" s="24" l="5" v="0x40"><M n="2" v="60"/>
<PF i="6" s="25" l="20" lm="2" f="3" n="8"><M n="2" v="60"/>
<L i="7" s="26" l="21" f="3"><M n="2" v="60"/><M n="3" v="40"/>
<S i="8" s="27" l="22"><M n="2" v="40"/><M n="3" v="40"/></S>
<Pr i="9" s="28" l="7" lm="2" f="4" n="9" a="1"><M n="2" v="20"/><M n="3" v="20"/>
<S i="10" s="29" l="8"><M n="2" v="20"/><M n="3" v="20"/></S>
</Pr>
</L>
</PF>
</C>
</PF>
</C>
</PF>
</SecCallPathProfileData>
</SecCallPathProfile>
</HPCToolkitExperiment>
"""


def db(scale):
    inclusive = [70, 70, 70, 10, 60, 60, 60, 40, 20, 20]
    exclusive = [0, 0, 10, 10, 0, 0, 40, 40, 20, 20]
    body = b"".join(struct.pack(">dd", i * scale, e * scale) for i, e in zip(inclusive, exclusive))
    return b"HPCPROF-metricdb__00.10b" + struct.pack(">II", len(inclusive), 2) + body


def merged(parts):
    at, head, body = 8 + 16 * len(parts), b"", b""
    for i, part in enumerate(parts):
        head += struct.pack(">IIQ", 0, i, at + len(body))
        body += part
    return struct.pack(">II", 2, len(parts)) + head + body


def write(name, files):
    with tarfile.open(os.path.join(here, name), "w", format=tarfile.USTAR_FORMAT) as tar:
        for file, data in files:
            info = tarfile.TarInfo(file)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))


xml = XML.encode()
first, second = "1.app-000000-000-a8c00270-1-0.metric-db", "1.app-000001-000-a8c00270-2-0.metric-db"
write("minimal.tar", [("experiment.xml", xml), (first, db(0.25)), (second, db(0.75))])
write("merged.tar", [("experiment.xml", xml), ("experiment-1.mdb", merged([db(0.5), db(0.5)]))])
write("corrupt-cut-values.tar", [("experiment.xml", xml), (first, db(1)[:-16])])
with open(os.path.join(here, "alone.xml"), "wb") as f:
    f.write(xml)
with open(os.path.join(here, "corrupt-truncated.xml"), "wb") as f:
    f.write(xml[:1500])
