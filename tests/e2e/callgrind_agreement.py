#!/usr/bin/env python3
"""What profd reads against `callgrind_annotate`: self and inclusive cost of every function, for every event.

usage: callgrind_agreement.py PROFD TEST_CONFORMANCE [FILE...]; the latter prints inclusive costs. Without files: the fixtures in the tree, and the corpus when it is there.
callgrind_annotate shows inlined code under the file it came from: functions are compared by name, over all files.
Exits 77 (skipped) when there is no callgrind_annotate.
"""
import collections
import json
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def files_to_test():
    folder = os.path.join(ROOT, "formats/callgrind/testdata")
    found = [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".callgrind")]
    corpus = os.environ.get("PROFD_CORPUS") or os.path.join(ROOT, "..", "shared", "corpus")
    folder = os.path.join(corpus, "callgrind")
    if os.path.isdir(folder):
        found += [os.path.join(folder, name) for name in os.listdir(folder) if os.path.isfile(os.path.join(folder, name))]
    else:
        print("PARTLY NOT RUN: no corpus of real files (PROFD_CORPUS)")
    return sorted(found)


def annotate(path, inclusive):
    """[{name: cost} for each event], or None."""
    command = ["callgrind_annotate", "--threshold=100", "--auto=no", "--show-percs=no", f"--inclusive={inclusive}", path]
    run = subprocess.run(command, capture_output=True)
    lines = run.stdout.decode("utf-8", "replace").split("\n")
    rows, started, n = [], False, 0
    for line in lines:
        if line.startswith("Events shown:"):
            n = len(line.split()) - 2
            rows = [collections.Counter() for _ in range(n)]
        if re.match(r"^\s*\S.*file:function\s*$", line) and n:
            started = True
            continue
        if not started or not line.strip() or line.startswith("---"):
            continue
        match = re.match(r"^\s*((?:(?:-?[\d,]+|\.)\s+){%d})(.*)$" % n, line)
        if not match:
            continue
        # file:name [object]; a name may hold colons, and a file may not.
        name = re.sub(r" \[[^\]]*\]$", "", match.group(2))
        name = name.strip()
        for event, text in enumerate(match.group(1).split()):
            rows[event][name] += 0 if text == "." else int(text.replace(",", ""))
    return rows if started else None


def top(profd, path, metric):
    command = [profd, "top", "--json", "-n", "0", "--no-cache", "--metric", metric, path]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["rows"]


def inclusive_costs(tests, path):
    """{metric: {"file:name": cost}} from the association "functions"."""
    run = subprocess.run([tests, "inclusive costs of a file"], capture_output=True, env=dict(os.environ, PROFD_INCLUSIVE_OF=path))
    out = collections.defaultdict(collections.Counter)
    for line in run.stdout.decode("utf-8", "replace").split("\n"):
        parts = line.split("\t")
        if len(parts) == 4 and parts[0] == "inclusive":
            out[parts[1]][parts[2]] += int(parts[3])
    return out


def by_name(rows, ours):
    """callgrind_annotate's "file:name" folded onto the names we have."""
    names = {row["name"] for row in ours}
    out = collections.Counter()
    for text, cost in rows.items():
        at = text.find(":")
        while at >= 0 and text[at + 1:] not in names:
            at = text.find(":", at + 1)
        out[text[at + 1:] if at >= 0 else text] += cost
    return out


