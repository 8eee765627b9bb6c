"""Names, inlined calls and lines of addresses of a big C++ program, beside other symbolizers."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from pathlib import Path

from harness.context import Context
from harness.measure import interleave
from harness.report import Row, megabytes, seconds

# Builds of profd that have debug information; the first that is there is the program.
PROGRAMS = ("symbols", "ci", "dev")
RECORDING = 6308  # addresses, in clusters as samples of a recording have them


def program_of(ctx: Context) -> Path | None:
    for preset in PROGRAMS:
        for name in ("profd.debug", "profd"):
            path = ctx.floor.parent.parent.parent / preset / name
            if path.exists() and ".debug_info" in sections_of(path):
                return path
    return None


def sections_of(path: Path) -> str:
    return subprocess.run(["readelf", "-WS", str(path)], capture_output=True, text=True).stdout


def text_of(path: Path) -> tuple[int, int]:
    found = re.search(r" \.text\s+\S+\s+([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+)", sections_of(path))
    assert found
    return int(found[1], 16), int(found[2], 16)


def _addresses(path: Path, into: Path, count: int, clustered: bool) -> Path:
    begin, size = text_of(path)
    draw = random.Random(27)
    addresses: list[int] = []
    while len(addresses) < count:
        at = draw.randrange(size)
        near = draw.choice((1, 2, 5, 20, 60)) if clustered else 1
        addresses += [begin + min(at + (draw.randrange(400) if clustered else 0), size - 1) for _ in range(near)]
    into.write_text("".join(f"{address:#x}\n" for address in addresses[:count]))
    return into


def _commands(ctx: Context, program: Path) -> dict[str, list[str]]:
    ours = [str(ctx.floor.parent / "profd-lines-of"), str(program)]
    commands = {"profd": ours, "profd, 2 threads": [*ours, "--threads", "2"]}
    if "addr2line-rs" in ctx.peers.commands:
        commands["addr2line-rs"] = [*ctx.peers.commands["addr2line-rs"], "-e", str(program), "-i", "-f"]
    if found := shutil.which("llvm-symbolizer-14") or shutil.which("llvm-symbolizer"):
        commands["llvm-symbolizer"] = [found, f"--obj={program}", "--no-demangle"]
    if found := shutil.which("addr2line"):
        commands["GNU addr2line"] = [found, "-e", str(program), "-i", "-f"]
    return commands


def _row(ctx: Context, program: Path, what: str, count: int, clustered: bool) -> None:
    targets = {"addr2line-rs": 1.0, "llvm-symbolizer": 0.3} if clustered else {"addr2line-rs": 0.9, "llvm-symbolizer": 0.5}
    if not clustered and count < 100_000:
        targets = {}
    row = Row(f"native: {what}", "CPU " + ", ".join(f"<= {factor:g}x {name}" for name, factor in targets.items())
              + ("" if clustered else "; two threads <= 0.6x addr2line-rs, wall; peak <= 260 MB") if targets else "no target",
              has_target=bool(targets))
    if not ctx.wants(row.name):
        return
    print(f"bench: {row.name}", flush=True)
    asked = _addresses(program, ctx.work / "addresses", count, clustered)
    commands = _commands(ctx, program)
    costs = interleave({name: lambda argv=argv: ctx.runner.run(argv, ready_mb=800, input=asked) for name, argv in commands.items()},
                       {name: ctx.runs for name in commands})
    ctx.report.costs += [(row.name, name, cost) for name, cost in costs.items()]
    ours, twice = costs["profd"], costs["profd, 2 threads"]
    if not ours.ok or not twice.ok:
        row.measured = ours.failure or twice.failure
        ctx.add(row)
        return
    row.measured = f"CPU {seconds(ours.cpu_s)}; 2 threads {seconds(twice.wall_s)} beside {seconds(ours.wall_s)}; peak {megabytes(ours.peak_mb)}"
    for name, cost in costs.items():
        if name.startswith("profd"):
            continue
        row.peers.append(f"{name} {seconds(cost.cpu_s)} ({cost.cpu_s / ours.cpu_s:.1f}x), {megabytes(cost.peak_mb)}" if cost.ok
                         else f"{name}: {cost.failure}")
    for name, factor in targets.items():
        if name in costs and costs[name].ok:
            row.check(ours.cpu_s <= factor * costs[name].cpu_s)
        else:
            row.unchecked.append(name)
    if targets and not clustered:
        row.check(ours.peak_mb <= 260)
        if "addr2line-rs" in costs and costs["addr2line-rs"].ok:
            row.check(twice.wall_s <= 0.6 * costs["addr2line-rs"].wall_s)
    ctx.add(row)


def run(ctx: Context) -> None:
    rows = (("1,000 random addresses", 1000, False), ("10,000 random addresses", 10_000, False),
            ("100,000 random addresses", 100_000, False), (f"{RECORDING:,} addresses in clusters", RECORDING, True))
    if not ctx.wants(*(f"native: {what}" for what, _, _ in rows)):
        return
    program = program_of(ctx)
    if program is None or not (ctx.floor.parent / "profd-lines-of").exists():
        missing = "profd-lines-of is not built" if program else "no build with debug information: build/symbols/profd"
        ctx.add(Row(f"native: {rows[2][0]}", "beside other symbolizers", f"not yet: {missing}"))
        return
    ctx.report.notes.append(f"native: of build/{program.relative_to(ctx.floor.parent.parent.parent)}, {program.stat().st_size / 1e6:.0f} MB "
                            f"with debug information; nobody demangles.")
    for row in rows:
        _row(ctx, program, *row)
