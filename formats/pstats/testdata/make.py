#!/usr/bin/env python3
# Writes the hand-made files of this folder.
import marshal
import os

here = os.path.dirname(os.path.abspath(__file__))
main, a, b, c, loop = [("/src/t.py", n, name) for n, name in ((1, "main"), (2, "a"), (5, "b"), (8, "c"), (11, "loop"))]
sort = ("~", 0, "<method 'sort' of 'list' objects>")
stats = {
    main: (1, 1, 0.5, 10.0, {}),
    a: (1, 1, 1.0, 4.0, {main: (1, 1, 1.0, 4.0)}),
    b: (1, 1, 2.0, 5.5, {main: (1, 1, 2.0, 5.5)}),
    c: (3, 3, 3.0, 6.5, {a: (1, 1, 1.0, 3.0), b: (2, 2, 2.0, 3.5)}),
    sort: (2, 2, 1.25, 1.25, {c: (2, 2, 1.25, 1.25)}),
    loop: (1, 4, 2.25, 2.25, {loop: (3, 0, 1.75, 1.75), c: (1, 1, 0.5, 2.25)}),
}


def put(name, data):
    with open(os.path.join(here, name), "wb") as out:
        out.write(data)


put("minimal.pstats", marshal.dumps(stats))
# As Python 2 and 3.0 to 3.3 wrote it: no references, floats as text in version 0.
put("version0.pstats", marshal.dumps(stats, 0))
put("version2.pstats", marshal.dumps(stats, 2))
# A clock of its own unit: fractions of a nanosecond, so times are doubles.
put("fractional.pstats", marshal.dumps({main: (1, 1, 1e-10 / 3, 2e-10, {})}))
put("corrupt-truncated.pstats", marshal.dumps(stats)[:-40])
put("corrupt-numbers.pstats", marshal.dumps({main: (1, "x", 0.5, 10.0, {})}))


# What `python -m profiling.sampling --pstats` (Python 3.15) makes of the stacks that it took, one each 2 ms, leaf first:
# by file, line and function how many ended there and how many had it; and how often one stood on another.
def sampled(stacks, interval):
    leaf, anywhere, callers = {}, {}, {}
    for stack in stacks:
        leaf[stack[0]] = leaf.get(stack[0], 0) + 1
        for place in dict.fromkeys(stack):
            anywhere[place] = anywhere.get(place, 0) + 1
        for below, above in zip(stack, stack[1:]):
            by = callers.setdefault(below, {})
            by[above] = by.get(above, 0) + 1
    out = {
        place: (leaf.get(place, 0), n, leaf.get(place, 0) * interval, n * interval, callers.get(place, {}))
        for place, n in anywhere.items()
    }
    out[("__sampled__",)] = True
    return out


def at(line, name):
    return ("/src/t.py", line, name)


collector = ("~", 0, "<GC>")
root = [at(20, "<module>")]
put(
    "sampled.pstats",
    marshal.dumps(
        sampled(
            [[at(5, "fib"), at(6, "fib"), at(6, "fib"), at(6, "fib"), at(12, "main")] + root] * 3
            + [[at(6, "fib"), at(6, "fib"), at(12, "main")] + root] * 4
            + [[at(6, "fib"), at(12, "main")] + root] * 2
            + [[collector, at(9, "parse"), at(13, "main")] + root] * 5
            + [[at(9, "parse"), at(13, "main")] + root] * 7
            + [[at(-1, "loop"), at(30, "run")]] * 6
            + [[at(13, "main")] + root],
            0.002,
        )
    ),
)
put("corrupt-sampled.pstats", marshal.dumps({at(5, "fib"): (1, 1, 0.002, 0.002, {}), ("__sampled__",): "yes"}))
