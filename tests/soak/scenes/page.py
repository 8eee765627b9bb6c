"""The views in a browser, and somebody who tries everything on them: no complaint, and nothing that is kept."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from statistics import median

from figures import count_text, megabytes_text, share_text
from inputs import GO_DEMO, ROOT
from stage import Stage
from web_page import WEB_TESTS, why_no_page

INTERACTIONS = 10_000
# So much more may be held in the last quarter than in the one before: what is never let go of grows all the time.
MORE = 0.10
# Of at least so many: the browser holds the view that something was dragged in last, whichever that was.
NODES, LISTENERS = 2_000, 500


def run(stage: Stage) -> None:
    table = stage.table
    if problem := why_no_page():
        table.told("page", "not played", problem)
        return
    wanted = 200 if stage.short else INTERACTIONS
    argv = ["node", str(WEB_TESTS / "soak.mjs"), str(stage.profd), str(ROOT), str(GO_DEMO / "cpu.pprof"), str(wanted),
            str(stage.seed), str(int(max(20, stage.seconds)))]
    done = subprocess.run(argv, capture_output=True, text=True)
    if done.returncode != 0:
        table.holds("page", "played to its end", "yes", (done.stderr or done.stdout).strip()[-200:], False)
        return
    told = json.loads(done.stdout)
    table.at_least("page", "interactions", told["done"], wanted)
    table.none_of("page", "complaints in the console", told["complaints"])
    table.holds("page", "the daemon lives", "yes", "yes" if told["alive"] else "no", told["alive"])
    for name, key, text, least in (("JavaScript heap", "heap", megabytes, 1),
                                   ("nodes left behind", "left", count_text, NODES),
                                   ("listeners of the page", "listeners", count_text, LISTENERS),
                                   ("memory of the page's process", "process", megabytes, 1),
                                   ("memory of the daemon", "daemon", megabytes, 1)):
        before, after = ends([sample[key] for sample in told["samples"]])
        grown = (after - before) / max(least, before)
        table.at_most("page", f"{name}: growth", grown, MORE, share_text, f"{text(before)} became {text(after)}")


def megabytes(value: float) -> str:
    return megabytes_text(value / 1e6)


def ends(values: Sequence[float]) -> tuple[float, float]:
    """The middle of the third quarter, when all has been seen and caches are full, and of the last one."""
    size = max(1, len(values) // 4)
    return median(values[2 * size : 3 * size] or values), median(values[-size:])
