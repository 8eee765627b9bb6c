"""Files that are nearly right, through everything that reads and writes; and every bit of a container flipped in turn."""

from __future__ import annotations

import resource
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from containers import CONTAINERS
from figures import count_text, megabytes_text, seconds_text
from house import SANITIZED, House, Limits
from inputs import folded_text
from mutations import mutated
from psp_client import Client, ClientError, NoAnswer
from scenes.asking import Opened, close_file, open_file, same, table_of
from scenes.workspace import corpus, fixtures
from stage import Stage

LARGEST = 256 << 10
SLOWEST_S = 5.0
MOST_MB = 512  # that one file may add
ADDRESS_SPACE_MB = 2048
BATCH, LEAST = 40, 100
VIEWS = ("top-down by function", "bottom-up by line", "flat by file")
WRITERS = ("pprof", "folded", "speedscope", "callgrind", "json", "otlp", "firefox", "cpuprofile", "csv", "svg")


class Examiner:
    """A daemon, and what it did to files so far. A daemon that died is replaced."""

    def __init__(self, stage: Stage, house: House) -> None:
        self.stage, self.house = stage, house
        self.client = house.client(name="mutants")
        self.problems: list[str] = []
        self.longest_s = SLOWEST_S * (SANITIZED if stage.sanitized else 1)
        self.n_files = self.n_opened = 0
        self.slowest_s = self.most_mb = 0.0

    def examine(self, path: Path, number: int, original: Path) -> None:
        self.n_files += 1
        before = self.house.memory_mb()
        self.house.forget_peak()
        start = time.perf_counter()
        try:
            wrong = self.ask_everything(path, number)
        except NoAnswer:
            wrong = f"no answer after {self.longest_s:g} s"
        except ClientError as error:
            wrong = str(error)
        seconds, more = time.perf_counter() - start, self.house.high_water_mb() - before
        self.slowest_s, self.most_mb = max(self.slowest_s, seconds), max(self.most_mb, more)
        if not wrong and self.stage.table.judge_cost:
            wrong = f"took {seconds:.1f} s" if seconds > self.longest_s else f"took {more:.0f} MB" if more > MOST_MB else ""
        if wrong:
            self.problem(path, f"mutant {number} of {original.name}: {wrong}")
        if not self.house.alive or wrong.startswith(("no answer", "the daemon")):
            self.house.kill()
            self.house.restart()
            self.client = self.house.client(name="mutants")

    def problem(self, path: Path, what: str) -> None:
        self.problems.append(what)
        self.stage.keep("mutants", self.house, what, path, command=f"{self.stage.profd} check {path.name}")

    def ask_everything(self, path: Path, number: int) -> str:
        """What is wrong with the answers; "" nothing."""
        client = self.client
        opened = open_file(client, path, self.longest_s)
        if isinstance(opened, dict):
            return "" if opened.get("message") else "an error without a sentence"
        self.n_opened += 1
        wrong = self.views(client, opened, number) or self.round_trip(client, opened, path, number)
        close_file(client, opened, self.longest_s)
        return wrong

    def views(self, client: Client, opened: Opened, number: int) -> str:
        this = {"profile": opened.handle}
        summary = client.request("profile/summary", this, self.longest_s)
        if summary.error:
            return f"profile/summary: {summary.error['message']}"
        spec = VIEWS[number % len(VIEWS)]
        ask = {**this, "spec": spec, "limit": 1000}
        if not spec.startswith("flat"):
            flame = client.request("view/flameGraph", {**this, "spec": spec, "viewport": {"width": 1000}}, self.longest_s)
            if flame.error:
                return f"view/flameGraph: {flame.error['message']}"
            width = flame.result["zoomTotal"]["value"]
            if not opened.saturated and not same(flame.result["viewTotal"]["value"], opened.total, width):
                return f"the flame graph's total is {flame.result['viewTotal']['value']}, the file's {opened.total}"
        table = client.request("view/table", ask, self.longest_s)
        if table.error:
            return f"view/table: {table.error['message']}"
        width = sum(map(abs, table.result["rows"]["self"]))
        if not opened.saturated and not same(table.result["viewTotal"]["value"], opened.total, width):
            return f"the table's total is {table.result['viewTotal']['value']}, the file's {opened.total}"
        if not opened.saturated and spec.startswith("flat"):
            rest = [table.result[part]["amount"]["value"] if part == "remainder" else table.result[part]["value"]
                    for part in ("remainder", "own") if part in table.result]
            parts = sum(table.result["rows"]["self"]) + sum(rest)
            if opened.integral and not same(parts, opened.total):
                return f"rows sum to {parts}, the total is {opened.total}"
        return ""

    def round_trip(self, client: Client, opened: Opened, path: Path, number: int) -> str:
        """What is written as a native file is the same profile; the other writers answer."""
        this = {"profile": opened.handle}
        other = client.request("profile/export", {**this, "format": WRITERS[number % len(WRITERS)]}, self.longest_s)
        if other.error and not other.error.get("message"):
            return "an export failed without a sentence"
        native = path.with_name("again.profd")
        target = {"format": "profd", "uri": native.as_uri(), "overwrite": True}
        wrote = client.request("profile/export", {**this, **target}, self.longest_s)
        if wrote.error:
            return f"profile/export: {wrote.error['message']}"
        again = open_file(client, native, self.longest_s, metric=opened.metric)
        if isinstance(again, dict):
            return f"what was exported does not open: {again.get('message')}"
        close_file(client, again, self.longest_s)
        if again.metric == opened.metric and not opened.saturated and not same(again.total, opened.total):
            return f"the total is {opened.total}, and {again.total} after a round trip"
        return ""


