"""Points 1 to 3: what takes memory."""

from __future__ import annotations

import socket
import time
from pathlib import Path

from figures import count_text, megabytes_text
from inputs import write_claims, write_deep_json
from psp_client import ClientError, encode, frame
from scenes.hostile.act import Play, act, ask_blindly


@act("gzip-bomb", 1, at_least_s=2.0)
def gzip_bomb(play: Play) -> None:
    """Text that grows a thousandfold under a budget it cannot fit."""
    bomb = play.stage.inputs.bomb(1 if play.stage.short else 4)
    client = play.client()
    answer = play.open(client, bomb, play.left + 12)
    # Equal stacks fold into one: reading it to its end within the budget is as good as refusing it.
    taken = answer is not None and answer.error is None
    play.table.holds(play.scene, "the bomb is answered", "yes", "no" if answer is None else "read" if taken else
                     str((answer.error or {}).get("message"))[:90], answer is not None)


@act("wide-bomb", 1, at_least_s=2.0)
def wide_bomb(play: Play) -> None:
    """Every stack another one: what is read does not fold."""
    client = play.client()
    answer = play.open(client, play.stage.inputs.wide_bomb(20 if play.stage.short else 60), play.left + 12)
    play.table.holds(play.scene, "the bomb is answered", "yes", "no" if answer is None else "yes", answer is not None)


@act("claims", 1)
def claims(play: Play) -> None:
    """Counts and nesting that no memory holds."""
    client = play.client()
    for name, write, value in (("claims.pb", write_claims, 1 << 60), ("deep.speedscope.json", write_deep_json, 2_000_000)):
        path = play.folder / name
        write(path, value)
        play.refused(name, play.open(client, path))


@act("pagemap", 2)
def pagemap(play: Play) -> None:
    """Files that are none."""
    sock, link = play.folder / "socket.folded", play.folder / "link.folded"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(sock))
    play.clients.append(listener)
    link.symlink_to("/dev/zero")
    client = play.client()
    for path in (Path("/proc/self/pagemap"), Path("/dev/zero"), Path("/proc/self/mem"), Path("/sys/kernel/notes"), sock, link):
        play.refused(path.name if path.parent == play.folder else str(path), play.open(client, path, 2))


@act("views", 3)
def views(play: Play) -> None:
    """Two hundred views, each another, under a small budget."""
    client = play.client()
    if (this := play.handle(client, play.stage.inputs.profile(10))) is None:
        return
    n = 0
    while n < 200 and time.monotonic() < play.end:
        spec = f"{'top-down' if n % 2 else 'bottom-up'} by function | drop function /view{n}/"
        if play.ask(client, "view/flameGraph", {**this, "spec": spec, "viewport": {"width": 1200}}, 10) is None:
            break
        n += 1
    play.table.told(play.scene, "views asked", count_text(n))
    memory = play.ask(client, "$/memory", {}, 10)
    if memory and memory.result:
        total, budget = memory.result["total"]["value"] / 1e6, memory.result["budget"]["value"] / 1e6
        play.table.at_most(play.scene, "counted memory over budget", max(0.0, total - budget), budget * 0.1, megabytes_text)


@act("newlines", 3)
def newlines(play: Play) -> None:
    """A document that is all ends of lines."""
    client = play.client()
    text = "\n" * (20 << 20)
    try:
        client.notify("textDocument/didOpen", {"textDocument": {
            "uri": (play.folder / "a.go").as_uri(), "languageId": "go", "version": 1, "text": text}}, 5)
        play.ask(client, "profile/list", {}, 5)
    except ClientError:
        pass
    more = play.house.peak_mb - play.house.start_mb
    play.table.at_most(play.scene, "more than at the start", more, play.house.limits.budget_mb, megabytes_text)


@act("behind-a-large-message", 3)
def behind_a_large_message(play: Play) -> None:
    """What follows a message that is still parsed is not read without end."""
    client = play.client()
    large = encode({"method": "textDocument/didOpen", "params": {"textDocument": {
        "uri": "file:///tmp/large.go", "languageId": "go", "version": 1, "text": "x" * (32 << 20)}}})
    more = frame(b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"' + b"y" * 60_000 + b'"}}')
    sent = 0
    try:
        client.send(large, 5)
        while sent < 512 << 20 and time.monotonic() < play.end:
            client.send(more * 16, 1)
            sent += 16 * len(more)
    except ClientError:
        pass
    play.table.told(play.scene, "sent behind it", megabytes_text(sent / 1e6))
    play.table.at_most(play.scene, "more than at the start", play.house.peak_mb - play.house.start_mb, 256, megabytes_text)


@act("slow-readers", 3, at_least_s=2.0)
def slow_readers(play: Play) -> None:
    """Eight clients that ask for the largest answers and read nothing."""
    if (this := play.handle(play.client(), play.stage.inputs.profile(10))) is None:
        return
    body = encode({"id": 7, "method": "profile/export", "params": {**this, "format": "json", "spec": "top-down by line"}})
    for _ in range(8):
        ask_blindly(play.client(), [body] * 40)
    play.wait()
