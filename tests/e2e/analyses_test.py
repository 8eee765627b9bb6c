#!/usr/bin/env python3
"""The worked examples of docs/analyses: every command on a page prints what the page says.

usage: analyses_test.py PROFD [--bless]

A block of ```console has commands, `$ profd …`, run by a shell in tests/fixtures/compare, each with what it prints below it; a line
"…" stands for any lines. --bless writes what they print now, as far as the page has no "…" there.
"""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGES = os.path.join(ROOT, "docs/analyses")
BLOCK = re.compile(r"(?ms)^```console\n(.*?)^```$")


def printed(profd, command):
    environment = dict(os.environ, PROFD_CACHE="off", COLUMNS="120", NO_COLOR="1")
    # The page names the program as its reader does.
    done = subprocess.run(["bash", "-c", f'profd() {{ "{profd}" "$@"; }}; {command}'], cwd=os.path.join(ROOT, "tests/fixtures/compare"),
                          capture_output=True, env=environment, stdin=subprocess.DEVNULL, timeout=120)
    return (done.stdout + done.stderr).decode()


def parts_of(block):
    """[(command, expected text)] of a block."""
    parts = []
    for line in block.splitlines():
        if line.startswith("$ "):
            parts.append((line[2:], []))
        elif parts:
            parts[-1][1].append(line)
    return [(command, "\n".join(lines)) for command, lines in parts]


def trimmed(text):
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())


def matches(expected, found):
    pattern = "\n".join(".*" if line.strip() == "…" else re.escape(line) for line in trimmed(expected).splitlines())
    return re.fullmatch(pattern, trimmed(found), re.S) is not None


def main():
    profd, bless = os.path.abspath(sys.argv[1]), "--bless" in sys.argv
    wrong = commands = 0
    for name in sorted(os.listdir(PAGES)):
        path = os.path.join(PAGES, name)
        if not name.endswith(".md"):
            continue
        with open(path, encoding="utf-8") as file:
            text = file.read()

        def checked(block):
            nonlocal wrong, commands
            out = []
            for command, expected in parts_of(block[1]):
                commands += 1
                found = printed(profd, command)
                if not matches(expected, found) and bless and "\n…" not in "\n" + expected:
                    expected = trimmed(found)
                elif not matches(expected, found):
                    wrong += 1
                    print(f"{name}: `{command}` prints\n{found}\nwhere the page has\n{expected}\n")
                out.append(f"$ {command}\n{trimmed(expected)}\n")
            return "```console\n" + "".join(out) + "```"

        new = BLOCK.sub(checked, text)
        if bless and new != text:
            with open(path, "w", encoding="utf-8") as file:
                file.write(new)
    print(f"{commands} commands, {wrong} wrong")
    return 1 if wrong or commands == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
