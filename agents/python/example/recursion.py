"""What an event costs: a recursion of ten calls, best of five. Run it with python, and with python -m profd_live and
PROFD_LIVE=file:/tmp/recursion.plive: the difference of a call, halved, is an event."""
import time


def call(depth):
    if depth > 1:
        call(depth - 1)


def run(rounds):
    begun = time.perf_counter_ns()
    for _ in range(rounds):
        call(10)
    return (time.perf_counter_ns() - begun) / rounds / 10


print(f"a call: {min(run(20000) for _ in range(5)):.1f} ns")
