#!/usr/bin/env python3
"""Writes the HPCToolkit v4 databases of this folder (as tar archives, since a database is a folder).
Layout: HPCToolkit's doc/FORMATS.md."""
import io
import os
import struct
import tarfile

here = os.path.dirname(os.path.abspath(__file__))


class Image:
    """A file whose pointers are offsets; `strings` follow the structures."""

    def __init__(self, mark, n_sections):
        self.b = bytearray(b"HPCTOOLKIT" + mark + bytes([4, 0]) + bytes(16 * n_sections))
        self.texts = {}

    def put(self, data, align=8):
        self.b += bytes(-len(self.b) % align)
        at = len(self.b)
        self.b += data
        return at

    def text(self, s):
        if s is None:
            return 0
        if s not in self.texts:
            self.texts[s] = self.put(s.encode() + b"\0", 1)
        return self.texts[s]

    def section(self, i, data):
        struct.pack_into("<QQ", self.b, 16 + 16 * i, len(data), self.put(data))

    def done(self, footer):
        return bytes(self.b) + footer


def meta(n_bad=0):
    f = Image(b"meta", 8)
    f.section(0, struct.pack("<QQ", f.text("app"), f.text("made by hand")))
    names = [f.text(t) for t in ("SUMMARY", "NODE", "RANK", "THREAD")]
    f.section(1, struct.pack("<QB7x", f.put(struct.pack("<4Q", *names)), 4))
    scopes = [f.put(struct.pack("<QBB6x", f.text(n), t, 0)) for n, t in (("point", 1), ("execution", 2))]
    metrics = b""
    for i, name in enumerate(("CPUTIME (sec)", "cycles", "misses")):
        psi = f.put(b"".join(struct.pack("<QH6x", s, 2 * i + j) for j, s in enumerate(scopes)))
        ss = f.put(b"".join(struct.pack("<QQBBH4x", s, f.text("$$"), 0, 0, 2 * i + j) for j, s in enumerate(scopes)))
        metrics += struct.pack("<QQQHH4x", f.text(name), psi, ss, 2, 2)
    f.section(2, struct.pack("<QIBBBxQHB5x", f.put(metrics), 3, 32, 16, 24, scopes[0], 2, 16))
    module = f.put(struct.pack("<I4xQ", 0, f.text("/bin/app")))
    files = f.put(struct.pack("<I4xQ", 0, f.text("src/app.c")) + struct.pack("<I4xQ", 1, f.text("src/inline.h")))
    file_at = [files, files + 16]
    functions = f.put(
        b"".join(
            struct.pack("<QQQQII", f.text(n), module, off, file_at[fi] if fi is not None else 0, line, 0)
            for n, off, fi, line in (("main", 0x10, 0, 3), ("work", 0x40, 0, 20), (None, 0x90, None, 0), ("tiny", 0, 1, 7))
        )
    )

    def fn(i):
        return functions + 40 * i

    def ctx(id, flags, relation, type, flex, children=b""):
        at = f.put(children) if children else 0
        words = b"".join(struct.pack("<Q", w) for w in flex)
        return struct.pack("<QQIBBBBHxxxxxx", len(children), at, id, flags, relation, type, len(flex), 0) + words

    inst = ctx(9, 4, 0, 3, [module, 0x44])
    leaf = ctx(6, 2, 0, 2, [file_at[0], 22], inst)
    inlined = ctx(7, 1, 2, 0, [fn(3)], ctx(8, 2, 0, 2, [file_at[1], 8]))
    loop = ctx(5, 2, 0, 1, [file_at[0], 21], leaf + ctx(10, 2, 0, 2, [file_at[0], 23], inlined))
    work = ctx(4, 1, 1, 0, [fn(1)], loop)
    anon = ctx(11, 1, 1, 0, [fn(2)])
    main = ctx(2, 1, 1, 0, [fn(0)], ctx(3, 2, 0, 2, [file_at[0], 5], work + anon))
    if n_bad:
        main = ctx(2, 1, 1, 0, [fn(0) + n_bad], b"")
    kids = f.put(main)
    entry = f.put(struct.pack("<QQIHxxQ", len(main), kids, 1, 1, f.text("main thread")))
    f.section(3, struct.pack("<QHB5x", entry, 1, 32))
    f.section(4, b"\0" * 8)
    f.section(5, struct.pack("<QIHxx", module, 1, 16))
    f.section(6, struct.pack("<QIHxx", files, 2, 16))
    f.section(7, struct.pack("<QIHxx", functions, 4, 40))
    return f.done(b"_meta.db")


