"""What probes of Python have to bear; python_test.py knows how often everything is called."""
import os
import sys
import threading
import time

import profd_live


def leaf(n):
    return n


def deep(n):
    return leaf(1) if n == 0 else deep(n - 1) + 1


def thrower(n):
    if n == 0:
        raise ValueError("x")
    thrower(n - 1)


def catcher():
    try:
        thrower(3)
    except ValueError:
        leaf(1)
    finally:
        leaf(1)


def generates(n):
    for i in range(n):
        leaf(i)
        yield i


def eats():
    return sum(generates(5))


def thrown_into():
    generator = generates(5)
    next(generator)
    try:
        generator.throw(ValueError("y"))
    except ValueError:
        leaf(1)
    closed = generates(5)
    next(closed)
    closed.close()
    leaf(1)


class Thing:
    def __init__(self):
        self.value = self.method(1)

    def method(self, n, *, more=0):
        return leaf(n + more)

    @property
    def twice(self):
        return leaf(2 * self.value)


def closure():
    def inner(n):
        return leaf(n)
    return inner(1) + inner(2)


async def waits(n):
    import asyncio
    await asyncio.sleep(0)
    return leaf(n)


def runs_async():
    import asyncio
    asyncio.run(waits(1))


def in_thread(n):
    for _ in range(n):
        leaf(1)


def in_child():
    leaf(1)


def forks():
    child = os.fork()
    if child == 0:
        in_child()
        os._exit(7)
    return os.waitpid(child, 0)[1] >> 8


def events():
    for _ in range(3):
        deep(5)
    catcher()
    eats()
    thrown_into()
    Thing().twice
    closure()
    runs_async()
    threads = [threading.Thread(target=in_thread, args=(100,), name=f"worker-{i}") for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    profd_live.mark("half time ä")
    print("child", forks())


def runs(calls, between):
    i = 0
    while calls == 0 or i < calls:
        deep(3)
        i += 1
        if calls and i == calls // 2:
            print("half", flush=True)
        if between and i % between == 0:
            time.sleep(0.001)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        runs(int(sys.argv[1]), int(sys.argv[2]))
    else:
        events()
    print("done")
    sys.exit(3)
