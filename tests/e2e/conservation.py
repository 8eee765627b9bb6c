#!/usr/bin/env python3
"""Nothing is lost or counted twice in `profd top --json`: the selves of the rows, `remainder` and `own` are `viewTotal`.

usage: conservation.py PROFD [FILE...]; without files: the fixtures in the tree, and the corpus when it is there (PROFD_CORPUS).

For every profile and metric of every file that opens: all rows by function, file, module and line, the first five by function, and
with the hottest function hidden and dropped. Hiding leaves the total as it is, dropping takes the function's total away, and
no total is less than its self. Whole numbers agree to the unit, doubles to their last bits; a metric that
saturated is a lower bound and left out. PROFD_CONSERVATION_SECONDS (50) bounds the time; 0 takes every file whatever it takes.
"""
from __future__ import annotations

import concurrent.futures
import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Iterator, NamedTuple

import answers

ROOT = Path(__file__).resolve().parents[2]
NO_PROFILES = {".golden", ".md", ".sh", ".py"}
SMALL = 512 * 1024
SHOWN = 60
Json = dict[str, Any]


class Case(NamedTuple):
    path: Path
    profile: int  # as --profile counts
    metrics: list[str]


def files_below(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix not in NO_PROFILES)


def files_to_test(all_sizes: bool) -> list[Path]:
    found = [path for folder in sorted((ROOT / "formats").glob("*/testdata")) for path in files_below(folder)]
    found += files_below(ROOT / "tests" / "fixtures")
    corpus = Path(os.environ.get("PROFD_CORPUS") or ROOT.parent / "shared" / "corpus")
    if not corpus.is_dir():
        print("PARTLY NOT RUN: no corpus of real files (PROFD_CORPUS)")
        return found
    real = files_below(corpus)
    small = sorted((path for path in real if all_sizes or path.stat().st_size <= SMALL), key=lambda path: path.stat().st_size)
    if len(small) < len(real):
        print(f"PARTLY NOT RUN: {len(real) - len(small)} files of the corpus are larger than {SMALL // 1024} KiB "
              "(PROFD_CONSERVATION_SECONDS=0 takes them)")
    return found + small


def run(profd: str, *arguments: object) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([profd, *map(str, arguments)], capture_output=True, env={**os.environ, "PROFD_CACHE": "off", "PROFD_SYMBOLS": "off"})


def cases_of(profd: str, files: list[Path]) -> list[Case]:
    cases = []
    for start in range(0, len(files), 100):
        for line in run(profd, "check", "--json", *files[start:start + 100]).stdout.splitlines():
            checked = json.loads(line)
            for number, profile in enumerate(checked.get("profiles", []), 1):
                cases.append(Case(Path(checked["file"]), number, [metric["name"] for metric in profile["metrics"]]))
    return cases


def same(parts: list[float], whole: float) -> bool:
    if all(isinstance(value, int) for value in [*parts, whole]):
        return sum(parts) == whole
    return abs(math.fsum(parts) - whole) <= 1e-9 * max(abs(whole), math.fsum(map(abs, parts)))


def parts_of(answer: Json) -> list[float]:
    parts = list(answer["rows"]["self"])
    if "remainder" in answer:
        parts.append(answer["remainder"]["amount"]["value"])
    if "own" in answer:
        parts.append(answer["own"]["value"])
    return parts


def quoted(name: str) -> str:
    return '"' + "".join(f"\\{ch}" if ch in '"\\' else f"\\x{ord(ch):02x}" if ord(ch) < 32 else ch for ch in name) + '"'


