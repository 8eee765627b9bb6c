#!/usr/bin/env python3
"""What `profd convert` writes, opened by the programs these formats belong to; totals and functions agree.

usage: writers.py PROFD PEER, where PEER is pprof, otlp, speedscope, firefox, callgrind, python or views. Exits 77 (skipped) when
the peer is not there. speedscope and the Firefox Profiler are those of tests/e2e/peers (npm ci there; ./dev test does it),
OpenTelemetry's message classes are fetched into a folder beside PROFD when this Python does not have them.
"""
import collections
import csv
import glob
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import answers

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROFD, PEER = sys.argv[1], sys.argv[2]
INPUTS = [os.path.join(ROOT, "formats", path) for path in (
    "perf_script/testdata/recorded-srcline.txt", "pprof/testdata/recorded-cpu.pb.gz", "cpuprofile/testdata/recorded-node.cpuprofile",
    "speedscope/testdata/recorded-py-spy.speedscope.json", "folded/testdata/recorded-py-spy.folded")]
PEERS = os.path.join(ROOT, "tests", "e2e", "peers", "node_modules")
OTLP_PACKAGE = "opentelemetry-proto==1.45.2"
TIMED = os.path.join(ROOT, "formats", "firefox/testdata/recorded-gecko.json.gz")
NAMES = [os.path.join(ROOT, "formats", f"perf_script/testdata/recorded-{program}.txt") for program in ("templates", "generics")]
HEAP = os.path.join(ROOT, "formats", "pprof/testdata/recorded-heap.pb.gz")


def run(*command):
    done = subprocess.run(command, capture_output=True, env={**os.environ, "PROFD_CACHE": "off", "PROFD_SYMBOLS": "off"})
    assert done.returncode == 0, (command, done.stderr.decode())
    return done.stdout.decode("utf-8", "replace")


def not_run(why):
    print("NOT RUN:", why)
    return 77


def metrics_of(path):
    summary = json.loads(run(PROFD, "summary", "--json", path))
    default = json.loads(run(PROFD, "top", "--json", "-n", "1", path))["metric"]
    return {m["name"]: m for m in summary["metrics"]}, default


def rows_of(path, metric):
    rows = answers.rows_of(json.loads(run(PROFD, "top", "--json", "-n", "0", "--metric", metric, path)))
    # Functions of one name are one to some peers; their totals are no sum.
    count = collections.Counter(row["name"] for row in rows)
    out = collections.defaultdict(lambda: [0, 0])
    for row in rows:
        out[row["name"]][0] += row["self"]
        out[row["name"]][1] = row["total"] if count[row["name"]] == 1 else None
    return {name: tuple(values) for name, values in out.items()}


def places_of(path, metric):
    """Functions with their places: one name may stand in several files, and in one file on several lines."""
    rows = answers.rows_of(json.loads(run(PROFD, "top", "--json", "-n", "0", "--metric", metric, path)))
    return {(row["name"], row.get("file"), row.get("line"), row["self"], row["total"]) for row in rows}


def convert(path, out, *more):
    run(PROFD, "convert", "--force", "--no-cache", path, out, *more)
    return out


def same(a, b, what):
    assert abs(a - b) <= max(1e-6 * max(abs(a), abs(b)), 0.02), f"{what}: {a} and {b}"


def check_pprof(folder):
    if not shutil.which("go"):
        return not_run("no go")
    written = []
    for i, path in enumerate(INPUTS + [HEAP]):
        out = convert(path, os.path.join(folder, f"{i}.pb.gz"))
        metrics, _ = metrics_of(path)
        for metric in metrics:
            before, after = places_of(path, metric), places_of(out, metric)
            assert before == after, (path, metric, before ^ after)
            before, after = rows_of(path, metric), rows_of(out, metric)
            after = {k: (v[0], v[1] if before.get(k, v)[1] is not None else None) for k, v in after.items()}
            assert before == after, (path, metric, {k: (before.get(k), after.get(k)) for k in before.keys() | after.keys()
                                                    if before.get(k) != after.get(k)})
        written.append(out)
    # As a person calls it: pprof, which demangles then, leaves readable names alone.
    for i, path in enumerate(NAMES):
        out = convert(path, os.path.join(folder, f"names{i}.pb.gz"))
        theirs = run("go", "tool", "pprof", "-top", "-nodecount=0", "-nodefraction=0", "-trim=false", out)
        shown = {line.split(None, 5)[5] for line in theirs.splitlines() if len(line.split(None, 5)) == 6}
        names = [name for name in rows_of(path, metrics_of(path)[1]) if "<" in name]
        assert len(names) >= 2, (path, names)
        assert not [name for name in names if name not in shown], (path, [name for name in names if name not in shown], shown)
        written.append(out)
    print(run(sys.executable, os.path.join(ROOT, "tests/e2e/pprof_agreement.py"), PROFD, *written))
    return 0


