"""A recorded live stream of 1 GB: how soon it is played, and how soon any part of its time is shown."""

from __future__ import annotations

import json
import os
import random
import subprocess
import time

from harness.context import Context
from harness.report import Row, seconds
from measured import percentile
from psp_client import ClientError, Daemon

STREAM_MIB = 1024
LOOKS = 60
LEAST_PER_SECOND = 40e6


def measure(ctx: Context, replay: Row, scrub: Row) -> None:
    work = ctx.work / "live"
    work.mkdir(parents=True, exist_ok=True)
    recording, path = work / "long.plive", work / "replay.sock"
    path.unlink(missing_ok=True)
    try:
        program = ctx.floor.parent / "profd-measure-live"
        written = subprocess.run([str(program), "--stream", str(recording), str(STREAM_MIB)], capture_output=True, text=True, check=True,
                                 timeout=600)
        told = json.loads(written.stdout)
        events = told["events"]
        with Daemon([str(ctx.profd), "serve", "--socket", str(path)], {**ctx.environment(), "XDG_RUNTIME_DIR": str(work)}) as daemon:
            client = daemon.socket_client(path)
            client.initialize(None)
            begun = time.monotonic()
            answer = client.request("live/attach", {"replay": recording.resolve().as_uri(), "speed": 0}, timeout_s=600)
            took = time.monotonic() - begun
            if answer.error:
                raise ClientError(f"live/attach: {answer.error.get('message')}")
            session = answer.result["session"]
            if abs(session["time"] / 1e9 - told["seconds"]) > 1:
                raise ClientError(f"{session['time'] / 1e9:.1f} of {told['seconds']} s were played")
            replay.measured = (f"{events / took / 1e6:.1f} M events/s, {events / 1e6:.0f} M events in {seconds(took)}; "
                               f"{os.path.getsize(recording) / events:.2f} bytes an event")
            replay.check(events / took >= LEAST_PER_SECOND)
            shown = client.request("live/window", {"session": session["session"], "from": 0, "rows": 30, "threads": 10, "steps": 200})
            end = shown.result["to"]
            # As a hand on the strip: parts of any length, anywhere.
            choose, times = random.Random(1), []
            for _ in range(LOOKS):
                begin = choose.randrange(max(1, shown.result["from"]), end)
                window = {"from": begin, "to": min(end, begin + choose.choice((3, 10, 60, 600)) * 10**9)}
                answer = client.request("live/window", {"session": session["session"], "rows": 30, "threads": 10, "steps": 200} | window)
                if answer.error:
                    raise ClientError(f"live/window: {answer.error.get('message')}")
                times.append(answer.seconds)
            scrub.measured = f"p50 {seconds(percentile(times, 0.5))}, p95 {seconds(percentile(times, 0.95))} of {LOOKS}, in {end / 1e9:.0f} s"
            scrub.check(percentile(times, 0.95) <= 0.1)
            client.close()
    finally:
        recording.unlink(missing_ok=True)
