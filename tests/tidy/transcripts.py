#!/usr/bin/env python3
"""Fails when a message of protocol/psp.json is in no transcript: what a client sends as a request with a result or as a
notification, what the server sends as something that is expected."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(request|notify|reply|expect)[^\n]*\n(.*?)^```$", re.M | re.S)
# What a transcript, which is one client, cannot see or makes no sense of.
ELSEWHERE = {
    "selection/changed": "is for the other clients: tests/unit/server/transport/daemon_test.cpp",
    "window/workDoneProgress/create": "comes only where an opening without a token takes longer than 0.3 s",
}


def messages_of(path: Path) -> tuple[set[str], set[str]]:
    """Methods that the client used with success, and those that the server sent."""
    sent: set[str] = set()
    received: set[str] = set()
    asked: dict[object, str] = {}
    last: object = None
    for kind, body in BLOCK.findall(path.read_text(encoding="utf-8")):
        message = json.loads(body)
        if kind == "request":
            last = message.get("id", len(asked))
            asked[last] = message["method"]
        elif kind == "notify":
            sent.add(message["method"])
        elif kind == "expect":
            received.add(message["method"])
        elif "result" in message:
            sent.add(asked[message.get("id", last)])
    return sent, received


def main() -> int:
    protocol = json.loads((ROOT / "protocol" / "psp.json").read_text(encoding="utf-8"))
    declared = protocol["requests"] + protocol["notifications"]
    to_server = {m["method"] for m in declared if m["messageDirection"] in ("clientToServer", "both")}
    to_client = {m["method"] for m in declared if m["messageDirection"] == "serverToClient"}
    sent: set[str] = set()
    received: set[str] = set()
    transcripts = sorted((ROOT / "tests" / "transcripts").glob("*.psp.md"))
    for path in transcripts:
        from_client, from_server = messages_of(path)
        sent |= from_client
        received |= from_server
    problems = [f"{method}: no transcript has it answered" for method in sorted(to_server - sent - {"$/progress"})]
    problems += [f"{method}: no transcript expects it" for method in sorted(to_client - received - set(ELSEWHERE))]
    problems += [f"{method}: is in a transcript now" for method in sorted(received & set(ELSEWHERE))]
    for problem in problems:
        print(problem)
    print(f"{len(transcripts)} transcripts, {len(declared)} messages, {len(problems)} problems")
    return 0 if transcripts and not problems else 1


if __name__ == "__main__":
    sys.exit(main())
