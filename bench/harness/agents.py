"""Agents of live profiles: what one event costs in each language, and what real programs lose to them. Everything is run in turns with
the same without an agent; of small figures the least of all turns counts, of rounds of a program their median."""

from __future__ import annotations

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from harness.context import Context
from harness.report import Row

ROOT = Path(__file__).resolve().parents[2]
AGENTS, PROGRAMS = ROOT / "agents", ROOT / "bench" / "live"
SCALA = "2.13.16"  # 2,891 classes
WARM_S, SECONDS = 5.0, 9.0
Argv = Sequence[str | Path]


class Missing(Exception):
    """What a row needs is not here."""


def _run(argv: Argv, *, env: Mapping[str, str] | None = None, timeout_s: float = 300) -> str:
    done = subprocess.run([str(part) for part in argv], env={**os.environ, **(env or {})}, capture_output=True, text=True,
                          timeout=timeout_s)
    if done.returncode != 0:
        raise Missing(f"{Path(str(argv[0])).name} failed: {(done.stderr or done.stdout).strip().splitlines()[-1:]}")
    return done.stdout


def _numbers(text: str) -> list[float]:
    return [float(one) for one in re.findall(r"-?\d+\.\d+", text)]


class _Live:
    """`profd live` for one program: it takes the stream and has methods demoted, as it does for anybody."""

    def __init__(self, ctx: Context, *options: str) -> None:
        self.path = ctx.work / "agents" / "live.sock"
        self.path.unlink(missing_ok=True)
        self._process = subprocess.Popen([str(ctx.profd), "live", "--json", "--once", "--socket", str(self.path), *options],
                                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **ctx.environment()})
        assert self._process.stderr is not None
        self._process.stderr.readline()

    @property
    def target(self) -> str:
        return f"unix:{self.path}"

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()

    def last(self) -> dict[str, object]:
        try:
            out, _ = self._process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            self.kill()
            return {}
        lines = out.splitlines()
        return json.loads(lines[-1]) if lines else {}


# What an event costs


def _least(runs: int, programs: Mapping[str, Callable[[], list[float]]]) -> dict[str, list[float]]:
    """In turns; of each figure the least."""
    least: dict[str, list[float]] = {}
    for _ in range(runs):
        for name, run in programs.items():
            now = run()
            least[name] = [min(pair) for pair in zip(least.get(name, now), now)]
    return least


def _library(work: Path) -> Path:
    if shutil.which("gcc") is None:
        raise Missing("no gcc")
    out = work / "c"
    out.mkdir(parents=True, exist_ok=True)
    sources = [AGENTS / "c" / f"{name}.c"
               for name in ("core", "instrument", "link", "methods", "modules", "quiet", "send", "wire", "xray")]
    _run(["gcc", "-std=c11", "-O2", "-fPIC", "-fvisibility=hidden", '-DPROFD_LIVE_VERSION="bench"', "-shared", "-Wl,-z,nodelete", *sources,
          "-o", out / "libprofd-live.so", "-pthread", "-ldl"])
    return out


def _events_of_c(ctx: Context, off: Row, on: Row) -> None:
    work = ctx.work / "agents"
    library = _library(work)
    empty = work / "empty.c"
    empty.write_text("void __cyg_profile_func_enter(void* f, void* s) { (void)f, (void)s; }\n"
                     "void __cyg_profile_func_exit(void* f, void* s) { (void)f, (void)s; }\n")
    _run(["gcc", "-O2", "-fPIC", "-shared", empty, "-o", library / "libempty.so"])
    flags = ["gcc", "-O2", "-finstrument-functions", AGENTS / "c" / "example" / "recursion.c", f"-Wl,-rpath,{library}", f"-L{library}"]
    _run([*flags, "-include", AGENTS / "c" / "profd_live_probes.h", "-lprofd-live", "-o", work / "part"])
    _run([*flags, "-lprofd-live", "-o", work / "call"])
    _run([*flags, "-lempty", "-o", work / "empty"])
    recording = {"PROFD_LIVE": f"file:{work / 'c.plive'}"}
    found = _least(ctx.runs * 2, {
        "off": lambda: _numbers(_run([work / "part"])),
        "called": lambda: _numbers(_run([work / "call"])),
        "empty": lambda: _numbers(_run([work / "empty"])),
        "on": lambda: _numbers(_run([work / "part"], env=recording)),
    })
    event = {name: max(0.0, (one[1] - one[0]) / 2) for name, one in found.items()}
    clock = found["on"][-1]
    off.measured = (f"{event['off']:.2f} ns; {event['called']:.2f} where the library's probe is called, of which {event['empty']:.2f} are "
                    "a call of a library's function that does nothing")
    off.check(event["off"] <= 1)
    on.measured = f"{event['on']:.1f} ns, of which {clock:.1f} are the clock"
    on.check(event["on"] <= clock + 5)


