#!/usr/bin/env python3
"""What a neighbour feels: a process of its own that asks small things again and again and says how long each took.

usage: probe.py SOCKET PROFILE FOLDER SEED

On standard input, a word a line begins a phase; its end prints {phase: {kind: {"seconds": [...], "errors": [...]}}}.
What has no answer yet at the end counts with the time it has waited.
"""

from __future__ import annotations

import json
import os
import random
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from psp_client import Answer, Client, ClientError, connect_unix  # noqa: E402

KINDS = {"list": 0.02, "cached view": 0.02, "new view": 0.1, "open": 0.15}  # the pause between two
LONGEST_S, LATE_STEP_S = 60.0, 0.01
TOLD = 0.05  # what waits shorter at the end says nothing


class Probe:
    def __init__(self, socket: Path, profile: Path, folder: Path, seed: int) -> None:
        self.socket, self.profile, self.folder, self.seed = socket, profile, folder, seed
        self.phase = "alone"
        self.seconds: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        self.errors: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        self.waiting: dict[str, float] = {}  # kind -> when it was asked
        self.lock = threading.Lock()

    def connect(self) -> Client:
        client = Client.of_socket(connect_unix(self.socket))
        client.initialize(None, "probe", timeout_s=LONGEST_S)
        return client

    def open(self, client: Client, path: Path) -> Answer:
        options = {"watch": False, "attach": False, "makeDefault": False}
        return client.request("profile/open", {"uri": path.as_uri(), "options": options}, LONGEST_S)

    def kinds(self) -> dict[str, Callable[[int], Answer]]:
        lister, viewer, maker = self.connect(), self.connect(), self.connect()
        handle = self.open(maker, self.profile).result["profile"]
        self.open(viewer, self.profile)
        rng = random.Random(self.seed)

        def table(client: Client, spec: str) -> Answer:
            return client.request("view/table", {"profile": handle, "spec": spec, "limit": 20}, LONGEST_S)

        def open_another(number: int) -> Answer:
            """Like a script: a connection for one file, and away."""
            path = self.folder / f"probe-{number % 50}.folded"
            path.write_text(f"main;probe{number};work {number % 7 + 1}\nmain;rest 2\n")
            client = self.connect()
            try:
                answer = self.open(client, path)
                total = answer.result["summary"]["metrics"][0]["total"] if answer.result else None
                if total not in (None, number % 7 + 3):
                    return Answer(None, {"message": f"the total is {total}, not {number % 7 + 3}"}, answer.seconds, answer.bytes)
                return answer
            finally:
                client.close()

        table(viewer, "flat by function")
        return {
            "list": lambda _: lister.request("profile/list", {}, LONGEST_S),
            "cached view": lambda _: table(viewer, "flat by function"),
            "new view": lambda n: table(maker, f"flat by function | drop function /probe{rng.randrange(1 << 30)}x{n}/"),
            "open": open_another,
        }

    def ask(self, kind: str, one: Callable[[int], Answer]) -> None:
        number = 0
        while True:
            number += 1
            start = time.perf_counter()
            with self.lock:
                self.waiting[kind] = start
            problem = ""
            try:
                answer = one(number)
                if answer.error:
                    problem = str(answer.error.get("message"))
            except (ClientError, OSError, KeyError, TypeError) as error:
                problem = f"{type(error).__name__}: {error}"
            with self.lock:
                del self.waiting[kind]
                phase = self.phase  # what waited into a phase is felt in it
                self.seconds[phase][kind].append(time.perf_counter() - start)
                if problem:
                    self.errors[phase][kind].append(problem)
            time.sleep(KINDS[kind] if not problem else 0.3)

    def watch_the_machine(self) -> None:
        """How late we are ourselves, without asking anybody."""
        while True:
            start = time.perf_counter()
            time.sleep(LATE_STEP_S)
            late = time.perf_counter() - start - LATE_STEP_S
            with self.lock:
                self.seconds[self.phase]["late"].append(late)

    def result(self) -> dict[str, Any]:
        with self.lock:
            now = time.perf_counter()
            for kind, start in self.waiting.items():
                if now - start > TOLD:
                    self.seconds[self.phase][kind].append(now - start)
            return {phase: {kind: {"seconds": times, "errors": self.errors[phase][kind]} for kind, times in kinds.items()}
                    for phase, kinds in self.seconds.items()}


def main() -> int:
    socket, profile, folder, seed = sys.argv[1:]
    probe = Probe(Path(socket), Path(profile), Path(folder), int(seed))
    for kind, one in probe.kinds().items():
        threading.Thread(target=probe.ask, args=(kind, one), daemon=True).start()
    threading.Thread(target=probe.watch_the_machine, daemon=True).start()
    print("ready", flush=True)
    for line in sys.stdin:
        with probe.lock:
            probe.phase = line.strip()
    print(json.dumps(probe.result()), flush=True)
    os._exit(0)  # threads may wait for answers that do not come


if __name__ == "__main__":
    sys.exit(main())