def profile():
    f = Image(b"prof", 2)
    # Self values; context 12 is an instruction below line 8 that meta.db leaves out.
    threads = [
        {9: {0: 0.5, 2: 100}, 12: {0: 0.25}, 11: {0: 0.125}},
        {9: {0: 1.0, 2: 300}, 4: {0: 0.0625}},
    ]
    parent = {1: 0, 2: 1, 3: 2, 4: 3, 5: 4, 6: 5, 9: 6, 10: 5, 7: 10, 8: 7, 12: 8, 11: 3}

    def propagate(selves):
        values = {}
        for c, vs in selves.items():
            values.setdefault(c, {}).update(vs)
            for m, v in vs.items():
                at = c
                while True:
                    row = values.setdefault(at, {})
                    row[m + 1] = row.get(m + 1, 0) + v
                    if at == 0:
                        break
                    at = parent[at]
        return dict(sorted(values.items()))

    summed = {}
    for t in threads:
        for c, vs in t.items():
            row = summed.setdefault(c, {})
            for m, v in vs.items():
                row[m] = row.get(m, 0) + v
    infos = b""
    tuples = [0]
    for rank in (0, 1):
        ids = ((1, 0, 0xAB), (2, rank, rank), (3, 0, 0))
        tuples.append(f.put(struct.pack("<H6x", 3) + b"".join(struct.pack("<BxHIQ", k, 1, lo, ph) for k, lo, ph in ids)))
    blocks = [propagate(summed)] + [propagate(t) for t in threads]
    for block, tup in zip(blocks, tuples):
        values, index, n = b"", b"", 0
        for c, vs in block.items():
            index += struct.pack("<IQ", c, n)
            for m, v in sorted(vs.items()):
                values += struct.pack("<Hd", m, v)
                n += 1
        infos += struct.pack("<QQI4xQQI4x", n, f.put(values), len(block), f.put(index), tup, 0 if tup else 1)
    f.section(0, struct.pack("<QIB3x", f.put(infos), 3, 48))
    f.section(1, b"\0" * 8)
    return f.done(b"_prof.db")


def trace():
    f = Image(b"trce", 1)
    start = 1_600_000_000_000_000_000
    lines = [[(0, 9), (100, 8), (150, 0), (400, 9), (450, 0)], [(50, 4), (60, 0)]]
    headers = b""
    for i, line in enumerate(lines):
        data = b"".join(struct.pack("<QI", start + t, c) for t, c in line)
        at = f.put(data, 4)
        headers += struct.pack("<I4xQQ", i + 1, at, at + len(data))
    f.section(0, struct.pack("<QIB3xQQ", f.put(headers), 2, 24, start, start + 450))
    return f.done(b"trace.db")


def cct():
    f = Image(b"ctxt", 1)
    f.section(0, struct.pack("<QIB3x", 0, 0, 32))
    return f.done(b"__ctx.db")


def write(name, **files):
    with tarfile.open(os.path.join(here, name), "w", format=tarfile.USTAR_FORMAT) as tar:
        for file, data in files.items():
            info = tarfile.TarInfo(file.replace("_", "."))
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))


if __name__ == "__main__":
    write("minimal.tar", meta_db=meta(), profile_db=profile(), cct_db=cct(), trace_db=trace())
    write("no-trace.tar", meta_db=meta(), profile_db=profile())
    write("corrupt-function.tar", meta_db=meta(n_bad=8), profile_db=profile())
    write("corrupt-cut-profile.tar", meta_db=meta(), profile_db=profile()[:-100])
    with open(os.path.join(here, "corrupt-alone-meta.db"), "wb") as f:
        f.write(meta())
    with open(os.path.join(here, "corrupt-alone-profile.db"), "wb") as f:
        f.write(profile())
