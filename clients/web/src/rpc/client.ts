// JSON-RPC over one transport after the other: requests with cancellation, notifications, and coming back when the
// connection was lost.
import {
  CancelNotification,
  ErrorCodes,
  InitializedNotification,
  InitializeRequest,
  type ErrorData,
  type InitializeResult,
  type NotificationType,
  type RequestType,
} from "../../../shared/ts/psp.js";
import type { Transport } from "./transport.js";

export class RpcError extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly data: ErrorData | undefined,
  ) {
    super(message);
  }
}

/** It was cancelled by us, or the connection ended: nothing to tell anybody. */
export class Cancelled extends Error {}

export type Connection =
  | { readonly state: "connecting"; readonly attempt: number; readonly absent?: string }
  | { readonly state: "open"; readonly server: InitializeResult }
  | { readonly state: "lost"; readonly reason: string; readonly retryInMs: number; readonly absent?: string }
  | { readonly state: "refused"; readonly reason: string };

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly method: string;
}

export interface ClientOptions {
  readonly connect: () => Transport;
  readonly name: string;
  readonly version: string;
  /** Folders whose files are shown as sources. */
  readonly roots?: readonly string[];
  readonly onConnection: (connection: Connection) => void;
  /** Milliseconds before the nth attempt to come back; for tests. */
  readonly delay?: (attempt: number) => number;
}

const standardDelay = (attempt: number) => Math.min(5000, 250 * 2 ** Math.max(0, attempt - 1));

export class Client {
  private transport: Transport | undefined;
  private readonly waiting = new Map<number, Waiting>();
  private readonly listeners = new Map<string, Set<(params: unknown) => void>>();
  private readonly answers = new Map<string, (params: unknown) => unknown>();
  private nextId = 1;
  private attempt = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private stopped = false;
  /** Why there is no program to be asked. */
  private absent: string | undefined;
  connection: Connection = { state: "connecting", attempt: 0 };

  constructor(private readonly options: ClientOptions) {}

  start(): void {
    if (this.stopped) return;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.to({ state: "connecting", attempt: this.attempt, ...this.absence() });
    const transport = this.options.connect();
    this.transport = transport;
    transport.onMessage = (text) => {
      if (this.transport === transport) this.receive(text);
    };
    transport.onClose = (reason, refused, absent = false) => {
      if (this.transport === transport) this.lost(reason, refused, absent);
    };
    transport.onOpen = () => {
      if (this.transport === transport) void this.greet();
    };
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
    this.transport?.close();
    this.transport = undefined;
    this.failAll();
  }

  request<P, R>(type: RequestType<P, R>, params: P, signal?: AbortSignal): Promise<R> {
    if (this.connection.state !== "open" && type.method !== InitializeRequest.method)
      return Promise.reject(new Cancelled("not connected"));
    const id = this.nextId++;
    return new Promise<R>((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(new Cancelled());
        return;
      }
      this.waiting.set(id, { resolve: resolve as (value: unknown) => void, reject, method: type.method });
      signal?.addEventListener(
        "abort",
        () => {
          if (!this.waiting.delete(id)) return;
          this.notify(CancelNotification, { id });
          reject(new Cancelled());
        },
        { once: true },
      );
      this.transport?.send(JSON.stringify({ jsonrpc: "2.0", id, method: type.method, params }));
    });
  }

  notify<P>(type: NotificationType<P>, params: P): void {
    this.transport?.send(JSON.stringify({ jsonrpc: "2.0", method: type.method, params }));
  }

  on<P>(type: NotificationType<P>, listener: (params: P) => void): () => void {
    const all = this.listeners.get(type.method) ?? new Set();
    this.listeners.set(type.method, all);
    all.add(listener as (params: unknown) => void);
    return () => all.delete(listener as (params: unknown) => void);
  }

  /** Answers requests of the server. */
  answer<P, R>(type: RequestType<P, R>, handler: (params: P) => R): void {
    this.answers.set(type.method, handler as (params: unknown) => unknown);
  }

  private to(connection: Connection): void {
    this.connection = connection;
    this.options.onConnection(connection);
  }

  private async greet(): Promise<void> {
    try {
      const server = await this.request(InitializeRequest, {
        processId: null,
        ...(this.options.roots === undefined || this.options.roots.length === 0
          ? {}
          : {
              workspaceFolders: this.options.roots.map((uri) => ({ uri, name: uri.slice(uri.lastIndexOf("/") + 1) })),
            }),
        clientInfo: { name: this.options.name, version: this.options.version },
        capabilities: {
          general: { positionEncodings: ["utf-16"] },
          window: { workDoneProgress: true, showDocument: { support: true } },
          profd: { protocolVersion: 1, profileChanged: true, selection: true, status: true },
        },
      });
      this.notify(InitializedNotification, {});
      this.attempt = 0;
      this.absent = undefined;
      this.to({ state: "open", server });
    } catch (error) {
      if (error instanceof RpcError) {
        this.transport?.close();
        this.transport = undefined;
        this.failAll();
        this.to({ state: "refused", reason: error.message });
      }
    }
  }

  private absence(): { readonly absent?: string } {
    return this.absent === undefined ? {} : { absent: this.absent };
  }

  private lost(reason: string, refused: boolean, absent: boolean): void {
    this.absent = absent ? reason : undefined;
    this.transport = undefined;
    this.failAll();
    if (this.stopped) return;
    if (refused) {
      this.to({ state: "refused", reason });
      return;
    }
    const retryInMs = (this.options.delay ?? standardDelay)(++this.attempt);
    this.to({ state: "lost", reason, retryInMs, ...this.absence() });
    this.timer = setTimeout(() => this.start(), retryInMs);
  }

  private failAll(): void {
    const all = [...this.waiting.values()];
    this.waiting.clear();
    for (const { reject } of all) reject(new Cancelled("the connection ended"));
  }

  private receive(text: string): void {
    let message: Record<string, unknown>;
    try {
      message = JSON.parse(text) as Record<string, unknown>;
    } catch {
      return;
    }
    if (typeof message.method === "string") {
      if (message.id === undefined) this.dispatch(message.method, message.params);
      else this.reply(message.id, message.method, message.params);
      return;
    }
    const id = message.id;
    const waiting = typeof id === "number" ? this.waiting.get(id) : undefined;
    if (waiting === undefined) return;
    this.waiting.delete(id as number);
    const error = message.error as { code: number; message: string; data?: ErrorData } | undefined;
    if (error === undefined) waiting.resolve(message.result);
    else if (error.code === ErrorCodes.requestCancelled) waiting.reject(new Cancelled(error.message));
    else waiting.reject(new RpcError(error.code, error.message, error.data));
  }

  private dispatch(method: string, params: unknown): void {
    for (const listener of this.listeners.get(method) ?? []) listener(params);
  }

  private reply(id: unknown, method: string, params: unknown): void {
    const handler = this.answers.get(method);
    const body =
      handler === undefined
        ? { error: { code: ErrorCodes.methodNotFound, message: `${method} is not known here` } }
        : { result: handler(params) ?? null };
    this.transport?.send(JSON.stringify({ jsonrpc: "2.0", id, ...body }));
  }
}
