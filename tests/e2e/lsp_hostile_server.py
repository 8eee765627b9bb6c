"""A language server that does what its first argument says, good or bad. Run by the tests of `profd lsp`.

Whatever it is, it answers `initialize` and requests whose method is `echo`, with their parameters.
"""
import json
import os
import signal
import sys
import time

IN, OUT = sys.stdin.buffer, sys.stdout.buffer


def write(data):
    OUT.write(data)
    OUT.flush()


def frame(body):
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def send(message):
    write(frame(json.dumps({"jsonrpc": "2.0", **message}).encode()))


def read():
    size = None
    while (line := IN.readline()) not in (b"\r\n", b""):
        if line.lower().startswith(b"content-length:"):
            size = int(line.split(b":")[1])
    if size is None:
        sys.exit(0)
    return json.loads(IN.read(size))


def misbehave(what, message):
    """Before the answer to a request; True when there is no answer."""
    if what == "ends":
        os._exit(3)
    if what == "killed":
        os.kill(os.getpid(), signal.SIGSEGV)
    if what == "closes":
        os.close(1)
        time.sleep(600)
    if what == "silent":
        return True
    if what == "half":
        write(b"Content-Length: 1000\r\n\r\n{\"jsonrpc\":")
        os._exit(0)
    if what == "pieces":
        for byte in frame(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": message["params"]}).encode()):
            write(bytes([byte]))
        return True
    if what == "huge":
        write(b"Content-Length: 99999999999999\r\n\r\nx")
    if what == "headers":
        write(b"X" * 100_000 + b"\r\nContent-Length: -5\r\n\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n")
    if what == "prints":
        write(b"Starting the server ...\n")
    if what == "nonsense":
        for body in (b"nonsense", b"[[[[[[", b"\xff\xfe\x00", b"{\"jsonrpc\":\"2.0\"}", b"[" * 300_000, b"7", b"{\"id\":{}}"):
            write(frame(body))
    if what == "ids":
        for strange in (4711, "x", None, -1, 1.5, "profd-1:1", {"a": 1}):
            send({"id": strange, "result": "nobody asked"})
        send({"id": message["id"], "result": "first"})
        send({"id": message["id"], "result": "second"})
        return True
    if what == "floods":
        for i in range(20_000):
            send({"method": "window/logMessage", "params": {"type": 4, "message": f"{i} " + "x" * 200}})
    if what == "diagnostics":
        for i in range(3000):
            send({"method": "textDocument/publishDiagnostics", "params": {"uri": f"file:///{i}", "diagnostics": [{"message": "x" * 100}]}})
    if what == "registers":
        for i in range(300):
            send({"id": f"r{i}", "method": "client/registerCapability", "params": {"registrations": [{"id": "a", "method": "textDocument/codeLens"}] * 50}})
    if what == "stderr":
        sys.stderr.write("the server says this\n" * 20_000)
        sys.stderr.flush()
    if what == "slow":
        time.sleep(1)
    return False


def main():
    what = sys.argv[1] if len(sys.argv) > 1 else ""
    capabilities = {"hoverProvider": True, "textDocumentSync": 2}
    if what == "pulled":
        capabilities["diagnosticProvider"] = {"interFileDependencies": False, "workspaceDiagnostics": False}
    seen = []
    while True:
        message = read()
        method = message.get("method")
        seen.append(method)
        if method == "initialize":
            if what == "ends-at-once":
                os._exit(5)
            send({"id": message["id"], "result": {"capabilities": capabilities, "serverInfo": {"name": "hostile"},
                                                  "options": message["params"].get("initializationOptions")}})
        elif method == "exit":
            if what == "stays":
                time.sleep(600)
            sys.exit(0 if "shutdown" in seen else 1)
        elif method == "shutdown":
            send({"id": message["id"], "result": None})
        elif method == "textDocument/diagnostic":
            known = message["params"].get("previousResultId") == "own"
            report = {"kind": "unchanged"} if known else {"kind": "full", "items": [{"message": "of the server"}]}
            send({"id": message["id"], "result": {**report, "resultId": "own"}})
        elif method == "seen":
            send({"id": message["id"], "result": seen})
        elif method and "id" in message:
            if misbehave(what, message):
                continue
            if method == "echo":
                send({"id": message["id"], "result": message["params"]})
            else:
                send({"id": message["id"], "error": {"code": -32601, "message": f"not here: {method}"}})


main()
