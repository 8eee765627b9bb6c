"""known.py ROUNDS: as known.c."""
import sys
import time


def heavy():
    n = 0
    for i in range(40_000):
        n += i


def light():
    n = 0
    for i in range(2_000):
        n += i


def waits():
    time.sleep(0.005)


def main(rounds):
    sys.stdin.readline()
    for _ in range(rounds):
        took = []
        for function in (heavy, light, waits):
            begun = time.monotonic_ns()
            function()
            took.append(f"{function.__name__} {time.monotonic_ns() - begun}")
        print(*took)
    print("done")
    return 3


sys.exit(main(int(sys.argv[1])))
