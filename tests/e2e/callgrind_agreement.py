#!/usr/bin/env python3
"""What profd shows against `callgrind_annotate`: self and inclusive cost of every function, and of every line of every
file, with and without the calls made there, for every event.

usage: callgrind_agreement.py PROFD [FILE...]. Without files: the fixtures in the tree, and the corpus when it is there.
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
import tempfile

import answers

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


def top(profd, path, metric, granularity="function"):
    command = [profd, "top", "--json", "-n", "0", "--no-cache", "--granularity", granularity, "--metric", metric, path]
    return answers.rows_of(json.loads(subprocess.run(command, capture_output=True, check=True).stdout))


def inclusive_costs(rows):
    """{"file:name": cost}, for a profile whose tree is an estimate: what is not stated would say so."""
    out = collections.Counter()
    for row in rows:
        assert not row["estimated"], row
        out[f"{row['file'] or '???'}:{row['name']}"] += row["total"]
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
    more. callgrind_annotate knows the latter only, so that what a thread begins with has next to no cost there.
    And {(file, line): functions that call from there}: callgrind_annotate shows the calls of one of them."""
    names = {"f": {}, "n": {}}  # of files and functions
    own, called = collections.defaultdict(collections.Counter), collections.defaultdict(collections.Counter)
    file, function, here, callee, call, events, jump = "???", None, None, [None, None], False, [], False
    callers, positions = collections.defaultdict(set), ["line"]
    at = {}

    def name(space, text):
        match = re.match(r"^\((\d+)\)(?: (.*))?$", text)
        if not match:
            return text
        if match.group(2) is not None:
            names[space][match.group(1)] = match.group(2)
        return names[space].get(match.group(1), f"({match.group(1)})")  # yappi numbers names that it never gives

    def move(words):
        for kind, word in zip(positions, words):
            first = re.match(r"[-+]?(?:0x[0-9a-fA-F]+|\d+)", word)  # of a range, where it begins
            if first:
                at[kind] = (at.get(kind, 0) if word[0] in "+-" else 0) + int(first.group(0), 0)

    for line in open(path, encoding="utf-8", errors="replace"):
        line = line.strip()
        if line.startswith("events:"):
            events = line.split()[1:]
        elif line.startswith("positions:"):
            positions = line.split()[1:]
        elif match := re.match(r"^(fl|fi|fe)=(.*)$", line):
            file = name("f", match.group(2))
        elif match := re.match(r"^fn=(.*)$", line):
            function = name("n", match.group(1))
            here = f"{file}:{function}"
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
            words = line.split()
            move(words)
            costs = [int(c) for c in words[len(positions):]]
            if jump:
                jump = False
                continue
            for event, cost in enumerate(costs):
                own[here][event] += cost
                if call:
                    called[f"{callee[0] or file}:{callee[1]}"][event] += cost
            if call:
                callers[file, at.get("line", 0)].add(f"{file}:{function}")
                call, callee = False, [None, None]
    return [{key: max(own[key][e], called[key][e]) for key in set(own) | set(called)} for e in range(len(events))], callers


def annotate_lines(path, longest):
    """{(file, line): [self by event, calls by event]}. `longest`: {file: its last line}; the files themselves need not be
    there, as lines of any text are annotated."""
    with tempfile.TemporaryDirectory() as outside:
        folder = os.path.join(outside, *"stand-ins")  # deep enough for paths that climb
        os.makedirs(folder)
        for file, n_lines in longest.items():
            stand_in = os.path.join(folder, file.lstrip("/"))
            os.makedirs(os.path.dirname(stand_in), exist_ok=True)
            with open(stand_in, "w") as f:
                f.write("text\n" * n_lines)
            os.utime(stand_in, (0, 0))
        command = ["callgrind_annotate", "--threshold=100", "--auto=yes", "--show-percs=no", "--context=0", "--include=" + folder, path]
        text = subprocess.run(command, capture_output=True, cwd=folder).stdout.decode("utf-8", "replace")
    out, file, at, n = {}, None, 0, 0
    for line in text.split("\n"):
        if line.startswith("Events shown:"):
            n = len(line.split()) - 2
        elif match := re.match(r"^-- Auto-annotated source: (?:.* \+ )?(.*)$", line):
            file, at = match.group(1), 0
        elif match := re.match(r"^-- line (\d+) -+$", line):
            at = int(match.group(1)) - 1
        elif file is None or not n:
            continue
        elif match := re.match(r"^\s*((?:(?:[\d,]+|\.)\s+){%d})(.*)$" % n, line):
            costs = [0 if word == "." else int(word.replace(",", "")) for word in match.group(1).split()]
            if bogus := re.match(r"^<bogus line (\d+)>$", match.group(2)):
                out[file, int(bogus.group(1))] = [costs, [0] * n]
            elif re.match(r"^=> .* \([\d,]+x\)$", match.group(2)):
                row = out.setdefault((file, at), [[0] * n, [0] * n])
                row[1] = [a + b for a, b in zip(row[1], costs)]
            elif not match.group(2).startswith("<counts for unidentified") and match.group(2) != "events annotated":
                at += 1
                out[file, at] = [costs, [0] * n]
    return out


