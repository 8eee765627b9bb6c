#!/usr/bin/env python3
"""Measures profd beside its peers and against the floor, and writes RESULTS.md. `./dev bench --help`."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parent
ROOT = BENCH.parent
sys.path[:0] = [str(BENCH), str(ROOT / "tests" / "support")]

from harness import agents, cold, compare, formats, inside, live, native, native_recordings, proxy, warm, web  # noqa: E402
from harness.context import Context  # noqa: E402
from harness.data import Inputs  # noqa: E402
from harness.measure import Runner  # noqa: E402
from harness.report import Report, render  # noqa: E402
from peers.install import Peers, install  # noqa: E402

PPROF_SIZES = ["1MB", "10MB", "100MB", "1GB"]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="1 and 10 MB only")
    parser.add_argument("--sizes", help=f"comma-separated, of {', '.join(PPROF_SIZES)}; the other formats go up to the largest")
    parser.add_argument("--rows", default="", metavar="REGEX", help="only rows whose name matches, such as 'pprof cold'")
    parser.add_argument("--runs", type=int, default=5, help="runs a median is taken over (default: %(default)s)")
    parser.add_argument("--no-peers", action="store_true", help="profd and the floor only")
    parser.add_argument("--heavy", action="store_true", help="also peers that take over 8 GB, memory permitting")
    parser.add_argument("--build", default="build/release", help="where the release build is (default: %(default)s)")
    parser.add_argument("-o", "--output", type=Path, help="default: bench/RESULTS.md, or the terminal when rows are left out")
    options = parser.parse_args()
    if options.runs < 1:
        parser.error("--runs must be at least 1")
    try:
        options.rows_pattern = re.compile(options.rows)
    except re.error as error:
        parser.error(f"--rows: {error}")
    wanted = options.sizes.split(",") if options.sizes else PPROF_SIZES[:2] if options.quick else PPROF_SIZES
    if unknown := [size for size in wanted if size not in PPROF_SIZES]:
        parser.error(f"--sizes: {', '.join(unknown)} is not one of {', '.join(PPROF_SIZES)}")
    options.sizes = [size for size in PPROF_SIZES if size in wanted]
    return options


def main() -> int:
    options = arguments()
    build = (ROOT / options.build).resolve()
    work = ROOT / "build" / "bench"
    work.mkdir(parents=True, exist_ok=True)
    peers = Peers() if options.no_peers else install(work / "peers")
    ctx = Context(
        profd=build / "profd", floor=build / "bin" / "profd-bench-floor", work=work,
        runner=Runner(build / "bin" / "profd-bench-run", work / "cost.json"),
        inputs=Inputs(build / "bin" / "profd-bench-gen", work / "data"), peers=peers, sizes=options.sizes,
        runs=options.runs, rows=options.rows_pattern, heavy=options.heavy, report=Report(),
    )
    for group in (cold, formats, warm, compare, inside, live, agents, proxy, web, native, native_recordings):
        group.run(ctx)
    whole = not options.rows and options.sizes == PPROF_SIZES and not options.no_peers
    page = render(ctx.report, ROOT, peers.versions, peers.absent, " ".join(sys.argv[1:]))
    output = options.output or (BENCH / "RESULTS.md" if whole else None)
    if output:
        output.write_text(page)
    print(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
