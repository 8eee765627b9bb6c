// What the real daemon answered, once (tests/fixtures/record/web_transcript.mjs).
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { FlameGraphResult, TableResult } from "../../shared/ts/psp.js";
import type { Transport } from "../src/rpc/transport.js";

interface Step {
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: { code: number; message: string };
  readonly notification?: unknown;
}

export const steps = JSON.parse(
  readFileSync(fileURLToPath(new URL("./recorded/session.json", import.meta.url)), "utf8"),
) as Step[];

const sorted = (value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(
        Object.entries(value)
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([key, item]) => [key, sorted(item)]),
      )
    : value;

const LEFT_OUT = new Set(["panelId", "details", "workDoneToken", "clientInfo"]);

const keyOf = (method: string, params: unknown): string => {
  const rest = Object.fromEntries(Object.entries(params ?? {}).filter(([key]) => !LEFT_OUT.has(key)));
  return method + JSON.stringify(sorted(rest));
};

export function answered(method: string, params: unknown): Step | undefined {
  const key = keyOf(method, params);
  return steps.find(
    (step) => step.method === method && (method === "initialize" || keyOf(method, step.params) === key),
  );
}

export const flames = steps
  .filter((step) => step.method === "view/flameGraph")
  .map((step) => step.result as FlameGraphResult);
export const tables = steps
  .filter((step) => step.method === "view/table" && step.result !== undefined)
  .map((step) => ({
    params: step.params as { spec: string; limit?: number; offset?: number; expand?: number[] },
    result: step.result as TableResult,
  }));

/** Answers as recorded; what was not recorded fails the test by its error. */
export class RecordedTransport implements Transport {
  onMessage: (text: string) => void = () => undefined;
  onOpen: () => void = () => undefined;
  onClose: (reason: string, refused: boolean) => void = () => undefined;
  readonly sent: { id?: number; method: string; params: unknown }[] = [];
  closed = false;
  /** Methods that are left unanswered. */
  silent = new Set<string>();

  constructor() {
    queueMicrotask(() => this.onOpen());
  }

  send(text: string): void {
    const message = JSON.parse(text) as { id?: number; method: string; params: unknown };
    this.sent.push(message);
    if (message.id === undefined || this.silent.has(message.method)) return;
    const step = answered(message.method, message.params);
    const body =
      step === undefined
        ? { error: { code: -32601, message: `not recorded: ${keyOf(message.method, message.params)}` } }
        : step.error !== undefined
          ? { error: step.error }
          : { result: step.result };
    queueMicrotask(() => this.onMessage(JSON.stringify({ jsonrpc: "2.0", id: message.id, ...body })));
  }

  close(): void {
    this.closed = true;
  }
}
