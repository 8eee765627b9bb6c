#!/usr/bin/env python3
"""Plays a transcript (*.psp.md) against `profd serve --stdio --test-mode`.

Fenced blocks, in order:
  request / notify   a message to send; "jsonrpc" is added, and an "id" to requests that have none
  raw                bytes to send as they are; \\r \\n \\xNN escapes, ${repeat N TEXT} repeats
  reply              the answer to the last request: {"result": ...} or {"error": ...}; everything given must match
  expect             a message of the server that is no answer; the ones before it are skipped
  eof                end of input; the block's text is the expected exit code
An object matches when every field in it matches; arrays match whole, or when they begin with "among others"
in this order beside what else is there; "..." matches anything, inside a text any part.
${ROOT} is the source tree, ${TMP} an empty folder; `write PATH` blocks write a file below ${TMP}, `replace PATH` blocks put another one
in its place, `remove PATH` blocks take it away.
Prose is prose.
"""
import json
import os
import re
import select
import subprocess
import sys
import tempfile
import time

TIMEOUT = 60


class Failure(Exception):
    pass


def blocks(text):
    pattern = re.compile(r"^```(request|notify|raw|reply|expect|eof|write|replace|remove)([^\n]*)\n(.*?)^```$", re.M | re.S)
    for match in pattern.finditer(text):
        yield match.group(1), match.group(2).strip(), match.group(3), text.count("\n", 0, match.start()) + 1


def matches(expected, actual):
    if expected == "...":
        return True
    if isinstance(expected, dict):
        return isinstance(actual, dict) and all(k in actual and matches(v, actual[k]) for k, v in expected.items())
    if isinstance(expected, list) and expected[:1] == ["among others"] and isinstance(actual, list):
        rest = iter(actual)
        return all(any(matches(one, other) for other in rest) for one in expected[1:])
    if isinstance(expected, list):
        return isinstance(actual, list) and len(expected) == len(actual) and all(map(matches, expected, actual))
    if isinstance(expected, str) and isinstance(actual, str) and "..." in expected:
        return re.fullmatch(".*".join(map(re.escape, expected.split("..."))), actual, re.S) is not None
    return type(expected) is type(actual) and expected == actual


