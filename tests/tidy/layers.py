#!/usr/bin/env python3
"""Fails when a file includes what its layer may not. The table is the architecture; see docs/architecture.md."""

from __future__ import annotations

import re
import sys
from pathlib import Path

# layer: (own layers it may include, third-party headers it may include; None = any)
RULES: dict[str, tuple[set[str], re.Pattern[str] | None]] = {
    "core": ({"core"}, re.compile(r"tl/expected|re2/|fmt/|sys/mman|unistd")),
    "formats": ({"core", "formats"}, None),
    "protocol": ({"protocol"}, re.compile(r"tl/expected|nlohmann/|CLI/")),
    "workers": ({"core", "workers"}, re.compile(r"tl/expected|sys/(socket|mman|prctl|syscall)|linux/|fcntl|poll|unistd")),
    "server": ({"core", "formats", "protocol", "workers", "server"}, None),
    "native": ({"core", "workers", "native"}, None),
    "script": ({"core", "workers", "script"}, None),
    "bench": ({"bench"}, None),
}
# Inside core and server: a folder and the folders it may look at. Inside server, engine and features know no wire format;
# features look at what the engine has computed, never back.
FOLDERS = {
    "core": {"support": set(), "model": {"support"}, "tree": {"support", "model"}, "view": {"support", "model"},
             "source": {"support", "model", "view", "code"}, "layout": {"support", "model", "view"},
             "compare": {"support", "model", "view"}, "code": {"support"}, "waits": {"support", "model"},
             "live": {"support", "model"}},
    # What a file holds (elf) is for all who read code; they know nothing of each other. Of core support alone: see SUPPORT_ALONE.
    "native": {"elf": set(), "lines": {"elf"}, "disasm": set(), "unwind": {"elf"},
             "tools": {"elf", "lines"}, "worker": {"elf", "lines", "disasm", "unwind"}, "fetch": set()},
    "server": {"platform": set(), "runtime": set(), "engine": {"platform", "runtime"},
               "feature": {"platform", "engine"}, "dialect": {"platform", "runtime", "engine", "feature"},
               "transport": {"platform", "runtime", "engine", "dialect"},
               "proxy": {"platform", "engine", "feature", "transport"},
               "cli": {"platform", "runtime", "engine", "feature", "dialect", "transport", "proxy"}},
}
# A file that may look at one more, and why. One that does not is taken off this list.
EXCEPTIONS = {
    ("core/model/builder_finish.cpp", "core/tree/stack_sorter.h"): "a builder ends with the tree of its stacks",
    ("server/dialect/session.h", "server/transport/channel.h"): "a session answers into a channel",
    ("server/runtime/log.cpp", "server/feature/escape.h"): "what names say reaches no terminal through the log either",
    ("server/runtime/repeats.cpp", "server/feature/text.h"): "the log writes numbers as answers do",
}
# Layers that may look at core/support and nothing else of core: they run in programs that know no profiles.
SUPPORT_ALONE = {"native", "workers", "script"}
# Who in formats/ may ask the system for files and memory.
SYSTEM_HEADERS = re.compile(r"filesystem$|fstream$|fcntl\.h$|unistd\.h$|sys/(stat|mman)\.h$")
SYSTEM_FILES = {"formats/source.cpp", "formats/source_files.cpp", "formats/support/map_guard.cpp", "formats/support/output_buffer.cpp",
                "formats/gen/field_numbers.cpp"}  # the last is a program of the build
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')


def problems_of(path: Path, root: Path, used: set[tuple[str, str]]) -> list[str]:
    """What is wrong in a file; adds the exceptions that it needs to `used`."""
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
            if layer in SUPPORT_ALONE and parts[0] == "core" and parts[1] != "support":
                problems.append(f"{where}: {layer} may include core/support alone ({target})")
            if layer in FOLDERS and parts[0] == layer and len(parts) > 2 and len(relative.parts) > 2:
                mine, theirs = relative.parts[1], parts[1]
                if theirs != mine and theirs not in FOLDERS[layer][mine]:
                    if (relative.as_posix(), target) in EXCEPTIONS:
                        used.add((relative.as_posix(), target))
                    else:
                        problems.append(f"{where}: {layer}/{mine} may not include {layer}/{theirs}")
            if layer == "formats" and parts[0] == "formats" and len(parts) > 2 and len(relative.parts) > 2:
                mine, theirs = relative.parts[1], parts[1]
                # The list of writers takes the native one from where its format lives; schemas are for both.
                if theirs not in {mine, "support"} and (mine, theirs) != ("writers", "profd") and not (
                        mine == "writers" and target.endswith(".fields.h")):
                    problems.append(f"{where}: a format may not include another ({target})")
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
    used: set[tuple[str, str]] = set()
    problems = [
        problem for layer in RULES for suffix in ("h", "cpp") for path in sorted((root / layer).rglob(f"*.{suffix}"))
        for problem in problems_of(path, root, used)
    ]
    problems += [f"{file}: does not include {target}; the exception in layers.py goes"
                 for file, target in sorted(EXCEPTIONS.keys() - used)]
    print("\n".join(problems) if problems else "layers: every include points the right way")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
