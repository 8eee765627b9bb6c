import { afterEach, expect, test, vi } from "vitest";
import type { Selection } from "../../shared/ts/psp.js";
import { Relay } from "../src/relay.js";

// What stands for the daemon here answers each message with itself, and ends on request.
const ECHO = `
console.error("started");
let text = Buffer.alloc(0);
process.stdin.on("data", (chunk) => {
  text = Buffer.concat([text, chunk]);
  for (;;) {
    const end = text.indexOf("\\r\\n\\r\\n");
    if (end < 0) return;
    const length = Number(/\\d+/.exec(text.toString("ascii", 0, end))[0]);
    if (text.length < end + 4 + length) return;
    const body = text.subarray(end + 4, end + 4 + length);
    text = text.subarray(end + 4 + length);
    if (body.includes("die")) process.exit(1);
    process.stdout.write("Content-Length: " + length + "\\r\\n\\r\\n" + body);
  }
});
process.stdin.on("end", () => process.exit(0));
`;

const relays: Relay[] = [];
const soon = (check: () => void) => vi.waitFor(check, { timeout: 10_000 });
afterEach(() => {
  for (const relay of relays.splice(0)) relay.close();
});

function open(command: string | null = process.execPath) {
  const posted: { type: string; text: string }[] = [];
  const selected: (Selection | null)[] = [];
  const logged: string[] = [];
  const daemons = { n: 0 };
  const relay = new Relay({
    command: () => (command === null ? undefined : { program: command, args: ["-e", ECHO] }),
    post: (message) => posted.push(message as { type: string; text: string }),
    introduce: (params) => ({ ...params, roots: ["/w"] }),
    onSelection: (selection) => selected.push(selection),
    log: (text) => logged.push(text),
    onDaemon: () => ++daemons.n,
    missing: () => "there is no profd",
  });
  relays.push(relay);
  return { relay, posted, selected, logged, daemons };
}

const hello = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: { a: 1 } });

test("what the page says reaches the daemon, its introduction with what the page cannot know", async () => {
  const { relay, posted, daemons } = open();
  relay.send(hello);
  relay.send('{"jsonrpc":"2.0","id":2,"method":"profile/list","params":{"x":"ü"}}');
  await soon(() => expect(posted).toHaveLength(2));
  expect(daemons.n).toBe(1);
  expect(JSON.parse(posted[0]?.text ?? "")).toMatchObject({ method: "initialize", params: { a: 1, roots: ["/w"] } });
  expect(posted[1]?.text).toBe('{"jsonrpc":"2.0","id":2,"method":"profile/list","params":{"x":"ü"}}');
});

test("a frame that the page chooses is told", () => {
  const { relay, selected } = open();
  relay.send(hello);
  const selection = { profile: "p1", function: "main" };
  relay.send(JSON.stringify({ jsonrpc: "2.0", id: 3, method: "selection/set", params: { selection } }));
  relay.send(JSON.stringify({ jsonrpc: "2.0", id: 4, method: "selection/set", params: { selection: null } }));
  expect(selected).toEqual([selection, null]);
});

test("the page is told when the daemon is gone, and a new page gets a new connection", async () => {
  const { relay, posted } = open();
  relay.send(hello);
  relay.send('{"method":"die"}');
  await soon(() => expect(posted.at(-1)?.type).toBe("closed"));
  relay.send(hello);
  await soon(() => expect(posted.at(-1)?.type).toBe("rpc"));
});

test("without a daemon the page is told at once", () => {
  const { relay, posted } = open(null);
  relay.send(hello);
  expect(posted).toEqual([{ type: "closed", text: "there is no profd", missing: true }]);
});

test("a connection that was let go says nothing any more", async () => {
  const { relay, posted } = open();
  relay.send(hello);
  await soon(() => expect(posted).toHaveLength(1));
  relay.close();
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(posted).toHaveLength(1);
});

test("a connection that was made ahead is the page's, and no other is made", async () => {
  const { relay, posted, logged } = open();
  relay.prepare();
  relay.prepare();
  relay.send(hello);
  await soon(() => expect(posted).toHaveLength(1));
  expect(logged).toEqual(["started"]);
  relay.send(hello);
  await soon(() => expect(posted).toHaveLength(2));
  expect(logged).toEqual(["started", "started"]);
});

test("a connection that was made ahead and ended says nothing; the page gets another", async () => {
  const { relay, posted } = open("/nowhere/profd");
  relay.prepare();
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(posted).toEqual([]);
  relay.send(hello);
  await soon(() => expect(posted.at(-1)?.type).toBe("closed"));
});
