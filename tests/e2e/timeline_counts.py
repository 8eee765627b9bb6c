#!/usr/bin/env python3
"""Counts of spans, markers, counters and tasks by `profd summary --json`, and the tables of `profd markers --json`, against a count over
the raw JSON.

Usage: timeline_counts.py PROFD. Reads the test data of Chrome traces and Firefox profiles, and the corpus where it
is (PROFD_CORPUS, or ../shared/corpus beside the project); says so where it is not.
"""

import gzip
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
CORPUS = Path(os.environ.get("PROFD_CORPUS", ROOT.parent / "shared" / "corpus"))
CPU_PARTS = ("Profile", "ProfileChunk", "CpuProfile")


def text_of(path):
    data = path.read_bytes()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    for encoding in ("utf-8-sig", "utf-16"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("utf-8", "replace")


def events_of(text):
    """The events of a Chrome trace; streams may lack their end."""
    body = text.strip()
    try:
        value = json.loads(body)
    except json.JSONDecodeError:
        if not body.startswith("["):
            fixed = re.sub(r",\s*\]\s*\}?\s*$", "]", body)
            value = json.loads(fixed if fixed.startswith("[") else fixed + "}")
        else:
            value = json.loads(re.sub(r",\s*\]?\s*$", "", body.removesuffix("]")) + "]")
    events = value if isinstance(value, list) else value["traceEvents"]
    return [e for e in events if e]


def is_number(value):
    if isinstance(value, bool):
        return False
    if isinstance(value, (int, float)):
        return True
    try:
        float(value)
        return True
    except (TypeError, ValueError):
        return False


def count_chrome(text):
    spans = markers = points = 0
    counters, tasks = set(), set()
    noted = Counter()  # what a table of markers lists, by name: asynchronous operations, too
    for event in events_of(text):
        phase = event.get("ph")
        if event.get("ts") in (None, "") or not phase:
            continue
        phase = phase[0]
        name, args = event.get("name", ""), event.get("args")
        ids = event.get("id2") or {}
        local = ids.get("local")
        key = str(local if local is not None else ids.get("global", event.get("id", "")))
        if phase in "XB":
            spans += 1
        elif phase in "iIRP":
            if "sf" in event or isinstance(event.get("stack"), list):
                continue
            if phase in "IP" and isinstance(args, dict) and name in CPU_PARTS:
                continue
            markers += 1
            noted[name] += 1
        elif phase == "C":
            for series, value in (args or {}).items():
                if is_number(value):
                    counters.add((event.get("pid"), name, key, series))
                    points += 1
        elif phase in "benSTpF":
            spans += phase in "bS"
            markers += phase in "nTp"
            if phase in "bSnTp":
                noted[name] += 1
            owner = event.get("pid") if local is not None else None
            older = name if phase in "STpF" else None
            tasks.add((event.get("cat", ""), key, event.get("scope", ""), owner, older))
    return {"spans": spans, "markers": markers, "counters": len(counters), "points": points, "tasks": len(tasks)}, noted


def marker_phase(phase, data):
    if phase is not None:
        return phase
    data = data or {}
    if isinstance(data.get("startTime"), (int, float)) and isinstance(data.get("endTime"), (int, float)):
        return 1
    return {"start": 2, "end": 3}.get(data.get("interval"), 0)


def count_markers(rows):
    """rows: (name, start, end, phase, data). Starts and ends are one marker, an end alone is none."""
    n = 0
    for _name, start, _end, phase, data in rows:
        kind = marker_phase(phase, data)
        if kind != 3 and (start is not None or (phase is None and kind == 1)):
            n += 1
    return n


def gecko_rows(table, wanted):
    schema = table["schema"]
    places = schema if isinstance(schema, dict) else {name: i for i, name in enumerate(schema)}

    def at(row, names):
        for name in names:
            place = places.get(name)
            if place is not None:
                return row[place] if place < len(row) else None
        return None

    return [tuple(at(row, names) for names in wanted) for row in table["data"]]


MARKER = (("name",), ("startTime", "time"), ("endTime",), ("phase",), ("data",))


def counter_points(counter):
    groups = counter.get("sampleGroups", counter.get("sample_groups"))
    if groups is None:
        samples = [counter["samples"]] if "samples" in counter else []
    else:
        samples = [g["samples"] for g in (groups if isinstance(groups, list) else [groups])]
    n = 0
    for table in samples:
        if "schema" in table:
            n += sum(time is not None for (time,) in gecko_rows(table, (("time",),)))
        else:
            n += min(len(table.get("time", table.get("timeDeltas", []))), len(table.get("count", [])))
    return n


def count_firefox(profile):
    """(markers, counters, points) of a profile and of the processes in it."""
    if "threads" not in profile and "profile" in profile:
        profile = profile["profile"]
    total = Counter(markers=0, counters=0, points=0)
    for thread in profile.get("threads", []) + profile.get("processes", []):
        if isinstance(thread, str):
            total.update(count_firefox(json.loads(thread)))
            continue
        if "threads" in thread:
            total.update(count_firefox(thread))
            continue
        table = thread.get("markers")
        if not isinstance(table, dict):
            continue
        if "schema" in table:
            total["markers"] += count_markers(gecko_rows(table, MARKER))
        else:
            n = len(table.get("name", []))
            columns = [table.get(names[0], table.get(names[-1], [None] * n)) for names in MARKER]
            total["markers"] += count_markers(zip(*columns))
    for counter in profile.get("counters") or []:
        points = counter_points(counter)
        total["counters"] += 1
        total["points"] += points
    return total


def summary(profd, path, number=None):
    command = [profd, "summary", "--json", str(path)]
    if number is not None:
        command += ["--profile", str(number)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PROFD_CACHE": "off", "PROFD_SYMBOLS": "off"}, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else None


def table_of_markers(profd, path, number=None):
    """(how many there are, how many of each name) as the tables say."""
    command = [profd, "markers", "--json", "--by-name", "-n", "0", str(path)]
    if number is not None:
        command += ["--profile", str(number)]
    environment = {**os.environ, "PROFD_CACHE": "off", "PROFD_SYMBOLS": "off"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode != 0:
        return None, None
    answer = json.loads(done.stdout)
    names = Counter()
    for name, n in zip(answer["groups"]["name"], answer["groups"]["count"]):
        names[name] += n
    return answer["markerCount"], names


def compare_tables(profd, path, number, wanted, noted, failures):
    if wanted == 0:
        return 0
    count, names = table_of_markers(profd, path, number)
    if count != wanted:
        failures.append(f"{path}: {wanted} markers and asynchronous operations in the file, {count} by profd markers")
    elif sum(names.values()) != wanted or (noted is not None and names != noted):
        failures.append(f"{path}: the names of markers are others by profd markers")
    return 1


def compare(path, wanted, found, failures):
    for key, value in wanted.items():
        if found.get(key, 0) != value:
            failures.append(f"{path}: {key}: {value} in the file, {found.get(key, 0)} by profd summary")


def main():
    profd = sys.argv[1]
    failures, compared, tables, totals = [], 0, 0, Counter()
    folders = [(ROOT / "formats/chrome_trace/testdata", "chrome-trace"), (ROOT / "formats/firefox/testdata", "firefox")]
    if CORPUS.is_dir():
        folders += [(CORPUS / "chrome-trace", "chrome-trace"), (CORPUS / "firefox", "firefox")]
    else:
        print("PARTLY NOT RUN: no corpus of real files (PROFD_CORPUS): only the test data is compared")
    for folder, format_id in folders:
        for path in sorted(folder.iterdir()):
            if path.suffix in (".md", ".golden", ".txt") or not path.is_file():
                continue
            first = summary(profd, path)
            if first is None or first["format"] != format_id:
                print(f"{path.name}: not read as {format_id}, not compared")
                continue
            text = text_of(path)
            if format_id == "chrome-trace":
                # What is on no stack is in every profile of the file, calls are in the last.
                n = len(first.get("profiles", [1]))
                try:
                    wanted, noted = count_chrome(text)
                except (json.JSONDecodeError, KeyError) as error:
                    print(f"{path.name}: no JSON for Python ({error}), not compared")
                    continue
                number = n if n > 1 else None
                found = summary(profd, path, number) if n > 1 else first
                listed = sum(noted.values())
            else:
                found, wanted, noted, number = first, count_firefox(json.loads(text)), None, None
                listed = wanted["markers"]
            compare(path, wanted, found.get("timeline", {}), failures)
            tables += compare_tables(profd, path, number, listed, noted, failures)
            compared += 1
            totals.update(wanted)
    print(f"{compared} files compared, {tables} tables of markers: {dict(totals)}")
    if compared < 8 or tables < 4 or not all(totals[key] > 0 for key in ("spans", "markers", "counters", "points", "tasks")):
        failures.append(f"too little was compared: {dict(totals)}")
    for failure in failures:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
