"""What scenes ask of one file, and whether the answer can be right."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from psp_client import Answer, Client

OPENING = {"attach": False, "makeDefault": False, "watch": False}


@dataclass(frozen=True)
class Opened:
    handle: str
    metric: str
    total: float
    integral: bool
    saturated: bool
    said: bool  # the import report tells a loss


def open_file(client: Client, path: Path, timeout_s: float = 30, **options: object) -> Opened | dict[str, Any]:
    """Or the error."""
    answer = client.request("profile/open", {"uri": path.as_uri(), "options": OPENING | options}, timeout_s)
    if answer.error is not None:
        return answer.error
    summary = answer.result["summary"]
    metric = next(m for m in summary["metrics"] if m["name"] == summary["metric"])
    said = any(row["severity"] in ("loss", "error") for row in summary["report"])
    integral, saturated = metric.get("integral", True), metric.get("saturated", False)
    return Opened(answer.result["profile"], metric["name"], metric["total"], integral, saturated, said)


def close_file(client: Client, opened: Opened, timeout_s: float = 30) -> Answer:
    return client.request("profile/close", {"profile": opened.handle, "wholeFile": True}, timeout_s)


def same(a: float, b: float, parts: float = 0) -> bool:
    """`parts`: what the sums are made of, without signs; fractions that cancel out leave what they round by."""
    if isinstance(a, int) and isinstance(b, int):
        return a == b
    return abs(a - b) <= max(1e-9 * max(abs(a), abs(b)), 1e-12 * parts)


def table_of(client: Client, opened: Opened, timeout_s: float = 30) -> list[tuple[str, float]]:
    """Every function with its own value."""
    answer = client.request("view/table", {"profile": opened.handle, "spec": "flat by function", "limit": 1000}, timeout_s)
    if answer.error is not None:
        return []
    rows, names = answer.result["rows"], answer.result["names"]
    return sorted((names[name], value) for name, value in zip(rows["name"], rows["self"]))
