#!/usr/bin/env python3
"""Boxes of a timeline by thread and depth, against calls that are counted over raw traces of Chrome, speedscope and Xdebug: calls side by side are two,
calls of no length are there, calls that cross others are in lanes, what has no end goes on, ends without a begin are nothing.

Usage: timeline_boxes.py PROFD. Reads the test data, and the corpus where it is (PROFD_CORPUS, or ../shared/corpus beside the project).
"""

import json
import os
import sys
from collections import Counter
from decimal import ROUND_HALF_UP, Decimal
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "tests/e2e")]

from psp_client import Daemon  # noqa: E402
from timeline_counts import CORPUS, events_of, text_of  # noqa: E402

OPEN = 1


def nanoseconds(microseconds):
    return int((Decimal(str(microseconds)) * 1000).quantize(Decimal(1), ROUND_HALF_UP))


UNITS = {"nanoseconds": 1, "microseconds": 10**3, "milliseconds": 10**6, "seconds": 10**9}


def boxes_of(calls):
    """Of (begin, end, is open, …): by depth how many there are, how many are in lanes, how many are open; and how many take no time."""
    depths, lanes, n_open, ticks, stack = Counter(), 0, 0, 0, []
    for begin, end, is_open, *_ in sorted(calls, key=lambda c: (c[0], c[0] - c[1], *c[3:])):
        ticks += begin == end
        while stack and stack[-1] <= begin:
            stack.pop()
        if stack and end > stack[-1]:
            lanes += 1
            continue
        stack.append(end)
        depths[len(stack) - 1] += 1
        n_open += is_open
    return (tuple(sorted(depths.items())), lanes, n_open), ticks


class Thread:
    def __init__(self):
        self.events = []  # (time, order, phase, name, duration)

    def calls(self):
        """(begin, end, is open, is X, order); ends close the innermost call of their name, and what is open inside it."""
        out, begun, n_stray = [], [], 0
        last = max((time + (duration or 0) for time, _, phase, _, duration in self.events if phase in "BX"), default=0)

        def close(time, name):
            found = next((i for i in reversed(range(len(begun))) if name is None or begun[i][2] == name), None)
            if found is None:
                return False
            out.extend((begin, time, False, False, order) for begin, order, _ in begun[found:])
            del begun[found:]
            return True

        for time, moment in groupby(sorted((e for e in self.events if e[2] in "BE"), key=lambda e: e[0]), key=lambda e: e[0]):
            # Ends of one moment stand in any order, before the begin that they are of as well.
            waiting = []
            for _, order, phase, name, _ in moment:
                if phase == "B":
                    begun.append((time, order, name))
                elif close(time, name):
                    last = max(last, time)
                else:
                    waiting.append(name)
            for name in waiting:
                if close(time, name):
                    last = max(last, time)
                else:
                    n_stray += 1
        out += [(begin, max(last, begin), True, False, order) for begin, order, _ in begun]
        out += [(time, time + duration, False, True, order) for time, order, phase, _, duration in self.events if phase == "X"]
        return out, n_stray


def told_of(threads, operations=0):
    """threads: (calls, ends without a begin) of each."""
    told, totals = [], Counter(operations=operations)
    any_length = False
    for calls, n_stray in threads:
        boxes, ticks = boxes_of(calls)
        n = sum(n for _, n in boxes[0])
        totals.update(calls=n, crossing=boxes[1], open=boxes[2], ticks=ticks, stray=n_stray)
        any_length = any_length or n + boxes[1] > ticks
        if n + boxes[1] > 0:
            told.append(boxes)
    # Where no call takes time they are drawn as samples.
    return sorted(told) if any_length else [], operations, totals


def speedscope(text):
    threads, profiles = [], json.loads(text)["profiles"]
    if any(profile["type"] != "evented" or profile["unit"] not in UNITS for profile in profiles):
        return told_of([])
    for profile in profiles:
        moment = lambda at: int((Decimal(str(at)) * UNITS[profile["unit"]]).quantize(Decimal(1), ROUND_HALF_UP))
        calls, begun, last = [], [], 0
        for order, event in enumerate(profile["events"]):
            last = moment(event["at"])
            if event["type"] == "O":
                begun.append((last, order))
            else:
                begin, number = begun.pop()
                calls.append((begin, last, False, number))
        calls += [(begin, max(last, moment(profile["endValue"])), False, number) for begin, number in begun]
        threads.append((calls, 0))
    return told_of(threads)


