#!/usr/bin/env python3
"""The first levels of trees that profd makes of calls, against the profiler's own tools: `pstats` for cProfile and
`callgrind_annotate --tree=both`. And what is written as callgrind, against both.

usage: divided_agreement.py PROFD
The cProfile run is recorded here: main calls a and c, both call b, all of them leaf.
"""
import cProfile
import json
import os
import pstats
import re
import shutil
import subprocess
import sys
import tempfile

import answers

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROFD = sys.argv[1]
FAILED = []

PROGRAM = """
def leaf(n):
    return sum(i * i for i in range(n))
def b(n):
    for _ in range(3):
        leaf(40 * n)
def a():
    return b(20), leaf(900)
def c():
    return b(60), b(10), leaf(2500)
def even(n):
    return n == 0 or odd(n - 1)
def odd(n):
    return n != 0 and even(n - 1)
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
def main():
    for _ in range(5):
        a()
        c()
    even(40)
    fib(12)
main()
"""


def check(good, *what):
    if not good:
        FAILED.append(what)
        print("FAIL", *what)


def run(*arguments):
    return subprocess.run(arguments, capture_output=True, check=True).stdout.decode("utf-8", "replace")


def rows(path, spec, metric=None):
    """Of a view as JSON: {path of names: row}."""
    text = run(PROFD, "convert", "--to", "json", "--view", spec, *(["--metric", metric] if metric else []), path, "-")
    view = json.loads(text)
    chains, out = {}, {}
    for row in view["rows"]:
        chains[row["id"]] = () if row["parent"] is None else chains[row["parent"]] + (row["name"],)
        out[chains[row["id"]]] = row
    return out, view


def estimated(row):
    return row.get("estimated", [""])[0]


def conserves(found, view, path):
    total = view["metrics"][0]["total"]
    got = sum(row["self"][0] for row in found.values())
    check(abs(got - total) <= abs(total) * 1e-9, path, "selves come to", got, "of", total)


def compare_pstats(path):
    stats = pstats.Stats(path).stats
    calls, totals = {}, {}
    named = lambda key: key[2]
    for key, (_, _, _, cumulative, callers) in stats.items():
        totals[named(key)] = totals.get(named(key), 0) + cumulative
        for caller, numbers in callers.items():
            calls[named(caller), named(key)] = calls.get((named(caller), named(key)), 0) + numbers[3]
    found, view = rows(path, "top-down by function")
    conserves(found, view, path)
    (main,) = [chain for chain in found if chain and chain[-1] == "main"]
    for callee in ("a", "c", "even", "fib"):
        row = found.get(main + (callee,))
        check(row is not None and abs(row["total"][0] / 1e9 - calls["main", callee]) < 1e-8 and estimated(row) != "total",
              "main ->", callee, row, calls["main", callee])
        if callee not in ("a", "c"):
            continue
        for below in ("b", "leaf"):
            row = found.get(main + (callee, below))
            check(row is not None and abs(row["total"][0] / 1e9 - calls[callee, below]) < 1e-8 and "total" not in estimated(row),
                  callee, "->", below, row, calls[callee, below])
        deeper = found.get(main + (callee, "b", "leaf"))
        check(deeper is not None and estimated(deeper) == "self and total", callee, "-> b -> leaf", deeper)
    parts = [found[main + (callee, "b", "leaf")]["total"][0] / 1e9 for callee in ("a", "c")]
    check(abs(sum(parts) - calls["b", "leaf"]) < 1e-6, "b -> leaf", parts, calls["b", "leaf"])
    recursion = [chain for chain in found if any(chain.count(name) > 2 for name in chain)]
    check(not recursion, "a function meets itself and goes on", recursion[:1])
    up, _ = rows(path, "callers of b by function")
    for caller in ("a", "c"):
        check(abs(up[caller,]["total"][0] / 1e9 - calls[caller, "b"]) < 1e-8 and "total" not in estimated(up[caller,]), "b <-", caller)
    proven = run(PROFD, "tree", "--paths", "proven", "--no-cache", path)
    check("[several callers]" in proven and "≈" in proven, "the proven tree")
    tree = run(PROFD, "tree", "--no-cache", path)
    check("[several callers]" not in tree, tree)
    (top,) = [row for row in answers.rows_of(json.loads(run(PROFD, "top", "--json", "-n", "0", "--metric", "calls", path))) if row["name"] == "main"]
    check(top["total"] == 1 and top["self"] == 1 and not top["estimated"], "main was called once", top)
    return totals, calls


