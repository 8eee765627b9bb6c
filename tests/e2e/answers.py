"""Answers of `profd top --json` (the result of view/table, in columns) as rows."""

from __future__ import annotations

from typing import Any


def rows_of(answer: dict[str, Any]) -> list[dict[str, Any]]:
    columns = answer["rows"]
    text = lambda index, texts: "" if index < 0 else texts[index]
    return [
        {"name": answer["names"][name], "file": text(file, answer["files"]), "line": line,
         "module": text(module, answer["modules"]), "self": self, "total": total, "estimated": flags & 192 != 0}
        for name, file, line, module, self, total, flags in zip(
            columns["name"], columns["file"], columns["line"], columns["module"], columns["self"], columns["total"], columns["flags"])
    ]


def view_total(answer: dict[str, Any]) -> Any:
    return answer["viewTotal"]["value"]
