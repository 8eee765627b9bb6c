#!/usr/bin/env python3
"""`profd top` against `go tool pprof -top`, to the unit, for every metric of every pprof file.

usage: pprof_agreement.py PROFD [FILE...]; without files: the fixtures in the tree, and the corpus when it is there.
Exits 77 (skipped) when there is no go.
"""
import collections
import json
import os
import re
import shutil
import subprocess
import sys

import answers

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
UNITS = {"nanoseconds": "ns", "microseconds": "us", "milliseconds": "ms", "seconds": "s", "bytes": "B"}


def files_to_test():
    found = []
    for folder in ("formats/pprof/testdata", "formats/pprof_legacy/testdata", "tests/fixtures"):
        for base, _, names in os.walk(os.path.join(ROOT, folder)):
            found += [os.path.join(base, name) for name in names
                      if name.endswith((".pb.gz", ".pprof")) or ("legacy" in folder and not name.endswith((".md", ".py", ".golden")))]
    corpus = os.environ.get("PROFD_CORPUS") or os.path.join(ROOT, "..", "shared", "corpus")
    folder = os.path.join(corpus, "pprof")
    if os.path.isdir(folder):
        found += [path for name in os.listdir(folder) if os.path.isfile(path := os.path.join(folder, name))]
    else:
        print("PARTLY NOT RUN: no corpus of real files (PROFD_CORPUS)")
    return sorted(found)


def profd_answer(profd, path, metric, *options):
    command = [profd, "top", "--json", "-n", "0", "--no-cache", "--metric", metric, *options, path]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)


def pprof_rows(path, metric, unit, *options):
    """name -> (flat, cum); None when pprof does not read the file."""
    # -show_from and filters are off; trim=false shows every node.
    command = ["go", "tool", "pprof", "-top", "-trim=false", "-nodecount=0", "-nodefraction=0", "-edgefraction=0",
               *options, "-symbolize=none", f"-sample_index={metric}", "-unit=" + UNITS.get(unit, unit or "count"), path]
    run = subprocess.run(command, capture_output=True)
    if run.returncode != 0:
        return None
    rows = collections.OrderedDict()
    started = False
    number = re.compile(r"^(-?[0-9.]+(?:e[+-]?\d+)?)")
    for line in run.stdout.decode("utf-8", "replace").split("\n"):
        if line.split()[:2] == ["flat", "flat%"]:
            started = True
            continue
        if not started:
            continue
        columns = line.split(None, 5)
        # A function without a name, or one whose name pprof prints raw over several lines.
        if len(columns) < 6 or any(ord(c) < 32 for c in line):
            continue
        flat, _, _, cum, _, name = columns
        name = re.sub(r" \((partial-)?inline\)$", "", name)
        rows[name] = (number.match(flat).group(1), number.match(cum).group(1))
    return {name: (float(flat), float(cum)) for name, (flat, cum) in rows.items()}


def same(exact, shown):
    # pprof prints two decimals of a double; integers up to 2^53 come out whole.
    return abs(exact - shown) <= max(0.006, abs(exact) * 1e-12)


def compare_legacy(profd, path, summary, report):
    """pprof does not read the symbols of legacy texts: addresses are compared, which are rows of their own in both."""
    compared = 0
    for metric in summary["metrics"]:
        mine = answers.rows_of(profd_answer(profd, path, metric["name"], "--granularity", "address"))
        theirs = pprof_rows(path, metric["name"], metric["unit"], "-addresses")
        if theirs is None:
            return "not read by pprof"
        ours = sorted(((row["self"], row["total"]) for row in mine if row["total"]), reverse=True)
        peers = sorted(((flat, cum) for flat, cum in theirs.values() if cum), reverse=True)
        if len(ours) != len(peers):
            report(path, metric["name"], f"{len(ours)} addresses here, {len(peers)} there")
        for a, b in zip(ours, peers):
            compared += 1
            if not (same(a[0], b[0]) and same(a[1], b[1])):
                report(path, metric["name"], f"self and total {a} here, {b} there")
    return compared


