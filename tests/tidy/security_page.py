#!/usr/bin/env python3
"""Fails when a sentence or a row of docs/security.md has no test, or names one that is not there.

usage: security_page.py [--missing]

security_tests.tsv says what is tested where: the beginning of a sentence or row, a tab, the name of a test (of
Catch2, of Python, of the page, or an act of the soak), or `-` for what promises nothing: headings, explanations, and
what is said to be not defended. --missing prints what has no entry, ready to be filled in.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "security.md"
TABLE = Path(__file__).with_name("security_tests.tsv")
# Where the name of a test stands.
NAMED = [
    ("tests/unit/**/*.cpp", r'TEST_CASE\(\s*"((?:[^"\\]|\\.)*)"'),
    ("formats/**/*.cpp", r'TEST_CASE\(\s*"((?:[^"\\]|\\.)*)"'),
    ("tests/e2e/**/*.py", r"def (test_\w+)"),
    ("tests/e2e/**/*.mjs", r'test\(\s*"([^"]+)"'),
    ("tests/e2e/vscode/scenes/*.mjs", r'stage\.step\(\s*"([^"]+)"'),
    ("tests/soak/scenes/**/*.py", r'@act\(\s*"([^"]+)"'),
    ("clients/web/test/*.test.ts", r'\b(?:it|test)\(\s*"([^"]+)"'),
]


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)).strip()


def statements(page: str) -> list[str]:
    """Rows of tables, and sentences of what stands between headings, each on one line."""
    found: list[str] = []
    prose: list[str] = []

    def flush() -> None:
        text = plain(" ".join(prose))
        found.extend(part for part in re.split(r"(?<=[.:])\s+(?=[A-Z`*0-9])", text) if part)
        prose.clear()

    heads = 0
    for line in page.splitlines():
        if line.startswith("|"):
            flush()
            heads += 1
            if heads > 2:
                found.append(plain(line.strip("| ")))
            continue
        heads = 0
        bullet = re.match(r"\s*- (.*)", line)
        if line.startswith("#") or not line.strip() or bullet:
            flush()
        if not line.startswith("#"):
            prose.append(bullet.group(1) if bullet else line)
    flush()
    return found


def names_of_tests() -> set[str]:
    names: set[str] = set()
    for pattern, form in NAMED:
        for path in ROOT.glob(pattern):
            if "node_modules" in path.parts:
                continue
            text = path.read_text(encoding="utf-8", errors="replace")
            text = re.sub(r'"\s*\n\s*"', "", text)
            names.update(re.findall(form, text))
    return names


def main() -> int:
    said = statements(PAGE.read_text(encoding="utf-8"))
    rows = [line.split("\t") for line in TABLE.read_text(encoding="utf-8").splitlines() if line.strip()]
    missing = [one for one in said if not any(one.startswith(row[0]) for row in rows)]
    if "--missing" in sys.argv:
        print("\n".join(missing))
        return 0
    tests = names_of_tests()
    problems = [f"no test is named for: {one}" for one in missing]
    problems += [f"nothing on the page begins with: {row[0]}" for row in rows
                 if not any(one.startswith(row[0]) for one in said)]
    problems += [f"no such test: {name} (for: {row[0]})" for row in rows for name in row[1:]
                 if name != "-" and name not in tests]
    problems += [f"no test beside: {row[0]}" for row in rows if len(row) < 2]
    for problem in problems:
        print(problem)
    print(f"{len(said)} statements of {PAGE.name}, {len(rows)} entries")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
