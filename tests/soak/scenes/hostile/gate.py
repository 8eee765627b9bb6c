"""Points 8 to 12: who gets in, and what gets out."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import stat
import struct
import subprocess
import time
from pathlib import Path

from figures import count_text, seconds_text, share_text
from house import Limits, Offer
from inputs import make_tree, project_file
from psp_client import Client, ClientError, connect_unix, frame
from scenes.asking import Opened, close_file, open_file
from scenes.hostile.act import Play, act

FLOOD = 300


def tcp_socket(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), 2)


def is_closed(connection: socket.socket) -> bool:
    """By the other side; what it said before is read away."""
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    while poll.poll(0):
        try:
            if not connection.recv(1 << 16, socket.MSG_DONTWAIT):
                return True
        except BlockingIOError:
            return False
        except OSError:
            return True
    return False


@act("tcp-flood", 8, offer=Offer(tcp=True), at_least_s=4.0)
def tcp_flood(play: Play) -> None:
    """Connections that bring no token, and as many bytes as they may."""
    port, token = play.house.tcp()
    flood: list[socket.socket] = []
    body = b"Content-Length: 60000000\r\n\r\n" + b"[" * (256 << 10)
    for _ in range(FLOOD):
        try:
            connection = tcp_socket(port)
        except OSError:
            break
        connection.setblocking(False)
        try:
            connection.send(body)
        except OSError:
            pass
        flood.append(connection)
    play.clients += flood
    start = time.perf_counter()
    try:
        own = Client.of_socket(tcp_socket(port))
        refused = own.initialize(None, "owner", {"token": token}, 2).error
        problem = str(refused) if refused else ""
        play.clients.append(own)
    except (ClientError, OSError) as error:
        problem = str(error)
    took = time.perf_counter() - start
    play.table.holds(play.scene, "who has the token gets in", "<= 1 s", problem or seconds_text(took), not problem and took <= 1)
    end = time.monotonic() + max(play.left, 6.0)
    while (still := sum(not is_closed(connection) for connection in flood)) and time.monotonic() < end:
        time.sleep(0.2)
    play.table.at_most(play.scene, "of the others still connected", still, 0, count_text, f"of {len(flood)}")


@act("not-the-protocol", 8, offer=Offer(tcp=True))
def not_the_protocol(play: Play) -> None:
    """What a browser can be made to send, the token in it or not."""
    port, token = play.house.tcp()
    hello = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "processId": None, "capabilities": {}, "initializationOptions": {"token": token}}}).encode()
    ask = b'{"jsonrpc":"2.0","id":2,"method":"profile/list","params":{}}'
    post = b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n" % len(hello)
    tries = {
        "HTTP with the token": post + hello + frame(ask),
        "HTTP": b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" + frame(ask),
        "TLS": bytes.fromhex("1603010200010001fc0303") + bytes(200) + frame(hello) + frame(ask),
        "without the token": frame(ask) * 3,
    }
    for name, data in tries.items():
        connection = tcp_socket(port)
        connection.settimeout(0.3)
        got, start = b"", time.perf_counter()
        try:
            connection.sendall(data)
            while time.perf_counter() - start < 2:
                try:
                    piece = connection.recv(1 << 16)
                except TimeoutError:
                    continue
                if not piece:
                    break
                got += piece
        except OSError:
            pass
        took = time.perf_counter() - start
        connection.close()
        executed = b'"result"' in got
        closed = took < 2
        measured = "executed" if executed else seconds_text(took) if closed else "still open after 2 s"
        play.table.holds(play.scene, f"{name} is closed", "<= 2 s", measured, closed and not executed)


def listed(play: Play, client: Client, seconds: float) -> list[str]:
    """What is open after so long, without what the neighbour has open."""
    end = time.monotonic() + seconds
    while True:
        answer = play.ask(client, "profile/list", {}, 5)
        profiles = answer.result["profiles"] if answer and answer.result else []
        if time.monotonic() > end:
            uris = [str(profile["uri"]) for profile in profiles]
            return [uri for uri in uris if "/probe/" not in uri and str(play.stage.inputs.folder) not in uri]
        time.sleep(0.1)


@act("out-of-the-project", 9)
def out_of_the_project(play: Play) -> None:
    """A project file that names what is not the project's."""
    root, outside = play.folder / "project", play.folder / "elsewhere"
    outside.mkdir()
    for path in (outside / "secret.folded", outside / "other.folded"):
        path.write_text("main;secret 7\n")
    root.mkdir()
    (root / "inside.folded").write_text("main;mine 3\n")
    (root / "link.folded").symlink_to(outside / "secret.folded")
    (root / "linked").symlink_to(outside)
    project_file(root, profiles=["inside.folded", "link.folded", "linked/*.folded", "../elsewhere/secret.folded",
                                 str(outside / "other.folded"), "/etc/*", "[", "\u0007bad"])
    client = play.client()
    client.close()
    client = play.house.client(root, "hostile", 10)
    play.clients.append(client)
    client.keep_notices = True
    open_now = listed(play, client, 1.0)
    beyond = [uri for uri in open_now if not uri.endswith("/inside.folded")]
    play.table.none_of(play.scene, "opened from outside", beyond)
    play.table.holds(play.scene, "opened from inside", "1", str(len(open_now) - len(beyond)), len(open_now) - len(beyond) == 1)


