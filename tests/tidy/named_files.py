#!/usr/bin/env python3
"""Every source file that a page of docs/ names is there: a page that is not kept leads astray. Usage: named_files.py [ROOT]"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[2])
# What stands in backticks and ends like a file of ours. Decisions tell of what was.
NAMED = re.compile(r"`([\w./-]+\.(?:h|cpp|py|ts|tsx|lua|mjs|json|proto))`")
PAGES = ["README.md", "CONTRIBUTING.md", *sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs").glob("*.md"))]
# Files of projects that profd reads of or works in, and that users have.
OTHERS = re.compile(r"^(?:/|~|\.\./)|(?:^|/)(?:package|settings|tsconfig|launch|compile_commands|flags|profile|trace|cpu|heap|app|index|main|snake_case|a|meta|x|y)\.\w+$")


def main() -> int:
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    known = {f"/{file}" for file in files}
    ends = {part for file in known for part in (file[at:] for at in range(len(file)) if file[at] == "/")}
    n, missing = 0, []
    for page in PAGES:
        for number, line in enumerate((ROOT / page).read_text().splitlines(), 1):
            for named in NAMED.findall(line):
                if OTHERS.search(named):
                    continue
                n += 1
                if f"/{named}" not in ends:
                    missing.append(f"{page}:{number}: there is no {named}")
    print("\n".join(missing) or f"{n} files are named in {len(PAGES)} pages, and are there")
    return 1 if missing or n < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
