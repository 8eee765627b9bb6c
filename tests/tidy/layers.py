#!/usr/bin/env python3
"""Fails when a file includes what its layer may not. The table is the architecture; see docs/architecture.md."""

from __future__ import annotations

import re
import sys
from pathlib import Path

# layer: (own layers it may include, third-party headers it may include; None = any)
RULES: dict[str, tuple[set[str], re.Pattern[str] | None]] = {
    "core": ({"core"}, re.compile(r"tl/expected|re2/|fmt/|sys/mman")),
    "formats": ({"core", "formats"}, None),
    "protocol": ({"protocol"}, re.compile(r"tl/expected|nlohmann/|CLI/")),
    "server": ({"core", "formats", "protocol", "server"}, None),
    "bench": ({"bench"}, None),
}
# Inside core: a folder and the folders it may not look at.
CORE_BACKWARDS = {"support": {"model", "tree", "view", "layout", "source"}, "model": {"view", "layout", "source"},
                  "tree": {"view", "layout", "source"}, "view": {"layout"}}
# Inside server: engine and features know no wire format; features look at what the engine has computed, never back.
SERVER_BACKWARDS = {"engine": {"dialect", "transport", "cli", "feature"}, "feature": {"dialect", "transport", "cli"},
                    "platform": {"engine", "feature", "dialect", "transport", "cli", "runtime"}}
# Who in formats/ may ask the system for files and memory.
SYSTEM_HEADERS = re.compile(r"filesystem$|fstream$|fcntl\.h$|unistd\.h$|sys/(stat|mman)\.h$")
SYSTEM_FILES = {"formats/source.cpp", "formats/source_files.cpp", "formats/support/map_guard.cpp", "formats/support/output_buffer.cpp",
                "formats/gen/field_numbers.cpp"}  # the last is a program of the build
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')


def problems_of(path: Path, root: Path) -> list[str]:
    relative = path.relative_to(root)
    layer = relative.parts[0]
    allowed, third_party = RULES[layer]
    problems = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        quote, target = match.groups()
        parts = target.split("/")
        where = f"{relative}:{number}"
        if quote == '"':
            if parts[0] in RULES and parts[0] not in allowed:
                problems.append(f"{where}: {layer} may not include {parts[0]} ({target})")
            if layer == "core" and parts[0] == "core" and parts[1] in CORE_BACKWARDS.get(relative.parts[1], set()):
                problems.append(f"{where}: core/{relative.parts[1]} may not include core/{parts[1]}")
            if layer == "formats" and parts[0] == "formats" and len(parts) > 2 and len(relative.parts) > 2:
                mine, theirs = relative.parts[1], parts[1]
                # The list of writers takes the native one from where its format lives; schemas are for both.
                if theirs not in {mine, "support"} and (mine, theirs) != ("writers", "profd") and not (
                        mine == "writers" and target.endswith(".fields.h")):
                    problems.append(f"{where}: a format may not include another ({target})")
            if layer == "server" and parts[0] == "server" and len(relative.parts) > 2:
                if parts[1] in SERVER_BACKWARDS.get(relative.parts[1], set()):
                    problems.append(f"{where}: server/{relative.parts[1]} may not include server/{parts[1]}")
                if relative.parts[1] in {"engine", "feature"} and parts[0] == "protocol":
                    problems.append(f"{where}: server/{relative.parts[1]} speaks no protocol types")
        elif layer == "formats" and SYSTEM_HEADERS.match(target) and relative.as_posix() not in SYSTEM_FILES:
            problems.append(f"{where}: the file system is for formats/source* alone (<{target}>)")
        elif third_party is not None and ("/" in target or target.endswith(".h")) and not third_party.match(target):
            problems.append(f"{where}: {layer} may not include <{target}>")
        if layer == "server" and relative.parts[1] in {"engine", "feature"} and (
                target.startswith("protocol/") or target.startswith("nlohmann/")):
            problems.append(f"{where}: server/{relative.parts[1]} may not include {target}")
    return problems


def main() -> int:
    root = Path(__file__).resolve().parents[2]
    problems = [
        problem for layer in RULES for suffix in ("h", "cpp") for path in sorted((root / layer).rglob(f"*.{suffix}"))
        for problem in problems_of(path, root)
    ]
    print("\n".join(problems) if problems else "layers: every include points the right way")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