class Checker:
    def __init__(self, profd: str, case: Case) -> None:
        self.profd, self.case = profd, case
        self.problems: list[str] = []
        self.views = 0
        self.estimated = False

    def answer(self, metric: str, n: int, *options: str) -> Json | None:
        done = run(self.profd, "top", "--json", "-n", n, "--metric", metric, "--profile", self.case.profile, *options, self.case.path)
        if done.returncode == 0:
            return json.loads(done.stdout)
        self.problem(metric, options, done.stderr.decode("utf-8", "replace").strip())
        return None

    def problem(self, metric: str, options: tuple[str, ...], what: str) -> None:
        self.problems.append(f"{self.case.path} #{self.case.profile} {metric} {' '.join(options)}: {what}")

    def totals(self, metric: str, rows: list[Json], options: tuple[str, ...]) -> None:
        """No total is less than its self, where nothing is freed."""
        if any(row["self"] < 0 for row in rows):
            return
        for row in rows:
            if row["total"] < row["self"] and not same([row["total"]], row["self"]):
                self.problem(metric, options, f"the total of {row['name']} is {row['total']}, its self {row['self']}")

    def view(self, metric: str, *options: str) -> Json | None:
        """All rows; None when there is no answer."""
        for n in (0,) if "--granularity" in options else (5, 0):
            answer = self.answer(metric, n, *options)
            if answer is None:
                return None
            self.views += 1
            parts, whole = parts_of(answer), answers.view_total(answer)
            if not same(parts, whole):
                self.problem(metric, options, f"rows sum to {sum(parts)} with -n {n}, the view's total is {whole}")
            rows = len(answer["rows"]["self"]) + answer.get("remainder", {"count": 0})["count"]
            if rows != answer["rowCount"]:
                self.problem(metric, options, f"{rows} rows with -n {n}, rowCount is {answer['rowCount']}")
        self.totals(metric, answers.rows_of(answer), options)
        return answer

    def filtered(self, metric: str, all_rows: Json) -> None:
        rows = answers.rows_of(all_rows)
        # A line's text ends at 64 KiB.
        hottest = next((row for row in rows if row["name"] and len(row["name"]) < 10_000), None)
        if hottest is None:
            return
        name = quoted(hottest["name"])
        whole = answers.view_total(all_rows)
        hidden = self.view(metric, "--filter", f"hide function {name}")
        if hidden is not None and not same([answers.view_total(hidden)], whole):
            self.problem(metric, ("hide", name), f"hiding changes the total from {whole} to {answers.view_total(hidden)}")
        dropped = self.view(metric, "--filter", f"drop function {name}")
        if dropped is None:
            return
        # Of functions of one name the totals may overlap; totals that the file states obey no law of sums.
        alone = sum(row["name"] == hottest["name"] for row in rows) == 1
        if alone and not self.estimated and not same([answers.view_total(dropped), hottest["total"]], whole):
            self.problem(metric, ("drop", name), f"{answers.view_total(dropped)} is left of {whole}, {hottest['total']} was dropped")

    def check(self) -> None:
        summary = json.loads(run(self.profd, "summary", "--json", "--profile", self.case.profile, self.case.path).stdout)
        self.estimated = summary.get("paths_estimated", False)
        saturated = {metric["name"] for metric in summary["metrics"] if metric.get("saturated")}
        for metric in self.case.metrics:
            if metric in saturated:
                continue
            by_function = self.view(metric)
            if by_function is None:
                continue
            self.filtered(metric, by_function)
            for granularity in ("file", "module", "line"):
                self.view(metric, "--granularity", granularity)


def check_all(profd: str, cases: list[Case], seconds: float) -> Iterator[Checker | None]:
    """None for what there was no time for."""
    end = time.monotonic() + seconds if seconds else math.inf

    def one(case: Case) -> Checker | None:
        if time.monotonic() > end:
            return None
        checker = Checker(profd, case)
        checker.check()
        return checker

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(one, cases)


def main() -> int:
    profd, files = sys.argv[1], [Path(name) for name in sys.argv[2:]]
    seconds = float(os.environ.get("PROFD_CONSERVATION_SECONDS", "50"))
    cases = cases_of(profd, files or files_to_test(not seconds))
    checkers = list(check_all(profd, cases, seconds))
    late = sum(checker is None for checker in checkers)
    if late:
        print(f"PARTLY NOT RUN: {late} profiles were not reached in {seconds:g} seconds")
    problems = [problem for checker in checkers if checker for problem in checker.problems]
    for problem in problems[:SHOWN]:
        print("FAIL", problem)
    views = sum(checker.views for checker in checkers if checker)
    print(f"{views} views of {len(cases) - late} profiles, {len(problems)} problems")
    return 1 if problems or views == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
