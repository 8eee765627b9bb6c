"""The agent without its extension: probes by sys.setprofile (from 3.12 on by sys.monitoring, see monitored.py), and a thread that sends what they wrote.

An event is two parts of a list: nanoseconds, and the bytes of the id of what is entered, or None. Threads append to lists of their
own, the agent's thread takes them from there; both under the interpreter's lock. What a list may hold is a share of 64 MiB: beyond that events are
counted and dropped.
"""
import itertools
import operator
import os
import socket
import struct
import sys
import threading
import time
import weakref

from profd_live import stream
from profd_live.names import describe

_AGENT = "profd-live-python 0.1.0 (pure)"
_PARTS_MOST = (64 << 20) // 26  # An event has two: its time, which is a number of its own, and both their places.
_OTHER = ...  # The second part of what is no event: the first one is a tuple then.
_RUN = stream.MAX_EVENTS_BYTES // 16 * 2  # Parts of a message, in which an event has at most 13 bytes.
_TICK = 0.05
_LATE = 1000000
_now = time.perf_counter_ns


def varint(value):
    if value < 0x80:
        return bytes((value,))
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


class _Heads(dict):
    """The first bytes of an event by the nanoseconds before it; those of short times are there."""

    def __init__(self, kind):
        super().__init__((ns, varint(ns << 2 | kind)) for ns in range(1 << 13))
        self.kind = kind

    def __missing__(self, ns):
        return varint(ns << 2 | self.kind)


_ENTERS, _EXITS = _Heads(0), _Heads(1)


def string(text):
    data = text.encode("utf-8", "replace")
    if len(data) > stream.MAX_STRING_BYTES:
        data = data[:stream.MAX_STRING_BYTES].decode("utf-8", "ignore").encode()
    return varint(len(data)) + data


def frame(kind, *parts):
    payload = b"".join(parts)
    return bytes((kind,)) + varint(len(payload)) + payload


def read_varint(data, at):
    value = shift = 0
    while at < len(data):
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        if shift > 63:
            raise ValueError("a number without an end")
    return None, at


class Filter:
    def __init__(self, pattern):
        parts = [part.strip() for part in pattern.split(",") if part.strip()]
        self.with_ = [part for part in parts if part[0] != "-"]
        self.without = [part[1:] for part in parts if part[0] == "-"]

    def takes(self, package):
        def starts(prefix):
            return package == prefix or package.startswith(prefix if prefix.endswith(".") else prefix + ".")
        return not any(map(starts, self.without)) and (not self.with_ or any(map(starts, self.with_)))


class Lane:
    """Of one thread."""

    def __init__(self, thread):
        self.thread = weakref.ref(thread)
        self.os_id = getattr(thread, "native_id", None) or 0
        self.words, self.number, self.name, self.first_name = [], 0, None, thread.name
        self.lost = self.told = 0
        self.limit = -1  # How long `words` may become; less than that it is where something else is to be told first.
        self.lost_from = self.lost_to = self.last = 0
        self.state = None