def mutants(stage: Stage, files: list[Path], folder: Path) -> Iterator[tuple[int, Path, Path]]:
    """Number, file, what it was made of. The number and the seed say all about it."""
    contents = {path: path.read_bytes() for path in files}
    for number in range(stage.n_mutants):
        rng = stage.rng(f"mutant {number}")
        original = rng.choice(files)
        path = folder / f"m{number}-{original.name}"
        path.write_bytes(mutated(rng, contents[original]))
        yield number, path, original


def check_in_a_process(stage: Stage, files: list[Path], examiner: Examiner) -> int:
    """`profd check` of a batch, in a process of its own under limits. How many it judged."""
    argv = [str(stage.profd), "check", "--json", *map(str, files)]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=examiner.house.environment())
    if not stage.sanitized:
        resource.prlimit(process.pid, resource.RLIMIT_AS, (ADDRESS_SPACE_MB << 20,) * 2)
    try:
        out, err = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        examiner.problem(files[0], f"profd check of {len(files)} files took more than 60 s")
    lines = out.splitlines()
    if process.returncode not in (0, 1):
        suspect = files[min(len(lines), len(files) - 1)]
        last_words = err.decode("utf-8", "replace")[-300:]
        examiner.problem(suspect, f"profd check ended with {process.returncode} at {suspect.name}: {last_words}")
    elif len(lines) != len(files):
        examiner.problem(files[0], f"profd check judged {len(lines)} of {len(files)} files")
    return len(lines)


def run_mutants(stage: Stage) -> None:
    table, name = stage.table, "mutants"
    files = [path for path in fixtures() + corpus(LARGEST) if 0 < path.stat().st_size <= LARGEST]
    with stage.house(Limits(budget_mb=512, address_space_mb=ADDRESS_SPACE_MB)) as house:
        examiner = Examiner(stage, house)
        folder = house.folder / "mutants"
        folder.mkdir()
        batch: list[Path] = []
        n_checked = 0
        for number, path, original in mutants(stage, files, folder):
            examiner.examine(path, number, original)
            if number % 4 == 0:
                batch.append(path)
            else:
                path.unlink()
            if len(batch) == BATCH:
                n_checked += check_in_a_process(stage, batch, examiner)
                for done in batch:
                    done.unlink()
                batch.clear()
            if stage.left <= 0 and examiner.n_files >= LEAST:
                break
        seen = f"of {len(files)} originals, {examiner.n_opened:,} opened, {n_checked:,} also by profd check"
        table.at_least(name, "files", examiner.n_files, min(LEAST, stage.n_mutants), seen)
        table.none_of(name, "problems", examiner.problems)
        table.at_most(name, "slowest", examiner.slowest_s, SLOWEST_S, seconds_text)
        table.at_most(name, "most memory of one", examiner.most_mb, MOST_MB, megabytes_text)
        table.none_of(name, "reports of the daemon", house.problems())


# ---- containers

def run_flips(stage: Stage) -> None:
    table, name = stage.table, "flipped-bits"
    rng = stage.rng("flips")
    data, total = folded_text(rng, 12)
    silent: list[str] = []
    n_flips = n_refused = n_said = n_harmless = 0
    with stage.house(Limits(budget_mb=256, address_space_mb=ADDRESS_SPACE_MB)) as house:
        client = house.client(name="flips")
        packed: dict[str, tuple[Path, bytes, list[tuple[str, float]]]] = {}
        for container, (ending, pack) in CONTAINERS.items():
            try:
                content = pack(data)
            except OSError as error:
                table.told(name, container, f"not played: {error}")
                continue
            path = house.folder / f"flipped{ending}"
            path.write_bytes(content)
            whole = open_file(client, path)
            if isinstance(whole, dict) or whole.total != total:
                table.holds(name, container, str(total), str(whole), False)
                continue
            packed[container] = (path, content, table_of(client, whole))
            close_file(client, whole)
        order = [(container, bit) for container, (_, content, _) in packed.items() for bit in range(8 * len(content))]
        rng.shuffle(order)
        for container, bit in order:
            path, content, rows = packed[container]
            changed = bytearray(content)
            changed[bit // 8] ^= 1 << bit % 8
            path.write_bytes(changed)
            n_flips += 1
            try:
                opened = open_file(client, path, 10)
            except ClientError as error:
                silent.append(f"{container}, bit {bit}: {error}")
                stage.keep(name, house, silent[-1], path)
                break
            if isinstance(opened, dict):
                n_refused += 1
            else:
                same_as_before = same(opened.total, total) and table_of(client, opened) == rows
                close_file(client, opened)
                n_said += opened.said
                n_harmless += same_as_before
                if not same_as_before and not opened.said:
                    silent.append(f"{container}, bit {bit} of {8 * len(content)}: total {opened.total} for {total}")
                    if len(silent) <= 5:
                        stage.keep(name, house, silent[-1], path, command=f"{stage.profd} top {path.name}")
            if stage.left <= 0 and n_flips >= LEAST:
                break
        outcomes = f"{n_refused:,} refused, {n_said:,} said, {n_harmless:,} without effect"
        table.at_least(name, "flips", n_flips, LEAST, f"of {len(order):,}: {outcomes}")
        by_container: dict[str, int] = {}
        for one in silent:
            by_container[one.split(", bit")[0]] = by_container.get(one.split(", bit")[0], 0) + 1
        note = "; ".join(f"{container}: {n}" for container, n in by_container.items())
        table.at_most(name, "changed in silence", len(silent), 0, count_text, note)
        table.none_of(name, "reports of the daemon", house.problems())

