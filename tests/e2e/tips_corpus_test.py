#!/usr/bin/env python3
"""Tips are rare: of the profiles of the corpus at most a tenth has three, and none has one without evidence.

usage: tips_corpus_test.py PROFD [--list]

What dropping the stacks of a tip leaves is asked of the program, too: it is the whole without the bound.
"""
import collections
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MOST_BYTES = 20 << 20
# A file with more is a fleet of its own.
MOST_OF_FOLDER = 40


def corpora():
    """Folders of files, as tests/conformance/files.cpp finds them."""
    given = os.environ.get("PROFD_CORPUS")
    if given:
        return [given]
    folder = ROOT
    while folder != "/":
        found = [os.path.join(folder, "shared", name) for name in ("corpus", "corpus-2026")]
        if os.path.isdir(found[0]):
            return [one for one in found if os.path.isdir(one)]
        folder = os.path.dirname(folder)
    return []


def files_of(folders):
    for folder in folders:
        for path, folders_below, names in os.walk(folder):
            folders_below.sort()
            for name in sorted(names)[:MOST_OF_FOLDER]:
                file = os.path.join(path, name)
                if not name.endswith((".md", ".tsv", ".txt.expected")) and 0 < os.path.getsize(file) < MOST_BYTES:
                    yield file


def main():
    profd = os.path.abspath(sys.argv[1])
    folders = corpora()
    if not folders:
        print("NOT RUN: there is no corpus")
        return 0
    environment = dict(os.environ, PROFD_CACHE="off", NO_COLOR="1")

    def run(*arguments):
        try:
            done = subprocess.run([profd, *arguments], capture_output=True, env=environment, stdin=subprocess.DEVNULL, timeout=60, cwd="/")
        except subprocess.TimeoutExpired:
            return None
        return done.stdout.decode(errors="replace") if done.returncode == 0 else None

    by_count, by_id, wrong, checked = collections.Counter(), collections.Counter(), 0, 0
    for file in files_of(folders):
        text = run("summary", "--json", "--no-symbols", file)
        if text is None:
            continue
        summary = json.loads(text)
        tips = summary["tips"]
        by_count[len(tips)] += 1
        for tip in tips:
            by_id[tip["id"]] += 1
            if "--list" in sys.argv:
                print(f"{os.path.relpath(file, os.path.dirname(folders[0]))}: {tip['id']}: {tip['text']}")
            if "bound" not in tip or checked >= 60:
                continue
            checked += 1
            dropped = tip["filter"].replace("keep", "drop", 1)
            rest = run("top", "--json", "--no-symbols", "-n", "1", "--filter", dropped, file)
            whole = json.loads(rest)["total"]["value"]
            left = json.loads(rest)["viewTotal"]["value"]
            if abs(whole - left - tip["bound"]) > 1e-6 * abs(whole):
                wrong += 1
                print(f"{file}: dropping {dropped} saves {whole - left}, the tip says {tip['bound']}")
    n = sum(by_count.values())
    print(f"{n} profiles; with 0, 1, 2, 3 tips: {', '.join(str(by_count[i]) for i in range(4))}; {checked} bounds checked, {wrong} wrong")
    print(", ".join(f"{name} {count}" for name, count in by_id.most_common()))
    if by_count[3] > 0.1 * n:
        print("more than a tenth has three tips")
        return 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
