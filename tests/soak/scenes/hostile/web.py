"""What comes over HTTP, what pages send, texts of sources, and a repository: each alone, and all at once."""

from __future__ import annotations

import base64
import os
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from figures import count_text
from psp_client import Client, ClientError
from scenes.hostile.act import Play, act
from scenes.hostile.fairness import large_messages
from scenes.workspace import copy_of_go_demo
from web_client import WebSocket, ask_http, open_web_socket

PIECE = base64.b64encode(os.urandom(1 << 20)).decode()


def address(play: Play, root: Path | None = None) -> tuple[int, str]:
    """Port and token of the page; its sessions may have the folder."""
    answer = play.ask(play.client(root), "web/address", {}, 30)
    if answer is None or answer.error is not None:
        raise ClientError("no address of a page")
    url = urlsplit(str(answer.result["address"]))
    return url.port or 0, parse_qs(url.fragment)["t"][0]


def connect(play: Play, port: int) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), 5)
    play.house.connections.append(connection)
    return connection


def page(play: Play, port: int, token: str, roots: tuple[str, ...] = ()) -> WebSocket | None:
    _, session = open_web_socket(connect(play, port), port, token)
    if session is not None:
        session.begin(roots)
    return session


def at_once(play: Play, parts: list[Callable[[], None]]) -> None:
    """Each on a thread, until the time is up. What is refused, or closed, ends the part that met it."""

    def run(part: Callable[[], None]) -> None:
        try:
            while play.left > 0.2:
                part()
        except (OSError, ClientError, ValueError):
            pass

    threads = [threading.Thread(target=run, args=(part,), daemon=True) for part in parts]
    for thread in threads:
        thread.start()
    play.wait()
    for thread in threads:
        thread.join(2)


@act("http-requests", 9, at_least_s=2.0)
def http_requests(play: Play) -> None:
    """Floods of requests for the page and of codes that are none, beside connections that never finish their header."""
    port, _ = address(play)
    statuses: dict[int, int] = {}

    def ask() -> None:
        with connect(play, port) as connection:
            for method, target, headers in (("GET", "/", {}), ("GET", "/nothing", {}), ("HEAD", "/", {}),
                                            ("POST", "/token", {"Authorization": "Code " + "x" * 22})):
                status = ask_http(connection, port, method, target, b"", headers).status
                statuses[status] = statuses.get(status, 0) + 1

    def dawdle() -> None:
        for _ in range(40):
            connect(play, port).sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ")
        time.sleep(1)

    at_once(play, [ask] * 6 + [dawdle])
    play.table.told(play.scene, "answers", ", ".join(f"{status}: {count_text(n)}" for status, n in sorted(statuses.items())))
    play.table.holds(play.scene, "codes that are none", "401", "401" if statuses.get(401) else "other", statuses.get(401, 0) > 0)


@act("web-sockets", 6, 9, at_least_s=3.0)
def web_sockets(play: Play) -> None:
    """As many pages as there may be; a quarter of them wants view after view."""
    port, token = address(play)
    if (this := play.handle(play.client(), play.stage.inputs.profile(10))) is None:
        return
    sessions = [session for _ in range(48) if (session := page(play, port, token)) is not None]
    play.table.at_least(play.scene, "pages", len(sessions), 40)
    asked = [0]

    def views(session: WebSocket) -> Callable[[], None]:
        def ask() -> None:
            asked[0] += 1
            spec = f"bottom-up by line | drop function /page{id(session)}x{asked[0]}/"
            session.ask("view/flameGraph", {**this, "spec": spec, "viewport": {"width": 1200}, "search": "e"})

        return ask

    at_once(play, [views(session) for session in sessions[::4]])
    play.table.told(play.scene, "views asked", count_text(asked[0]))


