"""An act: one way to harm a daemon, played while a neighbour asks small things."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from figures import Table
from house import House, Limits, Offer
from psp_client import Answer, Client, ClientError, NoAnswer
from stage import Stage


@dataclass
class Play:
    """One performance of an act."""

    scene: str  # "neighbour/gzip-bomb": what the rows are called
    stage: Stage
    house: House
    table: Table
    rng: random.Random
    end: float  # of its time, on the monotonic clock
    clients: list[Any] = field(default_factory=list)  # sockets and clients that stay until the daemon has ended
    after: list[Callable[[], object]] = field(default_factory=list)  # told once the probe is over

    @property
    def left(self) -> float:
        return max(0.1, self.end - time.monotonic())

    @property
    def folder(self) -> Path:
        return self.house.folder

    def client(self, root: Path | None = None, **settings: object) -> Client:
        client = self.house.client(root, "hostile", 20, settings)
        self.clients.append(client)
        return client

    def open(self, client: Client, path: Path | str, timeout_s: float | None = None, **options: object) -> Answer | None:
        """None: no answer in time, which is a figure elsewhere."""
        uri = path if isinstance(path, str) else path.as_uri()
        options = {"attach": False, "makeDefault": False, **options}
        return self.ask(client, "profile/open", {"uri": uri, "options": options}, timeout_s)

    def handle(self, client: Client, path: Path) -> dict[str, str] | None:
        """What names the profile in a request, which else is the neighbour's. None: it did not open."""
        answer = self.open(client, path, 20)
        if answer is None or answer.error is not None:
            self.table.holds(self.scene, f"{path.name} opens", "yes", "no" if answer is None else str(answer.error), False)
            return None
        return {"profile": str(answer.result["profile"])}

    def ask(self, client: Client, method: str, params: dict[str, Any], timeout_s: float | None = None) -> Answer | None:
        try:
            return client.request(method, params, timeout_s or self.left + 6)
        except ClientError:
            return None

    def refused(self, what: str, answer: Answer | None) -> bool:
        """A figure: that must be answered with an error."""
        if answer is None:
            return self.table.holds(self.scene, what, "refused", "no answer", False)
        if answer.error is None:
            return self.table.holds(self.scene, what, "refused", "taken", False)
        return self.table.holds(self.scene, what, "refused", str(answer.error.get("message"))[:90], True)

    def answered(self, client: Client, ids: list[int], timeout_s: float) -> int:
        """How many of them have no answer after so long."""
        end = time.monotonic() + timeout_s
        missing = 0
        for number in ids:
            try:
                client.finish(number, max(0.0, end - time.monotonic()))
            except NoAnswer:
                missing += 1
            except ClientError:
                return missing + len(ids) - ids.index(number)
        return missing

    def wait(self) -> None:
        """To the end of its time, with everything still going on."""
        time.sleep(max(0.0, self.end - time.monotonic()))


@dataclass(frozen=True)
class Act:
    name: str
    points: tuple[int, ...]  # the promises it is about
    run: Callable[[Play], None]
    offer: Offer = Offer()
    limits: Limits = Limits()
    at_least_s: float = 1.0  # the neighbour asks for so long, even when the act is over sooner
    may_refuse: bool = False  # the neighbour may get errors meanwhile, as it is out of something
    signal: int = signal.SIGTERM  # what ends it


ACTS: list[Act] = []


def act(name: str, *points: int, **more: Any) -> Callable[[Callable[[Play], None]], Callable[[Play], None]]:
    def add(run: Callable[[Play], None]) -> Callable[[Play], None]:
        ACTS.append(Act(name, points, run, **more))
        return run

    return add


def ask_blindly(client: Client, bodies: list[bytes]) -> int:
    """Sends as long as they are taken, and reads nothing. How many were taken whole."""
    assert client.connection is not None
    taken = 0
    for body in bodies:
        try:
            if client.connection.send(body) < len(body):
                break
        except OSError:
            break
        taken += 1
    return taken
