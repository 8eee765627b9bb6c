#!/usr/bin/env python3
"""How the bins of a gmon.out are shared by the functions they cover, against the report of `gprof` as installed: programs
whose functions begin at any address, position-independent or not, and histograms with samples in every bin; the program
beside the file, or named.

usage: gprof_agreement.py PROFD. Exits 77 (skipped) where there is no gprof or no C compiler.
"""
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

import answers

FUNCTIONS = "\n".join(
    f"__attribute__((noinline)) int f{n}(int x) {{ volatile int s = x; for (int i = 0; i < {n}; i++) s += s * (i + {n}); return s; }}"
    for n in (1, 2, 3, 50, 77, 1000, 70000)
)
SOURCE = (
    FUNCTIONS
    + """
__attribute__((noinline)) static int inner(int x) { return x * 3 + 1; }
__attribute__((noinline)) int outer(int x) { return inner(x) ^ 5; }
int main(void) { return (f1(1) + f2(2) + f3(3) + f50(4) + f77(5) + f1000(6) + f70000(7) + outer(8)) & 1; }
"""
)


def with_bins(recorded, rate, count_of, exact):
    """The histogram of a recorded file with other counts. `exact`: bins of exactly two units, so that gprof drops nothing."""
    low, high, n, _ = struct.unpack_from("<QQII", recorded, 21)
    if exact:
        low &= ~3
        n = (high - low) // 4
        high = low + 4 * n
    counts = [count_of() for _ in range(n)]
    return recorded[:20] + b"\0" + struct.pack("<QQII", low, high, n, rate) + recorded[45:61] + struct.pack(f"<{n}H", *counts)


def of_gprof(folder):
    out = subprocess.run(["gprof", "-b", "-p", "-z", "./program", "gmon.out"], cwd=folder, capture_output=True, check=True, text=True).stdout
    rows = (re.match(r"\s*[\d.]+\s+[\d.]+\s+([\d.]+)\s+(?:\d+\s+[\d.]+\s+[\d.]+\s+)?(\S.*)$", line) for line in out.split("\n"))
    return {row.group(2): float(row.group(1)) for row in rows if row}


def of_profd(profd, path, *options):
    out = subprocess.run([profd, "top", "--json", "-n", "0", "--no-cache", path, *options], capture_output=True, check=True).stdout
    return {row["name"]: row["self"] / 1e9 for row in answers.rows_of(json.loads(out))}


def main():
    profd = os.path.abspath(sys.argv[1])
    compiler = shutil.which("gcc") or shutil.which("cc")
    if not shutil.which("gprof") or not compiler:
        print("NOT RUN: no gprof, or no C compiler")
        return 77
    failures, n_compared, n_odd = [], 0, 0
    # Its seed is the run's: the same files every time.
    rng = random.Random(11)
    for options in (["-Os", "-fno-align-functions", "-pie", "-fPIE"], ["-O1", "-no-pie"], ["-O1", "-pie", "-fPIE"]):
        with tempfile.TemporaryDirectory() as folder:
            open(os.path.join(folder, "program.c"), "w").write(SOURCE)
            subprocess.run([compiler, "-pg", *options, "program.c", "-o", "program"], cwd=folder, check=True)
            subprocess.run(["./program"], cwd=folder, check=False)
            path = os.path.join(folder, "gmon.out")
            recorded = open(path, "rb").read()
            symbols = subprocess.run(["nm", "program"], cwd=folder, capture_output=True, check=True, text=True).stdout
            n_odd += sum(1 for line in symbols.split("\n") if re.match(r"[0-9a-f]*[13579bdf] [tT] ", line))
            for exact in (True, False):
                for count_of in (lambda: 1, lambda: rng.randrange(9)):
                    # One sample a second: gprof's two decimals are hundredths of a sample.
                    open(path, "wb").write(with_bins(recorded, 1, count_of, exact))
                    gprof, ours = of_gprof(folder), of_profd(profd, path)
                    # Where nothing lies beside it.
                    with tempfile.TemporaryDirectory() as elsewhere:
                        alone = shutil.copy(path, elsewhere)
                        if of_profd(profd, alone, "--binary", os.path.join(folder, "program")) != ours:
                            failures.append(f"{' '.join(options)}: other figures with --binary")
                        if of_profd(profd, alone).keys() != {"[unknown]"}:
                            failures.append(f"{' '.join(options)}: names without a program")
                    n_compared += len(ours)
                    # What lies before the first function is on no row of gprof's.
                    for name in (gprof.keys() | ours.keys()) - {"[unknown]"}:
                        a, b = gprof.get(name, 0), ours.get(name, 0)
                        # Of bins that are no whole number of units gprof drops or adds a part.
                        slack = 0.0051 if exact else 9 + 0.01 * b
                        if abs(a - b) > slack:
                            failures.append(f"{' '.join(options)}, exact {exact}: {name}: gprof {a}, profd {b}")
    for failure in failures:
        print(failure)
    if n_odd < 3 or n_compared < 60:
        print(f"{n_odd} functions at odd addresses and {n_compared} compared: too few to say anything")
        return 1
    print(f"{n_compared} functions compared, {n_odd} of them at odd addresses, {len(failures)} disagree")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
