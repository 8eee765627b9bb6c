"""Points 5 to 7: what takes time, and the end of it."""

from __future__ import annotations

import os
import signal
import threading
import time

from figures import count_text, seconds_text, share_text
from house import Offer
from inputs import make_tree, project_file
from psp_client import ClientError, NoAnswer, encode
from scenes.hostile.act import Play, act


@act("glob-of-the-machine", 5)
def glob_of_the_machine(play: Play) -> None:
    """A cloned repository that wants every profile there is."""
    root = play.folder / "project"
    project_file(root, profiles=["/**/*.pprof", "/**/*.nothing"])
    client = play.client(root)
    client.keep_notices = True
    play.ask(client, "profile/list", {})
    client.listen(min(2.0, play.left))
    said = [str(notice["params"].get("message")) for notice in client.notices if notice["method"] == "window/showMessage"]
    play.table.holds(play.scene, "what is not done is said", "yes", said[0][:90] if said else "no", bool(said))


@act("many-globs", 5)
def many_globs(play: Play) -> None:
    """Forty thousand patterns over a tree of folders."""
    root = make_tree(play.folder / "project", 2000 if play.stage.short else 20_000)
    project_file(root, profiles=[f"d*/**/x{i}*.p" for i in range(40_000)])
    client = play.client(root)
    answer = play.ask(client, "profile/list", {}, play.left + 2)
    took = "no answer" if answer is None else seconds_text(answer.seconds)
    play.table.told(play.scene, "its own first answer", took)


@act("edits-of-a-long-line", 5)
def edits_of_a_long_line(play: Play) -> None:
    client = play.client()
    document = {"uri": (play.folder / "long.go").as_uri()}
    size = 40 << 20
    try:
        text = "x" * size
        client.notify("textDocument/didOpen", {"textDocument": {**document, "languageId": "go", "version": 1, "text": text}}, 10)
        for version in range(2, 302):
            at = {"line": 0, "character": play.rng.randrange(size)}
            change = {"range": {"start": at, "end": at}, "text": "y"}
            changed = {"textDocument": {**document, "version": version}, "contentChanges": [change]}
            client.notify("textDocument/didChange", changed, 10)
        answer = play.ask(client, "profile/list", {}, play.left + 3)
        play.table.told(play.scene, "its own answer after 300 edits", "none" if answer is None else seconds_text(answer.seconds))
    except ClientError as error:
        play.table.told(play.scene, "its own answer after 300 edits", str(error))


@act("leaving-with-members", 5)
def leaving_with_members(play: Play) -> None:
    """A client goes that has tens of thousands of profiles open."""
    client = play.client()
    answer = play.open(client, play.stage.inputs.members(60_000), play.left + 5, attach=True, makeDefault=True)
    opened = answer.result if answer and answer.result else None
    if opened is None:
        play.table.told(play.scene, "profiles open", "no answer" if answer is None else str(answer.error)[:80])
    else:
        play.table.told(play.scene, "profiles open", count_text(len(opened["profiles"]) + opened.get("left", 0)))
    client.close()
    time.sleep(min(1.5, play.left) if opened else 0)


@act("queued-views", 6, at_least_s=2.0)
def queued_views(play: Play) -> None:
    """A thousand views at once; the neighbour's next one waits for one of them at most."""
    client = play.client()
    if (this := play.handle(client, play.stage.inputs.profile(10))) is None:
        return
    try:
        for i in range(1000):
            spec = f"bottom-up by line | drop function /queued{i}/"
            client.begin("view/flameGraph", {**this, "spec": spec, "viewport": {"width": 1200}}, 5)
        client.listen(play.left)
    except ClientError:
        pass
    play.table.told(play.scene, "of 1,000 unanswered when time was up", count_text(client.n_unanswered))


