"""What a scene is given: the program, inputs, a seed, its time, the table, and where to leave what explains a failure."""

from __future__ import annotations

import math
import random
import re
import shlex
import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path

from figures import Table
from house import House, Limits, Offer
from inputs import Inputs


MOST_KEPT = 20  # failures of one scene


@dataclass(frozen=True)
class Stage:
    profd: Path
    inputs: Inputs
    table: Table
    seconds: float  # about how long the scene may take
    seed: int
    failures: Path  # a folder that every failure gets a folder in
    sanitized: bool = False
    short: bool = False  # the form for the test suite: small inputs
    only: str = ""  # a part of the scene
    n_mutants: int = 20_000
    command: str = "./dev soak"
    last_start: float = math.inf  # on the monotonic clock: nothing is begun after it
    started: float = field(default_factory=time.monotonic)

    def rng(self, name: str) -> random.Random:
        return random.Random(f"{self.seed} {name}")

    @property
    def left(self) -> float:
        return self.started + self.seconds - time.monotonic()

    def may_begin(self, what: str) -> bool:
        """Or else it is on the list of what was not played."""
        if time.monotonic() < self.last_start:
            return True
        self.table.not_played.append(what)
        return False

    def house(self, limits: Limits = Limits(), offer: Offer = Offer(), env: dict[str, str] | None = None) -> House:
        return House(self.profd, limits, offer, env or {}, self.sanitized)

    def keep(self, scene: str, house: House | None, why: str, *inputs: Path, command: str = "") -> Path:
        """A folder with all that is needed to see it again."""
        name = re.sub(r"[^\w.-]+", "-", scene)
        number = sum(1 for _ in self.failures.glob(f"{name}-*")) if self.failures.exists() else 0
        folder = self.failures / f"{name}-{number + 1}"
        if number >= MOST_KEPT:
            return folder
        folder.mkdir(parents=True)
        again = command or f"{self.command} {max(1, round(self.seconds / 60))} --scene {shlex.quote(scene)} --seed {self.seed}"
        (folder / "again.txt").write_text(f"{why}\n\nseed {self.seed}\n\n{again}\n")
        if house is not None and house.log.exists():
            shutil.copyfile(house.log, folder / "daemon.log")
        for path in inputs:
            if path.is_file() and path.stat().st_size < 64 << 20:
                shutil.copyfile(path, folder / path.name)
        return folder