def xdebug(text):
    calls, begun, last, n_stray = [], [], 0, 0
    for order, line in enumerate(text.splitlines()):
        fields = line.split("\t")
        if len(fields) < 5 or fields[2] not in ("0", "1"):
            continue
        last = max(last, int(Decimal(fields[3]) * 10**9))
        if fields[2] == "0":
            begun.append((last, fields[1], order))
            continue
        found = next((i for i in reversed(range(len(begun))) if begun[i][1] == fields[1]), None)
        n_stray += found is None
        if found is not None:
            calls += [(begin, last, False, number) for begin, _, number in begun[found:]]
            del begun[found:]
    return told_of([(calls + [(begin, max(begin, last), True, number) for begin, _, number in begun], n_stray)])


def chrome(text):
    threads, operations = {}, 0
    for order, event in enumerate(events_of(text)):
        phase = (event.get("ph") or " ")[0]
        if event.get("ts") in (None, ""):
            continue
        operations += phase in "bS"
        if phase not in "BEX":
            continue
        duration = None
        if phase == "X":
            given = event.get("dur", event.get("tdur", 0))
            duration = max(0, nanoseconds(given))
        thread = threads.setdefault((str(event.get("pid")), str(event.get("tid"))), Thread())
        thread.events.append((nanoseconds(event["ts"]), order, phase, event.get("name") or None, duration))
    return told_of([thread.calls() for thread in threads.values()], operations)


FORMATS = {"chrome-trace": chrome, "speedscope": speedscope, "xdebug-trace": xdebug}


def found(client, path, format_id):
    opened = client.request("profile/open", {"uri": path.as_uri(), "options": {"watch": False}}, timeout_s=120)
    if opened.error or opened.result["summary"]["format"]["id"] != format_id:
        return None
    profile = (opened.result.get("profiles") or [{"profile": opened.result["profile"]}])[-1]["profile"]
    ask = {"profile": profile, "spec": "top-down", "width": 1600, "tracks": 1000}
    answer = client.request("view/timeline", ask, timeout_s=120)
    if answer.error:
        return None
    told, operations = [], 0
    for track in answer.result["tracks"]:
        chart = client.request("view/timeline", {**ask, "charts": [track["id"]]}, timeout_s=120)
        if chart.error:
            return None
        (chart,) = chart.result["charts"]
        if chart.get("notes"):
            return None
        boxes, depths, lanes, n_open = chart["boxes"], Counter(), 0, 0
        for depth, count, flags in zip(boxes["depth"], boxes["count"], boxes["flags"]):
            if depth < chart["rows"]:
                depths[depth] += count
                n_open += flags & OPEN
            else:
                lanes += count
        if track["kind"] == "tasks":
            operations += lanes
        elif depths or lanes:
            told.append((tuple(sorted(depths.items())), lanes, n_open))
    return sorted(told), operations


def main():
    profd = sys.argv[1]
    failures, compared, totals = [], 0, Counter()
    folders = [(ROOT / "formats" / name.replace("-", "_") / "testdata", name) for name in FORMATS]
    if CORPUS.is_dir():
        folders += [(CORPUS / name, name) for name in FORMATS]
    else:
        print("PARTLY NOT RUN: no corpus of real files (PROFD_CORPUS): only the test data is compared")
    with Daemon([profd, "serve", "--stdio"], dict(os.environ, PROFD_CACHE="off", PROFD_SYMBOLS="off")) as daemon:
        client = daemon.stdio_client()
        client.initialize(None)
        for path, name in sorted((path, name) for folder, name in folders for path in folder.iterdir()):
            if path.suffix in (".md", ".golden", ".txt") or not path.is_file():
                continue
            told = found(client, path, name)
            if told is None:
                print(f"{path.name}: no timeline of it, not compared")
                continue
            try:
                threads, operations, counted = FORMATS[name](text_of(path))
            except (json.JSONDecodeError, KeyError) as error:
                print(f"{path.name}: no JSON for Python ({error}), not compared")
                continue
            if not threads:  # of samples alone
                continue
            compared += 1
            totals.update(counted)
            if told != (threads, operations):
                failures.append(f"{path}: in the file {threads} and {operations} operations, by view/timeline {told[0]} and {told[1]}")
    print(f"{compared} files compared: {dict(totals)}")
    if compared < 4 or not all(totals[key] > 0 for key in ("calls", "ticks")):
        failures.append(f"too little was compared: {dict(totals)}")
    for failure in failures:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