def compare_lines(profd, path, events, callers, factor_of, report):
    """Lines of all files: what runs there, and that with the calls made there."""
    by_event = []
    for event in events:
        lines = collections.defaultdict(lambda: [0, 0])
        for row in top(profd, path, event, "line"):
            if row["file"] and row["line"]:
                line = lines[row["file"], row["line"]]
                line[0] += row["self"]
                line[1] += row["total"]
        by_event.append(lines)
    longest = collections.Counter()
    for lines in by_event:
        for file, line in lines:
            longest[file] = min(max(longest[file], line), 200_000)
    theirs = annotate_lines(path, longest)
    compared = 0
    for number, (event, lines) in enumerate(zip(events, by_event)):
        for (file, line), (own, calls) in theirs.items():
            mine = lines.get((file, line)) or lines.get(("/" + file.lstrip("/"), line)) or lines.get((file.lstrip("/"), line)) or [0, 0]
            factor = factor_of(event)
            own, total = own[number] * factor, (own[number] + calls[number]) * factor
            compared += 1
            if mine[0] != own:
                report(path, event, f"{file}:{line}: {mine[0]} here, {own} there")
            elif mine[1] != total and not (mine[1] > total and len(callers[file, line] | callers["/" + file, line]) > 1):
                report(path, event + " with calls", f"{file}:{line}: {mine[1]} here, {total} there")
    return compared


def compare(profd, path, report, by_sums):
    summary = subprocess.run([profd, "summary", "--json", "--no-cache", path], capture_output=True)
    if summary.returncode != 0:
        return "refused"
    summary = json.loads(summary.stdout)
    metrics = [m["name"] for m in summary["metrics"]]
    events = metrics[:metrics.index("calls")]
    compared = 0
    with open(path, "rb") as f:
        content = f.read()
    if b"\ncalls=0 " in content:
        return "not read right by callgrind_annotate (it takes the cost of a call that began in another part for self cost)"
    if os.path.basename(path) == "corrupt-name.callgrind":
        return "not read right by callgrind_annotate (a function that is never named has no name there)"
    sums, callers = inclusive_sums(path)

    def factor_of(event):
        return 10 if event == "Time" and b"Time_(10ns)" in content else 1

    for inclusive in ("no", "yes"):
        theirs = annotate(path, inclusive)
        if theirs is None:
            return "not read by callgrind_annotate"
        for number, (event, rows) in enumerate(zip(events, theirs)):
            factor = factor_of(event)
            metric = event if inclusive == "no" else event + " inclusive"
            ours = top(profd, path, event)
            mine = collections.Counter()
            for row in ours:
                mine[row["name"]] += row["self"]
            if inclusive == "yes" and not summary.get("paths_estimated"):
                continue  # a tree: the inclusive costs that Xdebug states differ from the sums of its own blocks by its rounding
            peers = by_name(rows, ours)
            if inclusive == "yes":
                # callgrind_annotate gives the cost of the calls to a function to the file it is defined in, and lists its
                # inlined code once more beside that: the first alone is comparable.
                mine = inclusive_costs(ours)
                peers = collections.Counter({key: rows[key] for key in mine})
            for name in set(mine) | set(peers):
                compared += 1
                if inclusive == "yes" and mine[name] == sums[number][name] * factor > peers[name] * factor:
                    by_sums.append(name)
                elif mine[name] != peers[name] * factor:
                    report(path, metric, f"{name}: {mine[name]} here, {peers[name] * factor} there")
    if summary.get("paths_estimated"):
        compared += compare_lines(profd, path, events, callers, factor_of, report)
    return compared


def main():
    profd, files = sys.argv[1], sys.argv[2:]
    if shutil.which("callgrind_annotate") is None:
        print("NOT RUN: no callgrind_annotate")
        return 77
    problems, compared, by_sums = [], 0, []
    for path in files or files_to_test():
        result = compare(profd, path, lambda *what: problems.append(what), by_sums)
        if isinstance(result, int):
            compared += result
        else:
            print(f"{os.path.basename(path)}: {result}")
    for path, metric, what in problems[:60]:
        print(f"FAIL {os.path.basename(path)} {metric}: {what}")
    print(f"{compared} functions and lines compared, {len(problems)} differ; {len(by_sums)} cost more than the calls to them")
    return 1 if problems or compared == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