def python_with_otlp():
    """A Python that has opentelemetry-proto; None when there is none to be had."""
    beside = os.path.join(os.path.dirname(os.path.abspath(PROFD)), "e2e", "otlp")
    theirs = os.path.join(beside, "bin", "python3")
    asked = [python for python in (sys.executable, theirs) if os.path.exists(python)]
    for python in asked:
        if subprocess.run([python, "-c", "from opentelemetry.proto.profiles.v1development import profiles_pb2 as p; p.Stack"],
                          capture_output=True).returncode == 0:
            return python
    for command in ([sys.executable, "-m", "venv", beside],
                    [theirs, "-m", "pip", "-q", "--disable-pip-version-check", "--retries", "0", "--timeout", "15", "install", OTLP_PACKAGE]):
        try:
            if subprocess.run(command, capture_output=True, timeout=60).returncode != 0:
                return None
        except subprocess.TimeoutExpired:
            return None
    return theirs


def check_otlp(folder):
    python = python_with_otlp()
    if not python:
        return not_run(f"no {OTLP_PACKAGE} in this Python, and none to be had from its package index")
    ucum = {"nanoseconds": "ns", "microseconds": "us", "milliseconds": "ms", "seconds": "s", "bytes": "By"}
    times = 0
    for i, path in enumerate(INPUTS + [HEAP, TIMED]):
        out = convert(path, os.path.join(folder, f"{i}.otlp"))
        metrics, default = metrics_of(path)
        profiles = json.loads(run(python, os.path.join(ROOT, "tests/e2e/otlp_totals.py"), out))
        assert [p["metric"] for p in profiles] == [default] + [m for m in metrics if m != default], (path, profiles)
        for profile in profiles:
            metric = metrics[profile["metric"]]
            assert profile["unit"] == ucum.get(metric["unit"], metric["unit"]), (path, profile["unit"])
            assert profile["total"] == metric["total"], (path, profile["total"], metric)
            for name, (own, inclusive) in rows_of(path, profile["metric"]).items():
                assert profile["self"].get(name, 0) == own, (path, name, profile["self"].get(name), own)
                assert inclusive is None or profile["inclusive"].get(name, 0) == inclusive, (path, name, inclusive)
            times += profile["times"]
        threads = json.loads(run(PROFD, "summary", "--json", path))["threads"]
        assert profiles[0]["threads"] <= threads and (threads == 0) == (profiles[0]["threads"] == 0), (path, threads, profiles)
    assert times > 0
    return 0


def text_of(path):
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8") as file:
        return file.read()