def _pythons() -> list[Path]:
    found: dict[str, Path] = {}
    for path in [Path(sys.executable), *sorted(Path.home().glob(".pyenv/versions/3.*/bin/python3"))]:
        version = _run([path, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]).strip()
        if tuple(map(int, version.split("."))) >= (3, 11):
            found.setdefault(version, path)
    return [found[version] for version in sorted(found, key=lambda v: tuple(map(int, v.split("."))))]


def _extension(python: Path, work: Path) -> Path:
    """The agent for one interpreter."""
    include, suffix, version = _run([python, "-c", "import sysconfig as s; print(s.get_path('include')); "
                                     "print(s.get_config_var('EXT_SUFFIX')); print(s.get_python_version())"]).split()
    out = work / f"python{version}"
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(AGENTS / "python" / "profd_live", out / "profd_live")
    sources = [AGENTS / "c" / f"{name}.c" for name in ("core", "link", "methods", "send", "wire")]
    _run(["gcc", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", '-DPROFD_LIVE_VERSION="bench"', "-I", AGENTS / "c", "-I", include,
          out / "profd_live" / "_native.c", *sources, "-o", out / "profd_live" / f"_native{suffix}", "-pthread"])
    return out


def _events_of_python(ctx: Context, newer: Row, older: Row, pure: Row) -> None:
    work = ctx.work / "agents"
    program = AGENTS / "python" / "example" / "recursion.py"
    told: dict[str, list[str]] = {row.name: [] for row in (newer, older, pure)}
    for python in _pythons():
        version = _run([python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]).strip()
        environment = {"PYTHONPATH": str(_extension(python, work)), "PROFD_LIVE": f"file:{work / 'python.plive'}"}
        with_agent = [python, "-m", "profd_live"]
        found = _least(ctx.runs, {
            "plain": lambda: _numbers(_run([python, program])),
            "native": lambda: _numbers(_run([*with_agent, program], env=environment)),
            "pure": lambda: _numbers(_run([*with_agent, "--pure", program], env=environment)),
        })
        event = {name: (one[0] - found["plain"][0]) / 2 for name, one in found.items()}
        row, most = (newer, 60) if tuple(map(int, version.split("."))) >= (3, 12) else (older, 120)
        told[row.name].append(f"{version}: {event['native']:.0f} ns")
        row.check(event["native"] <= most)
        told[pure.name].append(f"{version}: {event['pure']:.0f} ns")
        pure.check(event["pure"] <= 450)
    for row in (newer, older, pure):
        row.measured = "; ".join(told[row.name]) or "not yet: no such Python here"


def _javas() -> list[Path]:
    found = {}
    for home in sorted(Path("/usr/lib/jvm").glob("*")):
        if (home / "bin" / "javac").exists():
            found.setdefault(home.resolve(), home / "bin")
    return list(found.values())


def _java_version(java: Path) -> str:
    done = subprocess.run([java / "java", "-version"], capture_output=True, text=True)
    match = re.search(r'version "(\d+)', done.stderr)
    return match[1] if match else "?"


def _agent_of_java(work: Path) -> Path:
    jar = work / "profd-live.jar"
    if not _javas():
        raise Missing("no JDK")
    _run([sys.executable, AGENTS / "java" / "build.py", jar])
    return jar


def _events_of_java(ctx: Context, row: Row) -> None:
    work = ctx.work / "agents"
    jar = _agent_of_java(work)
    told = []
    for java in _javas():
        classes = work / f"classes{_java_version(java)}"
        _run([java / "javac", "-d", classes, AGENTS / "java" / "example" / "Recursion.java"])
        plain = [java / "java", "-cp", classes, "Recursion"]
        probed = [java / "java", f"-javaagent:{jar}=file:{work / 'java.plive'};methods=calling", "-cp", classes, "Recursion"]
        found = _least(ctx.runs, {"plain": lambda: _numbers(_run(plain)), "on": lambda: _numbers(_run(probed))})
        event, clock = (found["on"][0] - found["plain"][0]) / 2, min(found["plain"][1], found["on"][1])
        told.append(f"JDK {_java_version(java)}: {event:.0f} ns, of which {clock:.0f} are the clock")
        row.check(event <= clock + 12)
    row.measured = "; ".join(told)


