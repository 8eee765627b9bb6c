#!/usr/bin/env python3
"""Totals of functions, of their callers and of their callees, as profd shows them, against what the file itself says: for
formats that hold functions and calls and no stacks. What the file says is read here by other means than profd's: Python's
own pstats module, and for the texts a few regular expressions.

usage: stated_agreement.py PROFD TEST_CONFORMANCE [FILE...]; the latter prints callers and callees. Without files: the fixtures in the tree, and the corpus when it is there.
"""
import collections
import json
import os
import pstats
import re
import subprocess
import sys

import answers

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def ask(profd, *arguments):
    return json.loads(subprocess.run([profd, *arguments], capture_output=True, check=True).stdout)


class Stated:
    """What a file says. Functions are named by (name, file, line), where a line of None stands for any."""

    def __init__(self, unit=1):
        self.total, self.self = {}, {}
        self.calls = collections.defaultdict(dict)  # callee: {caller: total}
        self.unit = unit  # what profd's numbers are divided by
        self.slack = 0  # half of the last digit that is printed


def pstats_of(path):
    try:
        stats = pstats.Stats(path).stats
    except Exception as error:  # written by another Python, or damaged
        return f"not read by this Python ({type(error).__name__})"
    out = Stated(1e9)
    out.slack = 2e-9

    def key_of(file, line, name):  # functions that differ in the address of an object alone are one
        return re.sub(r" at 0x[0-9a-fA-F]+", " at 0x…", name), "" if file == "~" else file, line

    for (file, line, name), (_, _, own, cumulative, callers) in stats.items():
        if not isinstance(name, str):
            continue  # a code object, which was shown by its address
        key = key_of(file, line, name)
        out.self[key] = out.self.get(key, 0) + own
        out.total[key] = out.total.get(key, 0) + cumulative
        for caller, numbers in callers.items():
            if isinstance(numbers, tuple):
                out.calls[key][key_of(*caller)] = out.calls[key].get(key_of(*caller), 0) + numbers[3]
    return out


def gprof_of(path):
    """The line of a function in its block of GNU's table has its own time and that of what it calls. That of a member of a
    cycle leaves out the cycle; the lines of its callers, above it, have it all."""
    text = open(path, encoding="latin-1").read()
    out = Stated(1e3 if "(K)" in text else 1e9)
    rows = collections.defaultdict(list)
    line = re.compile(r"^(?:\[\d+\]\s+[\d.]+)?\s+([\d.]+)\s+([\d.]+)\s+(?:[\d+/]+\s+)?(\S.*?)( <cycle \d+>)? \[\d+\]\s*$")
    for block in re.split(r"^-+\s*$", text, flags=re.M):
        callers = 0
        for match in filter(None, map(line.match, block.split("\n"))):
            total = round(float(match.group(1)) + float(match.group(2)), 9)
            if match.group(0).startswith("["):
                if "as a whole" not in match.group(3):
                    rows[match.group(3)].append(max(total, callers) if match.group(4) else total)
                break
            callers += total
    for name, totals in rows.items():
        if len(totals) == 1 and not re.search(r" \(\S+:\d+ @", name):
            out.total[name, None, None] = totals[0]
    out.slack = 1e-9
    return out if out.total else "no call graph of GNU's gprof"


def vtune_of(path):
    text = open(path, encoding="utf-8-sig").read()
    out = Stated(1e9)
    rows = collections.defaultdict(list)
    for own, below, name in re.findall(r"^\[\d+\]\s+[\d.]+%?\s+([\d.]+)\s+([\d.]+)\s+(\S.*?)(?: <cycle \d+>)?\s+\[\d+\]\s*$", text, re.M):
        if "as a whole" not in name and not name.startswith(("func@", "<spontaneous>")):
            rows[name].append(float(own) + float(below))
    for name, totals in rows.items():
        if len(totals) == 1:
            out.total[name, None, None] = totals[0]
    out.slack = 1e-6
    return out if out.total else "no table that is known here"


def stackprof_of(path):
    if not path.endswith(".json"):
        return "Marshal is not read here"
    dump = json.load(open(path))
    if dump.get("raw"):
        return "has stacks"
    out = Stated()
    names = {}
    for id, frame in dump["frames"].items():
        file = frame.get("file") or ""
        names[id] = (frame["name"], "" if file == "<cfunc>" else file, frame.get("line") or None)
    for id, frame in dump["frames"].items():
        out.total[names[id]], out.self[names[id]] = frame["total_samples"], frame["samples"]
        for callee, weight in (frame.get("edges") or {}).items():
            out.calls[names[callee]][names[id]] = weight
    return out


def tau_of(path):
    files = [path]
    if os.path.isdir(path):
        files = [os.path.join(path, name) for name in os.listdir(path) if name.startswith("profile.")]
    out = Stated()
    total = collections.Counter()
    for file in files:
        text = open(file, encoding="latin-1").read()
        if " => " in text:
            return "has call paths"
        if "[SAMPLE]" in text:
            return "has samples"
        n = int(text.split(None, 1)[0])
        for line in text.split("\n")[2:2 + n]:
            match = re.match(r'^"(.*)" \S+ \S+ (\S+) (\S+) ', line)
            if match:
                total[re.sub(r" \[\{.*$", "", match.group(1)).strip()] += float(match.group(3))
    for name, value in total.items():
        out.total[re.sub(r" C$", "", name), None, None] = value
    out.slack = 1e-3
    return out


