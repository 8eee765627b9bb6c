"""Reading rates of the other formats, beside the peers that read or fold them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.context import Context
from harness.data import SIZES_MB
from harness.measure import Costs, Task, interleave
from harness.report import Row, seconds


@dataclass(frozen=True)
class Format:
    kind: str
    title: str
    sizes: tuple[str, ...]
    rate: float  # MB/s asked for
    factors: Mapping[str, float]  # how many times faster than each peer
    peers: Mapping[str, str] = field(default_factory=dict)  # peer -> largest size it is run on
    memory: float = 0  # peak over file size asked for; 0: nothing asked


TEXT_SIZES, JSON_SIZES = ("10MB", "100MB", "500MB"), ("10MB", "100MB")
FORMATS = (
    Format("folded", "folded", TEXT_SIZES, 300, {"flamegraph.pl": 10, "speedscope": 8},
           {"flamegraph.pl": "500MB", "inferno-flamegraph": "500MB", "speedscope": "500MB"}),
    Format("perf-script", "perf script", TEXT_SIZES, 250, {"stackcollapse-perf.pl": 4},
           {"stackcollapse-perf.pl": "500MB", "inferno-collapse-perf": "500MB", "speedscope": "500MB"}),
    Format("speedscope", "speedscope JSON", JSON_SIZES, 150, {"speedscope": 20}, {"speedscope": "100MB"}, memory=2),
    Format("cpuprofile", "cpuprofile", JSON_SIZES, 150, {"speedscope": 20}, {"speedscope": "100MB"}, memory=2),
    Format("chrome-trace", "Chrome trace", JSON_SIZES, 150, {"speedscope": 20}, {"speedscope": "100MB"}, memory=2),
    Format("firefox", "Firefox", JSON_SIZES, 150, {}, memory=2.5),
)
NEEDS_MB = 8_000  # what speedscope may take at 100 MB of JSON


def _row(form: Format, size: str, costs: Mapping[str, Costs]) -> Row:
    wanted = [f">= {form.rate:g} MB/s", *(f"{factor:g}x {name}" for name, factor in form.factors.items())]
    if form.memory:
        wanted.append(f"peak <= {form.memory:g}x the file")
    row = Row(f"{form.title} {size}", "; ".join(wanted))
    ours = costs["profd"]
    if ours.failure:
        row.measured = ours.failure
    if ours.ok:
        rate, ratio = SIZES_MB[size] / ours.wall_s, ours.peak_mb / SIZES_MB[size]
        row.measured = f"{seconds(ours.wall_s)} = {rate:.0f} MB/s, peak {ratio:.1f}x"
        row.check(rate >= form.rate)
        if form.memory:
            row.check(ratio <= form.memory)
    row.compare(ours, {name: cost for name, cost in costs.items() if name != "profd"}, form.factors)
    return row


def run(ctx: Context) -> None:
    largest = SIZES_MB[ctx.sizes[-1]]
    for form in FORMATS:
        for size in form.sizes:
            if SIZES_MB[size] > largest or not ctx.wants(f"{form.title} {size}"):
                continue
            path = ctx.inputs.file(form.kind, size)
            tasks: dict[str, Task] = {"profd": lambda: ctx.cold(path)}
            for peer, limit in form.peers.items():
                if peer in ctx.peers.commands and SIZES_MB[size] <= SIZES_MB[limit]:
                    needs = NEEDS_MB if peer == "speedscope" and size == "100MB" and form.memory else 0
                    tasks[peer] = lambda peer=peer, needs=needs: ctx.peer(peer, path=path, needs_mb=needs)  # type: ignore[misc]
            print(f"bench: {form.title} {size}: {', '.join(tasks)}", flush=True)
            slow = SIZES_MB[size] >= 100
            runs = {name: ctx.runs if name == "profd" else 1 if slow else min(2, ctx.runs) for name in tasks}
            costs = interleave(tasks, runs)
            ctx.report.costs += [(f"{form.title} {size}", name, cost) for name, cost in costs.items()]
            ctx.add(_row(form, size, costs))
