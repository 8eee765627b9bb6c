"""Reads streams of live agents: a reader of its own, by protocol/live.json and nothing else of the project."""
from __future__ import annotations

import json
import os
import socket
import struct
import threading
from collections import Counter, defaultdict

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
with open(os.path.join(ROOT, "protocol", "live.json"), encoding="utf-8") as file:
    MODEL = json.load(file)
BY_TYPE = {message["type"]: message for message in MODEL["messages"]}
BY_NAME = {message["name"]: message for message in MODEL["messages"]}
STRUCTURES = {structure["name"]: structure for structure in MODEL["structures"]}
KINDS = {kind["value"]: kind["name"] for kind in MODEL["recordKinds"]}
NUMBERS = {entry["name"]: {value["name"]: value["value"] for value in entry["values"]} for entry in MODEL["enumerations"]}


class Cut(Exception):
    """The bytes end within something."""


def varint(data, at):
    value = shift = 0
    while True:
        if at >= len(data):
            raise Cut
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        assert shift < 70, "a varint of more than ten bytes"


def put_varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def string(data, at):
    length, at = varint(data, at)
    if at + length > len(data):
        raise Cut
    return bytes(data[at:at + length]).decode("utf-8"), at + length


def records(data, at):
    found = []
    while at < len(data):
        head, at = varint(data, at)
        record = {"delta": head >> 2, "kind": KINDS[head & 3]}
        if record["kind"] in ("enter", "exitTo"):
            record["id"], at = varint(data, at)
        elif record["kind"] == "other":
            record["operation"], at = varint(data, at)
            record["bytes"], at = string(data, at)
        found.append(record)
    return found, at


def value(kind, data, at):
    if kind == "varint" or kind.startswith("enum "):
        return varint(data, at)
    if kind == "string":
        return string(data, at)
    if kind == "magic":
        return bytes(data[at:at + 5]).decode(), at + 5
    if kind == "records":
        return records(data, at)
    found = []
    while at < len(data):
        if kind == "ids":
            one, at = varint(data, at)
        else:
            one, at = fields(STRUCTURES[kind.split()[1]]["fields"], data, at)
        found.append(one)
    return found, at


def fields(declared, data, at):
    found = {}
    for field in declared:
        found[field["name"]], at = value(field["type"], data, at)
    return found, at


def frames(data, but=()):
    """(name, fields) of each whole message; a cut one at the end is left out, and so are messages named in `but`."""
    at, found = 0, []
    while at < len(data):
        try:
            length, begin = varint(data, at + 1)
        except Cut:
            break
        if begin + length > len(data):
            break
        message = BY_TYPE[data[at]]
        assert length <= message["limit"], f"{message['name']} of {length} bytes"
        if message["name"] in but:
            at = begin + length
            continue
        one, end = fields(message["fields"], data[begin:begin + length], 0)
        assert end == length, f"{length - end} bytes too many in {message['name']}"
        found.append((message["name"], one))
        at = begin + length
    return found


def encode(name, given):
    """A message for an agent, of those without lists of structures."""
    payload = bytearray()
    for field in BY_NAME[name]["fields"]:
        one = given.get(field["name"], [] if field["type"] == "ids" else "" if field["type"] == "string" else 0)
        if field["type"] == "string":
            payload += put_varint(len(one.encode())) + one.encode()
        elif field["type"] == "ids":
            for each in one:
                payload += put_varint(each)
        else:
            payload += put_varint(one)
    return bytes([BY_NAME[name]["type"]]) + put_varint(len(payload)) + bytes(payload)


