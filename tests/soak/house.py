"""A daemon under limits, with its folder, its clients and a guard that ends it before it takes the machine with it."""

from __future__ import annotations

import math
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from measured import process_cpu_s, process_descriptors, process_memory_mb
from psp_client import Client, ClientError, Daemon, connect_unix

GUARD_STEP_S = 0.02
STUCK_S = 5.0  # a daemon that SIGTERM has not ended by then is killed
SANITIZED = 4  # so much slower and larger is a daemon with a sanitizer in it
REPORTS = re.compile(rb"(ERROR: (Address|Leak)Sanitizer|WARNING: ThreadSanitizer|runtime error:)[^\n]*")
CONTROLS = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]")


@dataclass(frozen=True)
class Limits:
    budget_mb: int = 256
    address_space_mb: int = 8192  # 0: none
    resident_mb: int = 3072       # the guard's
    descriptors: int = 0
    file_mb: int | None = None
    cgroup_mb: int = 0


@dataclass(frozen=True)
class Offer:
    """How the daemon is to be reached and where it keeps things."""

    stdio: bool = False
    tcp: bool = False
    cache: Path | None = None  # relative: in the daemon's own folder


@dataclass
class House:
    profd: Path
    limits: Limits = Limits()
    offer: Offer = Offer()
    env: Mapping[str, str] = field(default_factory=dict)
    sanitized: bool = False

    def __post_init__(self) -> None:
        # Paths of sockets are short: at most some 100 bytes.
        self.folder = Path(tempfile.mkdtemp(prefix="soak-", dir=os.environ.get("SOAK_TMP")))
        self.socket, self.log, self.token_file = self.folder / "s", self.folder / "daemon.log", self.folder / "tcp"
        self.connections: list[socket.socket] = []
        self.peak_mb = 0.0
        self.stopped_for = ""  # why the guard ended it
        self.start()

    def start(self) -> None:
        argv = [str(self.profd), "serve", "--socket", str(self.socket), "--memory-budget", f"{self.limits.budget_mb}MB",
                "--idle-timeout", "120"]
        argv += ["--stdio"] if self.offer.stdio else []
        argv += ["--port", "0", "--token-file", str(self.token_file)] if self.offer.tcp else []
        with self.log.open("ab") as log:
            self.daemon = Daemon(argv, self.environment(), log)
        self._limit()
        self._over = threading.Event()
        self._guard = threading.Thread(target=self._watch, daemon=True)
        self._guard.start()
        try:
            self.daemon.socket_client(self.socket, 30).close()
        except BaseException:
            self.__exit__()
            raise
        self.start_mb = self.memory_mb()
        self.start_descriptors = self.descriptors()

    def environment(self) -> dict[str, str]:
        own = {"HOME": str(self.folder), "XDG_RUNTIME_DIR": str(self.folder), "PROFD_LOG": "info"}
        own |= {"ASAN_OPTIONS": "allocator_may_return_null=1"} if self.sanitized else {}
        own |= {"XDG_CACHE_HOME": str(self.folder / self.offer.cache)} if self.offer.cache else {"PROFD_CACHE": "off"}
        return own | dict(self.env)

    def _limit(self) -> None:
        pid = self.pid
        if self.limits.cgroup_mb and not self.sanitized:
            join_memory_group(pid, self.limits.cgroup_mb << 20)
        if self.limits.address_space_mb and not self.sanitized:
            resource.prlimit(pid, resource.RLIMIT_AS, (self.limits.address_space_mb << 20,) * 2)
        if self.limits.descriptors:
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (self.limits.descriptors,) * 2)
        if self.limits.file_mb is not None:
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (self.limits.file_mb << 20,) * 2)
        resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))
        if seconds := int(os.environ.get("SOAK_CPU_S", "0")):  # should we be killed, it does not go on for ever
            resource.prlimit(pid, resource.RLIMIT_CPU, (seconds, seconds))

    def _watch(self) -> None:
        over, process = self._over, self.daemon.process
        while not over.wait(GUARD_STEP_S):
            if process.poll() is not None:
                return
            try:
                resident, _ = process_memory_mb(process.pid)
            except (KeyError, ValueError):
                continue  # between its end and our waiting for it
            self.peak_mb = max(self.peak_mb, resident)
            if resident > self.limits.resident_mb * (SANITIZED if self.sanitized else 1):
                self.stopped_for = f"it took {resident:,.0f} MB"
                process.kill()
                return

    # ---- asking

    @property
    def pid(self) -> int:
        return self.daemon.process.pid

    @property
    def state(self) -> str:
        return self.stopped_for or ("yes" if self.alive else f"ended with {self.daemon.process.poll()}")

    @property
    def alive(self) -> bool:
        process = self.daemon.process
        if process.poll() is None and math.isnan(self.memory_mb()):  # it is giving back its memory, at its end
            try:
                process.wait(STUCK_S)
            except subprocess.TimeoutExpired:
                pass
        return process.poll() is None

    def client(self, root: Path | None = None, name: str = "soak", timeout_s: float = 10,
               settings: Mapping[str, object] | None = None) -> Client:
        """Connected and initialised."""
        client = Client.of_socket(self.connect())
        client.initialize(root, name, settings, timeout_s)
        return client

    def connect(self) -> socket.socket:
        try:
            connection = connect_unix(self.socket)
        except OSError as error:
            raise ClientError(f"the daemon is gone: {error.strerror}") from error
        self.connections.append(connection)
        return connection

    def tcp(self) -> tuple[int, str]:
        """Port and token."""
        port, token = self.token_file.read_text().split()
        return int(port), token

    def memory_mb(self) -> float:
        try:
            return process_memory_mb(self.pid)[0]
        except (KeyError, ValueError):
            return math.nan

    def forget_peak(self) -> None:
        """high_water_mb() counts from here, where the system can."""
        try:
            Path(f"/proc/{self.pid}/clear_refs").write_text("5")
        except OSError:
            pass

    def high_water_mb(self) -> float:
        try:
            return process_memory_mb(self.pid)[1]
        except (KeyError, ValueError):
            return math.nan

    def descriptors(self) -> int:
        return process_descriptors(self.pid)

    def cpu_s(self) -> float:
        return process_cpu_s(self.pid)

    def watches(self) -> int:
        """inotify watches it holds."""
        n = 0
        for entry in Path(f"/proc/{self.pid}/fdinfo").glob("*"):
            try:
                n += entry.read_text().count("inotify wd:")
            except OSError:
                continue
        return n

    def settled_mb(self, timeout_s: float = 10) -> float:
        """Resident MB once it is steady."""
        end, last = time.monotonic() + timeout_s, self.memory_mb()
        while time.monotonic() < end:
            time.sleep(0.4)
            now = self.memory_mb()
            if abs(now - last) < 1:
                return now
            last = now
        return last

    # ---- its end

    def signal(self, number: int) -> float:
        """Seconds until that signal has ended it; infinite when it had to be killed."""
        if not self.alive:
            return math.inf
        start = time.perf_counter()
        self.daemon.process.send_signal(number)
        try:
            self.daemon.process.wait(STUCK_S * (SANITIZED if self.sanitized else 1))
            return time.perf_counter() - start
        except subprocess.TimeoutExpired:
            self.kill()
            return math.inf

    def kill(self) -> None:
        self.daemon.process.kill()
        self.daemon.process.wait()

    def restart(self) -> None:
        """Another daemon in the same place."""
        self._over.set()
        self._guard.join()
        self.leave()
        self.daemon.end()
        leave_memory_group(self.pid)
        self.socket.unlink(missing_ok=True)
        self.stopped_for = ""
        self.start()

    def leave(self) -> None:
        """All clients go."""
        for connection in self.connections:
            connection.close()
        self.connections.clear()

    def problems(self) -> list[str]:
        """What the log must not have in it, and a death that nobody ordered."""
        text = self.log.read_bytes() if self.log.exists() else b""
        found = [match.group(0).decode("ascii", "replace") for match in REPORTS.finditer(text)]
        code = self.daemon.process.poll()
        if code is not None and code < 0 and -code not in (signal.SIGKILL, signal.SIGTERM):
            found.append(f"it died of {signal.Signals(-code).name}")
        return found

    def log_controls(self) -> list[str]:
        text = self.log.read_bytes() if self.log.exists() else b""
        return [repr(line[:80]) for line in text.split(b"\n") if CONTROLS.search(line)]

    def __enter__(self) -> House:
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self.leave()
        if self.alive:
            self.signal(signal.SIGTERM)
        self.daemon.end()
        self._guard.join()
        leave_memory_group(self.pid)
        shutil.rmtree(self.folder, ignore_errors=True)


