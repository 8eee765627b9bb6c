"""What it takes to drive the views in a browser: Chromium, node, and npm's packages of clients/web."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WEB_TESTS = ROOT / "tests" / "e2e" / "web"
NOT_RUN = 77


def why_no_page(build: bool = False) -> str:
    """Why the views cannot be driven here; "" where they can. `build`: makes clients/web/dist, too."""
    script = f". {shlex.quote(str(WEB_TESTS / 'packages.sh'))}; need_browser; enter_web {shlex.quote(str(ROOT))}"
    done = subprocess.run(["bash", "-ec", script + ("; npm run --silent build" if build else "")],
                          capture_output=True, text=True)
    if done.returncode == NOT_RUN:
        return done.stdout.strip().removeprefix("NOT RUN: ")
    return "" if done.returncode == 0 else (done.stderr or done.stdout).strip()[-200:]