def compare_files(path, metric, mine, report):
    """Functions whose name stands in several files, as pprof tells them apart when it is asked to."""
    count = collections.Counter(row["name"] for row in mine)
    by_place = collections.defaultdict(list)
    for row in mine:
        if count[row["name"]] > 1:
            place = row.get("file") or ""
            by_place[row["name"] + (" " + os.path.normpath(place) if place else "")].append(row)
    if not by_place:
        return 0
    theirs = pprof_rows(path, metric["name"], metric["unit"], "-filefunctions") or {}
    compared = 0
    for place, rows in by_place.items():
        if place.startswith(("[", "(unknown)")):
            continue
        flat, cum = theirs.get(place, (None, None))
        compared += 1
        own = sum(row["self"] for row in rows)
        if flat is None and not any(row["total"] for row in rows):
            continue
        if flat is None:
            report(path, metric["name"], f"{place} is missing there")
        elif not same(own, flat):
            report(path, metric["name"], f"{place}: self {own}, flat {flat}")
        # Several of one file differ in their first lines.
        elif len(rows) == 1 and not same(rows[0]["total"], cum):
            report(path, metric["name"], f"{place}: total {rows[0]['total']}, cum {cum}")
    return compared


def compare(profd, path, report):
    summary = subprocess.run([profd, "summary", "--json", "--no-cache", path], capture_output=True)
    if summary.returncode != 0:
        return "refused"
    parsed = json.loads(summary.stdout)
    if parsed["format"] == "pprof-legacy":
        return compare_legacy(profd, path, parsed, report)
    if parsed["format"] != "pprof":
        return "another format"
    compared = 0
    for metric in parsed["metrics"]:
        answer = profd_answer(profd, path, metric["name"])
        mine, total = answers.rows_of(answer), answers.view_total(answer)
        self_sum = sum(row["self"] for row in mine) + answer.get("own", {"value": 0})["value"]
        if self_sum != total:
            report(path, metric["name"], f"selves sum to {self_sum}, the total is {total}")
        theirs = pprof_rows(path, metric["name"], metric["unit"])
        if theirs is None:
            return "not read by pprof"
        by_name = collections.defaultdict(list)
        for row in mine:
            by_name[row["name"]].append(row)
        compared += compare_files(path, metric, mine, report)
        for name, (flat, cum) in theirs.items():
            rows = by_name.get(name)
            if rows is None:
                # Frames without a symbol are called by module in one tool, by address in the other.
                if name.startswith(("[", "<unknown>", "0x")) or re.match(r"^[0-9a-f]{8,}", name):
                    continue
                report(path, metric["name"], f"{name} is missing here")
                continue
            compared += 1
            if not same(sum(row["self"] for row in rows), flat):
                report(path, metric["name"], f"{name}: self {sum(row['self'] for row in rows)}, flat {flat}")
            # A name in two files is one node there and two here; their totals may overlap. compare_files() looks at those.
            if len(rows) == 1 and not same(rows[0]["total"], cum):
                report(path, metric["name"], f"{name}: total {rows[0]['total']}, cum {cum}")
    return compared


def main():
    profd, files = sys.argv[1], sys.argv[2:]
    if shutil.which("go") is None:
        print("NOT RUN: no go")
        return 77
    problems = []
    compared = 0
    for path in files or files_to_test():
        result = compare(profd, path, lambda *what: problems.append(what))
        if isinstance(result, int):
            compared += result
        else:
            print(f"{os.path.basename(path)}: {result}")
    for path, metric, what in problems[:60]:
        print(f"FAIL {os.path.basename(path)} {metric}: {what}")
    print(f"{compared} functions compared, {len(problems)} differ")
    return 1 if problems or compared == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
