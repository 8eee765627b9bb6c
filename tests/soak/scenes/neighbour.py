"""A neighbour asks small things while every hostile act is played, each in a daemon of its own; then the daemon is told to end
with all of it still there."""

from __future__ import annotations

import json
import math
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import scenes.hostile.fairness
import scenes.hostile.gate
import scenes.hostile.memory
import scenes.hostile.web  # noqa: F401  (they fill the list of acts)
from figures import megabytes_text, seconds_text, texts_of
from house import STUCK_S, House
from measured import percentile
from scenes.hostile.act import ACTS, Act, Play
from stage import Stage

LIST_S, OTHERS_S, END_S = 0.050, 1.0, 1.0
ALONE_S, LEAST_S, LONGEST_S = 0.4, 2.5, 10.0
PROBE = Path(__file__).resolve().parents[1] / "probe.py"


class Neighbour:
    def __init__(self, house: House, profile: Path, seed: int) -> None:
        folder = house.folder / "probe"
        folder.mkdir()
        self.process = subprocess.Popen([sys.executable, str(PROBE), str(house.socket), str(profile), str(folder), str(seed)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.process.stdout.readline()

    def phase(self, name: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(name + "\n")
        self.process.stdin.flush()

    def end(self) -> dict[str, Any]:
        try:
            out, _ = self.process.communicate(timeout=20)
            told: dict[str, Any] = json.loads(out)
            return told
        except (subprocess.TimeoutExpired, ValueError):
            self.process.kill()
            self.process.wait()
            return {}


def times_of(told: dict[str, Any], phase: str, kind: str) -> list[float]:
    times: list[float] = told.get(phase, {}).get(kind, {}).get("seconds", [])
    return times


def judge(play: Play, part: Act, told: dict[str, Any], late: float) -> None:
    for kind, most in (("list", LIST_S), ("cached view", OTHERS_S), ("new view", OTHERS_S), ("open", OTHERS_S)):
        times, alone = times_of(told, "during", kind), times_of(told, "alone", kind)
        if not times:
            play.table.holds(play.scene, f"{kind}, p99", f"<= {seconds_text(most)}", "never answered", False)
            continue
        p99 = percentile(times, 0.99)
        note = f"alone {seconds_text(percentile(alone, 0.99))}" if alone else ""
        if max(times) > 2 * p99:
            note += f", once {seconds_text(max(times))}"
        if part.may_refuse and kind == "open":
            play.table.told(play.scene, f"{kind}, p99", f"{seconds_text(p99)} ({note})")
        else:
            play.table.at_most(play.scene, f"{kind}, p99", p99, most, seconds_text, note, late=late)
    errors = [f"{kind}: {text}" for kind, of_kind in told.get("during", {}).items() for text in of_kind["errors"]]
    if part.may_refuse:
        play.table.told(play.scene, "refused to the neighbour", f"{len(errors)}")
    else:
        play.table.none_of(play.scene, "errors of the neighbour", errors)


def perform(stage: Stage, part: Act, seconds: float) -> None:
    scene = f"neighbour/{part.name}"
    table = stage.table
    with table.group(scene) as rows, stage.house(part.limits, part.offer) as house:
        neighbour = Neighbour(house, stage.inputs.profile(2), stage.seed)
        time.sleep(ALONE_S)
        neighbour.phase("during")
        start = time.monotonic()
        play = Play(scene, stage, house, table, random.Random(f"{stage.seed} {part.name} {stage.left:.0f}"), start + seconds)
        try:
            part.run(play)
            if house.alive:
                time.sleep(max(0.0, start + part.at_least_s - time.monotonic()))
        except Exception as error:  # a death of the daemon ends an act anywhere
            if house.alive:
                table.holds(scene, "played to its end", "yes", f"{type(error).__name__}: {error}", False)
        told = neighbour.end()
        late = percentile(times_of(told, "during", "late") or [0.0], 0.99)
        judge(play, part, told, late)
        table.at_most(scene, "peak memory", house.peak_mb, 4 * part.limits.budget_mb, megabytes_text, house.stopped_for,
                      bool(house.stopped_for))
        alive = house.alive
        table.holds(scene, "alive", "yes", house.state, alive)
        if alive:
            took = house.signal(part.signal)
            name = f"{signal.Signals(part.signal).name} ends it"
            table.at_most(scene, name, min(took, STUCK_S), END_S, seconds_text, beyond=math.isinf(took), late=late)
        table.none_of(scene, "reports of the daemon", house.problems())
        for told_last in play.after:
            told_last()
        if missed := texts_of(row for row in rows if row.met is False):
            stage.keep(scene, house, missed)
        for client in play.clients:
            client.close()


def run(stage: Stage) -> None:
    chosen = [part for part in sorted(ACTS, key=lambda part: part.points) if stage.only in ("", part.name)]
    if not chosen:
        raise SystemExit(f"there is no act {stage.only}; there are {', '.join(part.name for part in ACTS)}")
    each = stage.seconds / len(chosen) - 1.0  # starting and ending a daemon and a neighbour
    while True:
        for part in chosen:
            if not stage.may_begin(f"neighbour/{part.name}"):
                continue
            perform(stage, part, max(LEAST_S, part.at_least_s, min(each, LONGEST_S)))
        if stage.left < LONGEST_S * len(chosen):
            break
