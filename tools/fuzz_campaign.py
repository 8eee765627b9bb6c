#!/usr/bin/env python3
"""Runs fuzz targets one after another, each for its time, and writes a table of what came of it.

    ./dev fuzz --all [SECONDS_TEXT SECONDS_HARD] [--jobs N] [--again] [--no-build] [--only TARGET,...]

Time is CPU time of the target, so a busy machine changes nothing but how long one waits. A target that finds
something keeps its input in build/fuzz/finds/<target> and the campaign goes on. Results are kept in
build/fuzz/results; a campaign that was cut off goes on where it was, and a target that has had its time is run
again only when its program changed, or with --again.
"""
import argparse
import bz2
import collections
import datetime
import gzip
import hashlib
import io
import json
import lzma
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import threading
import time
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "fuzz"
HARD = ["reader_pprof", "reader_jfr", "reader_perf_data", "reader_hpctoolkit_v4", "reader_otlp", "mojo"]
# What people open most comes first; what is not named here follows by name.
FIRST = HARD + ["reader_" + name for name in (
    "folded perf_script speedscope cpuprofile chrome_trace firefox callgrind pprof_legacy pstats").split()] + [
    "framing", "codec", "peer", "view_spec", "rules", "project_file", "open"]
CORPUS_NAMES = {"cubex": "scorep-cubex", "stackprof": "ruby-stackprof", "otlp": "otlp-profiles"}
SMALL = 64 << 10       # seeds of the corpus
LARGE = 256 << 10      # seeds of testdata, where the recorded files are
MAX_SEEDS = 300
SLOW_CPU_SECONDS = 10  # one input that takes longer is a find
FOLDER = b"\x02"       # the options of tests/fuzz/fuzz_reader.cpp
BESIDE = b"\x04"


# ---- seeds

def expanded(data):
    """What is inside of a compressed stream: the fuzzer cannot get past a checksum."""
    for magic, expand in ((b"\x1f\x8b", gzip.decompress), (b"BZh", bz2.decompress), (b"\xfd7zXZ", lzma.decompress)):
        if data.startswith(magic):
            try:
                return expand(data)
            except (OSError, EOFError, zlib.error, lzma.LZMAError):
                return data
    if data.startswith(b"\x28\xb5\x2f\xfd") and shutil.which("zstd"):
        done = subprocess.run(["zstd", "-dcq"], input=data, capture_output=True, check=False)
        return done.stdout or data
    return data


def marked(files):
    return b"".join(b"\n%file " + name.encode() + b"\n" + content for name, content in files)


def files_of_tar(data):
    try:
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            return [(m.name, tar.extractfile(m).read()) for m in tar.getmembers() if m.isfile()]
    except (tarfile.TarError, EOFError):
        return []


def seeds_of_file(data, limit):
    data = expanded(data)
    if data[257:262] == b"ustar":
        files = files_of_tar(data)
        tops = {name.split("/")[0] for name, _ in files}
        if len(tops) == 1 and all("/" in name for name, _ in files):
            files = [(name.split("/", 1)[1], content) for name, content in files]
        folder = marked(files)
        if files and len(folder) <= limit:
            yield FOLDER + folder
    if 0 < len(data) <= limit:
        yield b"\0" + data


def files_below(folder):
    return sorted(p for p in folder.rglob("*") if p.is_file() and "expected" not in p.relative_to(folder).parts)


def corpus_folder():
    """As the tests find it."""
    if os.environ.get("PROFD_CORPUS"):
        return pathlib.Path(os.environ["PROFD_CORPUS"])
    for up in list(ROOT.parents)[:3]:
        if (up / "shared" / "corpus").is_dir():
            return up / "shared" / "corpus"
    return None


