"""Profiles and hostile files, made from a seed and kept in a folder: the same arguments give the same bytes."""

from __future__ import annotations

import gzip
import io
import json
import random
import subprocess
import tarfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GO_DEMO = ROOT / "tests" / "fixtures" / "go-demo"
VERSION = 1  # raised when the same name means other bytes


@dataclass(frozen=True)
class Inputs:
    folder: Path
    generator: Path | None  # profd-bench-gen, where it is built
    seed: int

    def kept(self, name: str, write: Callable[[Path], object]) -> Path:
        path = self.folder / f"v{VERSION}-{name}"
        if not path.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            unfinished = path.with_name("part-" + path.name)
            write(unfinished)
            unfinished.rename(path)
        return path

    def profile(self, megabytes: int) -> Path:
        """A pprof file of that size before compression."""
        generator = self.generator
        if generator is None:
            return self.kept(f"{megabytes}MB-{self.seed}.pb.gz", lambda path: write_pprof(path, megabytes, self.seed))
        argv = [str(generator), "--format", "pprof", "--size", f"{megabytes}MB", "--seed", str(self.seed), "--gzip", "-o"]
        return self.kept(f"gen-{megabytes}MB-{self.seed}.pb.gz", lambda path: _run([*argv, str(path)]))

    def bomb(self, gigabytes: int) -> Path:
        return self.kept(f"bomb-{gigabytes}GB.folded.gz", lambda path: write_gzip_bomb(path, gigabytes << 30))

    def wide_bomb(self, blocks: int) -> Path:
        return self.kept(f"wide-{blocks}.folded.gz", lambda path: write_wide_bomb(path, blocks))

    def members(self, n: int) -> Path:
        return self.kept(f"members-{n}.tar", lambda path: write_members(path, n))


def _run(argv: list[str]) -> None:
    subprocess.run(argv, check=True)


def folded_text(rng: random.Random, n_lines: int) -> tuple[bytes, int]:
    """Stacks as text, and their total."""
    lines, total = [], 0
    for _ in range(n_lines):
        value = rng.randint(1, 99999)
        total += value
        stack = ";".join(f"pkg{rng.randint(0, 9)}.f{rng.randint(0, 400)}" for _ in range(rng.randint(2, 14)))
        lines.append(f"main;{stack} {value}")
    return ("\n".join(lines) + "\n").encode(), total


# ---- pprof

def _varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


N_FUNCTIONS, PER_FILE = 3000, 30


def write_pprof(path: Path, megabytes: int, seed: int) -> int:
    """A synthetic program walked at random, for where profd-bench-gen is not built. Returns the total of `cpu`."""
    rng = random.Random(seed)
    texts = ["", "samples", "count", "cpu", "nanoseconds", "/opt/soak/bin/server"]
    tables = bytearray()
    tables += _bytes(1, _number(1, 1) + _number(2, 2)) + _bytes(1, _number(1, 3) + _number(2, 4))
    flags = b"\x38\x01\x40\x01\x48\x01"  # it has functions, files and lines
    tables += _bytes(3, _number(1, 1) + _number(2, 0x400000) + _number(3, 0x4000000) + _number(5, 5) + flags)
    for i in range(N_FUNCTIONS):
        module, file = i % 40, i // PER_FILE
        if i % PER_FILE == 0:
            texts.append(f"soak/pkg{module}/file{file}.go")
            name_of_file = len(texts) - 1
        texts.append(f"pkg{module}.(*Type{file}).Method{i}")
        line = i % PER_FILE * 40 + 1
        tables += _bytes(5, _number(1, i + 1) + _number(2, len(texts) - 1) + _number(4, name_of_file) + _number(5, line))
        for k in range(3):  # three places in every function
            address, place = 0x400000 + 64 * i + 8 * k, _number(1, i + 1) + _number(2, line + 2 + 9 * k)
            tables += _bytes(4, _number(1, 3 * i + k + 1) + _number(2, 1) + _number(3, address) + _bytes(4, place))
    for text in texts:
        tables += _bytes(6, text.encode())
    ids = [_varint(i) for i in range(3 * N_FUNCTIONS + 1)]
    calls = [[rng.randrange(1, 3 * N_FUNCTIONS + 1) for _ in range(4)] for _ in range(3 * N_FUNCTIONS + 1)]
    total, size = 0, len(tables)
    with gzip.GzipFile(path, "wb", compresslevel=1, mtime=0) as out:
        out.write(bytes(tables))
        while size < megabytes * 1_000_000:
            pieces = []
            for _ in range(2000):
                at, stack = 1, [ids[1]]
                for _ in range(rng.randint(3, 40)):
                    at = calls[at][min(int(rng.expovariate(1.2)), 3)]
                    stack.append(ids[at])
                n = rng.randint(1, 9)
                total += n * 10_000_000
                values = _varint(n) + _varint(n * 10_000_000)
                pieces.append(_bytes(2, _bytes(1, b"".join(reversed(stack))) + _bytes(2, values)))
            chunk = b"".join(pieces)
            out.write(chunk)
            size += len(chunk)
    return total


# ---- files that mean harm

BOMB_LINE = b"a;b 1\n"


def write_gzip_bomb(path: Path, expanded: int, line: bytes = BOMB_LINE) -> None:
    """One honest gzip member whose text is one line again and again: flushed blocks of deflate can be repeated."""
    block = line * ((1 << 20) // len(line) * 4)
    compress = zlib.compressobj(9, zlib.DEFLATED, -15)
    first = compress.compress(block) + compress.flush(zlib.Z_FULL_FLUSH)
    again = compress.compress(block) + compress.flush(zlib.Z_FULL_FLUSH)
    n = max(2, expanded // len(block))
    check = 0
    for _ in range(n):
        check = zlib.crc32(block, check)
    last = zlib.compressobj(9, zlib.DEFLATED, -15).flush(zlib.Z_FINISH)
    with path.open("wb") as out:
        out.write(b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03" + first)
        for _ in range(n - 1):
            out.write(again)
        out.write(last + check.to_bytes(4, "little") + (n * len(block) % (1 << 32)).to_bytes(4, "little"))


def write_wide_bomb(path: Path, blocks: int) -> None:
    """A million contexts a block, none of which folds into another."""
    compress = zlib.compressobj(6, zlib.DEFLATED, 31)
    with path.open("wb") as out:
        for block in range(blocks):
            lines = "".join(f"main;g{block * 5000 + i}{';f' * 200} 1\n" for i in range(5000))
            out.write(compress.compress(lines.encode()))
        out.write(compress.flush())


def write_members(path: Path, n: int) -> None:
    """A file of so many tiny profiles."""
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as archive:
        for i in range(n):
            content = b"main;f%d %d\n" % (i, i + 1)
            member = tarfile.TarInfo(f"p{i}.folded")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def write_deep_json(path: Path, depth: int) -> None:
    path.write_text('{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":' + "[" * depth + "]" * depth + "}")


def write_claims(path: Path, claimed: int) -> None:
    """A pprof file whose first field says that it is longer than any memory."""
    path.write_bytes(_varint(2 << 3 | 2) + _varint(claimed) + b"\x0a\x02\x01\x01" * 1000)


def make_tree(folder: Path, n_folders: int) -> Path:
    """A project of very many folders."""
    for i in range(n_folders):
        (folder / f"d{i % 100}" / f"e{i // 100}").mkdir(parents=True, exist_ok=True)
    return folder


def project_file(root: Path, **keys: object) -> None:
    root.mkdir(parents=True, exist_ok=True)
    (root / ".profd.toml").write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items()))