class Stream:
    """What a stream says, checked against its rules as it is read."""

    def __init__(self, data):
        self.frames = frames(data)
        assert self.frames and self.frames[0][0] == "hello", "a stream begins with hello"
        self.hello = self.frames[0][1]
        self.names, self.methods, self.modules, self.threads = {}, {}, {}, {}
        self.stacks = defaultdict(list)
        self.calls, self.paths, self.marks = Counter(), Counter(), []
        self.self_ticks = Counter()
        self.per_thread = Counter()
        self.gaps, self.stack_frames, self.ended, self.controlled, self.states, self.clocks, self.ticks = [], [], [], [], [], [], []
        self.late = self.unmatched = self.produced = 0
        self.last = {}
        self.deepest, self.people = 0, set()
        self.bye = None
        for name, one in self.frames[1:]:
            assert self.bye is None, "something follows bye"
            getattr(self, "on_" + name)(one)
        if self.bye:
            assert self.bye["sent"] == self.produced, (self.bye, self.produced)

    def on_dict(self, one):
        for entry in one["entries"]:
            assert entry["id"] not in self.methods, "a method is told once"
            assert entry["module"] == 0 or entry["module"] in self.modules
            self.methods[entry["id"]] = entry
            owner = ".".join(part for part in (entry["package"], entry["class"]) if part)
            self.names[entry["id"]] = (owner + "." if owner else "") + entry["method"]

    def on_module(self, one):
        self.modules[one["module"]] = one

    def on_thread(self, one):
        self.threads[one["thread"]] = one
        self.people.add((one["thread"], one["osId"]))

    def account(self, thread, now):
        stack = self.stacks[thread]
        if stack and thread in self.last:
            self.self_ticks[stack[-1]] += now - self.last[thread]
        self.last[thread] = now

    def on_events(self, one):
        thread, now = one["thread"], one["ticks"]
        assert thread in self.threads, "a thread is named before its events"
        stack = self.stacks[thread]
        for record in one["records"]:
            now += record["delta"]
            self.produced += 1
            if now < self.last.get(thread, 0):
                raise AssertionError(f"time of thread {thread} runs back by {self.last[thread] - now}")
            if self.ticks and now < self.ticks[-1]["ticks"]:
                self.late += 1
            self.account(thread, now)
            self.per_thread[thread] += 1
            if record["kind"] == "enter":
                assert record["id"] in self.methods, "a method is told before it is named"
                stack.append(record["id"])
                self.calls[record["id"]] += 1
                self.paths[tuple(stack[-6:])] += 1
                self.deepest = max(self.deepest, len(stack))
            elif record["kind"] == "exit":
                if stack:
                    stack.pop()
                else:
                    self.unmatched += 1
            elif record["kind"] == "exitTo":
                while stack and stack[-1] != record["id"]:
                    stack.pop()
                if not stack and record["id"]:
                    stack.append(record["id"])
            else:
                self.marks.append(record["bytes"])

    def on_stack(self, one):
        assert all(id_ in self.methods for id_ in one["ids"])
        self.account(one["thread"], max(one["ticks"], self.last.get(one["thread"], 0)))
        self.stacks[one["thread"]][:] = one["ids"]
        self.stack_frames.append(one)

    def on_gap(self, one):
        assert one["from"] <= one["to"] and one["count"] > 0, one
        self.gaps.append(one)
        self.stacks[one["thread"]].clear()
        self.last[one["thread"]] = max(one["to"], self.last.get(one["thread"], 0))

    def on_threadEnd(self, one):
        self.ended.append(one["thread"])
        self.stacks[one["thread"]].clear()
        self.last.pop(one["thread"], None)

    def on_tick(self, one):
        assert not self.ticks or one["ticks"] >= self.ticks[-1]["ticks"], "ticks run back"
        assert one["sent"] == self.produced, (one, self.produced)
        self.ticks.append(one)

    def on_state(self, one):
        self.states.append(one)

    def on_clock(self, one):
        self.clocks.append(one)

    def on_controlled(self, one):
        self.controlled.append(one)

    def on_bye(self, one):
        self.bye = one

    def count_of(self, name):
        return sum(n for id_, n in self.calls.items() if self.names[id_] == name)

    def ids_of(self, name):
        return [id_ for id_, one in self.names.items() if one == name]

    def path_names(self):
        return {tuple(self.names[id_] for id_ in path): n for path, n in self.paths.items()}

    def lost(self):
        return self.bye["lost"]

    def gap_count(self):
        return sum(gap["count"] for gap in self.gaps)


class Daemon:
    """Takes what agents dial, welcomes them, keeps their bytes; says what a test wants said."""

    def __init__(self, path=None, token=None, answer=True):
        self.token, self.answer = token, answer
        if path:
            self.listener = socket.socket(socket.AF_UNIX)
            self.listener.bind(path)
            os.chmod(path, 0o600)
            self.target = "unix:" + path
        else:
            self.listener = socket.socket()
            self.listener.bind(("127.0.0.1", 0))
            self.target = "tcp:127.0.0.1:%d" % self.listener.getsockname()[1]
        self.listener.listen(8)
        self.data, self.connections = bytearray(), 0
        self.hold = threading.Event()
        self.hold.set()
        self.changed = threading.Condition()
        self.connection = None
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                self.connection, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            self.data = bytearray()
            if self.answer:
                self.say("welcome", version=1, tickMilliseconds=50, session="live-1")
            while True:
                self.hold.wait()
                try:
                    more = self.connection.recv(1 << 20)
                except OSError:
                    more = b""
                if not more:
                    break
                self.data += more
                with self.changed:
                    self.changed.notify_all()

    def say(self, name, **given):
        self.connection.sendall(encode(name, given))

    def bytes(self):
        """Without `auth`, as a recorded stream is."""
        data = bytes(self.data)
        if data[:1] == bytes([BY_NAME["auth"]["type"]]):
            length, begin = varint(data, 1)
            assert self.token is None or data[begin + 1:begin + length].decode() == self.token
            return data[begin + length:]
        return data

    def wait(self, ready, seconds=10):
        """Until ready(bytes) is true."""
        import time
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            found = ready(self.bytes())
            if found:
                return found
            with self.changed:
                self.changed.wait(0.02)
        raise AssertionError("the agent did not say what was waited for")

    def close(self):
        """As a daemon that is killed ends."""
        self.listener.close()
        if self.connection and self.connection.fileno() >= 0:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            try:
                self.connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            self.connection.close()


def read(path):
    with open(path, "rb") as file:
        return Stream(file.read())
