"""`profd lsp` before a language server: what a message that profd has no part in waits for it."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from harness.context import Context
from harness.report import Row, seconds
from measured import percentile
from psp_client import Client, ClientError, Daemon

SERVER = Path(__file__).resolve().parents[2] / "tests" / "e2e" / "lsp_hostile_server.py"
ROUNDS, REQUESTS = 10, 300
# Bytes of parameters: a cursor's move, and the tokens of a large file.
SIZES = {"200 B": 200, "100 KB": 100_000}


def _times(client: Client, size: int) -> list[float]:
    params = {"text": "x" * size}
    times = []
    for _ in range(REQUESTS):
        answer = client.request("echo", params)
        if answer.error or answer.result != params:
            raise ClientError(f"echo: {answer.error}")
        times.append(answer.seconds)
    return times


def run(ctx: Context) -> None:
    rows = {name: Row(f"proxy: added to a request of {name} and its answer", "p99 <= 2 ms") for name in SIZES}
    if not ctx.wants(*(row.name for row in rows.values())):
        return
    print("bench: messages that profd lsp passes on", flush=True)
    server = [sys.executable, str(SERVER)]
    # Paths of sockets are short: at most some 100 bytes.
    with tempfile.TemporaryDirectory(prefix="profd-bench-") as folder:
        path = Path(folder) / "socket"
        environment = ctx.environment()
        try:
            with Daemon([str(ctx.profd), "serve", "--socket", str(path)], environment) as daemon:
                daemon.socket_client(path).close()
                with Daemon(server, environment) as alone, \
                        Daemon([str(ctx.profd), "lsp", "--socket", str(path), "--no-start", "--", *server], environment) as wrapped:
                    without, through = alone.stdio_client(), wrapped.stdio_client()
                    without.initialize(Path(folder))
                    through.initialize(Path(folder))
                    for name, size in SIZES.items():
                        theirs: list[float] = []
                        ours: list[float] = []
                        for _ in range(ROUNDS):  # in turns, so that a slow spell hits both
                            theirs += _times(without, size)
                            ours += _times(through, size)
                        p50, p99 = (percentile(ours, q) - percentile(theirs, q) for q in (0.5, 0.99))
                        rows[name].measured = (f"p50 {seconds(max(p50, 0))}, p99 {seconds(max(p99, 0))} of {len(ours)} "
                                               f"(the server alone p99 {seconds(percentile(theirs, 0.99))})")
                        rows[name].check(p99 <= 0.002)
        except (ClientError, OSError) as error:
            for row in rows.values():
                row.measured = f"not yet: {error}"
    for row in rows.values():
        ctx.add(row)
