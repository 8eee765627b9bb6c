"""An editor on the stdio of a language server, for the tests of `profd lsp`: every message is kept as it came."""
import json
import os
import queue
import subprocess
import threading
import time

PATIENCE_S = 60


class Ended(Exception):
    """The other side closed its output before it answered."""


class Peer:
    """`answers`: results of the requests that the server makes, by method; what is not in it gets null."""

    def __init__(self, argv, env=None, cwd=None, answers=None):
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd,
                                        env={**os.environ, **(env or {})})
        self.answers = answers or {}
        self.bodies, self.messages = [], []  # all that came, as bytes and read
        self.results = {}
        self.errors = b""
        self._came = queue.Queue()
        self._next_id = 0
        threading.Thread(target=self._read, daemon=True).start()
        self._errors = threading.Thread(target=self._read_errors, daemon=True)
        self._errors.start()

    def _read_errors(self):
        for line in self.process.stderr:
            self.errors += line

    def _read(self):
        out = self.process.stdout
        try:
            while True:
                size = 0
                while (line := out.readline()) not in (b"\r\n", b""):
                    if line.lower().startswith(b"content-length:"):
                        size = int(line.split(b":")[1])
                if not size:
                    break
                self._came.put(out.read(size))
        except ValueError:  # the stream was closed
            pass
        self._came.put(None)

    def take(self, seconds=PATIENCE_S):
        """The next message, as it is read; answers requests."""
        try:
            body = self._came.get(timeout=seconds)
        except queue.Empty:
            raise TimeoutError(f"nothing came for {seconds} s\n{self.errors.decode(errors='replace')}") from None
        if body is None:
            self._came.put(None)
            raise Ended(self.errors.decode(errors="replace"))
        self.bodies.append(body)
        try:
            message = json.loads(body)
        except (ValueError, RecursionError):
            message = {}
        self.messages.append(message)
        if not isinstance(message, dict):
            return {}
        if "method" in message and "id" in message:
            answer = self.answers.get(message["method"])
            self.send({"id": message["id"], "result": answer(message["params"]) if callable(answer) else answer})
        elif isinstance(message.get("id"), (int, str)):
            self.results[message["id"]] = message
        return message

    def raw(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.raw(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    def begin(self, method, params=None):
        self._next_id += 1
        self.send({"id": self._next_id, "method": method, **({} if params is None else {"params": params})})
        return self._next_id

    def finish(self, request):
        while request not in self.results:
            self.take()
        return self.results.pop(request)

    def ask(self, method, params=None):
        return self.finish(self.begin(method, params))

    def tell(self, method, params=None):
        self.send({"method": method, "params": params or {}})

    def until(self, wanted, seconds=PATIENCE_S):
        """The first message for which `wanted` says so, of those that came and come."""
        for message in self.messages:
            if isinstance(message, dict) and wanted(message):
                return message
        end = time.monotonic() + seconds
        while not wanted(message := self.take(max(0.1, end - time.monotonic()))):
            pass
        return message

    def initialize(self, root=None, capabilities=None, options=None):
        answer = self.ask("initialize", {"processId": os.getpid(), "rootUri": root and root.as_uri(), "capabilities": capabilities or {},
                                         **({"initializationOptions": options} if options else {})})
        self.tell("initialized")
        return answer

    def open(self, path, language, text=None, version=1):
        self.tell("textDocument/didOpen", {"textDocument": {
            "uri": path.as_uri(), "languageId": language, "version": version, "text": path.read_text() if text is None else text}})

    def ending(self, seconds=PATIENCE_S):
        """Its exit code, and what it wrote to stderr."""
        code = self.process.wait(seconds)
        self._errors.join(10)
        return code, self.errors.decode(errors="replace")

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                stream.close()
            except OSError:
                pass
