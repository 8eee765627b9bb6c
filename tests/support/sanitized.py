"""Whether a sanitizer is in a program."""

from __future__ import annotations

from pathlib import Path


def is_sanitized(program: Path) -> bool:
    code = program.read_bytes()
    return b"__asan_init" in code or b"__tsan_init" in code
