import { describe, expect, it, vi } from "vitest";
import {
  ProfileChangedNotification,
  ProfileListRequest,
  ProfileOpenRequest,
  SearchRequest,
  ShowDocumentRequest,
} from "../../shared/ts/psp.js";
import { Answers } from "../src/rpc/answers.js";
import { Cancelled, Client, RpcError, type Connection } from "../src/rpc/client.js";
import { base64Of } from "../src/upload.js";
import { RecordedTransport } from "./recorded.js";

function start(prepare: (transport: RecordedTransport) => void = () => undefined) {
  const transports: RecordedTransport[] = [];
  const seen: Connection[] = [];
  const client = new Client({
    name: "test",
    version: "0",
    delay: () => 1,
    connect: () => {
      const transport = new RecordedTransport();
      prepare(transport);
      transports.push(transport);
      return transport;
    },
    onConnection: (connection) => seen.push(connection),
  });
  client.start();
  const open = (times: number) => vi.waitFor(() => expect(seen.filter((c) => c.state === "open").length).toBe(times));
  return { client, transports, seen, open };
}

describe("a connection", () => {
  it("greets first and answers what is asked", async () => {
    const { client, transports, open } = start();
    await open(1);
    const list = await client.request(ProfileListRequest, {});
    expect(list.profiles).toEqual([]);
    expect(transports[0]!.sent.map((m) => m.method)).toEqual(["initialize", "initialized", "profile/list"]);
  });

  it("gives errors with their code, and the daemon's sentence", async () => {
    const { client, open } = start();
    await open(1);
    const error = await client
      .request(SearchRequest, { profile: "p1", spec: "top-down by function | metric cpu", pattern: "(", limit: 1 })
      .catch((e: unknown) => e);
    expect(error).toBeInstanceOf(RpcError);
    expect((error as RpcError).message).toMatch(/regular expression is not valid/);
  });

  it("tells the daemon of what is not wanted any more", async () => {
    const { client, transports, open } = start((t) => t.silent.add("profile/open"));
    await open(1);
    const controller = new AbortController();
    const opening = client.request(ProfileOpenRequest, { uri: "file:///x" }, controller.signal);
    controller.abort();
    await expect(opening).rejects.toBeInstanceOf(Cancelled);
    const { sent } = transports[0]!;
    expect(sent.at(-1)).toMatchObject({ method: "$/cancelRequest", params: { id: sent.at(-2)!.id } });
    // A late answer finds nobody.
    transports[0]!.onMessage(JSON.stringify({ jsonrpc: "2.0", id: sent.at(-2)!.id, result: {} }));
  });

  it("comes back by itself, and what was asked meanwhile ends", async () => {
    const { client, transports, seen, open } = start((t) => t.silent.add("profile/open"));
    await open(1);
    const opening = client.request(ProfileOpenRequest, { uri: "file:///x" });
    transports[0]!.onClose("gone", false);
    await expect(opening).rejects.toBeInstanceOf(Cancelled);
    await expect(client.request(ProfileListRequest, {})).rejects.toBeInstanceOf(Cancelled);
    await open(2);
    expect(seen.map((c) => c.state)).toEqual(["connecting", "open", "lost", "connecting", "open"]);
    expect((await client.request(ProfileListRequest, {})).profiles).toEqual([]);
    // The old transport has nothing to say any more.
    transports[0]!.onClose("again", false);
    expect(seen.length).toBe(5);
  });

  it("does not try again where it is not let in", async () => {
    const { transports, seen, open } = start();
    await open(1);
    transports[0]!.onClose("wrong token", true);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(seen.at(-1)).toEqual({ state: "refused", reason: "wrong token" });
    expect(transports.length).toBe(1);
  });

  it("hands on notifications, and answers requests it does not know", async () => {
    const { client, transports, open } = start();
    await open(1);
    const heard: string[] = [];
    const off = client.on(ProfileChangedNotification, (params) => heard.push(params.reason));
    const say = (message: object) => transports[0]!.onMessage(JSON.stringify({ jsonrpc: "2.0", ...message }));
    const params = { profile: "p1", revision: 2, reason: "reloaded", uri: "file:///x" };
    say({ method: "profile/changed", params });
    off();
    say({ method: "profile/changed", params });
    expect(heard).toEqual(["reloaded"]);
    say({ id: 7, method: "window/nothing", params: {} });
    expect(transports[0]!.sent.at(-1)).toMatchObject({ id: 7, error: { code: -32601 } });
    client.answer(ShowDocumentRequest, () => ({ success: true }));
    say({ id: 8, method: "window/showDocument", params: { uri: "x:" } });
    expect(transports[0]!.sent.at(-1)).toMatchObject({ id: 8, result: { success: true } });
    transports[0]!.onMessage("not json");
    transports[0]!.onMessage('{"id": 999, "result": 1}');
  });
});

describe("remembered answers", () => {
  it("are bounded; what was used last stays", () => {
    const answers = new Answers(2);
    answers.put("a", 1);
    answers.put("b", 2);
    answers.get("a");
    answers.put("c", 3);
    expect([answers.get("a"), answers.get("b"), answers.get("c")]).toEqual([1, undefined, 3]);
  });
});

describe("pieces of a file", () => {
  it("are base64 of any length", () => {
    for (const length of [0, 1, 2, 3, 0x8000, 0x8001, 100_000]) {
      const bytes = Uint8Array.from({ length }, (_, i) => (i * 7) & 255);
      expect(base64Of(bytes)).toBe(Buffer.from(bytes).toString("base64"));
    }
  });
});
