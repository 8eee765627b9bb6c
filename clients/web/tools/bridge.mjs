// For developing and for tests where the daemon's own server is not at hand: serves dist/ on loopback and relays each
// WebSocket to a daemon of its own over stdio. Usage: node tools/bridge.mjs PROFD [PORT]
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { dirname, extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { WebSocketServer } from "ws";

const dist = join(dirname(fileURLToPath(import.meta.url)), "..", "dist");
const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
};
const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Frames of LSP from a stream of bytes. */
export function framesOf(stream, onText) {
  let rest = Buffer.alloc(0);
  stream.on("data", (data) => {
    rest = Buffer.concat([rest, data]);
    for (;;) {
      const end = rest.indexOf("\r\n\r\n");
      if (end < 0) return;
      const length = Number(/Content-Length: (\d+)/i.exec(rest.subarray(0, end).toString())?.[1] ?? NaN);
      if (!(rest.length >= end + 4 + length)) return;
      onText(rest.subarray(end + 4, end + 4 + length).toString());
      rest = rest.subarray(end + 4 + length);
    }
  });
}

/** `options.delay`: milliseconds that answers wait; `options.onText(direction, text)`: what passes. */
export async function startBridge(profd, { port = 0, args = [], delay = 0, onText } = {}) {
  const settings = { delay };
  const children = new Set();
  const server = createServer((request, response) => {
    const path = normalize(new URL(request.url, "http://x").pathname);
    const file = path === "/" ? "/index.html" : path;
    try {
      const body = readFileSync(join(dist, file));
      response.writeHead(200, {
        "Content-Type": TYPES[extname(file)] ?? "application/octet-stream",
        "Content-Security-Policy": CSP,
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
      });
      response.end(body);
    } catch {
      response.writeHead(404);
      response.end();
    }
  });
  const sockets = new WebSocketServer({
    server,
    path: "/psp",
    handleProtocols: () => "profd.v1",
    maxPayload: 64 << 20,
  });
  sockets.on("connection", (socket) => {
    const child = spawn(profd, ["serve", "--stdio", ...args], { stdio: ["pipe", "pipe", "inherit"] });
    children.add(child);
    framesOf(child.stdout, (text) => {
      onText?.("server", text);
      if (settings.delay > 0) setTimeout(() => socket.send(text), settings.delay);
      else socket.send(text);
    });
    child.stdin.on("error", () => undefined);
    child.on("exit", () => {
      children.delete(child);
      socket.close(1011, "the daemon ended");
    });
    socket.on("message", (data) => {
      const text = data.toString();
      onText?.("client", text);
      child.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
    });
    socket.on("close", () => child.stdin.end());
  });
  await new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    settings,
    killDaemons: () => {
      for (const child of children) child.kill("SIGKILL");
    },
    close: async () => {
      for (const socket of sockets.clients) socket.terminate();
      for (const child of children) child.kill();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [profd, port] = process.argv.slice(2);
  if (profd === undefined) {
    console.error("usage: node tools/bridge.mjs PROFD [PORT]");
    process.exit(2);
  }
  const bridge = await startBridge(profd, { port: Number(port ?? 8642) });
  console.log(bridge.url);
}