def seeds_of_format(name):
    seeds = []
    testdata = ROOT / "formats" / name / "testdata"
    for path in files_below(testdata):
        if path.suffix not in (".golden", ".py", ".md"):
            seeds += [(path.name, seed) for seed in seeds_of_file(path.read_bytes(), LARGE)]
    corpus = corpus_folder()
    folder = corpus / CORPUS_NAMES.get(name, name.replace("_", "-")) if corpus else None
    if folder and folder.is_dir():
        for path in files_below(folder):
            if path.stat().st_size <= SMALL:
                seeds += [(path.name, seed) for seed in seeds_of_file(path.read_bytes(), SMALL)]
        for unit in sorted(p for p in folder.iterdir() if p.is_dir() and p.name != "expected"):
            files = [(str(p.relative_to(unit)), p) for p in files_below(unit)]
            if sum(p.stat().st_size for _, p in files) <= SMALL:
                content = marked([(n, p.read_bytes()) for n, p in files])
                seeds += [(unit.name, FOLDER + content), (unit.name, BESIDE + content)]
    return seeds


def seeds_of(target):
    seeds = []
    if target.startswith("reader_"):
        seeds = seeds_of_format(target[len("reader_"):])
    elif target == "mojo":
        seeds = [(name, seed) for name, seed in seeds_of_format("austin") if name.endswith(".mojo")]
    elif target == "open":
        for testdata in sorted(ROOT.glob("formats/*/testdata")):
            own = sorted(seeds_of_format(testdata.parent.name), key=lambda seed: len(seed[1]))
            seeds += own[:3]
            # Containers as they are: here it is they that are fuzzed.
            seeds += [(p.name, b"\0" + p.read_bytes()) for p in files_below(testdata)
                      if p.suffix in (".gz", ".tar", ".zip", ".zst", ".xz", ".bz2")]
    for kept in (ROOT / "tests/fuzz/seeds" / target, ROOT / "tests/fuzz/crashes" / target):
        if kept.is_dir():
            seeds += [(p.name, p.read_bytes()) for p in files_below(kept)]
    seeds.sort(key=lambda seed: len(seed[1]))
    return seeds[:MAX_SEEDS]