class Agent:
    def __init__(self, target, token_file, program, packages):
        self.target, self.token_file, self.program = target, token_file, program
        self.filter = Filter(packages)
        # The bytes of ids by the address of their code, which is slow to hash; none where it has no probes. Code is kept
        # alive, so that its address is no other's.
        self.ids, self.codes, self.entries, self.told_entries = {}, [None], [], 0
        self.numbers = {}  # The same as numbers; 0 where there is no room for more.
        self.off = bytearray((2,))  # For each id: 1 demoted, 2 filtered; 0 is no method.
        self.taken = []
        self.local = threading.local()
        self.lanes, self.limit = [], _PARTS_MOST
        self.on = False
        self.sent = self.lost_of_ended = 0
        self.reason, self.stopping, self.detached = "exit", threading.Event(), False
        self.tried = threading.Event()
        self.link = None
        self.worker = threading.Thread(target=self.run, name="profd-live", daemon=True)

    # ---- on threads of the program ----

    def id_of(self, code, names):
        package, class_name, method, signature, file, line, taken = describe(code, names)
        address = id(code)
        if len(self.entries) + 1 >= stream.MAX_METHODS:
            self.ids[address], self.numbers[address] = b"", 0
            self.codes[0] = (self.codes[0], code)
            return 0
        self.codes.append(code)
        self.entries.append((package, class_name, method, signature, file, line))
        self.taken.append(taken)
        self.off.append(0)
        id_ = len(self.entries)
        self.numbers[address] = id_
        self.set_off(id_, 0 if taken and self.filter.takes(package) else 2)
        return id_

    def set_off(self, id_, bits):
        self.off[id_] = bits
        self.ids[id(self.codes[id_])] = b"" if bits else varint(id_)

    def open_methods(self, at):
        """Ids of what is open from a frame outwards, outermost first."""
        found = []
        while at is not None:
            id_ = self.numbers.get(id(at.f_code))
            if id_ is None:
                id_ = self.id_of(at.f_code, at.f_globals)
            if id_ and not self.off[id_]:
                found.append(id_)
            at = at.f_back
        return tuple(reversed(found))

    def hook(self):
        """The probe of the calling thread."""
        lane = Lane(threading.current_thread())
        words, known, now, agent = lane.words, self.ids.get, _now, self
        append = words.append
        lane.limit = self.limit
        self.local.lane = lane
        self.lanes.append(lane)

        # What is looked up each time is local: defaults are.
        def probe(at, event, argument, id=id, known=known, append=append, now=now, words=words, lane=lane, len=len):
            if event == "call":
                code = at.f_code
                told = known(id(code))
                if not told:
                    if told is None:
                        agent.id_of(code, at.f_globals)
                        probe(at, event, argument)
                    return
            elif event == "return":
                # Of what was never seen to begin the end is not told either.
                if not known(id(at.f_code)):
                    return
                told = None
            else:
                return
            if len(words) >= lane.limit:
                agent.full(lane, at, event)
                return
            append(now())
            append(told)

        def first(at, event, argument):
            # What is open already.
            words.extend(((now(), agent.open_methods(at.f_back if event == "call" else at)), _OTHER))
            sys.setprofile(probe)
            probe(at, event, argument)
        return first

    def full(self, lane, at, event):
        """There is no room, or a thread is to tell first what is open: counts a loss, or tells that, this event among it."""
        if not self.on:
            lane.lost, lane.told = 0, -1
            return
        now = _now()
        if lane.told < 0:
            lane.lost = lane.told = 0
            lane.limit = self.limit
            lane.words.extend(((now, self.open_methods(at if event == "call" else at.f_back)), _OTHER))
            return
        if lane.lost == lane.told:
            before = lane.words[-2] if lane.words else lane.last
            lane.lost_from = before if isinstance(before, int) else before[0]
        lane.lost += 1
        lane.lost_to = now
        lane.limit = -1
        if len(lane.words) < self.limit:
            is_open = self.open_methods(at if event == "call" else at.f_back)
            lane.words.extend(((lane.lost_from, now, lane.lost - lane.told, is_open), _OTHER))
            lane.told = lane.lost
            lane.limit = self.limit

    def in_new_thread(self, at, event, argument):
        if not self.on or threading.current_thread() is self.worker:
            sys.setprofile(None)
            return
        first = self.hook()
        sys.setprofile(first)
        first(at, event, argument)

    def lane_of_mark(self):
        return getattr(self.local, "lane", None)

    def mark(self, text):
        lane = self.lane_of_mark()
        if self.on and lane is not None and len(lane.words) < self.limit and lane.lost == lane.told:
            lane.words.extend(((_now(), text), _OTHER))

    # ---- on the agent's thread ----

    def dial(self):
        kind, _, where = self.target.partition(":")
        if kind == "file":
            return open(os.open(where, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb", buffering=0)
        if kind == "unix":
            link = socket.socket(socket.AF_UNIX)
            link.connect(where)
            _, owner, _ = struct.unpack("3i", link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
            if owner not in (0, os.geteuid()):
                raise OSError("another user's socket")
            return link
        return socket.create_connection(("127.0.0.1", int(where.rpartition(":")[2])))

    def send(self, data):
        if isinstance(self.link, socket.socket):
            self.link.sendall(data)
        else:
            view = memoryview(data)
            while view:
                view = view[self.link.write(view):]

    def hello(self):
        out = b""
        if self.target.startswith("tcp:") and self.token_file:
            with open(self.token_file, encoding="utf-8") as file:
                out += frame(stream.AUTH, string(file.readline().strip()))
        return out + frame(
            stream.HELLO, stream.MAGIC, varint(stream.OLDEST_VERSION), varint(stream.VERSION), varint(os.getpid()), string("python"),
            string(self.program), string(_AGENT), varint(1000000000), varint(_now()), varint(time.time_ns()),
            varint(stream.CAN_PAUSE | stream.CAN_FILTER | stream.CAN_DEMOTE | stream.CAN_DETACH))

    def run(self):
        wait = 0.25
        while not self.stopping.is_set() and not self.detached:
            try:
                self.link = self.dial()
                again = self.session()
            except (OSError, ValueError):
                again = not self.target.startswith("file:")
            self.turn(False)
            if self.link is not None:
                self.link.close()
                self.link = None
            self.tried.set()
            if not again:
                return
            self.stopping.wait(wait)
            wait = min(2 * wait, 10)

    def asked(self, seconds):
        """Messages of the daemon that came within a time; None when it has gone."""
        if not isinstance(self.link, socket.socket):
            self.stopping.wait(seconds)
            return []
        self.link.settimeout(max(seconds, 0.001))
        try:
            more = self.link.recv(65536)
        except socket.timeout:
            return []
        finally:
            self.link.settimeout(None)
        if not more:
            return None
        self.inbox += more
        found = []
        while len(self.inbox) >= 2:
            length, begin = read_varint(self.inbox, 1)
            if length is None or begin + length > len(self.inbox):
                if length is not None and length > stream.MAX_FRAME_BYTES:
                    raise ValueError("a message that is too long")
                break
            found.append((self.inbox[0], bytes(self.inbox[begin:begin + length])))
            del self.inbox[:begin + length]
        return found

    def session(self):
        """Until the connection, the program or the daemon's wish ends it; True: may be tried again."""
        self.inbox = bytearray()
        self.send(self.hello())
        until = time.monotonic() + 5
        welcome = not isinstance(self.link, socket.socket)
        while not welcome:
            if self.stopping.is_set() or time.monotonic() > until:
                return True
            found = self.asked(_TICK)
            if found is None:
                return True
            for kind, payload in found:
                if kind == stream.REFUSE:
                    _, at = read_varint(payload, 0)
                    length, at = read_varint(payload, at)
                    print("profd-live:", payload[at:at + length].decode("utf-8", "replace"), file=sys.stderr)
                    return False
                welcome = welcome or kind == stream.WELCOME
        self.sent = self.lost_of_ended = self.told_entries = 0
        for id_ in range(1, len(self.entries) + 1):
            self.set_off(id_, self.off[id_] & 2)
        for lane in self.lanes:
            lane.words.clear()
            lane.name = lane.state = None
            lane.lost, lane.told, lane.limit = 0, -1, -1
        self.begun = _now()
        self.turn(True)
        self.tried.set()
        while True:
            last = self.stopping.is_set() or self.detached
            if last:
                self.turn(False)
            out = self.round(max(_now() - _LATE, self.begun))
            if last:
                out.append(frame(stream.BYE, varint(_now()), varint(self.sent), varint(self.lost()),
                                 string("detach" if self.detached else self.reason)))
            self.send(b"".join(out))
            if last:
                return False
            found = self.asked(_TICK)
            if found is None:
                return True
            for kind, payload in found:
                if kind == stream.CONTROL:
                    self.send(self.obey(payload))

    def turn(self, on):
        """Whether threads write. Only the one that called start() while a daemon was there, and those begun later, have probes."""
        self.on = on
        self.limit = _PARTS_MOST // max(1, len(self.lanes)) if on else -1
        self.limit_lanes()
        self.probe_threads(on)

    def probe_threads(self, on):
        threading.setprofile(self.in_new_thread if on else None)

    def probe_this(self):
        sys.setprofile(self.hook())

    def unprobe(self):
        sys.setprofile(None)
        threading.setprofile(None)

    def limit_lanes(self):
        for lane in list(self.lanes):
            lane.limit = self.limit if self.on and lane.lost == lane.told else -1

    def obey(self, payload):
        operation, at = read_varint(payload, 0)
        length, at = read_varint(payload, at)
        pattern, at = payload[at:at + length].decode("utf-8", "replace"), at + length
        ids = []
        while at < len(payload):
            id_, at = read_varint(payload, at)
            if id_ and id_ <= len(self.entries):
                ids.append(id_)
        if operation in (stream.DEMOTE, stream.PROMOTE):
            for id_ in ids:
                self.set_off(id_, self.off[id_] & 2 | (operation == stream.DEMOTE))
        elif operation == stream.FILTER:
            self.filter = Filter(pattern)
            for id_, entry in enumerate(list(self.entries), 1):
                self.set_off(id_, self.off[id_] & 1 | (0 if self.taken[id_ - 1] and self.filter.takes(entry[0]) else 2))
        elif operation in (stream.PAUSE, stream.RESUME):
            self.turn(operation == stream.RESUME)
        elif operation == stream.DETACH:
            self.detached = True
        else:
            return b""
        return frame(stream.CONTROLLED, varint(operation), varint(_now()),
                     *(map(varint, ids) if operation in (stream.DEMOTE, stream.PROMOTE) else ()))

    def lost(self):
        return self.lost_of_ended + sum(max(0, lane.lost) for lane in self.lanes)

    def thread_of(self, lane, out):
        thread = lane.thread()
        name = thread.name if thread is not None else lane.name or lane.first_name
        if name == lane.name:
            return
        if not lane.number:
            taken = {other.number for other in self.lanes}
            lane.number = next(number for number in range(1, len(taken) + 2) if number not in taken)
        lane.name = name
        flags = (stream.FIRST_THREAD if thread is threading.main_thread() else 0) | (
            stream.DAEMON_THREAD if thread is not None and thread.daemon else 0)
        out.append(frame(stream.THREAD, varint(lane.number), varint(lane.os_id), string(name), varint(flags)))

    def events_of(self, lane, out):
        """What a lane holds, as messages."""
        n = len(lane.words) // 2 * 2  # Of the last event the second part may still come.
        words = lane.words[:n]
        del lane.words[:n]
        for begin in range(0, n, _RUN):
            part = words[begin:begin + _RUN]
            try:
                self.run_of(lane, part, out)
            except TypeError:  # Not of events alone.
                self.mixed(lane, part, out)

    def run_of(self, lane, words, out):
        """Events alone, which are nearly all there is."""
        enters, exits, times = _ENTERS, _EXITS, words[::2]
        since = map(operator.sub, times, itertools.chain(times[:1], times))
        parts = [exits[ns] if told is None else enters[ns] + told for ns, told in zip(since, words[1::2])]
        out.append(frame(stream.EVENTS, varint(lane.number), varint(times[0]), *parts))
        lane.last = times[-1]
        self.sent += len(times)

    def mixed(self, lane, words, out):
        """Events, and what is told between them."""
        number, run = varint(lane.number), []
        for first, told in [*zip(words[::2], words[1::2]), ((), _OTHER)]:
            if told is not _OTHER:
                run += (first, told)
                continue
            if run:
                self.run_of(lane, run, out)
                run = []
            if not first:
                return
            if isinstance(first[1], str):  # A mark.
                data = string(first[1][:1024])
                out.append(frame(stream.EVENTS, number, varint(first[0]), varint(stream.OTHER), varint(stream.MARK), data))
                self.sent += 1
                continue
            if len(first) == 4:
                out.append(frame(stream.GAP, number, varint(first[0]), varint(first[1]), varint(first[2])))
            out.append(frame(stream.STACK, number, varint(first[-3] if len(first) == 4 else first[0]), *map(varint, first[-1])))
            lane.last = max(lane.last, first[0])

    def state_of(self, lane, out):
        try:
            with open(f"/proc/self/task/{lane.os_id}/stat", encoding="ascii", errors="replace") as file:
                given = file.read().rsplit(")", 1)[1].split()
        except (OSError, IndexError):
            return
        state = (stream.WAITS if given[0] in "SD" else stream.RUNS,
                 (int(given[11]) + int(given[12])) * (1000000000 // os.sysconf("SC_CLK_TCK")))
        if state != lane.state:
            lane.state = state
            out.append(frame(stream.STATE, varint(lane.number), varint(_now()), varint(state[0]), varint(state[1])))

    def round(self, tick):
        body = []
        if self.on:
            self.limit = _PARTS_MOST // max(1, len(self.lanes))
            self.limit_lanes()
        for lane in list(self.lanes):
            thread = lane.thread()
            # The main thread counts as ended before what is left to do at the exit.
            ended = thread is None or not (thread.is_alive() or thread is threading.main_thread())
            self.thread_of(lane, body)
            self.events_of(lane, body)
            if ended and not lane.words:
                if lane.lost > lane.told >= 0:
                    body.append(frame(stream.GAP, varint(lane.number), varint(lane.lost_from), varint(lane.lost_to),
                                      varint(lane.lost - lane.told)))
                body.append(frame(stream.THREAD_END, varint(lane.number), varint(max(lane.last, _now()))))
                self.lost_of_ended += lane.lost
                self.lanes.remove(lane)
            else:
                self.state_of(lane, body)
        out, n = [], len(self.entries)
        while self.told_entries < n:
            part, size = [], 0
            while self.told_entries < n and size < stream.MAX_FRAME_BYTES // 4:
                *texts, line = self.entries[self.told_entries]
                self.told_entries += 1
                part.append(varint(self.told_entries) + b"".join(map(string, texts)) + varint(line) + b"\0\0")
                size += len(part[-1])
            out.append(frame(stream.DICT, *part))
        out += body
        out.append(frame(stream.TICK, varint(tick), varint(self.sent), varint(self.lost())))
        return out


_agent = None


def _agent_for_here(*given):
    if hasattr(sys, "monitoring"):
        from profd_live.monitored import MonitoredAgent  # pylint: disable=import-outside-toplevel
        try:
            return MonitoredAgent(*given)
        except ValueError:  # Another tool monitors.
            pass
    return Agent(*given)


def start(target, token_file, program, packages):
    global _agent
    kind, _, where = target.partition(":")
    if not where or kind not in ("unix", "file", "tcp") or (kind == "tcp" and not where.startswith("127.0.0.1:")):
        print(f"profd-live: PROFD_LIVE is unix:PATH, tcp:127.0.0.1:PORT or file:PATH, not {target}", file=sys.stderr)
        return False
    _agent = _agent_for_here(target, token_file, program, packages)
    _agent.worker.start()
    _agent.tried.wait(0.1)
    if _agent.on:
        _agent.probe_this()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_forked)
    return True


def _forked():
    """There is no agent's thread in a child: it is silent."""
    global _agent
    if _agent is not None:
        if _agent.link is not None:
            _agent.link.close()
        _agent.unprobe()
        _agent = None


def stop(reason):
    global _agent
    agent, _agent = _agent, None
    if agent is None:
        return
    agent.unprobe()
    agent.reason = reason
    agent.stopping.set()
    agent.worker.join(1)


def mark(text):
    if _agent is not None:
        _agent.mark(text)