class Server:
    def __init__(self, command, runtime_dir):
        environment = dict(os.environ, XDG_RUNTIME_DIR=runtime_dir)  # pages that commands show lie there
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env=environment)
        self.buffer = b""
        self.next_id = 1000

    def write(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        body = json.dumps(message).encode()
        self.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def read_more(self, deadline):
        ready, _, _ = select.select([self.process.stdout], [], [], max(0, deadline - time.time()))
        if not ready:
            raise Failure("no message within %d s" % TIMEOUT)
        data = os.read(self.process.stdout.fileno(), 1 << 16)
        if not data:
            raise Failure("the server closed its output: " + self.process.stderr.read().decode(errors="replace")[-2000:])
        self.buffer += data

    def receive(self):
        deadline = time.time() + TIMEOUT
        while b"\r\n\r\n" not in self.buffer:
            self.read_more(deadline)
        head, _, rest = self.buffer.partition(b"\r\n\r\n")
        length = int(re.fullmatch(rb"Content-Length: (\d+)", head).group(1))
        self.buffer = rest
        while len(self.buffer) < length:
            self.read_more(deadline)
        body, self.buffer = self.buffer[:length], self.buffer[length:]
        return json.loads(body)

    def end(self):
        self.process.stdin.close()
        return self.process.wait(TIMEOUT)


def raw_bytes(text):
    text = re.sub(r"\$\{repeat (\d+) ([^}]*)\}", lambda m: m.group(2) * int(m.group(1)), text.strip("\n"))
    return text.encode().decode("unicode_escape").encode("latin-1")


def age_sources(root):
    """Sources of fixtures are older than their profiles, whenever they were checked out: what is newer is uncertain."""
    folder = os.path.join(root, "tests", "fixtures", "go-demo")
    for name in os.listdir(folder):
        if name.endswith(".go"):
            os.utime(os.path.join(folder, name), (1600000000, 1600000000))


def play(path, command, root):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    ended = False
    pending, others = {}, []
    last_id = None
    n_checks = 0
    where = os.path.basename(path)
    with tempfile.TemporaryDirectory() as scratch, tempfile.TemporaryDirectory() as runtime_dir:
        server = Server(command, runtime_dir)
        fill = lambda s: s.replace("${ROOT}", root).replace("${TMP}", scratch)
        try:
            for kind, argument, content, line in blocks(text):
                where = "%s:%d" % (os.path.basename(path), line)
                if kind in ("write", "replace"):
                    path_of_file = os.path.join(scratch, argument)
                    os.makedirs(os.path.dirname(path_of_file), exist_ok=True)
                    beside = path_of_file + (".new" if kind == "replace" else "")
                    with open(beside, "w", encoding="utf-8") as out:
                        out.write(fill(content))
                    os.replace(beside, path_of_file)
                    continue
                if kind == "remove":
                    os.remove(os.path.join(scratch, argument))
                    continue
                if kind == "raw":
                    server.write(raw_bytes(fill(content)))
                    last_id = None
                    continue
                if kind == "eof":
                    code = server.end()
                    ended = True
                    n_checks += 1
                    if code != int(content or 0):
                        raise Failure("%s: exit code %d, expected %s" % (where, code, content.strip()))
                    continue
                try:
                    value = json.loads(fill(content))
                except json.JSONDecodeError as error:
                    raise Failure("%s: the block is no JSON: %s" % (where, error))
                if kind in ("request", "notify"):
                    value["jsonrpc"] = "2.0"
                    if kind == "request":
                        if "id" not in value:
                            server.next_id += 1
                            value["id"] = server.next_id
                        last_id = value["id"]
                    server.send(value)
                    continue
                n_checks += 1
                if kind == "reply":
                    wanted = value.pop("id", last_id)
                    while json.dumps(wanted) not in pending:
                        message = server.receive()
                        if "method" in message:
                            others.append(message)
                            if "id" in message:  # the client side answers everything with null
                                server.send({"jsonrpc": "2.0", "id": message["id"], "result": None})
                        else:
                            pending[json.dumps(message.get("id"))] = message
                    actual = pending.pop(json.dumps(wanted))
                    if not matches(value, actual):
                        raise Failure("%s: expected %s\n  got %s" % (where, json.dumps(value, ensure_ascii=False),
                                                                    json.dumps(actual, ensure_ascii=False)[:6000]))
                elif kind == "expect":
                    while True:
                        found = next((i for i, m in enumerate(others) if matches(value, m)), None)
                        if found is not None:
                            del others[: found + 1]
                            break
                        message = server.receive()
                        if "method" in message:
                            others.append(message)
                            if "id" in message:
                                server.send({"jsonrpc": "2.0", "id": message["id"], "result": None})
                        else:
                            pending[json.dumps(message.get("id"))] = message
            if not ended:
                code = server.end()
                if code != 0:
                    raise Failure("exit code %d at the end of input" % code)
        except Failure as failure:
            raise failure if str(failure).startswith(where) else Failure("%s: %s; what came besides: %s" % (
                where, failure, json.dumps(others, ensure_ascii=False)[:2000]))
        finally:
            if server.process.poll() is None:
                server.process.kill()
                server.process.wait()
    if n_checks == 0:
        raise Failure("%s checks nothing" % path)
    return n_checks


def main():
    binary, root, path = sys.argv[1:4]
    command = [binary, "serve", "--stdio", "--test-mode"] + sys.argv[4:]
    age_sources(root)
    try:
        print("%s: %d checks" % (os.path.basename(path), play(path, command, root)))
    except Failure as failure:
        print(failure)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
