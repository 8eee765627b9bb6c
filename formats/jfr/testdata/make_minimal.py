#!/usr/bin/env python3
"""Writes minimal.jfr, corrupt.jfr and uncompressed.jfr: small recordings with what no profiler at hand writes.

Every way of writing a string, a virtual thread, a stack that is cut, one that is missing, events of JDK 25,
Datadog and old async-profilers, two chunks with class ids of their own.
"""
import os
import struct


def varint(n):
    n &= 0xFFFFFFFFFFFFFFFF
    out = b""
    for _ in range(8):
        if n < 0x80:
            return out + bytes([n])
        out += bytes([n & 0x7F | 0x80])
        n >>= 7
    return out + bytes([n])


def utf8(s):
    return b"\x03" + varint(len(s.encode())) + s.encode()


def latin1(s):
    return b"\x05" + varint(len(s)) + s.encode("latin-1")


def chars(s):
    units = struct.unpack("<%dH" % (len(s.encode("utf-16-le")) // 2), s.encode("utf-16-le"))
    return b"\x04" + varint(len(units)) + b"".join(varint(u) for u in units)


def pooled(key):
    return b"\x02" + varint(key)


# name: (fields) with a field as name:type, * for a constant pool, [] for an array, @UNIT for an annotation
TYPES = {
    "boolean": "", "byte": "", "int": "", "long": "", "float": "", "double": "", "java.lang.String": "",
    "jdk.jfr.Timespan": "", "jdk.jfr.Timestamp": "",
    "jdk.types.Symbol": "string:java.lang.String",
    "java.lang.Class": "classLoader:*long name:*jdk.types.Symbol package:*jdk.types.Package modifiers:int",
    "jdk.types.Package": "name:*jdk.types.Symbol module:*jdk.types.Module",
    "jdk.types.Module": "name:*jdk.types.Symbol",
    "java.lang.Thread": "osName:java.lang.String osThreadId:long javaName:java.lang.String javaThreadId:long",
    "jdk.types.ThreadState": "name:java.lang.String",
    "jdk.types.FrameType": "description:java.lang.String",
    "jdk.types.Method": "type:*java.lang.Class name:*jdk.types.Symbol descriptor:*jdk.types.Symbol modifiers:int "
                        "hidden:boolean",
    "jdk.types.StackFrame": "method:*jdk.types.Method lineNumber:int bytecodeIndex:int type:*jdk.types.FrameType",
    "jdk.types.StackTrace": "truncated:boolean frames:[]jdk.types.StackFrame",
    "jdk.ActiveSetting": "startTime:long@TICKS id:long name:java.lang.String value:java.lang.String",
    "jdk.ExecutionSample": "startTime:long@TICKS sampledThread:*java.lang.Thread stackTrace:*jdk.types.StackTrace "
                           "state:*jdk.types.ThreadState",
    "jdk.CPUTimeSample": "startTime:long@TICKS stackTrace:*jdk.types.StackTrace eventThread:*java.lang.Thread "
                         "failed:boolean samplingPeriod:long@NANOSECONDS biased:boolean",
    "jdk.JavaExceptionThrow": "startTime:long@TICKS duration:long@TICKS eventThread:*java.lang.Thread "
                              "stackTrace:*jdk.types.StackTrace message:java.lang.String thrownClass:*java.lang.Class",
    "jdk.FileRead": "startTime:long@TICKS duration:long@MILLISECONDS eventThread:*java.lang.Thread "
                    "stackTrace:*jdk.types.StackTrace path:java.lang.String bytesRead:long",
    "datadog.ObjectSample": "startTime:long@TICKS eventThread:*java.lang.Thread stackTrace:*jdk.types.StackTrace "
                            "objectClass:*java.lang.Class size:long weight:float spanId:long",
    "datadog.MethodSample": "startTime:long@TICKS sampledThread:*java.lang.Thread stackTrace:*jdk.types.StackTrace "
                            "weight:long",
    "profiler.LiveObject": "startTime:long@TICKS eventThread:*java.lang.Thread stackTrace:*jdk.types.StackTrace "
                           "objectClass:*java.lang.Class allocationSize:long",
    "jdk.CPUTimeSamplesLost": "startTime:long@TICKS lostSamples:int eventThread:*java.lang.Thread",
    "jdk.DataLoss": "startTime:long@TICKS amount:long total:long",
    "demo.Other": "startTime:long@TICKS note:java.lang.String more:double",
}
EVENTS = [n for n in TYPES if n.split(".")[0] in ("datadog", "profiler", "demo") or n.count(".") == 1 and n.startswith("jdk.")]


class Chunk:
    def __init__(self, first_id, version=(2, 1), features=1):
        self.ids = {name: first_id + i for i, name in enumerate(TYPES)}
        self.version, self.features = version, features
        self.records, self.pools = b"", {}

    def record(self, type_id, payload):
        body = varint(type_id) + payload
        size = len(body) + 4  # padded, as the virtual machine writes it
        padded = bytes([size & 0x7F | 0x80, size >> 7 & 0x7F | 0x80, size >> 14 & 0x7F | 0x80, size >> 21])
        self.records += padded + body

    def event(self, name, *fields):
        self.record(self.ids[name], b"".join(fields))

    def pool(self, name, key, *fields):
        self.pools.setdefault(name, []).append(varint(key) + b"".join(fields))

    def metadata(self):
        strings = []

        def index(s):
            if s not in strings:
                strings.append(s)
            return varint(strings.index(s))

        def element(name, attributes, children=()):
            out = index(name) + varint(len(attributes))
            for key, value in attributes.items():
                out += index(key) + index(value)
            return out + varint(len(children)) + b"".join(children)

        classes = []
        for name, fields in TYPES.items():
            children = []
            for field in fields.split():
                field_name, of = field.split(":")
                of, _, unit = of.partition("@")
                attributes = {"name": field_name, "class": str(self.ids[of.lstrip("*[]")])}
                if of[0] == "*":
                    attributes["constantPool"] = "true"
                if of[0] == "[":
                    attributes["dimension"] = "1"
                annotation = "jdk.jfr.Timestamp" if field_name == "startTime" else "jdk.jfr.Timespan"
                children.append(element("field", attributes, [element(
                    "annotation", {"class": str(self.ids[annotation]), "value": unit})] if unit else []))
            attributes = {"id": str(self.ids[name]), "name": name}
            if name in EVENTS:
                attributes["superType"] = "jdk.jfr.Event"
            classes.append(element("class", attributes, children))
        root = element("root", {}, [element("metadata", {}, classes), element("region", {"gmtOffset": "0"})])
        head = varint(0) * 2 + varint(1) + varint(len(strings))
        return head + b"".join(utf8(s) for s in strings) + root

    def bytes(self, start_ns):
        body = varint(0) * 3 + b"\x00" + varint(len(self.pools))
        for name, values in self.pools.items():
            body += varint(self.ids[name]) + varint(len(values)) + b"".join(values)
        checkpoint = 68 + len(self.records)
        self.record(1, body)
        metadata = 68 + len(self.records)
        self.record(0, self.metadata())
        size = 68 + len(self.records)
        header = b"FLR\0" + struct.pack(">HHqqqqqqqi", *self.version, size, checkpoint, metadata, start_ns, 2_000_000_000, 1000,
                                        1_000_000, self.features)
        return header + self.records


def fill(c, minus_one):
    names = ["", "demo/Main", "main", "([Ljava/lang/String;)V", "work", "()I", "__read", "()L;", "libc.so.6",
             "[B", "java.base", "java/lang", "java/lang/Error", "_ZN3foo3barEv"]
    for key, name in enumerate(names):
        c.pool("jdk.types.Symbol", key, [utf8, latin1, chars][key % 3](name) if name else b"\x01")
    for key, name in enumerate(["Interpreted", "JIT compiled", "Inlined", "Native", "C++", "Kernel"]):
        c.pool("jdk.types.FrameType", key, utf8(name))
    c.pool("jdk.types.ThreadState", 1, utf8("STATE_RUNNABLE"))
    c.pool("jdk.types.Module", 1, varint(10))
    c.pool("jdk.types.Package", 1, varint(11), varint(1))
    for key, (name, package) in {1: (1, 0), 2: (9, 0), 3: (12, 1), 4: (8, 0)}.items():
        c.pool("java.lang.Class", key, varint(0), varint(name), varint(package), varint(1))
    for key, (cls, name, descriptor) in {1: (1, 2, 3), 2: (1, 4, 5), 3: (4, 6, 7), 4: (0, 13, 7),
                                         5: (3, 4, 5)}.items():
        c.pool("jdk.types.Method", key, varint(cls), varint(name), varint(descriptor), varint(0), b"\x00")
    c.pool("java.lang.String", 7, utf8("from the pool"))
    c.pool("java.lang.Thread", 1, utf8("main"), varint(4242), pooled(7), varint(1))
    c.pool("java.lang.Thread", 2, b"\x00", varint(0), chars("virtüell \U0001F600"), varint(77))
    main, work = (1, 10, 3, 0), (2, 20, 5, 1)
    stacks = {1: (0, [work, main]), 2: (0, [(2, 21, 6, 2), work, main]),
              3: (1, [(3, minus_one, minus_one, 3), work]), 4: (0, [(4, 0, 0, 4), (9, 1, 1, 1), main]),
              5: (0, [(3, 0, 0, 5), (5, 7, 0, 0)]), 6: (0, [])}
    for key, (cut, frames) in stacks.items():
        c.pool("jdk.types.StackTrace", key, bytes([cut]), varint(len(frames)),
               *[varint(v) for frame in frames for v in frame])


def minimal():
    out = b""
    for i, first_id in enumerate((100, 400)):
        c = Chunk(first_id)
        fill(c, 0xFFFFFFFF if i == 0 else -1)
        execution = c.ids["jdk.ExecutionSample"]
        c.event("jdk.ActiveSetting", varint(1000), varint(execution), utf8("period"), latin1("20 ms"))
        for stack in (1, 1, 2, 3, 4, 5, 6, 0, 99):
            c.event("jdk.ExecutionSample", varint(1000 + 1000 * stack), varint(1 + i), varint(stack), varint(1))
        c.event("jdk.CPUTimeSample", varint(2000), varint(2), varint(1), b"\x00", varint(10_000_000), b"\x00")
        c.event("jdk.CPUTimeSample", varint(2500), varint(0), varint(1), b"\x01", varint(10_000_000), b"\x00")
        c.event("jdk.JavaExceptionThrow", varint(3000), varint(0), varint(2), varint(2), chars("no\tway"), varint(3))
        c.event("jdk.FileRead", varint(3100), varint(12), varint(1), varint(1), utf8("/tmp/a"), varint(4096))
        c.event("jdk.FileRead", varint(3200), varint(1), varint(1), varint(1), pooled(7), varint(-1))
        c.event("datadog.ObjectSample", varint(4000), varint(1), varint(1), varint(2), varint(24),
                struct.pack(">f", 2.5), varint(-5))
        c.event("datadog.MethodSample", varint(4100), varint(1), varint(2), varint(3))
        c.event("profiler.LiveObject", varint(4200), varint(1), varint(2), varint(2), varint(1024))
        c.event("jdk.CPUTimeSamplesLost", varint(4300), varint(3 + i), varint(1))
        c.event("jdk.DataLoss", varint(4400), varint(4096), varint(4096))
        c.event("demo.Other", varint(5000), b"\x00", struct.pack(">d", 1.5))
        out += c.bytes(1_700_000_000_000_000_000 + i * 2_000_000_000)
    return out


here = os.path.dirname(os.path.abspath(__file__))
whole = minimal()
for name, content in {"minimal.jfr": whole, "corrupt.jfr": whole[:3174] + b"\xff" * 40 + whole[3214:],
                      "corrupt-cut-off.jfr": whole[:-700],
                      "corrupt-uncompressed.jfr": Chunk(100, features=0).bytes(0)}.items():
    with open(os.path.join(here, name), "wb") as f:
        f.write(content)
