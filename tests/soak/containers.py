"""One text in every container that has a checksum over it."""

from __future__ import annotations

import bz2
import ctypes
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable

CHECKSUM_FLAG = 201  # ZSTD_c_checksumFlag


def zip_of(method: int, name: str = "a.folded") -> Callable[[bytes], bytes]:
    def pack(data: bytes) -> bytes:
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", method) as archive:
            archive.writestr(zipfile.ZipInfo(name), data, method)
        return out.getvalue()

    return pack


def tar_gz(data: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        member = tarfile.TarInfo("a.folded")
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))
    return gzip.compress(out.getvalue(), mtime=0)


def zstd(data: bytes) -> bytes:
    """With its checksum, by the library that profd itself needs; OSError where it is not found."""
    library = ctypes.CDLL("libzstd.so.1")
    for name in ("ZSTD_createCCtx", "ZSTD_compressBound", "ZSTD_compress2"):
        getattr(library, name).restype = ctypes.c_void_p if name == "ZSTD_createCCtx" else ctypes.c_size_t
    context = ctypes.c_void_p(library.ZSTD_createCCtx())
    library.ZSTD_CCtx_setParameter(context, CHECKSUM_FLAG, 1)
    room = ctypes.create_string_buffer(library.ZSTD_compressBound(ctypes.c_size_t(len(data))))
    size = library.ZSTD_compress2(context, room, ctypes.c_size_t(len(room)), data, ctypes.c_size_t(len(data)))
    library.ZSTD_freeCCtx(context)
    return room.raw[:size]


CONTAINERS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": (".folded.gz", lambda data: gzip.compress(data, mtime=0)),
    "gzip, stored": (".folded.gz", lambda data: gzip.compress(data, 0, mtime=0)),
    "gzip, members": (".folded.gz", lambda data: b"".join(gzip.compress(part + b"\n", mtime=0) for part in data.splitlines())),
    "bzip2": (".folded.bz2", bz2.compress),
    "xz": (".folded.xz", lambda data: lzma.compress(data, check=lzma.CHECK_CRC64)),
    "xz, SHA-256": (".folded.xz", lambda data: lzma.compress(data, check=lzma.CHECK_SHA256)),
    "zstd": (".folded.zst", zstd),
    "zip, stored": (".zip", zip_of(zipfile.ZIP_STORED)),
    "zip, deflated": (".zip", zip_of(zipfile.ZIP_DEFLATED)),
    "tar.gz": (".tar.gz", tar_gz),
    "gzip in zip, stored": (".zip", lambda data: zip_of(zipfile.ZIP_STORED, "a.folded.gz")(gzip.compress(data, 0, mtime=0))),
}
