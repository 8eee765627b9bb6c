"""The views in a browser, and somebody who tries everything on them: no complaint, and nothing that is kept."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Sequence
from statistics import median

from figures import count_text, megabytes_text, share_text
from inputs import GO_DEMO, ROOT
from stage import Stage

WEB = ROOT / "tests" / "e2e" / "web"
INTERACTIONS = 10_000
NOT_RUN = 77
# What may have come on between the first and the last quarter of the samples.
MORE = 0.10


def run(stage: Stage) -> None:
    table = stage.table
    if problem := not_ready():
        table.told("page", "not played", problem)
        return
    wanted = 200 if stage.short else INTERACTIONS
    argv = ["node", str(WEB / "soak.mjs"), str(stage.profd), str(ROOT), str(GO_DEMO / "cpu.pprof"), str(wanted),
            str(stage.seed), str(int(max(20, stage.seconds)))]
    done = subprocess.run(argv, capture_output=True, text=True)
    if done.returncode != 0:
        table.holds("page", "played to its end", "yes", (done.stderr or done.stdout).strip()[-200:], False)
        return
    told = json.loads(done.stdout)
    table.at_least("page", "interactions", told["done"], wanted)
    table.none_of("page", "complaints in the console", told["complaints"])
    table.holds("page", "the daemon lives", "yes", "yes" if told["alive"] else "no", told["alive"])
    for name, key, text in (("JavaScript heap", "heap", megabytes), ("nodes of the page", "nodes", count_text),
                            ("listeners of the page", "listeners", count_text),
                            ("memory of the page's process", "process", megabytes),
                            ("memory of the daemon", "daemon", megabytes)):
        before, after = ends([sample[key] for sample in told["samples"]])
        grown = (after - before) / max(1.0, before)
        table.at_most("page", f"{name}: growth", grown, MORE, share_text, f"{text(before)} became {text(after)}")


def megabytes(value: float) -> str:
    return megabytes_text(value / 1e6)


def ends(values: Sequence[float]) -> tuple[float, float]:
    """The middle of the second eighth, when everything has been seen once, and of the last one."""
    size = max(1, len(values) // 8)
    return median(values[size : 2 * size] or values), median(values[-size:])


def not_ready() -> str:
    """Why there is no page; "" where there is one."""
    packages = f". {shlex.quote(str(WEB / 'packages.sh'))}; need_browser; enter_web {shlex.quote(str(ROOT))}"
    done = subprocess.run(["bash", "-c", packages], capture_output=True, text=True)
    if done.returncode == 0:
        return ""
    return done.stdout.strip().removeprefix("NOT RUN: ") if done.returncode == NOT_RUN else done.stderr.strip()[-200:]