def write_seeds(target, folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    seeds = seeds_of(target)
    for name, seed in seeds:
        (folder / f"{hashlib.sha1(seed).hexdigest()[:8]}-{name}").write_bytes(seed)
    return [seed for _, seed in seeds]


def write_dictionary(target, seeds, path):
    """The words of the seeds: keys of JSON with their quotes, other words as they are."""
    if target in ("codec", "peer"):
        seeds = seeds + [(ROOT / "protocol/psp.json").read_bytes()]
    in_seeds, total = collections.Counter(), collections.Counter()
    for seed in seeds:
        text = b"\0" not in seed[1:2000]
        words = re.findall(rb'"[\w$./:-]{1,31}"' if text else rb"(?!)", seed)
        words += re.findall(rb"[A-Za-z_#%$@][\w:.#-]{2,31}" if text else rb"[A-Za-z_#%$@][\w:.#-]{4,31}", seed)
        counted = collections.Counter(words)
        total.update(counted)
        in_seeds.update(counted.keys())
    best = sorted(total, key=lambda word: (-in_seeds[word], -total[word], word))[:600 if target == "codec" else 250]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(
        '"' + "".join(chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\x{b:02x}" for b in word) + '"\n'
        for word in best))


# ---- running

def cpu_seconds(pid):
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def environment():
    env = dict(os.environ, UBSAN_OPTIONS="print_stacktrace=1")
    symbolizer = shutil.which("llvm-symbolizer") or shutil.which("llvm-symbolizer-14")
    if symbolizer:
        env["ASAN_SYMBOLIZER_PATH"] = env["UBSAN_SYMBOLIZER_PATH"] = symbolizer
    return env


def limits():
    # One input is stopped by the wall clock, which runs on while the process does not: generous.
    return ["-timeout=120", f"-report_slow_units={SLOW_CPU_SECONDS}", "-rss_limit_mb=2560", "-malloc_limit_mb=2048"]


class Campaign:
    def __init__(self, options):
        self.options = options
        self.stopping = False
        self.results = BUILD / "results"
        self.results.mkdir(parents=True, exist_ok=True)

    def seconds_for(self, target):
        return self.options.hard if target in HARD else self.options.text

    def program(self, target):
        return BUILD / "bin" / f"fuzz_{target}"

    def load(self, target):
        path = self.results / f"{target}.json"
        return json.loads(path.read_text()) if path.exists() else None

    def save(self, result):
        path = self.results / f"{result['target']}.json"
        path.with_suffix(".new").write_text(json.dumps(result, indent=1))
        path.with_suffix(".new").replace(path)

    def fresh(self, target):
        commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True,
                                check=False).stdout.strip()
        return {"target": target, "program": hashlib.sha256(self.program(target).read_bytes()).hexdigest(),
                "commit": commit, "date": datetime.date.today().isoformat(), "cpu": 0.0, "executions": 0,
                "coverage": 0, "features": 0, "peak_mb": 0, "finds": []}

    def run(self, target):
        """Until the target has had its time, found something, or the campaign stops."""
        result = self.fresh(target)
        before = self.load(target)
        if before and before["program"] == result["program"] and not self.options.again:
            result = before
        else:
            shutil.rmtree(BUILD / "finds" / target, ignore_errors=True)
        if result["cpu"] >= self.seconds_for(target) or result["finds"]:
            return
        folders = {name: BUILD / name / target for name in ("seeds", "corpus", "finds", "logs")}
        for name in ("corpus", "finds", "logs"):
            folders[name].mkdir(parents=True, exist_ok=True)
        seeds = write_seeds(target, folders["seeds"])
        dictionary = BUILD / "dictionaries" / f"{target}.dict"
        write_dictionary(target, seeds, dictionary)
        longest = max([SMALL] + [len(seed) for seed in seeds])
        while not self.stopping and result["cpu"] < self.seconds_for(target):
            code = self.run_once(target, result, folders, dictionary, longest)
            finds, held_up = self.genuine(target, folders["finds"])
            if code != 0 and not finds and not held_up:
                finds = [f"exit status {code}, see {folders['logs'].relative_to(ROOT)}"]
            result["finds"] = finds
            self.save(result)
            if finds:
                break
        print(f"{target}: {result['cpu']:.0f} s, {result['executions']} executions, "
              f"finds: {', '.join(result['finds']) or 'none'}", flush=True)
        if result["finds"]:
            print(f"  inputs in {folders['finds'].relative_to(ROOT)}, what was wrong in "
                  f"{folders['logs'].relative_to(ROOT)}", flush=True)

    def run_once(self, target, result, folders, dictionary, longest):
        command = [str(self.program(target)), *limits(), f"-max_len={longest}", "-print_final_stats=1",
                   f"-artifact_prefix={folders['finds']}/"]
        if dictionary.stat().st_size:
            command.append(f"-dict={dictionary}")
        command += [str(folders["corpus"]), str(folders["seeds"])]
        had = dict(result)
        log = folders["logs"] / f"{int(time.time())}.log"
        with open(log, "wb") as out:
            process = subprocess.Popen(command, cwd=BUILD, env=environment(), stdin=subprocess.DEVNULL, stdout=out,
                                       stderr=out)
        asked_to_end = 0.0
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            used = usage.ru_utime + usage.ru_stime if pid else cpu_seconds(process.pid)
            result["cpu"] = round(had["cpu"] + used, 1)
            self.read_log(log, result, had)
            self.save(result)
            if pid:
                break
            if not asked_to_end and (result["cpu"] >= self.seconds_for(target) or self.stopping):
                process.send_signal(signal.SIGINT)
                asked_to_end = time.monotonic()
            if asked_to_end and time.monotonic() - asked_to_end > 300:
                process.kill()
            time.sleep(1)
        process.returncode = os.waitstatus_to_exitcode(status)
        return 0 if asked_to_end else process.returncode

    @staticmethod
    def read_log(log, result, had):
        with open(log, "rb") as file:
            file.seek(max(0, log.stat().st_size - 20000))
            text = file.read().decode(errors="replace")
        for line in reversed(text.splitlines()):
            match = re.match(r"#(\d+)\s.*cov: (\d+) ft: (\d+).*rss: (\d+)Mb", line)
            if match:
                executions, coverage, features, rss = map(int, match.groups())
                result["executions"] = max(result["executions"], had["executions"] + executions)
                result["coverage"], result["features"] = coverage, features
                result["peak_mb"] = max(result["peak_mb"], rss)
                break
        final = re.search(r"stat::number_of_executed_units:\s*(\d+)", text)
        if final:
            result["executions"] = had["executions"] + int(final[1])

    def genuine(self, target, folder):
        """Names of finds, and how many were slow only because the machine was busy: those are put aside."""
        finds, held_up = [], 0
        for path in sorted(folder.iterdir()):
            if path.name.startswith(("timeout-", "slow-unit-")):
                used, code = self.replay(target, path)
                if used < SLOW_CPU_SECONDS and code == 0:
                    aside = BUILD / "not-slow" / target
                    aside.mkdir(parents=True, exist_ok=True)
                    path.replace(aside / path.name)
                    held_up += 1
                    continue
            finds.append(path.name)
        return finds, held_up

    def replay(self, target, path):
        process = subprocess.Popen([str(self.program(target)), "-timeout=1000", "-rss_limit_mb=0", str(path)], cwd=BUILD,
                                   env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        return usage.ru_utime + usage.ru_stime, process.returncode

    def stop(self, *_):
        self.stopping = True

    def table(self, targets):
        lines = ["| target | CPU seconds | executions | a second | coverage | features | date | commit | finds |",
                 "| --- | ---: | ---: | ---: | ---: | ---: | --- | --- | --- |"]
        for target in targets:
            result = self.load(target)
            if not result:
                lines.append(f"| {target} | not run | | | | | | | |")
                continue
            asked = self.seconds_for(target)
            cpu = f"{result['cpu']:.0f}" + ("" if result["cpu"] >= asked else f" of {asked}")
            rate = result["executions"] / result["cpu"] if result["cpu"] else 0
            lines.append(f"| {target} | {cpu} | {result['executions']} | {rate:.0f} | {result['coverage']} | "
                         f"{result['features']} | {result['date']} | {result['commit']} | "
                         f"{', '.join(result['finds']) or 'none'} |")
        return "\n".join(lines) + "\n"


def all_targets():
    formats = {"reader_" + p.parent.parent.name for p in ROOT.glob("formats/*/testdata/README.md")}
    rest = formats - set(FIRST)
    return [t for t in FIRST if t in formats or not t.startswith("reader_")] + sorted(rest)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", nargs="?", type=int, default=120, help="CPU seconds of most targets")
    parser.add_argument("hard", nargs="?", type=int, default=600, help="CPU seconds of " + ", ".join(HARD))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--again", action="store_true", help="also what has had its time")
    parser.add_argument("--no-build", action="store_true", help="run what is built")
    parser.add_argument("--only", default="", help="targets, with commas")
    parser.add_argument("--table", action="store_true", help="only write the table")
    options = parser.parse_args()

    targets = options.only.split(",") if options.only else all_targets()
    campaign = Campaign(options)
    if not options.table:
        if not options.no_build:
            subprocess.run(["cmake", "--build", str(BUILD), "--target", *("fuzz_" + t for t in targets)], check=True)
        signal.signal(signal.SIGINT, campaign.stop)
        signal.signal(signal.SIGTERM, campaign.stop)
        queue = collections.deque(t for t in targets if campaign.program(t).exists())

        def work():
            while not campaign.stopping:
                try:
                    target = queue.popleft()
                except IndexError:
                    return
                campaign.run(target)

        workers = [threading.Thread(target=work) for _ in range(options.jobs)]
        for worker in workers:
            worker.start()
        for worker in workers:
            while worker.is_alive():
                worker.join(timeout=1)
    table = campaign.table(targets)
    (BUILD / "results.md").write_text(table)
    print(table)
    failed = [t for t in targets if (campaign.load(t) or {}).get("finds")]
    return 1 if failed or campaign.stopping else 0


if __name__ == "__main__":
    sys.exit(main())
