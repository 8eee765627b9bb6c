#!/usr/bin/env python3
"""Fails when a page in docs/formats/ lacks one of the headings that all of them have, or has them in another order."""

from __future__ import annotations

import re
import sys
from pathlib import Path

REQUIRED = ["Recording", "What is read", "What is lost", "Verified"]
# All that may stand on the second level, in order; finer things are on the third.
ORDER = ["Recording", "What is read", "What is lost", "What is written", "Refused", "Sniffing", "Verified"]


def sections_of(text: str) -> list[tuple[str, str]]:
    """Headings of the second level with what stands below them; fenced code has none."""
    sections: list[tuple[str, str]] = []
    fenced = False
    for line in text.splitlines():
        fenced ^= line.startswith("```")
        if not fenced and re.match(r"## ", line):
            sections.append((line[3:].strip(), ""))
        elif sections:
            name, body = sections[-1]
            sections[-1] = (name, body + line + "\n")
    return sections


def problems_of(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    sections = sections_of(text)
    names = [name for name, _ in sections]
    problems = [] if text.startswith("# ") else ["the first line is no title"]
    problems += [f"no heading `## {name}`" for name in REQUIRED if name not in names]
    problems += [f"`## {name}` is none of: {', '.join(ORDER)}" for name in names if name not in ORDER]
    known = [name for name in names if name in ORDER]
    if known != sorted(set(known), key=ORDER.index):
        problems.append(f"headings are not in the order of: {', '.join(ORDER)}")
    problems += [f"nothing below `## {name}`" for name, body in sections if not body.strip()]
    return [f"{path.name}: {problem}" for problem in problems]


def main() -> int:
    folder = Path(__file__).resolve().parents[2] / "docs" / "formats"
    pages = [page for page in sorted(folder.glob("*.md")) if page.name != "README.md"]
    problems = [problem for page in pages for problem in problems_of(page)]
    for problem in problems:
        print(problem)
    if not pages:
        print(f"no pages in {folder}")
    print(f"{len(pages)} pages, {len(problems)} problems")
    return 0 if pages and not problems else 1


if __name__ == "__main__":
    sys.exit(main())
