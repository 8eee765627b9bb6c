#!/usr/bin/env python3
"""Fails when docs/glossary.md names a file that is not there, or a word that the file does not have."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROW = re.compile(r"\| (?P<word>[^|]+) \| (?P<meaning>[^|]+) \| `(?P<file>[^`]+)` `(?P<name>\w+)` \|$")


def problems_of(line: str) -> list[str]:
    row = ROW.match(line)
    if not row:
        return [f"no row of word, meaning, `file` `name`: {line}"]
    path = ROOT / row["file"]
    problems = []
    if not row["meaning"].endswith("."):
        problems.append("the meaning is no sentence")
    if not path.is_file():
        problems.append(f"there is no {row['file']}")
    elif not re.search(rf"\b{row['name']}\b", path.read_text(encoding="utf-8")):
        problems.append(f"{row['file']} has no {row['name']}")
    return [f"{row['word']}: {problem}" for problem in problems]


def main() -> int:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| ")][2:]
    problems = [problem for line in rows for problem in problems_of(line)]
    words = [line.split("|")[1].strip() for line in rows]
    if words != sorted(set(words)):
        problems.append("words are not in alphabetical order, or one stands there twice")
    for problem in problems:
        print(problem)
    print(f"{len(rows)} words, {len(problems)} problems")
    return 0 if rows and not problems else 1


if __name__ == "__main__":
    sys.exit(main())
