"""A language server that says one thing of everything, to stand beside profd."""
import json
import sys


def send(message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    sys.stdout.buffer.flush()


def main():
    while True:
        length = 0
        while (line := sys.stdin.buffer.readline()) not in (b"\r\n", b""):
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        if not line:
            return
        message = json.loads(sys.stdin.buffer.read(length))
        method = message.get("method")
        if method == "initialize":
            send({"id": message["id"], "result": {"capabilities": {"textDocumentSync": 1, "hoverProvider": True}}})
        elif method == "textDocument/hover":
            send({"id": message["id"], "result": {"contents": {"kind": "markdown", "value": "said by the other server"}}})
        elif method == "textDocument/didOpen":
            at = {"line": 1, "character": 0}
            send({"method": "textDocument/publishDiagnostics", "params": {
                "uri": message["params"]["textDocument"]["uri"],
                "diagnostics": [{"range": {"start": at, "end": at}, "severity": 2, "message": "found by the other server"}]}})
        elif method == "exit":
            return
        elif "id" in message and method:
            send({"id": message["id"], "result": None})


main()