# Real programs


def _rounds(text: str) -> float:
    """Median milliseconds of the rounds behind the first seconds."""
    rounds = [line.split() for line in text.splitlines() if re.fullmatch(r"\d+\.\d+ \d+\.\d+", line)]
    late = [float(took) for at, took in rounds if float(at) >= WARM_S]
    if not late:
        raise Missing("no round came after the first seconds")
    return statistics.median(late)


def _compare(ctx: Context, row: Row, plain: Argv, ways: Mapping[str, tuple[Argv, Mapping[str, str]]],
             within_when_off: float | None = None) -> None:
    """`ways`: with an agent; its target stands for @. The first of them has the target of the row, and `off` one of its own."""
    times: dict[str, list[float]] = {}
    demoted: dict[str, object] = {}
    for _ in range(ctx.runs):
        times.setdefault("plain", []).append(_rounds(_run(plain)))
        for name, (argv, environment) in ways.items():
            live = _Live(ctx)
            try:
                argv = [str(part).replace("@", live.target) for part in argv]
                environment = {key: value.replace("@", live.target) for key, value in environment.items()}
                times.setdefault(name, []).append(_rounds(_run(argv, env=environment)))
                demoted[name] = live.last().get("demoted")
            finally:
                live.kill()
    base = statistics.median(times["plain"])
    ratios = {name: statistics.median(one) / base for name, one in times.items() if name != "plain"}
    row.measured = f"{base:.0f} ms a round; " + ", ".join(
        f"{name} {ratio:.2f}x ({demoted[name]} methods lost their probes)" for name, ratio in ratios.items())
    row.check(next(iter(ratios.values())) <= 1.10)
    if "off" in ratios and within_when_off is not None:
        row.check(ratios["off"] <= within_when_off)


def _jar_of_many() -> Path:
    jar = Path.home() / f".m2/repository/org/scala-lang/scala-library/{SCALA}/scala-library-{SCALA}.jar"
    if not jar.exists() and shutil.which("mvn"):
        subprocess.run(["mvn", "-q", "-B", "dependency:get", f"-Dartifact=org.scala-lang:scala-library:{SCALA}", "-Dtransitive=false"],
                       timeout=300, check=False, stdout=subprocess.DEVNULL)
    if not jar.exists():
        raise Missing("the JAR of 2,891 classes that is rewritten (scala-library) comes by Maven")
    return jar


def _real_java(ctx: Context, row: Row) -> None:
    work = ctx.work / "agents"
    jar, many, java = _agent_of_java(work), _jar_of_many(), _javas()[0]
    asm = next(Path.home().glob(".m2/repository/org/ow2/asm/asm/9.*/asm-9.*.jar"))
    _run([java / "javac", "-cp", asm, "-d", work / "rewrite", PROGRAMS / "Rewrite.java"])
    program = ["-cp", f"{work / 'rewrite'}:{asm}", "Rewrite", many, str(SECONDS)]
    _compare(ctx, row, [java / "java", *program], {
        "defaults": ([java / "java", f"-javaagent:{jar}=@", *program], {}),
        "all methods": ([java / "java", f"-javaagent:{jar}=@;methods=all", *program], {}),
    })


def _real_python(ctx: Context, row: Row) -> None:
    python = _pythons()[-1]
    environment = {"PYTHONPATH": str(_extension(python, ctx.work / "agents")), "PROFD_LIVE": "@"}
    program = [PROGRAMS / "parse.py", str(SECONDS)]
    _compare(ctx, row, [python, *program], {"all functions": ([python, "-m", "profd_live", *program], environment)})


def _real_cpp(ctx: Context, row: Row) -> None:
    work = ctx.work / "agents"
    library = _library(work)
    build = ["g++", "-O2", "-g", PROGRAMS / "parse.cpp"]
    _run([*build, "-o", work / "parse"])
    probes = ["-finstrument-functions", "-finstrument-functions-exclude-file-list=/usr/include,/usr/lib", "-include",
              AGENTS / "c" / "profd_live_probes.h"]
    link = [f"-L{library}", f"-Wl,-rpath,{library}", "-lprofd-live"]
    _run([*build, *probes, *link, "-o", work / "parse-probed"])
    few = "-finstrument-functions-exclude-function-list=peek,next,skip_space,take"
    _run([*build, *probes, few, *link, "-o", work / "parse-few"])
    _compare(ctx, row, [work / "parse", str(SECONDS)], {
        "without the smallest": ([work / "parse-few", str(SECONDS)], {"PROFD_LIVE": "@"}),
        "all functions": ([work / "parse-probed", str(SECONDS)], {"PROFD_LIVE": "@"}),
        "off": ([work / "parse-probed", str(SECONDS)], {}),
    })


