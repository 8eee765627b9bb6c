"""Names and instructions as a daemon finds them: of 1 GB of debug information, of a real recording, of a large function."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from harness.context import Context
from harness.native import program_of, text_of
from harness.report import Row, seconds
from psp_client import Client, ClientError, Daemon

ASKED = 6000
COPIES = 88  # of one unit with 9 MB of debug information: 1 GB in all
UNIT = """#include <algorithm>
#include <map>
#include <string>
#include <vector>
template <int N> struct Item {
  int a[N + 1];
  std::string text;
  bool operator<(const Item& other) const { return text < other.text; }
};
template <int N> int work(const std::vector<Item<N>>& in) {
  std::map<std::string, std::vector<Item<N>>> by_text;
  for (const Item<N>& item : in) by_text[item.text + std::to_string(N)].push_back(item);
  int sum = 0;
  for (auto& [text, items] : by_text) {
    std::sort(items.begin(), items.end(), [](const Item<N>& a, const Item<N>& b) { return b < a; });
    sum += static_cast<int>(items.size()) + items.front().a[0];
  }
  return sum;
}
"""


def _big_file(ctx: Context) -> Path | str:
    """One unit of templates, linked with itself under other names; made once."""
    path = ctx.work / "data" / "debug-1GB.so"
    if path.exists():
        return path
    if missing := [tool for tool in ("g++", "objcopy", "mold") if shutil.which(tool) is None]:
        return f"not yet: {', '.join(missing)} not installed"
    folder = ctx.work / "big"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "unit.cc").write_text(UNIT + "".join(f"template int work<{i}>(const std::vector<Item<{i}>>&);\n" for i in range(100)))
    subprocess.run(["g++", "-std=c++20", "-O2", "-g", "-fPIC", "-c", "unit.cc", "-o", "unit.o"], cwd=folder, check=True)
    objects = [f"{i}.o" for i in range(COPIES)]
    for i, name in enumerate(objects):
        subprocess.run(["objcopy", f"--prefix-symbols=c{i}_", "unit.o", name], cwd=folder, check=True)
    subprocess.run(["mold", "-shared", "--unresolved-symbols=ignore-all", "--build-id", *objects, "-o", str(path)], cwd=folder, check=True)
    shutil.rmtree(folder)
    return path


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def _field(number: int, value: int | bytes) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _profile(binary: Path, addresses: Sequence[int], into: Path) -> Path:
    """A pprof file with a sample at every address (as the symbol table has them), and no names."""
    told = subprocess.run(["readelf", "-nWl", str(binary)], capture_output=True, text=True).stdout
    build_id = re.search(r"Build ID: ([0-9a-f]+)", told)
    segment = re.search(r"LOAD +(0x\w+) (0x\w+) 0x\w+ 0x\w+ (0x\w+) R E", told)
    assert build_id and segment
    offset, start, size = (int(text, 16) for text in segment.groups())
    texts = ["", "samples", "count", str(binary), build_id[1]]
    mapping = b"".join(_field(i + 1, value) for i, value in enumerate((1, start, start + size, offset, 3, 4)))
    out = _field(1, _field(1, 1) + _field(2, 2)) + _field(3, mapping)
    for i, address in enumerate(addresses, 1):
        out += _field(4, _field(1, i) + _field(2, 1) + _field(3, address)) + _field(2, _field(1, _varint(i)) + _field(2, _varint(1)))
    into.write_bytes(out + b"".join(_field(6, text.encode()) for text in texts))
    return into


def _open(client: Client, path: Path) -> str:
    answer = client.request("profile/open", {"uri": path.as_uri(), "options": {"watch": False}}, timeout_s=300)
    if answer.missing:
        raise ClientError(f"{path.name} was not opened: {answer.error}")
    return str(answer.result["profile"])


def _watch_names(client: Client, profile: str, begin: float) -> tuple[float, float]:
    """Seconds until the first names are there, and until all are."""
    first = 0.0
    while time.perf_counter() - begin < 120:
        told: dict[str, Any] = client.request("profile/modules", {"profile": profile}, timeout_s=120).result
        if not first and any(module["known"]["value"] for module in told["modules"]):
            first = time.perf_counter() - begin
        if first and not told.get("symbolizing"):
            return first, time.perf_counter() - begin
        time.sleep(0.01)
    raise ClientError("no names after two minutes")


def _big(ctx: Context) -> None:
    row = Row("native: 1 GB of debug information", f"{ASKED:,} addresses: first names <= 0.5 s after the open, all <= 3 s")
    if not ctx.wants(row.name):
        return
    print(f"bench: {row.name}", flush=True)
    binary = _big_file(ctx)
    if isinstance(binary, str):
        row.measured = binary
        return ctx.add(row)
    begin, size = text_of(binary)
    draw = random.Random(27)
    addresses = sorted({begin + draw.randrange(size) for _ in range(ASKED)})
    path = _profile(binary, addresses, ctx.work / "big.pprof")
    times = []
    for _ in range(ctx.runs):
        with Daemon([str(ctx.profd), "serve", "--stdio"], ctx.environment()) as daemon:
            client = daemon.stdio_client()
            client.initialize(ctx.work)
            at = time.perf_counter()
            times.append(_watch_names(client, _open(client, path), at))
    first, last = median(t[0] for t in times), median(t[1] for t in times)
    row.measured = f"first {seconds(first)}, all {seconds(last)}; {binary.stat().st_size / 1e9:.2f} GB"
    row.check(first <= 0.5)
    row.check(last <= 3)
    ctx.add(row)


def _largest_function(ctx: Context, program: Path) -> None:
    row = Row("native: a large function as instructions", "cold <= 40 ms, warm <= 5 ms")
    if not ctx.wants(row.name):
        return
    print(f"bench: {row.name}", flush=True)
    told = subprocess.run(["nm", "-S", "--size-sort", "--defined-only", str(program)], capture_output=True, text=True).stdout
    sizes = [(int(m[1], 16), int(m[2], 16)) for m in re.finditer(r"^([0-9a-f]+) ([0-9a-f]+) [tTwW] ", told, re.M)]
    start, size = max((one for one in sizes if one[1] < 24_000), key=lambda one: one[1])
    path = _profile(program, range(start, start + size, max(1, size // 300)), ctx.work / "function.pprof")
    cold, warm, n_rows = [], [], 0
    for _ in range(ctx.runs):
        with Daemon([str(ctx.profd), "serve", "--stdio"], ctx.environment()) as daemon:
            client = daemon.stdio_client()
            client.initialize(program.parent)
            profile = _open(client, path)
            _watch_names(client, profile, time.perf_counter())
            for times in [cold, *[warm] * 5]:
                answer = client.request("source/disassembly", {"profile": profile, "limit": 10_000})
                times.append(answer.seconds)  # without what this script takes to parse it
            if answer.missing or answer.result.get("problem"):
                row.measured = f"no instructions: {answer.error or answer.result['problem']}"
                return ctx.add(row)
            n_rows = answer.result["rowCount"]
    row.measured = f"cold {1000 * median(cold):.1f} ms, warm {1000 * median(warm):.1f} ms; {n_rows:,} instructions"
    row.check(median(cold) <= 0.04)
    row.check(median(warm) <= 0.005)
    if shutil.which("objdump"):
        at = time.perf_counter()
        subprocess.run(["objdump", "-dl", f"--start-address={start}", f"--stop-address={start + size}", str(program)], capture_output=True)
        row.peers.append(f"objdump -dl {1000 * (time.perf_counter() - at):.0f} ms")
    ctx.add(row)


def _record(ctx: Context, program: Path) -> Path | str:
    """perf.data of a program with debug information, which opens a profile."""
    if shutil.which("perf") is None:
        return "not yet: perf is not installed"
    path = ctx.work / "real" / "perf.data"
    path.parent.mkdir(parents=True, exist_ok=True)
    argv = ["perf", "record", "-N", "-q", "-e", "cpu-clock", "-F", "2000", "-g", "-o", str(path), str(program), "flame", "--json",
            str(ctx.inputs.file("pprof", "100MB"))]
    done = subprocess.run(argv, capture_output=True, env={**ctx.environment(), "PROFD_CACHE": "off"})
    return path if path.exists() else f"not yet: perf may not record here: {done.stderr.decode(errors='replace')[:80]}"


def _real(ctx: Context, program: Path) -> None:
    names = Row("native: names of a real recording", ">= 500x faster than perf script --inline")
    layout = Row("native: open to first layout", "with names to be found within 5 % of without")
    if not ctx.wants(names.name, layout.name):
        return
    print(f"bench: {names.name}", flush=True)
    path = _record(ctx, program)
    if isinstance(path, str):
        names.measured = layout.measured = path
        ctx.add(names)
        return ctx.add(layout)
    found, opened = [], {"on": [], "off": []}  # type: ignore[var-annotated]
    for _ in range(2 * ctx.runs):
        for symbols, times in opened.items():
            with Daemon([str(ctx.profd), "serve", "--stdio"], {**ctx.environment(), "PROFD_SYMBOLS": symbols}) as daemon:
                client = daemon.stdio_client()
                client.initialize(program.parent)
                at = time.perf_counter()
                profile = _open(client, path)
                client.request("view/flameGraph", {"profile": profile, "spec": "flame", "viewport": {"width": 1600}})
                times.append(time.perf_counter() - at)
                if symbols == "on" and ctx.wants(names.name):
                    found.append(_watch_names(client, profile, at)[1])
    with_names, without = median(opened["on"]), median(opened["off"])
    layout.measured = f"{1000 * with_names:.1f} ms beside {1000 * without:.1f} ms"
    layout.check(with_names <= 1.05 * without)
    ctx.add(layout)
    if not ctx.wants(names.name):
        return
    count = subprocess.run(["perf", "script", "--no-inline", "-F", "time", "-i", str(path)], capture_output=True, text=True).stdout.count("\n")
    at, n = time.perf_counter(), 0
    with subprocess.Popen(["perf", "script", "--inline", "-F", "time,ip,sym,srcline", "-i", str(path)], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            n += re.match(r"\s*\d+\.\d+:", line) is not None
            if time.perf_counter() - at > 60:
                process.kill()
                break
    theirs = (time.perf_counter() - at) * max(1, count / max(1, n))
    ours = median(found)
    names.measured = f"{seconds(ours)} from the open to all names; {count:,} samples"
    names.peers.append(f"perf script --inline {seconds(theirs)}{'' if n >= count else f' (scaled from {n:,} samples)'} ({theirs / ours:.0f}x)")
    names.check(theirs >= 500 * ours)
    ctx.add(names)


def run(ctx: Context) -> None:
    if not ctx.wants("native: 1 GB of debug information", "native: a large function as instructions", "native: names of a real recording",
                     "native: open to first layout"):
        return
    _big(ctx)
    program = program_of(ctx)
    if program is None:
        ctx.add(Row("native: names of a real recording", "beside perf script --inline",
                    "not yet: no build with debug information: build/symbols/profd"))
        return
    _largest_function(ctx, program)
    _real(ctx, program)
