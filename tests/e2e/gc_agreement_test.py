#!/usr/bin/env python3
"""How much is garbage collection: `profd top --kind gc` and a list of the runtime's functions made by hand, given to `go tool pprof -focus`.

usage: gc_agreement_test.py PROFD
"""
import json
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROFILE = os.path.join(ROOT, "tests/fixtures/go-demo/cpu.pprof")
# Where collecting begins, on threads of its own and in the middle of a program.
BY_HAND = "|".join((
    r"^runtime\.gcBgMarkWorker", r"^runtime\.gcAssistAlloc", r"^runtime\.gcStart$", r"^runtime\.gcMarkDone$", r"^runtime\.gcMarkTermination",
    r"^runtime\.gcDrain", r"^runtime\.(bgsweep|bgscavenge|sweepone|deductSweepCredit)$", r"^runtime\.gcWriteBarrier", r"^gcWriteBarrier",
    r"^runtime\.(wbBufFlush1?|bulkBarrierPreWrite\w*)$", r"^runtime\.\(\*(mspan|sweepLocked)\)\.\w*sweep", r"^runtime\.\(\*mheap\)\.reclaim",
    r"^runtime\.\(\*gcControllerState\)", r"^runtime\.\(\*gcWork\)", r"^runtime\.\(\*spanInlineMarkBits\)", r"^runtime\.gc[A-Z]",
))


def main():
    profd = os.path.abspath(sys.argv[1])
    environment = dict(os.environ, PROFD_CACHE="off")
    if shutil.which("go") is None:
        print("NOT RUN: there is no go")
        return 0
    ours = json.loads(subprocess.run([profd, "top", "--json", "-n", "1", "--kind", "gc", PROFILE], capture_output=True, env=environment,
                                     check=True).stdout)["viewTotal"]["value"]
    listed = subprocess.run(["go", "tool", "pprof", "-top", "-unit=ms", "-nodecount=100000", "-nodefraction=0", "-focus", BY_HAND, PROFILE],
                            capture_output=True, text=True, check=True).stdout
    theirs = re.search(r"accounting for ([\d.]+)ms", listed)
    if theirs is None:
        print(listed[:2000])
        return 1
    print(f"profd {ours / 1e6} ms, by hand {theirs[1]} ms")
    return 0 if ours / 1e6 == float(theirs[1]) and ours > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
