#!/usr/bin/env python3
"""What a run of ctest did not test, and why, in one place.

usage: not_run.py BUILD_DIR; reads Testing/Temporary/LastTest.log there. Tests say it in lines of their output:
"NOT RUN: <why>" when nothing was tested, "PARTLY NOT RUN: <what and why>" when the rest was.
"""
from __future__ import annotations

import re
import sys
from pathlib import Path

TEST = re.compile(r"^\d+/\d+ Test: (.*)$")
LINE = re.compile(r"^(PARTLY )?NOT RUN: (.*)$")
NAMES_SHOWN = 3


def not_run(log: str) -> dict[tuple[bool, str], list[str]]:
    """{(partly, why): names of tests}, in the order of the log."""
    found: dict[tuple[bool, str], list[str]] = {}
    name = ""
    for line in log.splitlines():
        if match := TEST.match(line):
            name = match[1]
        elif match := LINE.match(line.strip()):
            names = found.setdefault((match[1] is not None, match[2]), [])
            if name not in names:
                names.append(name)
    return found


def report(found: dict[tuple[bool, str], list[str]]) -> str:
    if not found:
        return "Every test was run.\n"
    whole = sum(len(names) for (partly, _), names in found.items() if not partly)
    lines = [f"Not run: {whole} test{'' if whole == 1 else 's'}"]
    for (partly, why), names in sorted(found.items(), key=lambda item: (item[0][0], -len(item[1]))):
        lines.append(f"  {'in part: ' if partly else ''}{why}")
        more = f", and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN + 1 else ""
        lines.append(f"      {'; '.join(names[:NAMES_SHOWN] if more else names)}{more}")
    return "\n".join(lines) + "\n"


def main() -> int:
    log = Path(sys.argv[1]) / "Testing" / "Temporary" / "LastTest.log"
    if not log.exists():
        print(f"not_run.py: no {log}", file=sys.stderr)
        return 1
    sys.stdout.write(report(not_run(log.read_text(encoding="utf-8", errors="replace"))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
