// The connection to the user's daemon: one language client for all documents.
import * as vscode from "vscode";
import {
  CloseAction,
  ErrorAction,
  LanguageClient,
  ProgressType,
  State,
  type ClientCapabilities,
  type LanguageClientOptions,
  type Middleware,
  type ServerCapabilities,
  type StaticFeature,
} from "vscode-languageclient/node";
import {
  PROTOCOL_VERSION,
  type NotificationType,
  type ProfdClientCapabilities,
  type ProfdServerCapabilities,
  type RequestType,
} from "../../shared/ts/psp.js";

export interface ConnectionOptions {
  readonly program: string;
  readonly args: readonly string[];
  readonly settings: () => Record<string, unknown>;
  readonly middleware: Middleware;
  readonly output: vscode.LogOutputChannel;
  /** It came back by itself after a crash: the daemon knows nothing of before. */
  readonly onRestarted: () => void;
  /** It is gone and does not come back by itself. */
  readonly onGone: () => void;
}

/** A daemon that dies again within this time is not started again. */
const CALM_MS = 180_000;

/** What profd can do beside LSP, and what of LSP it is not asked for. */
class ProfdFeature implements StaticFeature {
  fillClientCapabilities(capabilities: ClientCapabilities): void {
    const profd: ProfdClientCapabilities = {
      protocolVersion: PROTOCOL_VERSION,
      profileChanged: true,
      selection: true,
      status: true,
      project: true,
      recorded: true,
    };
    Object.assign(capabilities, { profd });
  }
  fillInitializeParams(): void {
    // Nothing beside the standard ones.
  }
  /** The commands of the daemon are for plain editors; here they are the extension's. */
  preInitialize(capabilities: ServerCapabilities): void {
    delete capabilities.executeCommandProvider;
  }
  initialize(): void {
    // Nothing to register.
  }
  getState(): { kind: "static" } {
    return { kind: "static" };
  }
  clear(): void {
    // Nothing is held.
  }
}

export class Connection {
  private readonly client: LanguageClient;
  private lastCrash = 0;
  private leaving = false;

  private constructor(private readonly options: ConnectionOptions) {
    const clientOptions: LanguageClientOptions = {
      documentSelector: [{ scheme: "file" }],
      initializationOptions: options.settings,
      middleware: options.middleware,
      outputChannel: options.output,
      connectionOptions: { maxRestartCount: 1 },
      initializationFailedHandler: () => false,
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => this.closed(),
      },
    };
    this.client = new LanguageClient(
      "profd",
      "profd",
      { command: options.program, args: [...options.args] },
      clientOptions,
    );
    this.client.registerFeature(new ProfdFeature());
    let running = 0;
    this.client.onDidChangeState(({ newState }) => {
      if (newState === State.Running && ++running > 1) options.onRestarted();
    });
  }

  static async open(options: ConnectionOptions): Promise<Connection> {
    const connection = new Connection(options);
    await connection.client.start();
    return connection;
  }

  get version(): string | undefined {
    return this.client.initializeResult?.serverInfo?.version;
  }

  get server(): ProfdServerCapabilities | undefined {
    const found = this.client.initializeResult?.capabilities as object | undefined;
    return (found as { profd?: ProfdServerCapabilities } | undefined)?.profd;
  }

  request<P, R>(type: RequestType<P, R>, params: P, token?: vscode.CancellationToken): Promise<R> {
    // An argument that is undefined would be taken for a further parameter.
    return token === undefined
      ? this.client.sendRequest<R>(type.method, params)
      : this.client.sendRequest<R>(type.method, params, token);
  }

  notify<P>(type: NotificationType<P>, params: P): Promise<void> {
    return this.client.sendNotification(type.method, params);
  }

  on<P>(type: NotificationType<P>, listener: (params: P) => void): vscode.Disposable {
    return this.client.onNotification(type.method, listener);
  }

  /** Progress of a request that carries the token. */
  onProgress(token: string, listener: (value: unknown) => void): vscode.Disposable {
    return this.client.onProgress(new ProgressType<unknown>(), token, listener);
  }

  async stop(): Promise<void> {
    this.leaving = true;
    await this.client.dispose(2000);
  }

  private closed(): { action: CloseAction; handled: true } {
    if (this.leaving) return { action: CloseAction.DoNotRestart, handled: true };
    const calm = Date.now() - this.lastCrash > CALM_MS;
    this.lastCrash = Date.now();
    this.options.output.warn(calm ? "the daemon is gone; connecting again" : "the daemon is gone again");
    if (calm) return { action: CloseAction.Restart, handled: true };
    this.options.onGone();
    return { action: CloseAction.DoNotRestart, handled: true };
  }
}
