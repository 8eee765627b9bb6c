"""Parses TOML of ten megabytes with the parser of the standard library, which is Python, again and again: a line of milliseconds
for each piece of a hundred kilobytes."""
import sys
import time
import tomllib


def made(n_bytes):
    parts, size, i = [], 0, 0
    while size < n_bytes:
        part = (f'[[part]]\nname = "part {i}"\nnumber = {i * 7919}\nshare = {i / 7}\nday = 2026-11-{i % 28 + 1:02}\n'
                f'tags = ["a{i % 13}", "b{i % 7}", [{i}, {i + 1}, {i + 2}]]\n[part.of.it]\nx = {{ y = {i}, z = "w" }}\n')
        parts.append(part)
        size += len(part)
        i += 1
    return "".join(parts)


piece = made(100_000)
seconds = float(sys.argv[1])
begun = time.perf_counter()
rounds = 0
# Of ten megabytes one piece is a hundredth.
while time.perf_counter() - begun < seconds or rounds < 100:
    at = time.perf_counter()
    tomllib.loads(piece)
    rounds += 1
    print(f"{at - begun:.3f} {(time.perf_counter() - at) * 1000:.3f}", flush=False)
print("parsed", rounds * len(piece))
