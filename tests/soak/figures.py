"""What was measured, beside what was promised: rows of the table that a campaign ends with."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

BUSY_S, BUSY_TIMES = 0.02, 3  # a machine that is this late is busy with something else; targets of times are so many times larger
WAKE_UPS = 4  # of an answer: the daemon's loop, a worker, the loop, the client


def seconds_text(value: float) -> str:
    if value < 0.0995:
        return f"{value * 1000:.3g} ms"
    return f"{value:.3g} s"


def megabytes_text(value: float) -> str:
    return f"{value:.0f} MB" if abs(value) < 9995 else f"{value / 1000:.3g} GB"


def share_text(value: float) -> str:
    return f"{value:.1%}"


def count_text(value: float) -> str:
    return f"{value:,.0f}"


@dataclass(frozen=True)
class Figure:
    scene: str
    name: str
    target: str
    measured: str
    met: bool | None  # None: told and not judged
    value: float = 0.0  # the larger the worse, of figures that are numbers
    note: str = ""

    @property
    def text(self) -> str:
        return f"{self.measured} ({self.note})" if self.note else self.measured

    @property
    def cell(self) -> str:
        """Where there is little room."""
        return f"{self.measured} **MISS**" if self.met is False else self.measured

    @property
    def verdict(self) -> str:
        return {True: "pass", False: "MISS", None: ""}[self.met]


@dataclass
class Table:
    """The figures of a campaign, printed as they come."""

    judge_cost: bool = True  # false: time and memory say nothing about profd (a sanitizer is in it)
    judge_times: bool = True  # false: who knows what else this machine does
    unjudged: tuple[str, ...] = ()  # scenes, by how their names begin, of which nothing is judged
    rows: list[Figure] = field(default_factory=list)
    not_played: list[str] = field(default_factory=list)  # as there was no time
    on_line: Callable[[str], None] = lambda line: print(line, flush=True)
    _grouped: list[Figure] | None = None

    @contextmanager
    def group(self, scene: str) -> Iterator[list[Figure]]:
        """What comes meanwhile, printed as one line and a line for each miss."""
        rows = self._grouped = []
        try:
            yield rows
        finally:
            self._grouped = None
            verdict = "MISS" if any(row.met is False for row in rows) else "pass"
            text = " · ".join(f"{row.name} {shortened(row.text)}" for row in rows if row.met is not False)
            self.on_line(f"{coloured(verdict)}  {scene}: {text}")
            for row in rows:
                if row.met is False:
                    self.on_line(line_of(row))

    def add(self, scene: str, name: str, target: str, measured: str, met: bool | None, value: float = 0.0,
            note: str = "") -> bool:
        """Of a scene that is played several times the worst is kept."""
        if scene.startswith(self.unjudged):
            met = None
        row = Figure(scene, name, target, measured, met, value, note)
        at = next((i for i, old in enumerate(self.rows) if (old.scene, old.name) == (scene, name)), None)
        if at is None:
            self.rows.append(row)
        elif (row.met is False, row.value) >= (self.rows[at].met is False, self.rows[at].value):
            self.rows[at] = row
        self._printed(row)
        return met is not False

    def _printed(self, row: Figure) -> None:
        if self._grouped is None:
            self.on_line(line_of(row))
        else:
            self._grouped.append(row)

    def at_most(self, scene: str, name: str, value: float, most: float, text: Callable[[float], str], note: str = "",
                beyond: bool = False, late: float = 0.0) -> bool:
        """`beyond`: the value is only a lower bound, since what is measured was ended. `late`: how late this machine let
        a process of ours run that had nothing to wait for; an answer takes some of that on each wake-up of its way."""
        met: bool | None = value <= (most if late <= BUSY_S else BUSY_TIMES * most) + WAKE_UPS * late
        if most < value and met:
            note += f"{', ' if note else ''}the machine was late by {text(late)}"
        if not self.judge_cost and text in (seconds_text, megabytes_text, share_text):
            met = None
        if not self.judge_times and text in (seconds_text, share_text):
            met = None
        measured = ("> " if beyond else "") + text(value)
        return self.add(scene, name, f"<= {text(most)}", measured, met, value, note)

    def at_least(self, scene: str, name: str, value: float, least: float, note: str = "") -> bool:
        """So much was played: what did not happen cannot have gone well."""
        return self.add(scene, name, f">= {count_text(least)}", count_text(value), value >= least, -value, note)

    def none_of(self, scene: str, name: str, found: Iterable[str], note: str = "") -> bool:
        """Nothing of the kind may be found; the first is shown."""
        all_found = list(found)
        n = len(all_found)
        return self.add(scene, name, "0", count_text(n), n == 0, n, all_found[0] if all_found else note)

    def holds(self, scene: str, name: str, target: str, measured: str, met: bool) -> bool:
        return self.add(scene, name, target, measured, met)

    def told(self, scene: str, name: str, measured: str) -> None:
        self.add(scene, name, "", measured, None)

    @property
    def n_judged(self) -> int:
        return sum(row.met is not None for row in self.rows)

    @property
    def missed(self) -> list[Figure]:
        return [row for row in self.rows if row.met is False]

    def missed_of(self, scene: str) -> str:
        """The misses of a scene and its parts, as a text; "" none."""
        return texts_of(row for row in self.missed if (row.scene + "/").startswith(scene + "/"))

    def markdown(self, head: str) -> str:
        """A matrix of the scenes that have the same figures, and a row for every other figure."""
        lines, rest = [head, ""], list(self.rows)
        for scenes, names in self._alike():
            lines += [markdown_row(["scene", *names]), markdown_row(["---"] * (len(names) + 1))]
            for scene in scenes:
                of_scene = {row.name: row for row in self.rows if row.scene == scene}
                lines.append(markdown_row([scene, *(of_scene[name].cell if name in of_scene else "" for name in names)]))
            rest = [row for row in rest if not (row.scene in scenes and row.name in names)]
            lines.append("")
        lines += [markdown_row(["scene", "figure", "target", "measured", ""]), markdown_row(["---"] * 5)]
        lines += [markdown_row([row.scene, row.name, row.target, row.text, row.verdict]) for row in rest]
        return "\n".join(lines) + "\n"

    def _alike(self) -> Iterator[tuple[list[str], list[str]]]:
        """The parts of a scene, and the figures that most of them have."""
        groups: dict[str, list[str]] = {}
        for scene in dict.fromkeys(row.scene for row in self.rows):
            if "/" in scene:
                groups.setdefault(scene.split("/")[0], []).append(scene)
        for scenes in groups.values():
            count = Counter(row.name for row in self.rows if row.scene in scenes)
            names = [name for name, n in count.items() if 2 * n > len(scenes)]
            if names and len(scenes) > 2:
                yield scenes, names


def texts_of(rows: Iterable[Figure]) -> str:
    return "; ".join(f"{row.name}: {row.text}, target {row.target}" for row in rows)


def shortened(text: str) -> str:
    return text if len(text) <= 44 else text[:43] + "…"


def markdown_row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def coloured(verdict: str) -> str:
    colour = {"pass": "\033[32m", "MISS": "\033[31m"}.get(verdict, "") if sys.stdout.isatty() else ""
    return f"{colour}{verdict or '-':4}\033[0m" if colour else f"{verdict or '-':4}"


def line_of(row: Figure) -> str:
    return f"{coloured(row.verdict)}  {row.scene:28}  {row.name:34}  {row.target:12}  {row.text}".rstrip()