@act("large-messages", 6, at_least_s=3.0)
def large_messages(play: Play) -> None:
    """Six clients that send requests of 20 MB, one after another: reading them is work like any other."""
    body = encode({"id": 1, "method": "profile/list", "params": {"padding": "x" * (20 << 20)}})
    senders = [play.client() for _ in range(6)]
    read = [0] * len(senders)

    def send(number: int) -> None:
        connection = senders[number].connection
        assert connection is not None
        connection.settimeout(1.0)
        try:
            while play.left > 0.2:
                connection.sendall(body)
                read[number] += 1
                connection.recv(1 << 16)
        except OSError:
            pass

    threads = [threading.Thread(target=send, args=(number,), daemon=True) for number in range(len(senders))]
    for thread in threads:
        thread.start()
    play.wait()
    play.table.told(play.scene, "messages of 20 MB that were taken", count_text(sum(read)))


@act("vanishing-with-a-queue", 6)
def vanishing_with_a_queue(play: Play) -> None:
    """What a client asked for that is gone is not computed."""
    client = play.client()
    this, kept = play.handle(client, play.stage.inputs.profile(10)), play.handle(play.client(), play.stage.inputs.profile(10))
    if this is None or kept is None:
        return
    try:
        for i in range(500):
            spec = f"bottom-up by line | drop function /vanishing{i}/"
            client.begin("view/flameGraph", {**this, "spec": spec, "viewport": {"width": 1200}}, 5)
    except ClientError:
        pass
    time.sleep(0.3)
    client.close()
    time.sleep(0.1)
    before, start = play.house.cpu_s(), time.perf_counter()
    time.sleep(1.0)
    share = (play.house.cpu_s() - before) / (time.perf_counter() - start)
    play.table.at_most(play.scene, "CPU 0.1 s after it vanished", share, 0.8, share_text, "the neighbour's own views included")


@act("cancelled", 6)
def cancelled(play: Play) -> None:
    """An opening that is taken back is answered at once."""
    client = play.client()
    worst = 0.0
    big = play.stage.inputs.profile(30 if play.stage.short else 100)
    for pause in (0.0, 0.02, 0.1, 0.2):
        path = play.folder / f"cancelled{pause}.pb.gz"
        path.write_bytes(big.read_bytes())
        number = client.begin("profile/open", {"uri": path.as_uri(), "options": {"attach": False, "makeDefault": False}})
        time.sleep(pause)
        start = time.perf_counter()
        client.cancel(number)
        try:
            client.finish(number, 5)
        except NoAnswer:
            worst = max(worst, 5.0)
            continue
        worst = max(worst, time.perf_counter() - start)
    play.table.at_most(play.scene, "answer after the cancelling", worst, 0.1, seconds_text, beyond=worst >= 5)


@act("fifos", 6)
def fifos(play: Play) -> None:
    """Pipes on which nobody writes, as many as there are workers and more."""
    client = play.client()
    ids = []
    for i in range(4):
        path = play.folder / f"pipe{i}.folded"
        os.mkfifo(path)
        ids.append(client.begin("profile/open", {"uri": path.as_uri()}))
    missing = play.answered(client, ids, min(2.0, play.left))
    play.table.at_most(play.scene, "unanswered after 2 s", missing, 0, count_text)


@act("stdio-unread", 7, offer=Offer(stdio=True))
def stdio_unread(play: Play) -> None:
    """An editor that asks for much and reads none of it."""
    client = play.house.daemon.stdio_client()
    client.initialize(None, "hostile", timeout_s=10)
    if (this := play.handle(client, play.stage.inputs.profile(10))) is None:
        return
    body = encode({"id": 9, "method": "view/flameGraph", "params": {
        **this, "spec": "top-down by line", "viewport": {"width": 100_000, "minWidth": 0.5, "maxBoxes": 5000}}})
    pipe = play.house.daemon.process.stdin
    assert pipe is not None
    for _ in range(400):
        try:
            os.write(pipe.fileno(), body)
        except OSError:
            break
    play.wait()


@act("sighup", 7, signal=signal.SIGHUP)
def sighup(play: Play) -> None:
    """The terminal goes while views are made."""
    queued_views(play)


@act("signals", 7)
def signals(play: Play) -> None:
    """A closed pipe and a full disk are errors of calls, not the end."""
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        play.house.daemon.process.send_signal(number)
        time.sleep(0.2)
        play.table.holds(play.scene, f"alive after {number.name}", "yes", "yes" if play.house.alive else "no", play.house.alive)
        if not play.house.alive:
            return