def check_firefox(folder):
    """The Firefox Profiler's own code, in the command line program that Mozilla publishes."""
    program = os.path.join(PEERS, "@firefox-devtools", "profiler-cli", "dist", "profiler-cli.js")
    if not os.path.exists(program) or not shutil.which("node"):
        return not_run("no node, or the packages of tests/e2e/peers could not be had")
    sessions = os.path.join(folder, "sessions")
    os.environ.update(PROFILER_CLI_SESSION_DIR=sessions, PROFILER_CLI_NO_SYMBOLICATE="1")
    for i, path in enumerate(INPUTS + [HEAP, TIMED]):
        metrics, default = metrics_of(path)
        out = convert(path, os.path.join(folder, f"{i}.firefox.json"))
        # Times are milliseconds there.
        scale = {"ns": 1e-6, "microseconds": 1e-3, "milliseconds": 1, "seconds": 1e3}.get(metrics[default]["unit"], 1)
        session = ("--session", f"writers-{i}")
        # `load` gives up on a daemon that takes more than half a second to begin; this one is ours to wait for.
        daemon = subprocess.Popen(["node", program, "--daemon", out, *session], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            ask = lambda *words: json.loads(run("node", program, *words, "--json", *session))
            give_up = time.monotonic() + 60
            while "Profile loaded successfully" not in text_of(os.path.join(sessions, f"writers-{i}.log")):
                assert daemon.poll() is None and time.monotonic() < give_up, f"the profiler does not open {out}"
                time.sleep(0.05)
            own, inclusive = collections.Counter(), collections.Counter()
            for thread in (thread for process in ask("profile", "info", "--all")["processes"] for thread in process["threads"]):
                for function in ask("thread", "functions", "--thread", thread["threadHandle"], "--include-idle")["functions"]:
                    own[function["name"]] += function["selfSamples"]
                    inclusive[function["name"]] += function["totalSamples"]
        finally:
            daemon.terminate()
            daemon.wait()
        same(sum(own.values()), metrics[default]["total"] * scale, out)
        for name, values in rows_of(path, default).items():
            same(own[name], values[0] * scale, f"{out} {name} self")
            if values[1] is not None:
                same(inclusive[name], values[1] * scale, f"{out} {name} total")
    return 0


def check_speedscope(folder):
    bundles = glob.glob(os.path.join(PEERS, "speedscope", "dist", "release", "speedscope-*.js"))
    if not bundles or not shutil.which("node"):
        return not_run("no node, or the packages of tests/e2e/peers could not be had")
    loader = os.path.join(ROOT, "bench", "peers", "speedscope.mjs")
    for i, path in enumerate(INPUTS):
        metrics, default = metrics_of(path)
        total = metrics[default]["total"]
        for extension, scale in (("speedscope.json", 1), ("folded", 1), ("cpuprofile", 1000)):
            if extension == "cpuprofile" and metrics[default]["unit"] == "count":
                continue  # hit counts without times, which speedscope does not take
            out = convert(path, os.path.join(folder, f"{i}.{extension}"))
            got = json.loads(run("node", loader, bundles[0], out))["total"]
            if extension == "cpuprofile":
                # speedscope gives the last sample no time and takes whole microseconds.
                assert got * scale <= total and got * scale >= total * 0.5, (out, got, total)
            else:
                same(got, total, out)
    return 0


def check_callgrind(folder):
    if not shutil.which("callgrind_annotate"):
        return not_run("no callgrind_annotate")
    number = re.compile(r"^\s*([\d,]+) \([^)]*\)\s")
    for i, path in enumerate(INPUTS + [HEAP]):
        _, default = metrics_of(path)
        out = convert(path, os.path.join(folder, f"{i}.callgrind"))
        order = list(json.loads(run(PROFD, "summary", "--json", path))["metrics"])
        column = [m["name"] for m in order].index(default)
        expected = rows_of(path, default)
        for inclusive, which in (("no", 0), ("yes", 1)):
            text = run("callgrind_annotate", f"--inclusive={inclusive}", "--threshold=100", "--auto=no", "--show-percs=no", out)
            got = collections.Counter()
            started = False
            for line in text.splitlines():
                started |= "file:function" in line
                fields = line.split(None, len(order))
                if not started or len(fields) <= len(order) or not re.fullmatch(r"[\d,.]+", fields[column]):
                    continue
                name = re.sub(r" \[[^]]*\]$", "", fields[len(order)])
                # file:function, both of which may have colons.
                known = [k for k in expected if name.endswith(":" + k)]
                got[max(known, key=len) if known else name] += int(fields[column].replace(",", "").replace(".", "0"))
            assert got, text
            for name, values in expected.items():
                if values[which] and name in got and values[1] is not None:
                    same(got[name], values[which], f"{out} {name} inclusive={inclusive}")
            missing = [name for name, values in expected.items() if values[which] and name not in got]
            assert len(missing) * 10 <= len(expected), (out, missing, text)
    return 0


def check_python(folder):
    """Formats that are plain text or JSON, by arithmetic."""
    for i, path in enumerate(INPUTS):
        metrics, default = metrics_of(path)
        total = metrics[default]["total"]
        folded = open(convert(path, os.path.join(folder, f"{i}.folded"))).read().splitlines()
        same(sum(float(line.rsplit(" ", 1)[1]) for line in folded), total, "folded")
        tree = json.load(open(convert(path, os.path.join(folder, f"{i}.d3.json"))))
        same(tree["value"], total, "d3")
        stack = [tree]
        while stack:
            node = stack.pop()
            assert sum(child["value"] for child in node["children"]) <= node["value"] + 1e-6
            stack += node["children"]
        back = convert(os.path.join(folder, f"{i}.folded"), os.path.join(folder, f"{i}.profd"))
        same(metrics_of(back)[0]["samples"]["total"], total, "folded, read back")
    trace = json.load(open(convert(INPUTS[2], os.path.join(folder, "x.trace.json"))))
    depth, last, spent = collections.Counter(), {}, 0
    for event in trace["traceEvents"]:
        thread = event["pid"], event["tid"]
        if event["ph"] == "M":
            continue
        if depth[thread] > 0:
            spent += round((event["ts"] - last[thread]) * 1000)
        assert event["ts"] >= last.get(thread, 0)
        last[thread] = event["ts"]
        depth[thread] += 1 if event["ph"] == "B" else -1
        assert depth[thread] >= 0
    assert not +depth
    metrics, default = metrics_of(INPUTS[2])
    same(spent, metrics[default]["total"], "chrome trace")
    return 0


def check_views(folder):
    """CSV and JSON of views, by Python's readers: what `profd top` says, and the laws of trees."""
    dropped = 0
    specs = ["flat by function", "flat by line", "flat by file", "flat by module", "top-down by function", "bottom-up by module"]
    for i, path in enumerate(INPUTS + [HEAP, TIMED]):
        metrics, default = metrics_of(path)
        names = [row["name"] for row in answers.rows_of(json.loads(run(PROFD, "top", "--json", "-n", "0", "--sort", "total", path)))]
        first = next(name for name in names if names.count(name) == 1)
        for spec in specs + [f'callees of {json.dumps(first, ensure_ascii=False)} by function', "flat by function | hide function /^[a-m]/"]:
            out = convert(path, os.path.join(folder, f"{i}.csv"), "--view", spec)
            with open(out, encoding="utf-8", newline="") as file:
                text = file.read()
            assert text.endswith("\r\n")
            rows = list(csv.DictReader(io.StringIO(text, newline="")))
            answer = json.load(open(convert(path, os.path.join(folder, f"{i}.view.json"), "--view", spec), encoding="utf-8"))
            assert [m["name"] for m in answer["metrics"]] == [default] + [m for m in metrics if m != default]
            assert len(rows) == len(answer["rows"])
            for m, metric in enumerate(answer["metrics"]):
                own, inclusive = (f"{word} {metric['name']} ({metric['unit']})" for word in ("self", "total"))
                assert [float(row[own]) for row in rows] == [row["self"][m] for row in answer["rows"]], (path, spec)
                assert [float(row[inclusive]) for row in rows] == [row["total"][m] for row in answer["rows"]], (path, spec)
                total = metrics[metric["name"]]["total"]
                assert metric["profileTotal"] == total
                # Stacks that are hidden as a whole have no row.
                if "of" not in spec.split() and "hide" not in spec.split():
                    same(sum(row["self"][m] for row in answer["rows"]), metric["total"], (path, spec, metric))
                if spec.startswith("flat"):
                    top = json.loads(run(PROFD, "top", "--json", "-n", "0", "--spec", spec, "--metric", metric["name"], path))
                    key = lambda row: (row["name"], row["file"], row["line"], row["module"])
                    ours = sorted((key(row), row["self"][m], row["total"][m]) for row in answer["rows"]
                                  if row["self"][m] or row["total"][m])
                    assert ours == sorted((key(row), row["self"], row["total"]) for row in answers.rows_of(top)
                                          if row["self"] or row["total"]), (path, spec)
                    continue
                children = collections.Counter()
                for row in answer["rows"][1:]:
                    children[row["parent"]] += row["total"][m]
                for row in answer["rows"]:
                    same(row["total"][m], row["self"][m] + children[row["id"]], (path, spec, row))
        # What filters leave is what other formats get.
        rows = answers.rows_of(json.loads(run(PROFD, "top", "--json", "-n", "0", "--metric", default, path)))
        # Where every function is in every stack, nothing can be dropped and something left.
        part = next((row["name"] for row in rows if 0 < row["total"] < metrics[default]["total"]), "nothing")
        left = ("--filter", f"drop function {json.dumps(part, ensure_ascii=False)}", "--filter", f"hide function {json.dumps(first, ensure_ascii=False)}")
        kept = answers.view_total(json.loads(run(PROFD, "top", "--json", "-n", "1", *left, path)))
        assert 0 < kept <= metrics[default]["total"], path
        dropped += kept < metrics[default]["total"]
        for extension in ("pb.gz", "profd", "otlp", "folded"):
            out = convert(path, os.path.join(folder, f"{i}-left.{extension}"), *left)
            same(answers.view_total(json.loads(run(PROFD, "top", "--json", "-n", "1", out))), kept, out)
        page = open(convert(path, os.path.join(folder, f"{i}.svg"), *left), encoding="utf-8").read()
        assert page.startswith("<?xml") or page.startswith("<svg")
    assert dropped > 3
    return 0


with tempfile.TemporaryDirectory() as work:
    code = {"pprof": check_pprof, "otlp": check_otlp, "speedscope": check_speedscope, "firefox": check_firefox,
            "callgrind": check_callgrind, "python": check_python, "views": check_views}[PEER](work)
    if not code:
        print("agreed")
    sys.exit(code)
