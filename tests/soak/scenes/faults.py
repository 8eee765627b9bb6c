"""What the system does to a daemon: no memory, no descriptors, no disk, a cache that is not its own, a sudden end, files that
change under its eyes. Afterwards it is there (or started again), every request was answered, and every total is right."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from figures import count_text, texts_of
from house import House, Limits, Offer
from inputs import folded_text
from psp_client import Client, ClientError, NoAnswer
from scenes.asking import Opened, close_file, open_file, same
from stage import Stage

WAIT_S, WAIT_AGAIN_S = 20.0, 2.0  # for an answer; once one did not come


@dataclass
class Ledger:
    """Requests of one fault, and what was wrong with their answers."""

    stage: Stage
    n_asked: int = 0
    wait_s: float = WAIT_S
    n_errors: int = 0
    unanswered: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def open(self, client: Client, path: Path, total: float | None, must_open: bool = False) -> str | None:
        """The handle."""
        self.n_asked += 1
        try:
            opened = open_file(client, path, self.wait_s)
        except ClientError as error:
            self.wait_s = WAIT_AGAIN_S
            self.unanswered.append(f"profile/open {path.name}: {error}")
            if not isinstance(error, NoAnswer):
                raise
            return None
        if isinstance(opened, dict):
            self.n_errors += 1
            if must_open:
                self.wrong.append(f"{path.name} did not open: {opened.get('message')}")
            return None
        if total is not None and not same(opened.total, total):
            self.wrong.append(f"{path.name}: total {opened.total} for {total}")
        return opened.handle

    def ask(self, client: Client, method: str, params: dict[str, object], total: float | None = None) -> bool:
        self.n_asked += 1
        try:
            answer = client.request(method, params, self.wait_s)
        except ClientError as error:
            self.wait_s = WAIT_AGAIN_S
            self.unanswered.append(f"{method}: {error}")
            if not isinstance(error, NoAnswer):
                raise
            return False
        if answer.error is not None:
            self.n_errors += 1
            return False
        if total is not None and not same(answer.result["viewTotal"]["value"], total):
            self.wrong.append(f"{method}: total {answer.result['viewTotal']['value']} for {total}")
        return True

    def judge(self, name: str, house: House | None) -> None:
        table = self.stage.table
        with table.group(name) as rows:
            table.told(name, "asked", f"{self.n_asked:,}, {self.n_errors:,} answered with an error")
            table.none_of(name, "unanswered", self.unanswered)
            table.none_of(name, "wrong", self.wrong)
            if house is not None:
                alive = house.alive
                table.holds(name, "alive", "yes", house.state, alive)
                table.none_of(name, "reports of the daemon", house.problems())
        if missed := texts_of(row for row in rows if row.met is False):
            self.stage.keep(name, house, "\n".join([missed, *self.unanswered[:20], *self.wrong[:20]]))


@dataclass(frozen=True)
class Known:
    """Profiles whose totals are known: of a daemon that nothing happened to."""

    small: Path
    small_total: float
    big: Path
    big_total: float
    kept: Path  # large enough to be kept in the cache
    kept_total: float


def known(stage: Stage, folder: Path) -> Known:
    text, total = folded_text(stage.rng("faults"), 3000)
    small = folder / "small.folded"
    small.write_bytes(text)
    big, kept = stage.inputs.profile(10), stage.inputs.profile(30)
    with stage.house() as house:
        client = house.client()
        totals = [opened.total for path in (big, kept) if isinstance(opened := open_file(client, path, 120), Opened)]
    return Known(small, total, big, totals[0], kept, totals[1])


def everything(ledger: Ledger, house: House, files: Known) -> None:
    """A session that wants a little of all."""
    try:
        client = house.client(house.folder, timeout_s=WAIT_S)
        handle = ledger.open(client, files.small, files.small_total)
        ledger.open(client, files.big, files.big_total)
        for shape in ("top-down by line", "bottom-up by function", "callers of main by function"):
            ledger.ask(client, "view/flameGraph", {"spec": shape, "viewport": {"width": 1200}})
        ledger.ask(client, "view/table", {"spec": "flat by function"})
        ledger.ask(client, "profile/export", {"format": "json"})
        text = "x = 1\n" * 500_000
        client.notify("textDocument/didOpen", {"textDocument": {
            "uri": (house.folder / "a.go").as_uri(), "languageId": "go", "version": 1, "text": text}}, WAIT_S)
        ledger.ask(client, "textDocument/codeLens", {"textDocument": {"uri": (house.folder / "a.go").as_uri()}})
        if handle is not None:
            ledger.ask(client, "view/table", {"profile": handle, "spec": "flat by function"}, files.small_total)
        ledger.ask(client, "profile/list", {})
    except ClientError as error:
        if not ledger.unanswered:
            ledger.unanswered.append(str(error))


# ---- one fault each

def small_memory(stage: Stage, files: Known) -> None:
    """Too little at ever other moments."""
    rng, end = stage.rng("memory"), time.monotonic() + stage.left / 5
    sizes = [140, 180, 220, 300]
    while sizes:
        megabytes = sizes.pop(0)
        ledger = Ledger(stage)
        try:
            with stage.house(Limits(budget_mb=64, address_space_mb=megabytes)) as house:
                everything(ledger, house, files)
                ledger.judge(f"faults/memory-{megabytes}", house)
        except ClientError as error:
            stage.table.told(f"faults/memory-{megabytes}", "did not start", str(error))
        if not sizes and time.monotonic() < end:
            sizes.append(rng.randrange(120, 500))


def few_descriptors(stage: Stage, files: Known) -> None:
    ledger = Ledger(stage)
    with stage.house(Limits(descriptors=20)) as house:
        for _ in range(3):
            everything(ledger, house, files)
        ledger.judge("faults/descriptors", house)


def small_files(stage: Stage, files: Known) -> None:
    """Nothing longer than a megabyte can be written: a full disk, as far as a process can tell."""
    ledger = Ledger(stage)
    with stage.house(Limits(file_mb=1), Offer(cache=Path("cache"))) as house:
        out = house.folder / "out.json"
        with suppress(ClientError):
            client = house.client()
            ledger.open(client, files.big, files.big_total, must_open=True)
            ledger.ask(client, "profile/export", {"format": "json", "spec": "top-down by line", "uri": out.as_uri()})
            everything(ledger, house, files)
        if out.exists():
            ledger.wrong.append(f"a part of an export was left: {out.stat().st_size} bytes")
        ledger.judge("faults/full-disk", house)


def strange_caches(stage: Stage, files: Known) -> None:
    """Full, read-only, of somebody else, a file, and damaged: the profile opens all the same."""
    base = Path(tempfile.mkdtemp(prefix="soak-cache-"))
    makers: dict[str, Callable[[Path], Callable[[], None] | None]] = {
        "full": make_full, "read-only": make_read_only, "foreign": make_foreign, "a-file": make_file, "damaged": make_none}
    for name, make in makers.items():
        folder = base / name
        undo = make(folder)
        if undo is None:
            stage.table.told(f"faults/cache-{name}", "not played", "only root can make one")
            continue
        ledger = Ledger(stage)
        with stage.house(offer=Offer(cache=folder)) as house:
            for _ in range(2):
                with suppress(ClientError):
                    client = house.client()
                    handle = ledger.open(client, files.kept, files.kept_total, must_open=True)
                    if handle is not None:
                        ledger.ask(client, "view/table", {"profile": handle, "spec": "bottom-up by line"}, files.kept_total)
                    time.sleep(0.5)
                    client.close()
                    time.sleep(0.1)
                if name == "damaged":
                    damage(folder, stage.rng("damage"))
            ledger.judge(f"faults/cache-{name}", house)
        undo()
    shutil.rmtree(base, ignore_errors=True)


def mount(folder: Path, options: str) -> Callable[[], None] | None:
    folder.mkdir(parents=True)
    argv = ["mount", "-t", "tmpfs", "-o", options, "profd-soak", str(folder)]
    if os.geteuid() != 0 or subprocess.run(argv, capture_output=True).returncode != 0:
        return None
    return lambda: void(subprocess.run(["umount", str(folder)], capture_output=True))


def void(_: object) -> None:
    pass


def make_full(folder: Path) -> Callable[[], None] | None:
    return mount(folder, "size=1m")


def make_read_only(folder: Path) -> Callable[[], None] | None:
    if undo := mount(folder, "size=1m,ro"):
        return undo
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o555)
    return lambda: folder.chmod(0o755)


def make_foreign(folder: Path) -> Callable[[], None] | None:
    own = folder / "profd"
    own.mkdir(parents=True)
    if os.geteuid() != 0:
        return None
    os.chown(own, 12345, 12345)
    own.chmod(0o777)
    return lambda: None


def make_file(folder: Path) -> Callable[[], None] | None:
    folder.write_text("not a folder\n")
    return lambda: None


def make_none(_: Path) -> Callable[[], None] | None:
    return lambda: None


def damage(folder: Path, rng: random.Random) -> None:
    for entry in folder.rglob("*.profd"):
        with entry.open("r+b") as file:
            size = entry.stat().st_size
            for _ in range(20):
                file.seek(rng.randrange(size))
                file.write(bytes([rng.randrange(256)]))


def sudden_ends(stage: Stage, files: Known) -> None:
    """kill -9 while it loads, exports and writes its cache; then another one in the same place."""
    ledger, rng = Ledger(stage), stage.rng("kill")
    base = Path(tempfile.mkdtemp(prefix="soak-kill-"))
    rounds = 0
    original_cache, out = base / "cache", base / "out.profd"
    end = time.monotonic() + max(4.0, stage.left / 3)
    while time.monotonic() < end:
        rounds += 1
        if rng.random() < 0.4:
            shutil.rmtree(original_cache, ignore_errors=True)
        with stage.house(offer=Offer(cache=original_cache)) as house:
            client = house.client()
            client.begin("profile/open", {"uri": files.kept.as_uri()})
            client.begin("profile/export", {"format": "profd", "uri": out.as_uri(), "overwrite": True})
            try:
                client.listen(rng.uniform(0, 0.8))
            except ClientError as error:
                ledger.unanswered.append(f"before the kill: {error}")
            house.kill()
        with stage.house(offer=Offer(cache=original_cache)) as house, suppress(ClientError):
            client = house.client()
            ledger.open(client, files.kept, files.kept_total, must_open=True)
            if out.exists():  # whole, or not there
                ledger.open(client, out, files.kept_total, must_open=True)
    stage.table.told("faults/kill", "rounds", count_text(rounds))
    rest = [path for path in base.rglob("*") if path.is_file() and path.suffix != ".profd"]
    stage.table.told("faults/kill", "unfinished files left", count_text(len(rest)))
    ledger.judge("faults/kill", None)
    shutil.rmtree(base, ignore_errors=True)


def files_in_motion(stage: Stage, files: Known) -> None:
    """Cut, grown, replaced and removed while they are read, mapped and watched."""
    ledger, rng = Ledger(stage), stage.rng("motion")
    over = threading.Event()
    with stage.house() as house:
        paths = [house.folder / f"moving{i}.pb.gz" for i in range(2)] + [house.folder / "moving.folded"]
        whole = [files.big.read_bytes()] * 2 + [files.small.read_bytes()]
        totals = [files.big_total] * 2 + [files.small_total]
        for path, content in zip(paths, whole):
            path.write_bytes(content)

        def move() -> None:
            while not over.wait(rng.uniform(0, 0.05)):
                i = rng.randrange(len(paths))
                path, content = paths[i], whole[i]
                kind = rng.randrange(4)
                try:
                    if kind == 0:
                        os.truncate(path, rng.randrange(len(content)))
                    elif kind == 1:
                        with path.open("ab") as out:
                            out.write(content[: rng.randrange(len(content))])
                    elif kind == 2:
                        fresh = path.with_suffix(".new")
                        fresh.write_bytes(content)
                        fresh.rename(path)
                    else:
                        path.write_bytes(content)
                except OSError:
                    pass

        mover = threading.Thread(target=move)
        mover.start()
        try:
            end = time.monotonic() + max(3.0, stage.left / 3)
            client = house.client()
            while time.monotonic() < end:
                path = rng.choice(paths)
                opened = open_file(client, path, WAIT_S, watch=rng.random() < 0.5)
                ledger.n_asked += 1
                if isinstance(opened, dict):
                    ledger.n_errors += 1
                    continue
                this = {"profile": opened.handle}
                ledger.ask(client, "view/table", {**this, "spec": f"bottom-up by line | drop function /m{rng.random()}/"})
                ledger.ask(client, "view/flameGraph", {**this, "spec": "top-down by function", "viewport": {"width": 900}})
                if rng.random() < 0.5:
                    close_file(client, opened, WAIT_S)
        except ClientError as error:
            ledger.unanswered.append(str(error))
        finally:
            over.set()
            mover.join()
        try:
            client = house.client()
            for path, content, total in zip(paths, whole, totals):
                path.unlink(missing_ok=True)
                still = path.with_name("still-" + path.name)
                still.write_bytes(content)
                ledger.open(client, still, total, must_open=True)
        except ClientError as error:
            ledger.unanswered.append(str(error))
        ledger.judge("faults/motion", house)


PARTS: dict[str, Callable[[Stage, Known], None]] = {
    "memory": small_memory, "descriptors": few_descriptors, "full-disk": small_files, "cache": strange_caches,
    "kill": sudden_ends, "motion": files_in_motion,
}


def run(stage: Stage) -> None:
    chosen = {name: part for name, part in PARTS.items() if not stage.only or stage.only.startswith(name)}
    if not chosen:
        raise SystemExit(f"there is no fault {stage.only}; there are {', '.join(PARTS)}")
    folder = Path(tempfile.mkdtemp(prefix="soak-faults-"))
    try:
        files = known(stage, folder)
        for name, part in chosen.items():
            if stage.may_begin(f"faults/{name}"):
                part(stage, files)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