@act("others-may-write", 9)
def others_may_write(play: Play) -> None:
    """A project file in a folder that anybody may write to, above the workspace."""
    shared = play.folder / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    (shared / "planted.folded").write_text("main;planted 1\n")
    project_file(shared, profiles=["planted.folded"])
    root = shared / "work"
    root.mkdir()
    client = play.client(root)
    play.table.none_of(play.scene, "opened from a planted file", listed(play, client, 0.7))


@act("inherited-descriptors", 10)
def inherited_descriptors(play: Play) -> None:
    """$(profd query ...) ends although the daemon it started lives on."""
    runtime = play.folder / "rt"
    runtime.mkdir(mode=0o700)
    ours, theirs = os.pipe()
    environment = {**os.environ, **play.house.environment(), "XDG_RUNTIME_DIR": str(runtime)}
    start = time.perf_counter()
    query = subprocess.Popen([str(play.stage.profd), "query", "profile/list"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             env=environment, pass_fds=(theirs,))
    os.close(theirs)
    try:
        out, _ = query.communicate(timeout=4)
        took, answered = time.perf_counter() - start, b"profiles" in out
    except subprocess.TimeoutExpired:
        took, answered = float("inf"), False
        query.kill()
    measured = "hangs" if took == float("inf") else seconds_text(took)
    play.table.holds(play.scene, "$(profd query) ends", "<= 2 s", measured, answered and took <= 2)
    ready, _, _ = select.select([ours], [], [], 1)
    play.table.holds(play.scene, "another pipe ends with it", "yes", "yes" if ready else "no", bool(ready))
    os.close(ours)
    end_daemon_at(runtime / "profd" / "daemon.sock")
    for pipe in (query.stdout, query.stderr):
        if pipe:
            pipe.close()
    query.wait()


def end_daemon_at(path: Path) -> None:
    """The one that listens there, which we had started."""
    try:
        with connect_unix(path) as connection:
            pid = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
        os.kill(pid, signal.SIGKILL)
    except OSError:
        pass


@act("out-of-descriptors", 10, limits=Limits(descriptors=48), may_refuse=True)
def out_of_descriptors(play: Play) -> None:
    """More clients than descriptors: it waits for some to go, and does not spin."""
    flood = []
    for _ in range(100):
        connection = socket.socket(socket.AF_UNIX)
        connection.setblocking(False)
        try:
            connection.connect(str(play.house.socket))
        except OSError:
            connection.close()
            break
        flood.append(connection)
    before, start = play.house.cpu_s(), time.perf_counter()
    time.sleep(1.5)
    share = (play.house.cpu_s() - before) / (time.perf_counter() - start)
    play.table.at_most(play.scene, "CPU meanwhile", share, 0.25, share_text)
    for connection in flood:
        connection.close()
    start = time.perf_counter()
    problem = ""
    try:
        play.house.client(name="next", timeout_s=3)
    except ClientError as error:
        problem = str(error)
    took = time.perf_counter() - start
    play.table.holds(play.scene, "the next one gets in", "<= 1 s", problem or seconds_text(took), not problem and took <= 1)


@act("watches", 10)
def watches(play: Play) -> None:
    """What a project had watched is not watched when its client has gone."""
    root = make_tree(play.folder / "project", 500)
    project_file(root, profiles=["**/*.folded"])
    (root / "a.folded").write_text("main 1\n")
    before = play.house.watches()
    client = play.house.client(root, "hostile", 10)
    listed(play, client, 0.5)
    meanwhile = play.house.watches()
    client.close()
    end = time.monotonic() + 3
    while (left := play.house.watches() - before) > 0 and time.monotonic() < end:
        time.sleep(0.1)
    play.table.at_most(play.scene, "watches left", max(0, left), 0, count_text, f"{meanwhile} while it was there")


@act("names", 11)
def names(play: Play) -> None:
    """Control characters wherever a name can stand."""
    evil = "\u001b]0;owned\u0007\u001b[31m\r\n\u202eevil\u009b"
    client = play.client()
    for path in (play.folder / f"{evil}.folded", play.folder / f"{evil}.gz"):
        play.open(client, path, 3)
        path.write_bytes(f"main;{evil} 3\nno number {evil}\n".encode())
        play.open(client, path, 3)
    play.ask(client, f"no/{evil}", {}, 3)
    play.ask(client, "view/table", {"spec": f"flat by {evil}"}, 3)
    document = {"uri": f"file:///{evil}", "languageId": evil, "version": 1, "text": ""}
    client.notify("textDocument/didOpen", {"textDocument": document})
    client.notify(f"$/{evil}", {})
    client.notify("workspace/didChangeConfiguration", {"settings": {"metric": 3, evil: 1}})
    client.send(frame(b'{"jsonrpc":"2.0","method":"' + b"\x1b[31m" * 20))
    client.send(b"Content-Length: \x1b[31m\r\n\r\n")
    other = play.house.client(name=evil)
    play.clients.append(other)
    root = play.folder / f"project{evil}"
    project_file(root, profiles=[f"{evil}*.folded", "["], metric=7)
    play.clients.append(play.house.client(root, evil, 10))
    time.sleep(0.5)
    play.after.append(lambda: play.table.none_of(play.scene, "lines of the log with controls", play.house.log_controls()))


@act("same-message-again", 11)
def same_message_again(play: Play) -> None:
    """A fault that comes a thousand times is told a few times."""
    client = play.client()
    client.keep_notices = True
    for _ in range(1000):
        client.notify("workspace/didChangeConfiguration", {"settings": {"threshold": "wrong"}})
    client.listen(min(1.5, play.left))
    shown = [notice for notice in client.notices if notice["method"] in ("window/showMessage", "window/logMessage")]
    play.table.at_most(play.scene, "messages for 1,000 equal faults", len(shown), 20, count_text)


@act("export-over", 12)
def export_over(play: Play) -> None:
    """Writing replaces regular files alone."""
    client = play.client()
    source = play.folder / "a.folded"
    source.write_text("main;work 3\n")
    opened = play.open(client, source, 5)
    handle = opened.result["profile"] if opened and opened.result else ""
    fifo, sock = play.folder / "fifo.folded", play.folder / "sock.folded"
    os.mkfifo(fifo)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(sock))
    play.clients.append(listener)
    kinds = {fifo: stat.S_ISFIFO, sock: stat.S_ISSOCK}
    for path, is_kind in kinds.items():
        wish = {"profile": handle, "format": "folded", "uri": path.as_uri(), "overwrite": True}
        play.refused(path.stem, play.ask(client, "profile/export", wish, 2))
        kept = is_kind(path.lstat().st_mode)
        play.table.holds(play.scene, f"{path.stem} is still one", "yes", "yes" if kept else "no", kept)
    for name, command in {"convert": ["convert", source, sock], "flame -o": ["flame", "-o", sock, source]}.items():
        done = subprocess.run([str(play.stage.profd), *map(str, command)], capture_output=True, timeout=10)
        kept = stat.S_ISSOCK(sock.lstat().st_mode) and done.returncode != 0
        play.table.holds(play.scene, f"{name} leaves a socket alone", "yes", "yes" if kept else "no", kept)