@act("uploads", 9, at_least_s=3.0)
def uploads(play: Play) -> None:
    """Pages that send files, open them, take them back, and leave others half sent."""
    port, token = address(play)
    folder = play.house.folder / "profd" / "uploads"
    sent = [0]

    def send() -> None:
        session = page(play, port, token)
        if session is None:
            return
        for _ in range(4):
            begun = session.ask("upload/begin", {"name": "x.folded", "size": 3 << 20})
            if "error" in begun:
                break
            upload = begun["result"]["upload"]
            for piece in range(play.rng.choice((1, 2, 3))):
                session.ask("upload/piece", {"upload": upload, "offset": piece << 20, "base64": PIECE})
                sent[0] += 1
            end = session.ask("upload/end", {"upload": upload})
            if "result" in end:
                session.ask("profile/open", {"uri": end["result"]["uri"]})
            if play.rng.random() < 0.5:
                session.ask("upload/cancel", {"upload": upload})
        session.close()

    def left() -> None:
        files = [path for path in folder.rglob("*") if path.is_file()] if folder.exists() else []
        play.table.none_of(play.scene, "files left when it has ended", [str(path) for path in files])

    at_once(play, [send] * 6)
    play.after.append(left)
    play.table.told(play.scene, "MB sent", count_text(sent[0]))


@act("source-text", 9, at_least_s=2.0)
def source_text(play: Play) -> None:
    """Large texts again and again, and links that lead out of the folder."""
    root = play.folder / "sources"
    root.mkdir(exist_ok=True)
    for i in range(4):
        (root / f"large{i}.c").write_text("int x;\n" * (15 << 20 >> 3))
    out = root / "passwd.c"
    if not out.is_symlink():
        out.symlink_to("/etc/passwd")
    port, token = address(play, root)
    taken: list[str] = []

    def ask() -> None:
        session = page(play, port, token, (root.as_uri(),))
        if session is None:
            return
        for i in range(4):
            session.ask("source/text", {"textDocument": {"uri": (root / f"large{i}.c").as_uri()}})
        for uri in (out.as_uri(), "file:///etc/passwd", (root / ".." / ".." / "etc" / "passwd").as_uri()):
            answer: dict[str, Any] = session.ask("source/text", {"textDocument": {"uri": uri}})
            if "error" not in answer:
                taken.append(uri)
        session.close()

    at_once(play, [ask] * 4)
    play.table.none_of(play.scene, "texts from elsewhere", taken)


@act("git", 5, at_least_s=3.0)
def git(play: Play) -> None:
    """Sources that changed since the recording, in a repository with much in it, asked about by several editors."""
    if shutil.which("git") is None:
        return play.table.told(play.scene, "not played", "there is no git")
    root, left = play.folder / "repository", play.left
    if not root.exists():
        copy_of_go_demo(root)
        many = root / "many"
        many.mkdir()
        for i in range(500):
            (many / f"f{i}.go").write_text(f"package many{i}\n" * 200)
        run = ["git", "-C", str(root), "-c", "user.name=soak", "-c", "user.email=soak@localhost", "-c", "commit.gpgsign=false"]
        for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "all"]):
            subprocess.run([*run, *command], check=True, capture_output=True)
        play.end = time.monotonic() + left  # what had to be made took time of its own
    files = sorted(root.glob("*.go"))
    asked = [0]

    def editor() -> Callable[[], None]:
        client: Client = play.client(root)
        play.open(client, root / "cpu.pprof", 20, attach=True, makeDefault=True)

        def ask() -> None:
            path = play.rng.choice(files)
            path.write_text(path.read_text()[:200_000] + "// changed\n")
            play.ask(client, "source/annotations", {"textDocument": {"uri": path.as_uri()}}, play.left + 5)
            asked[0] += 1

        return ask

    at_once(play, [editor() for _ in range(4)])
    play.table.told(play.scene, "annotations asked", count_text(asked[0]))


@act("all-at-once", 6, 9, at_least_s=5.0)
def all_at_once(play: Play) -> None:
    """Several who mean harm, and none of whom knows of the others."""
    acts = (http_requests, uploads, source_text, git, large_messages, web_sockets)
    failed: list[str] = []

    def run(part: Callable[[Play], None]) -> None:
        try:
            part(play)
        except (OSError, ClientError, ValueError) as error:  # what one was refused as others had it
            failed.append(f"{part.__name__}: {error}")

    threads = [threading.Thread(target=run, args=(part,), daemon=True) for part in acts]
    for thread in threads:
        thread.start()
    play.wait()
    for thread in threads:
        thread.join(5)
    play.table.told(play.scene, "ended early", "; ".join(failed)[:90] or "none")