def inclusive_sums(path):
    """[{"file:name": cost} for each event]: what a function and the calls it makes cost, or the calls to it when that is
    more. callgrind_annotate knows the latter only, so that what a thread begins with has next to no cost there."""
    names = {"f": {}, "n": {}}  # of files and functions
    own, called = collections.defaultdict(collections.Counter), collections.defaultdict(collections.Counter)
    file, here, callee, call, events, jump = "???", None, [None, None], False, [], False

    def name(space, text):
        match = re.match(r"^\((\d+)\)(?: (.*))?$", text)
        if not match:
            return text
        if match.group(2) is not None:
            names[space][match.group(1)] = match.group(2)
        return names[space].get(match.group(1), f"({match.group(1)})")  # yappi numbers names that it never gives

    columns = 1
    for line in open(path, encoding="utf-8", errors="replace"):
        line = line.strip()
        if line.startswith("events:"):
            events = line.split()[1:]
        elif line.startswith("positions:"):
            columns = len(line.split()) - 1
        elif match := re.match(r"^(fl|fi|fe)=(.*)$", line):
            file = name("f", match.group(2))
        elif match := re.match(r"^fn=(.*)$", line):
            here = f"{file}:{name('n', match.group(1))}"
        elif match := re.match(r"^(cfi|cfl)=(.*)$", line):
            callee[0] = name("f", match.group(2))
        elif match := re.match(r"^cfn=(.*)$", line):
            callee[1] = name("n", match.group(1))
        elif match := re.match(r"^(jfi|jfn)=(.*)$", line):
            name("n" if match.group(1) == "jfn" else "f", match.group(2))
        elif line.startswith("calls="):
            call = True
        elif line.startswith(("jump=", "jcnd=")):
            jump = True
        elif re.match(r"^(?:[-+]?\d|\*)", line):
            costs = [int(c) for c in line.split()[columns:]]
            if jump:
                jump = False
                continue
            for event, cost in enumerate(costs):
                own[here][event] += cost
                if call:
                    called[f"{callee[0] or file}:{callee[1]}"][event] += cost
            if call:
                call, callee = False, [None, None]
    return [{key: max(own[key][e], called[key][e]) for key in set(own) | set(called)} for e in range(len(events))]


def compare(profd, tests, path, report, by_sums):
    summary = subprocess.run([profd, "summary", "--json", "--no-cache", path], capture_output=True)
    if summary.returncode != 0:
        return "refused"
    metrics = [m["name"] for m in json.loads(summary.stdout)["metrics"]]
    inclusive_of = inclusive_costs(tests, path)
    events = metrics[:metrics.index("calls")]
    compared = 0
    with open(path, "rb") as f:
        content = f.read()
    if b"\ncalls=0 " in content:
        return "not read right by callgrind_annotate (it takes the cost of a call that began in another part for self cost)"
    if os.path.basename(path) == "corrupt-name.callgrind":
        return "not read right by callgrind_annotate (a function that is never named has no name there)"
    sums = inclusive_sums(path)
    for inclusive in ("no", "yes"):
        theirs = annotate(path, inclusive)
        if theirs is None:
            return "not read by callgrind_annotate"
        for number, (event, rows) in enumerate(zip(events, theirs)):
            factor = 10 if event == "Time" and b"Time_(10ns)" in content else 1
            metric = event if inclusive == "no" else event + " inclusive"
            ours = top(profd, path, event)
            mine = collections.Counter()
            for row in ours:
                mine[row["name"]] += row["self"]
            if inclusive == "yes" and not inclusive_of:
                continue  # a tree: the inclusive costs that Xdebug states differ from the sums of its own blocks by its rounding
            peers = by_name(rows, ours)
            if inclusive == "yes":
                # callgrind_annotate gives the cost of the calls to a function to the file it is defined in, and lists its
                # inlined code once more beside that: the first alone is comparable.
                mine = inclusive_of[metric]
                peers = collections.Counter({key: rows[key] for key in mine})
            for name in set(mine) | set(peers):
                compared += 1
                if inclusive == "yes" and mine[name] == sums[number][name] * factor > peers[name] * factor:
                    by_sums.append(name)
                elif mine[name] != peers[name] * factor:
                    report(path, metric, f"{name}: {mine[name]} here, {peers[name] * factor} there")
    return compared


def main():
    profd, tests, files = sys.argv[1], sys.argv[2], sys.argv[3:]
    if shutil.which("callgrind_annotate") is None:
        print("NOT RUN: no callgrind_annotate")
        return 77
    problems, compared, by_sums = [], 0, []
    for path in files or files_to_test():
        result = compare(profd, tests, path, lambda *what: problems.append(what), by_sums)
        if isinstance(result, int):
            compared += result
        else:
            print(f"{os.path.basename(path)}: {result}")
    for path, metric, what in problems[:60]:
        print(f"FAIL {os.path.basename(path)} {metric}: {what}")
    print(f"{compared} functions compared, {len(problems)} differ; {len(by_sums)} cost more than the calls to them")
    return 1 if problems or compared == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