@act("truncated-cache", 12, offer=Offer(cache=Path("cache")))
def truncated_cache(play: Play) -> None:
    """An entry of the cache is cut short while it is mapped."""
    client = play.client()
    path = play.stage.inputs.profile(30)
    first = open_file(client, path, 30)
    if not isinstance(first, Opened):
        return play.table.told(play.scene, "not played", "the profile did not open")
    cache = Path(play.house.environment()["XDG_CACHE_HOME"])
    end = time.monotonic() + 6
    while not (entries := [entry for entry in cache.rglob("*.profd") if entry.is_file()]) and time.monotonic() < end:
        time.sleep(0.1)
    if not entries:
        return play.table.told(play.scene, "not played", "the import was too fast to be kept")
    time.sleep(0.5)
    close_file(client, first)
    second = open_file(client, path, 30)
    for entry in entries:
        os.truncate(entry, 4096)
    specs = [f"{shape} by line | drop function /cut{i}/" for i, shape in enumerate(("top-down", "bottom-up", "flat") * 3)]
    if not isinstance(second, Opened):
        play.table.holds(play.scene, "it opens from the cache", "yes", str(second), False)
        return
    answers = [play.ask(client, "view/table", {"profile": second.handle, "spec": spec}, 5) for spec in specs]
    play.table.at_most(play.scene, "unanswered", sum(answer is None for answer in answers), 0, count_text)
    totals = [answer.result["viewTotal"]["value"] for answer in answers if answer and answer.result]
    play.table.none_of(play.scene, "wrong totals", [f"{total} for {first.total}" for total in totals if total != first.total])
