"""A tracing profiler: `python profile_calls.py out.profd script.py` measures the time in every call of a script."""

from __future__ import annotations

import runpy
import sys
import time
from types import FrameType
from typing import Any

from profd_builder import ROOT, Builder, Context

builder = Builder("profile_calls.py")
wall = builder.metric("wall", "nanoseconds")
stack: list[Context] = [ROOT]
last = time.perf_counter_ns()


def on_event(frame: FrameType, event: str, _: Any) -> None:
    global last
    now = time.perf_counter_ns()
    builder.add(stack[-1], wall, now - last)
    if event == "call":
        code = frame.f_code
        function = builder.function(code.co_name, code.co_filename, code.co_firstlineno)
        stack.append(builder.context(stack[-1], builder.frame(function, code.co_firstlineno)))
    elif event == "return" and len(stack) > 1:
        stack.pop()
    last = time.perf_counter_ns()


if __name__ == "__main__":
    out, script = sys.argv[1:3]
    sys.setprofile(on_event)
    try:
        runpy.run_path(script, run_name="__main__")
    finally:
        sys.setprofile(None)
        builder.write(out)
