#!/usr/bin/env python3
"""Writes the timemory files of this folder, in the layouts of hatchet's timemory reader."""
import json
import os

here = os.path.dirname(os.path.abspath(__file__))


def node(prefix, depth, laps, incl, excl, children=(), tid=(1,), pid=7):
    def entry(value, n):
        return {"entry": {"laps": n, "value": 0, "accum": 0, "repr_data": value, "repr_display": value}, "stats": {"sum": 0.0, "count": n}}

    return {"node": {"hash": 1, "prefix": prefix, "tid": list(tid), "pid": [pid], "depth": depth, "is_dummy": False, "inclusive": entry(incl, laps), "exclusive": entry(excl, 0)}, "children": list(children)}


def component(name, unit, ranks, form="mpi"):
    return {"properties": {"id": name, "enum": name.upper()}, "type": name, "unit_value": 1, "unit_repr": unit, form: ranks}


def rank(scale, pid):
    inner = node("inner@app.cpp:12/loop", 2, 4, 3.0 * scale, 3.0 * scale, pid=pid)
    main = node("main", 1, 1, 10.0 * scale, 7.0 * scale, [inner], pid=pid)
    return [node("unknown-hash=0", 0, 0, 0.0, -10.0 * scale, [main], tid=(0,), pid=pid)]


def papi(pid):
    return [node("main", 1, 1, [5.0, 2.0], [5.0, 2.0], pid=pid)]


tree = {"timemory": {"WALL_CLOCK": component("wall_clock", "sec", [rank(1, 7), rank(2, 8)]), "PAPI_ARRAY": component("papi_array", "", [papi(7)])}}
flat_rows = [
    {"prefix": ">>> main", "depth": 0, "entry": {"laps": 1, "repr_data": 10.0}, "tid": 1, "pid": 7},
    {"prefix": ">>> |_inner", "depth": 1, "entry": {"laps": 2, "repr_data": 4.0}, "tid": 1, "pid": 7},
    {"prefix": ">>> |_deep", "depth": 2, "entry": {"laps": 2, "repr_data": 1.0}, "tid": 1, "pid": 7},
    {"prefix": ">>> |_other", "depth": 1, "entry": {"laps": 2, "repr_data": 2.0}, "tid": 1, "pid": 7},
]
flat = {"timemory": {"CPU_CLOCK": component("cpu_clock", "sec", [{"rank": 3, "graph_size": 4, "graph": flat_rows}], "ranks")}}
for name, data in (("minimal.tree.json", tree), ("flat.json", flat)):
    with open(os.path.join(here, name), "w") as f:
        json.dump(data, f, indent=1)
text = json.dumps(tree)
with open(os.path.join(here, "corrupt-truncated.json"), "w") as f:
    f.write(text[: len(text) // 2])
