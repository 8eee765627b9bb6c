"""One daemon in a house of four times its budget: everything that takes memory, one after another, in the same process. It is
never killed, answers everything, and afterwards has given back what it took."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from figures import count_text, megabytes_text
from house import House, Limits, memory_groups_work
from psp_client import ClientError
from scenes.hostile import memory
from scenes.hostile.act import Play
from scenes.workspace import corpus, fixtures
from stage import Stage

BUDGET_MB = 256
MORE_MB = 100


def many_profiles(play: Play) -> None:
    """One after another, all kept open."""
    client = play.client()
    found = [path for path in fixtures() + corpus(4 << 20)]
    play.rng.shuffle(found)
    n_answered = n_asked = 0
    for path in [play.stage.inputs.profile(10), *found, play.stage.inputs.profile(30)]:
        if time.monotonic() > play.end:
            break
        n_asked += 1
        n_answered += play.open(client, path, 20) is not None
    play.table.at_most(play.scene, "openings unanswered", n_asked - n_answered, 0, count_text, f"of {n_asked}")


def repeated(act: Callable[[Play], None], play: Play) -> str:
    """What went wrong with the house itself."""
    try:
        act(play)
    except (ClientError, OSError) as error:
        if play.house.alive:
            play.table.holds(play.scene, "played to its end", "yes", str(error), False)
    return "" if play.house.alive else play.house.state


ACTS = (memory.gzip_bomb, memory.wide_bomb, memory.claims, memory.newlines, memory.slow_readers, memory.views, many_profiles)


def play_all(stage: Stage, house: House, scene: str) -> list[str]:
    deaths = []
    stage.inputs.profile(10), stage.inputs.profile(30)
    each = max(1.5, (stage.left - 5) / len(ACTS))
    for act in ACTS:
        play = Play(f"{scene}/{act.__name__.replace('_', '-')}", stage, house, stage.table,
                    random.Random(f"{stage.seed} {act.__name__}"), time.monotonic() + min(each, 60))
        if death := repeated(act, play):
            deaths.append(f"{act.__name__}: {death}")
            house.restart()
        for client in play.clients:
            client.close()
    return deaths


def run(stage: Stage) -> None:
    name, table = "small-house", stage.table
    walls = 4 * BUDGET_MB
    grouped = memory_groups_work()
    limits = Limits(BUDGET_MB, 0 if grouped else walls, 4 * walls, cgroup_mb=walls if grouped else 0)
    table.told(name, "walls", f"{walls} MB of " + ("a control group" if grouped else "address space"))
    with stage.house(limits) as house:
        settled = house.settled_mb(3)
        deaths = play_all(stage, house, name)
        table.none_of(name, "killed", deaths)
        house.leave()
        end = time.monotonic() + 5
        while (more := house.settled_mb() - settled) > MORE_MB and time.monotonic() < end:
            pass
        note = "since the last restart" if deaths else ""
        table.at_most(name, "idle afterwards, more than at start", more, MORE_MB, megabytes_text, note)
        table.none_of(name, "reports of the daemon", house.problems())
        if missed := table.missed_of(name):
            stage.keep(name, house, missed)
