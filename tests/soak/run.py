#!/usr/bin/env python3
"""Plays a campaign of harm against profd and tells, figure by figure, whether what was promised holds.

What the scenes are, how to read the table and how to add one: docs/soak.md."""

from __future__ import annotations

import argparse
import math
import os
import platform
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path

SOAK = Path(__file__).resolve().parent
ROOT = SOAK.parents[1]
sys.path[:0] = [str(SOAK), str(ROOT / "tests" / "support")]

from figures import Table  # noqa: E402
from inputs import Inputs  # noqa: E402
from sanitized import is_sanitized  # noqa: E402
from scenes import crowd, faults, mutants, neighbour, page, small_house  # noqa: E402
from stage import Stage  # noqa: E402

# What each gets of the time.
SCENES: dict[str, tuple[Callable[[Stage], None], float]] = {
    "crowd": (crowd.run, 0.20), "neighbour": (neighbour.run, 0.45), "small-house": (small_house.run, 0.10),
    "flipped-bits": (mutants.run_flips, 0.05), "mutants": (mutants.run_mutants, 0.10), "faults": (faults.run, 0.10),
    "page": (page.run, 0.25),
}
WHEN_NAMED = ("page",)  # it needs a browser and npm's packages; its short form is a test of tests/e2e/web
SHORT_MINUTES = 3
PROFD = ROOT / "build" / "release" / "profd"


STARVED = ("faults/memory",)  # an answer can be lost there (docs/security.md)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev soak", description=__doc__)
    parser.add_argument("minutes", nargs="?", type=float, default=2, metavar="MINUTES", help="about how long (default: 2)")
    parser.add_argument("--scene", action="append", default=[], metavar="NAME",
                        help=f"only {', '.join(SCENES)}, or a part such as neighbour/gzip-bomb; may be given again")
    parser.add_argument("--seed", type=int, default=int(time.time()) % 1_000_000, help="the same seed asks the same; printed")
    parser.add_argument("--mutants", type=int, default=20_000, metavar="N", help="at most so many (default: 20,000)")
    parser.add_argument("--profd", type=Path, default=PROFD, help="the program (default: build/release/profd)")
    parser.add_argument("--generator", type=Path, help="profd-bench-gen; without it profiles are written by Python")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "soak", help="for inputs and failures (build/soak)")
    parser.add_argument("--most", type=float, default=math.inf, metavar="SECONDS",
                        help="begin nothing after so long, and say what was left out")
    parser.add_argument("--tell-times", action="store_true",
                        help="times are told and not judged, nor what happens where not a byte is left: for ./dev test, "
                             "which must not fail for what else the machine does")
    parser.add_argument("-o", "--output", type=Path, help="write the table as Markdown")
    options = parser.parse_args()
    if not os.access(options.profd, os.X_OK):
        parser.error(f"there is no program {options.profd}; ./dev build makes it")
    for name in options.scene:
        if name.split("/")[0] not in SCENES:
            parser.error(f"--scene: {name} is not one of {', '.join(SCENES)}")
    if options.minutes <= 0:
        parser.error("MINUTES must be more than 0")
    options.profd = options.profd.resolve()
    return options


def head(options: argparse.Namespace, seconds: float, sanitized: bool, table: Table) -> str:
    load = " ".join(f"{value:.1f}" for value in os.getloadavg())
    lines = [
        "# Soak", "",
        f"{options.minutes:g} minutes asked for, {seconds / 60:.1f} taken; seed {options.seed}; {options.profd.name} on "
        f"{os.cpu_count()} cores, {platform.system()} {platform.release()}, load at the end {load}.", "",
        f"**{table.n_judged - len(table.missed)} of {table.n_judged} figures met their target.**",
    ]
    if sanitized:
        lines += ["", "A sanitizer is in the program: its times and its memory are told, not judged."]
    return "\n".join(lines)


def main() -> int:
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    options = arguments()
    started = time.monotonic()
    os.environ["SOAK_CPU_S"] = str(int(options.minutes * 60 * (os.cpu_count() or 1)) + 120)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # through every `with`, so that no daemon is left
    sanitized = is_sanitized(options.profd)
    table = Table(judge_cost=not sanitized, judge_times=not options.tell_times,
                  unjudged=STARVED if options.tell_times else ())
    chosen = options.scene or [name for name in SCENES if name not in WHEN_NAMED]
    weights = sum(SCENES[name.split("/")[0]][1] for name in chosen)
    failures = options.work / "failures"
    again = "./dev soak" if options.profd == PROFD else f"python3 tests/soak/run.py --profd {options.profd}"
    generator = options.generator if options.generator and os.access(options.generator, os.X_OK) else None
    inputs = Inputs(options.work / "inputs", generator, 1)
    run_folder = failures / time.strftime("%Y%m%d-%H%M%S")
    print(f"soak: {options.minutes:g} minutes, seed {options.seed}, {options.profd}")
    # Sockets lie there, and their paths must be short.
    with tempfile.TemporaryDirectory(prefix="profd-soak-") as temporary:
        os.environ["SOAK_TMP"] = tempfile.tempdir = temporary
        for name in chosen:
            scene, _, part = name.partition("/")
            run, weight = SCENES[scene]
            seconds = options.minutes * 60 * weight / weights
            stage = Stage(options.profd, inputs, table, seconds, options.seed, run_folder, sanitized,
                          options.minutes <= SHORT_MINUTES, part, options.mutants, again, started + options.most)
            try:
                if stage.may_begin(name):
                    run(stage)
            except Exception as error:  # the next scene is played all the same
                traceback.print_exc()
                table.holds(name, "played to its end", "yes", f"{type(error).__name__}: {error}", False)
    if table.not_played:
        print(f"PARTLY NOT RUN: the machine was too slow for {', '.join(table.not_played)} in {options.most:g} s")
    text = table.markdown(head(options, time.monotonic() - started, sanitized, table))
    if options.output:
        options.output.write_text(text)
    print(f"\nsoak: {len(table.missed)} of {table.n_judged} figures missed, seed {options.seed}, "
          f"{time.monotonic() - started:.0f} s")
    for row in table.missed:
        print(f"  MISS {row.scene}: {row.name} {row.text}, target {row.target}")
    if table.missed and run_folder.exists():
        print(f"soak: what it takes to see them again is in {run_folder}")
    return 1 if table.missed else 0


if __name__ == "__main__":
    sys.exit(main())