def _real_cpp_xray(ctx: Context, row: Row) -> None:
    """XRay as it is by default: functions of 200 instructions or with a loop."""
    work = ctx.work / "agents"
    clang = shutil.which("clang++-14") or shutil.which("clang++")
    if clang is None:
        raise Missing("no clang")
    library = _library(work)
    _run(["gcc", "-std=c11", "-O2", "-c", AGENTS / "c" / "xray_program.c", "-o", work / "xray_program.o"])
    build = [clang, "-std=c++17", "-O2", "-g", PROGRAMS / "parse.cpp"]
    _run([*build, "-o", work / "parse-clang"])
    _run([*build, "-fxray-instrument", work / "xray_program.o", f"-L{library}", f"-Wl,-rpath,{library}", "-lprofd-live", "-o",
          work / "parse-xray"])
    _compare(ctx, row, [work / "parse-clang", str(SECONDS)], {
        "defaults": ([work / "parse-xray", str(SECONDS)], {"PROFD_LIVE": "@"}),
        "off": ([work / "parse-xray", str(SECONDS)], {}),
    }, within_when_off=1.05)


# Attach and detach


class _Loaded:
    """The program that has the classes of a JAR loaded, and works in steps."""

    def __init__(self, java: Path, classes: Path, jar: Path) -> None:
        self.process = subprocess.Popen([java / "java", "-Xverify:all", "-XX:+EnableDynamicAgentLoading", "-cp", classes, "Loaded", jar],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.errors: list[str] = []
        self._reader = threading.Thread(target=self._drain, daemon=True)
        self._reader.start()
        self.loaded = self._until("loaded")

    def _drain(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.errors.append(line)

    def _until(self, word: str) -> str:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith(word):
                return line.strip()
            self.lines.append(line)
        raise Missing(f"the program ended before it said {word}: {self.errors[-1:]}")

    lines: list[str] = []

    def step(self, name: str) -> float:
        """Least nanoseconds of a round."""
        assert self.process.stdin is not None
        self.lines = []
        self.process.stdin.write(name + "\n")
        self.process.stdin.flush()
        self._until("done")
        return min(float(line.split()[1]) for line in self.lines)

    def processor_s(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def wait_for_error(self, words: str) -> str:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            for line in list(self.errors):
                if words in line:
                    return line.strip()
            time.sleep(0.005)
        raise Missing(f"the agent never said {words}")

    def verify(self) -> str:
        assert self.process.stdin is not None
        self.process.stdin.write("verify\n")
        self.process.stdin.flush()
        return self._until("verified")

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        self._reader.join()


def _attach(ctx: Context, row: Row) -> None:
    work = ctx.work / "agents"
    jar, many = _agent_of_java(work), _jar_of_many()
    told = []
    for java in _javas():
        classes = work / f"loaded{_java_version(java)}"
        _run([java / "javac", "-d", classes, PROGRAMS / "Loaded.java"])
        for number, (kind, options) in enumerate((("defaults", ""), ("all methods", ";methods:all"))):
            live = _Live(ctx)
            program, never = _Loaded(java, classes, many), _Loaded(java, classes, many)
            try:
                before = min(program.step("plain") for _ in range(3))
                begun, used = time.monotonic(), program.processor_s()
                # The option that Java 21 and newer want for it is given.
                _run([java / "jcmd", str(program.process.pid), "JVMTI.agent_load", jar, f"{live.target};verbose:yes{options}"])
                given = program.wait_for_error("given probes")  # by then all loaded classes have theirs
                attach, used = time.monotonic() - begun, program.processor_s() - used
                during = program.step("on")
                verified = program.verify()
                live.kill()  # which detaches: probes go when nobody is there
                # The same program that was never attached to, in turns: classes that are initialised change its speed too.
                for name in ("plain", "on"):
                    never.step(name)
                never.verify()
                after, plain = float("inf"), float("inf")
                deadline = time.monotonic() + 20
                while after > plain * 1.02 and time.monotonic() < deadline or plain == float("inf"):
                    after, plain = min(after, program.step("after")), min(plain, never.step("after"))
            finally:
                program.end()
                never.end()
                live.kill()
            errors = int(verified.split()[-1])
            told.append(f"JDK {_java_version(java)}, {kind}: {attach:.2f} s ({used:.2f} s of processors) with "
                        f"{program.loaded.split()[1]} classes loaded, {errors} verify errors; {given.removeprefix('profd-live: ')}; "
                        f"a round {before / 1e6:.2f} ms, {during / before:.1f}x attached, {after / plain:.3f}x of one that was never "
                        f"attached to when the daemon was gone")
            row.check(errors == 0 and after <= plain * 1.02 and (number > 0 or attach <= 1))
    row.measured = "; ".join(told)


def _killed(ctx: Context, row: Row) -> None:
    """The daemon is killed in the middle: what the program says and returns stays, and no call is held up."""
    work = ctx.work / "agents"
    library = _library(work)
    _run(["gcc", "-O2", "-finstrument-functions", "-include", AGENTS / "c" / "profd_live_probes.h", PROGRAMS / "worst.c", f"-L{library}",
          f"-Wl,-rpath,{library}", "-lprofd-live", "-o", work / "worst"])
    told, held = [], True
    for _ in range(ctx.runs):
        live = _Live(ctx)
        program = subprocess.Popen([work / "worst", "4"], stdout=subprocess.PIPE, text=True, env={**os.environ, "PROFD_LIVE": live.target})
        time.sleep(2)
        live.kill()
        out = program.communicate(timeout=60)[0]
        match = re.search(r"with (\S+) us (\d+) late; without (\S+) us (\d+) late", out)
        held = held and program.returncode == 7 and match is not None
        if match is not None:
            told.append((float(match[1]), int(match[2]), float(match[3]), int(match[4])))
    if not told:
        raise Missing("the program said nothing")
    best = min(told)
    row.measured = (f"longest call {best[0]:.0f} us with probes, {best[2]:.0f} us without; of all {sum(one[1] for one in told)} took more than "
                    f"100 us with, {sum(one[3] for one in told)} without")
    # What the system takes for others is in both: probes add nothing to it.
    row.check(held and (best[0] <= 100 or sum(one[1] for one in told) <= 1.5 * sum(one[3] for one in told) + 2))


def run(ctx: Context) -> None:
    c_off = Row("agents: a C probe that is off", "<= 1 ns")
    c_on = Row("agents: an event of C", "<= clock + 5 ns")
    newer = Row("agents: an event of Python from 3.12 on", "<= 60 ns")
    older = Row("agents: an event of Python before 3.12", "<= 120 ns")
    pure = Row("agents: an event of Python without its extension, sending included", "<= 450 ns")
    java = Row("agents: an event of Java", "<= clock + 12 ns")
    asm = Row("agents: ASM rewriting 2,891 classes", "defaults <= 1.10x after 5 s")
    toml = Row("agents: a TOML parser in Python", "<= 1.10x after 5 s")
    cpp = Row("agents: a JSON parser in C++, 10 MB", "<= 1.10x after 5 s without the smallest functions")
    xray = Row("agents: a JSON parser in C++, 10 MB, by XRay", "defaults <= 1.10x after 5 s, off <= 1.05x")
    attach = Row("agents: attach to Java, and detach", "<= 1 s, no verify errors, plain speed within 2 % afterwards")
    killed = Row("agents: the daemon is killed while a program of C runs", "exit code and output the same, worst call <= 100 us")
    work: list[tuple[tuple[Row, ...], Callable[[], None]]] = [
        ((c_off, c_on), lambda: _events_of_c(ctx, c_off, c_on)),
        ((newer, older, pure), lambda: _events_of_python(ctx, newer, older, pure)),
        ((java,), lambda: _events_of_java(ctx, java)),
        ((asm,), lambda: _real_java(ctx, asm)),
        ((toml,), lambda: _real_python(ctx, toml)),
        ((cpp,), lambda: _real_cpp(ctx, cpp)),
        ((xray,), lambda: _real_cpp_xray(ctx, xray)),
        ((attach,), lambda: _attach(ctx, attach)),
        ((killed,), lambda: _killed(ctx, killed)),
    ]
    (ctx.work / "agents").mkdir(parents=True, exist_ok=True)
    for rows, measure in work:
        if not ctx.wants(*(row.name for row in rows)):
            continue
        print(f"bench: {rows[0].name}", flush=True)
        try:
            measure()
        except (Missing, OSError, KeyError, IndexError, ValueError, StopIteration, subprocess.SubprocessError) as error:
            for row in rows:
                row.measured = f"not yet: {error}"
                row.checks.clear()
        for row in rows:
            ctx.add(row)