def compare_written(path, totals, folder):
    """cProfile as callgrind: callgrind_annotate reads what pstats says."""
    out = os.path.join(folder, "written.callgrind")
    said = subprocess.run([PROFD, "convert", path, out], capture_output=True, check=True).stderr.decode()
    check("primitive_calls" in said or "recursion" in said, "losses are said", said)
    text = open(out).read()
    counts = {}
    for block in text.split("\nfn=")[1:]:
        for callee, count in re.findall(r"^cfn=(.*)\ncalls=(\d+)", block, re.M):
            counts[block.split("\n", 1)[0], callee] = int(count)
    check(counts.get(("main", "a")) == 5 and counts.get(("c", "b")) == 10, "numbers of calls", counts)
    again = {row["name"]: row for row in answers.rows_of(json.loads(run(PROFD, "top", "--json", "-n", "0", "--no-cache", out)))}
    for name in ("main", "a", "b", "c", "leaf", "fib"):
        check(abs(again[name]["total"] / 1e9 - totals[name]) < 1e-6, "written", name, again[name]["total"], totals[name])


def annotated(path):
    """{(caller, callee): inclusive cost} of the first event, and {function: inclusive cost}, by name."""
    text = run("callgrind_annotate", "--tree=both", "--inclusive=yes", "--threshold=100", "--auto=no", "--show-percs=no", path)
    started, callers, calls, totals = False, [], {}, {}
    for line in text.split("\n"):
        started = started or "file:function" in line
        match = re.match(r"^\s*([\d,]+|\.)\s.*?([*<>])\s+(.*)$", line)
        if not started or not match:
            continue
        cost = 0 if match.group(1) == "." else int(match.group(1).replace(",", ""))
        name = re.sub(r" \(\d+x\)( \[.*\])?$| \[[^\]]*\]$", "", match.group(3)).strip()
        if match.group(2) == "<":
            callers.append((name, cost))
            continue
        if match.group(2) == "*":
            totals[name] = totals.get(name, 0) + cost
            for caller, value in callers:
                calls[caller, name] = calls.get((caller, name), 0) + value
            callers = []
    return calls, totals


def short(name):
    return re.sub(r"'\d+$", "", name.split(":")[-1])


def compare_callgrind(path, folder):
    calls, totals = annotated(path)
    by_name = {}
    for (caller, callee), cost in calls.items():
        if short(caller) == short(callee):
            continue
        key = short(caller), short(callee)
        by_name[key] = by_name.get(key, 0) + cost
    found, view = rows(path, "top-down by function")
    conserves(found, view, path)
    compared = 0
    for chain, row in found.items():
        above = found.get(chain[:-1])
        if len(chain) < 2 or "total" in estimated(row) or above is None or "total" in estimated(above):
            continue
        if (chain[-2], chain[-1]) in by_name and sum(1 for other in totals if short(other) == chain[-1]) == 1:
            compared += 1
            check(row["total"][0] == by_name[chain[-2], chain[-1]], path, chain[-2:], row["total"][0], by_name[chain[-2], chain[-1]])
    out = os.path.join(folder, "again.callgrind")
    run(PROFD, "convert", "--force", path, out)
    _, again = annotated(out)
    expected = {}
    for name, cost in totals.items():
        expected[short(name)] = expected.get(short(name), 0) + cost
    got = {}
    for name, cost in again.items():
        got[short(name)] = got.get(short(name), 0) + cost
    for name, cost in expected.items():
        if cost:
            check(got.get(name) == cost, path, "written again", name, got.get(name), cost)
    count = lambda file: sum(int(n) for n in re.findall(r"^calls=(\d+)", open(file, errors="replace").read(), re.M))
    check(count(out) == count(path), path, "numbers of calls", count(out), count(path))
    return compared


def main():
    with tempfile.TemporaryDirectory() as folder:
        program, path = os.path.join(folder, "diamond.py"), os.path.join(folder, "diamond.pstats")
        with open(program, "w") as file:
            file.write(PROGRAM)
        subprocess.run([sys.executable, "-m", "cProfile", "-o", path, program], check=True, stdout=subprocess.DEVNULL)
        totals, _ = compare_pstats(path)
        compare_written(path, totals, folder)
        if not shutil.which("callgrind_annotate"):
            print("PARTLY NOT RUN: no callgrind_annotate")
        else:
            compared = 0
            for name in ("recorded-plain", "recorded-cache", "recorded-uncompressed"):
                compared += compare_callgrind(os.path.join(ROOT, "formats/callgrind/testdata", name + ".callgrind"), folder)
            print(compared, "calls compared with callgrind_annotate")
            check(compared > 20, "too few calls were compared")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