FORMATS = {
    "pstats": ("pstats", "pstats", pstats_of),
    "gprof-text": ("gprof_text", "gprof-text", gprof_of),
    "vtune-gprofcc": ("vtune_gprofcc", "vtune-gprofcc", vtune_of),
    "stackprof": ("stackprof", "ruby-stackprof", stackprof_of),
    "tau": ("tau", "tau", tau_of),
}


def files_to_test():
    corpus = os.environ.get("PROFD_CORPUS") or os.path.join(ROOT, "..", "shared", "corpus")
    if not os.path.isdir(corpus):
        print("WARN no corpus: only the fixtures in the tree are compared")
    for reader, (folder, in_corpus, _) in FORMATS.items():
        for folder in (os.path.join(ROOT, "formats", folder, "testdata"), os.path.join(corpus, in_corpus)):
            for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
                path = os.path.join(folder, name)
                skipped = name.endswith((".golden", ".md", ".py")) or name.startswith("corrupt") or name == "expected"
                if not skipped:
                    yield reader, path


def same(ours, theirs, stated):
    return abs(ours / stated.unit - theirs) <= max(stated.slack, abs(theirs) * 1e-12)


def find(rows, key):
    """Rows of profd that may be meant: built-in code has no file, and some files say no line."""
    name, file, line = key
    return [row for row in rows.get(name, []) if file in (None, row["file"]) and line in (None, 0, row["line"])]


def neighbours(tests, path):
    """{"caller" or "callee": {function: {other: total}}}, of the functions whose neighbours are no estimates."""
    run = subprocess.run([tests, "neighbours of the functions of a file"], capture_output=True, env=dict(os.environ, PROFD_NEIGHBOURS_OF=path))
    out = {"caller": {}, "callee": {}}
    for line in run.stdout.decode("utf-8", "replace").split("\n"):
        parts = line.split("\t")
        if parts[0] == "function" and len(parts) == 4:
            for lists in out.values():
                lists[parts[1], parts[2], int(parts[3])] = collections.Counter()
        elif parts[0] in out and len(parts) == 8:
            out[parts[0]][parts[1], parts[2], int(parts[3])][parts[4], parts[5], int(parts[6])] += float(parts[7])
    return out


def compare_neighbours(tests, path, stated, report):
    callees = collections.defaultdict(dict)
    for callee, callers in stated.calls.items():
        for caller, value in callers.items():
            callees[caller][callee] = value
    ours, compared = neighbours(tests, path), 0
    for which, theirs in (("caller", stated.calls), ("callee", callees)):
        for key, expected in theirs.items():
            at = (key[0], key[1], key[2] or 0)
            if at not in ours[which]:
                if any(expected.values()) and at in stated.total:
                    report(path, f"{which}s of {key} are estimates here")
                continue
            for other, value in expected.items():
                compared += 1
                mine = ours[which][at][other[0], other[1], other[2] or 0]
                if not same(mine, value, stated):
                    report(path, f"{which} of {key}: {other}: {mine / stated.unit} here, {value} there")
            if len(ours[which][at]) > len(expected):
                report(path, f"{which}s of {key}: {len(ours[which][at])} here, {len(expected)} there")
    return compared


def compare(profd, tests, reader, path, report):
    stated = FORMATS[reader][2](path)
    if isinstance(stated, str):
        return stated
    if not any(stated.total.values()):
        return "has no time, so that its calls are shown"
    rows = collections.defaultdict(list)
    for row in answers.rows_of(ask(profd, "top", "--json", "-n", "0", "--no-cache", path)):
        rows[row["name"]].append(row)
    compared = 0
    for key, total in stated.total.items():
        found = find(rows, key)
        if not found and total == 0:
            continue  # what has no value has no row
        if len(found) != 1:
            if len(found) == 0:
                report(path, f"{key} is not there")
            continue
        compared += 1
        if found[0]["estimated"] or not same(found[0]["total"], total, stated):
            report(path, f"{key}: total {found[0]['total'] / stated.unit} here, {total} there")
        if key in stated.self and not same(found[0]["self"], stated.self[key], stated):
            report(path, f"{key}: self {found[0]['self'] / stated.unit} here, {stated.self[key]} there")
    if stated.calls:
        compared += compare_neighbours(tests, path, stated, report)
    return compared


def main():
    profd, tests, files = sys.argv[1], sys.argv[2], sys.argv[3:]
    problems, in_all = [], 0
    cases = files_to_test()
    if files:
        cases = ((ask(profd, "summary", "--json", "--no-cache", file)["format"], file) for file in files)
    for reader, path in cases:
        result = compare(profd, tests, reader, path, lambda *what: problems.append(what))
        print(f"{reader} {os.path.basename(path)}: {result}")
        in_all += result if isinstance(result, int) else 0
    for path, what in problems[:60]:
        print(f"FAIL {os.path.basename(path)} {what}")
    print(f"{in_all} totals compared, {len(problems)} differ")
    return 1 if problems or in_all == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