# ---- control groups of memory, version 2 and 1

GROUPS = Path("/sys/fs/cgroup")


def _group_of(pid: int) -> Path | None:
    if (GROUPS / "cgroup.controllers").exists():
        return GROUPS / f"profd-soak-{pid}"
    return GROUPS / "memory" / f"profd-soak-{pid}" if (GROUPS / "memory").is_dir() else None


def join_memory_group(pid: int, most: int) -> bool:
    """False where groups may not be made here."""
    group = _group_of(pid)
    if group is None:
        return False
    try:
        group.mkdir()
        limit = "memory.max" if (GROUPS / "cgroup.controllers").exists() else "memory.limit_in_bytes"
        (group / limit).write_text(str(most))
        (group / "cgroup.procs").write_text(str(pid))
        return True
    except OSError:
        leave_memory_group(pid)
        return False


def leave_memory_group(pid: int) -> None:
    group = _group_of(pid)
    try:
        if group is not None and group.is_dir():
            group.rmdir()
    except OSError:
        pass


def memory_groups_work() -> bool:
    group = _group_of(os.getpid())
    if group is None:
        return False
    try:
        group.mkdir()
        there = any((group / name).exists() for name in ("memory.max", "memory.limit_in_bytes"))
        group.rmdir()
        return there
    except OSError:
        return False
