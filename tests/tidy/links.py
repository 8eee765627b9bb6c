#!/usr/bin/env python3
"""Fails when a link of a page goes to a file of the project that is not there, or to a heading that its page does not have."""

from __future__ import annotations

import functools
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\((?P<target>[^()\s]+)(?:\s+\"[^\"]*\")?\)")
OUTSIDE = re.compile(r"[a-z][a-z0-9+.-]*:", re.I)


def prose_of(text: str) -> str:
    """The text without code, where brackets are no links; lines stay where they are."""
    lines, fenced = [], False
    for line in text.splitlines():
        is_fence = line.lstrip().startswith(("```", "~~~"))
        fenced ^= is_fence
        lines.append("" if fenced or is_fence else re.sub(r"`[^`]*`", "", line))
    return "\n".join(lines)


@functools.cache
def anchors_of(path: Path) -> set[str]:
    """The names that headings of a page can be linked by, as GitHub makes them."""
    anchors: set[str] = set()
    fenced = False
    for line in path.read_text(encoding="utf-8").splitlines():
        fenced ^= line.startswith("```")
        if fenced:
            continue
        anchors.update(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", line))
        if heading := re.match(r"#{1,6} +(.+?) *#*$", line):
            words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).lower()
            base = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
            anchor, n = base, 0
            while anchor in anchors:
                n += 1
                anchor = f"{base}-{n}"
            anchors.add(anchor)
    return anchors


def problem_of(page: Path, target: str) -> str | None:
    if OUTSIDE.match(target):
        return None
    name, _, anchor = unquote(target).partition("#")
    path = (page.parent / name).resolve() if name else page
    if not path.exists():
        return f"there is no {target}"
    if anchor and path.suffix == ".md" and anchor not in anchors_of(path):
        return f"{name or 'this page'} has no heading #{anchor}"
    return None


def main() -> int:
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True)
    pages = [path for name in listed.stdout.splitlines() if (path := ROOT / name).is_file() and "tests/fixtures" not in name]
    n_links = n_problems = 0
    for page in pages:
        for number, line in enumerate(prose_of(page.read_text(encoding="utf-8")).splitlines(), 1):
            for link in LINK.finditer(line):
                n_links += 1
                if problem := problem_of(page, link["target"]):
                    n_problems += 1
                    print(f"{page.relative_to(ROOT)}:{number}: {problem}")
    print(f"{n_links} links on {len(pages)} pages, {n_problems} problems")
    return 0 if n_links and not n_problems else 1


if __name__ == "__main__":
    sys.exit(main())
