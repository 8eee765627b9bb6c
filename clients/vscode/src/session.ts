// What is open, what the code shows, and asking the daemon.
import * as vscode from "vscode";
import type { Middleware } from "vscode-languageclient/node";
import {
  DidChangeConfigurationNotification,
  ExecuteCommandRequest,
  PROTOCOL_VERSION,
  ProfileAggregateRequest,
  ProfileChangedNotification,
  ProfileCloseRequest,
  ProfileDiffRequest,
  ProfileListRequest,
  ProfileOpenRequest,
  ProfileSelectRequest,
  ProjectNotification,
  RecordedNotification,
  SelectionChangedNotification,
  StatusNotification,
  type ComposedPart,
  type FormatInfo,
  type OpenOptions,
  type ProfileChangedParams,
  type ProfileListEntry,
  type ProfileOpenResult,
  type Recording,
  type RequestType,
  type SelectionChangedParams,
  type StatusParams,
} from "../../shared/ts/psp.js";
import { Connection } from "./connection.js";
import { findDaemon, isProgram, skewOf, type Daemon } from "./daemon.js";
import { CONTEXT } from "./ids.js";
import { explain, showError, showWarning } from "./problems.js";
import { config, daemonSettings } from "./settings.js";
import { Shown } from "./shown.js";

/** There is no daemon: what to do was said already. */
export class NoDaemon extends Error {}

type Report = (value: { message?: string; percentage?: number }) => void;

export type OpenHow = OpenOptions & { readonly format?: string };

export interface SessionOptions {
  readonly context: vscode.ExtensionContext;
  readonly output: vscode.LogOutputChannel;
  readonly middleware: Middleware;
  /** Clauses that hold in the code, by the URI of their profile. */
  readonly filters: () => Readonly<Record<string, readonly string[]>>;
}

export class Session implements vscode.Disposable {
  profiles: readonly ProfileListEntry[] = [];
  status: StatusParams | undefined;

  private readonly changed = new vscode.EventEmitter<void>();
  /** The list of profiles, which is shown, or its numbers. */
  readonly onDidChange = this.changed.event;
  private readonly statusChanged = new vscode.EventEmitter<void>();
  readonly onDidChangeStatus = this.statusChanged.event;
  private readonly selected = new vscode.EventEmitter<SelectionChangedParams>();
  /** Another client of the daemon, or a page of this window, chose a frame. */
  readonly onDidSelect = this.selected.event;

  private readonly recorded = new vscode.EventEmitter<ProfileListEntry>();
  /** The file of a profile of this window was recorded again, and what it was before is kept. */
  readonly onDidRecordAgain = this.recorded.event;

  private readonly ended = new vscode.EventEmitter<Recording>();
  /** A recording of this project has ended, whoever made it. */
  readonly onDidRecord = this.ended.event;

  private connecting: Promise<Connection> | undefined;
  private connection: Connection | undefined;
  /** What the user opened here, to be opened again when the daemon died: URIs, and the metric each showed. */
  private readonly opened = new Map<string, string | undefined>();
  private nextToken = 1;
  /** There is a project file: the connection stays, as it may come to list profiles, and new ones may be recorded. */
  private waits = false;
  private listTurn = 0;
  private readonly kept: Shown;

  constructor(private readonly options: SessionOptions) {
    this.kept = new Shown(options.context.workspaceState);
  }

  /** The profile that the code shows; undefined: none. */
  get shown(): ProfileListEntry | undefined {
    return this.profiles.find((entry) => entry.default && entry.attached && entry.state !== "opening");
  }

  get formats(): readonly FormatInfo[] {
    return this.connection?.server?.formats ?? [];
  }

  get version(): string {
    return (this.options.context.extension.packageJSON as { version: string }).version;
  }

  daemon(): Daemon | undefined {
    return findDaemon({
      setting: config().get("path", "").trim(),
      path: process.env.PATH ?? "",
      bundled: vscode.Uri.joinPath(this.options.context.extensionUri, "bin", "profd").fsPath,
      isProgram,
    });
  }

  /** How a client of the daemon is started. */
  command(): { program: string; args: string[] } | undefined {
    const daemon = this.daemon();
    if (daemon === undefined) return undefined;
    return { program: daemon.program, args: ["connect", ...config().get<string[]>("arguments", [])] };
  }

  /** The connection, after making it if need be. Throws NoDaemon when what is wrong was said. */
  ready(): Promise<Connection> {
    this.connecting ??= this.connect().catch((error: unknown) => {
      this.connecting = undefined;
      throw error;
    });
    return this.connecting;
  }

  async request<P, R>(type: RequestType<P, R>, params: P, token?: vscode.CancellationToken): Promise<R> {
    return (await this.ready()).request(type, params, token);
  }

  /** As request, on the connection that is there; undefined when there is none. */
  async ask<P, R>(type: RequestType<P, R>, params: P, token?: vscode.CancellationToken): Promise<R | undefined> {
    return this.connection?.request(type, params, token);
  }

  async open(
    uri: string,
    { format, ...options }: OpenHow = {},
    report?: Report,
    cancelled?: vscode.CancellationToken,
  ): Promise<ProfileOpenResult> {
    const how = format === undefined ? { options } : { options, format };
    const result = await this.reporting(report, (connection, workDoneToken) =>
      connection.request(ProfileOpenRequest, { uri, workDoneToken, ...how }, cancelled),
    );
    this.opened.set(uri, options.metric);
    await this.list();
    return result;
  }

  /** As open, with progress that can be cancelled. */
  openWithProgress(uri: string, title: string, how: OpenHow = {}): Thenable<ProfileOpenResult> {
    return this.withProgress(title, (report, token) => this.open(uri, how, report, token));
  }

  /** Opens what became of a profile, as a profile; several on a side are runs of it. */
  diffWithProgress(before: ComposedPart[], after: ComposedPart[], title: string): Thenable<ProfileOpenResult> {
    return this.composed(title, (connection, workDoneToken, token) =>
      connection.request(ProfileDiffRequest, { before, after, workDoneToken }, token),
    );
  }

  /** Opens several as one. */
  aggregateWithProgress(of: ComposedPart[], title: string): Thenable<ProfileOpenResult> {
    return this.composed(title, (connection, workDoneToken, token) =>
      connection.request(ProfileAggregateRequest, { of, workDoneToken }, token),
    );
  }

  /** What another request opened is one of this window's. */
  async adopt({ summary }: ProfileOpenResult): Promise<void> {
    this.opened.set(summary.uri, undefined);
    await this.list();
  }

  private composed(
    title: string,
    ask: (connection: Connection, workDoneToken: string, token: vscode.CancellationToken) => Promise<ProfileOpenResult>,
  ): Thenable<ProfileOpenResult> {
    return this.withProgress(title, async (report, token) => {
      const result = await this.reporting(report, (connection, workDoneToken) => ask(connection, workDoneToken, token));
      this.opened.set(result.summary.uri, undefined);
      await this.list();
      return result;
    });
  }

  private async reporting<R>(
    report: Report | undefined,
    ask: (connection: Connection, workDoneToken: string) => Promise<R>,
  ): Promise<R> {
    const connection = await this.ready();
    const workDoneToken = `profd-open-${this.nextToken++}`;
    const listening = report && connection.onProgress(workDoneToken, (value) => report(value as object));
    try {
      return await ask(connection, workDoneToken);
    } finally {
      listening?.dispose();
    }
  }

  private withProgress<R>(
    title: string,
    run: (report: Report, token: vscode.CancellationToken) => Promise<R>,
  ): Thenable<R> {
    return vscode.window.withProgress(
      { location: vscode.ProgressLocation.Notification, title, cancellable: true },
      (progress, token) => {
        let shown = 0;
        const report = ({ message, percentage = shown }: { message?: string; percentage?: number }) => {
          progress.report({ ...(message === undefined ? {} : { message }), increment: percentage - shown });
          shown = percentage;
        };
        return run(report, token);
      },
    );
  }

  /** Opens profiles whose tabs came back with the window; what the code showed, it shows again. Those that are open now. */
  async restore(uris: readonly string[]): Promise<Set<string>> {
    const open = new Set<string>();
    for (const { uri, how } of this.kept.all) {
      if (!uris.includes(uri)) continue;
      try {
        await this.open(uri, how);
        open.add(uri);
      } catch (error) {
        if (error instanceof NoDaemon) break;
        // Its page says what is wrong with it, once it is looked at.
        this.options.output.warn(explain(error) ?? "");
      }
    }
    return open;
  }

  async close(entry: ProfileListEntry): Promise<void> {
    this.opened.delete(entry.uri);
    this.kept.remove(entry.uri);
    await this.request(ProfileCloseRequest, { profile: entry.profile, wholeFile: true });
    await this.list();
    if (this.waits || this.profiles.some(({ mine }) => mine)) return;
    await this.stop();
    await this.forget();
  }

  /** Shows a profile in the code; one that another client opened for itself is opened here, too. */
  async select(entry: ProfileListEntry): Promise<void> {
    if (!entry.mine) await this.open(entry.uri, { profile: String(entry.member?.number ?? 1) });
    else await this.request(ProfileSelectRequest, { profile: entry.profile });
    await this.list();
  }

  async setMetric(entry: ProfileListEntry, metric: string): Promise<void> {
    await this.execute("profd.metric", [metric, entry.profile]);
    if (this.opened.has(entry.uri)) this.opened.set(entry.uri, metric);
    await this.list();
  }

  async reload(entry: ProfileListEntry): Promise<void> {
    await this.execute("profd.reload", [entry.profile]);
    await this.list();
  }

  /** A command of the daemon's. */
  async execute(command: string, given: readonly unknown[]): Promise<unknown> {
    return this.request(ExecuteCommandRequest, { command, arguments: [...given] });
  }

  /** Settings or filters changed. */
  async configure(): Promise<void> {
    await this.connection?.notify(DidChangeConfigurationNotification, {
      settings: daemonSettings(this.options.filters()),
    });
    if (this.connection !== undefined) this.changed.fire();
  }

  async list(): Promise<void> {
    const turn = ++this.listTurn;
    const result = await this.ask(ProfileListRequest, {});
    if (turn !== this.listTurn) return;
    this.profiles = result?.profiles ?? [];
    if (this.shown !== undefined) this.kept.add(this.shown);
    await vscode.commands.executeCommand("setContext", CONTEXT.active, this.profiles.length > 0);
    this.changed.fire();
  }

  async stop(): Promise<void> {
    const connection = this.connection;
    this.connection = undefined;
    this.connecting = undefined;
    await connection?.stop().catch(() => undefined);
  }

  /** For a project file, whose profiles the daemon opens by itself, and for recordings, of which it tells. */
  async watch(): Promise<void> {
    this.waits = true;
    await this.ready();
  }

  /** As restart, where there is a connection. */
  async reconnect(): Promise<void> {
    if (this.connection !== undefined) await this.restart();
  }

  /** As new, with what was open. */
  async restart(): Promise<void> {
    await this.stop();
    await this.ready();
    await this.reopen();
  }

  dispose(): void {
    void this.stop();
    this.changed.dispose();
    this.statusChanged.dispose();
    this.selected.dispose();
    this.recorded.dispose();
    this.ended.dispose();
  }

  private async connect(): Promise<Connection> {
    const command = this.command();
    if (command === undefined) {
      void this.tellMissing();
      throw new NoDaemon("profd was not found");
    }
    const { output } = this.options;
    output.info(`${command.program} ${command.args.join(" ")}`);
    let connection: Connection;
    try {
      connection = await Connection.open({
        ...command,
        output,
        middleware: this.options.middleware,
        settings: () => daemonSettings(this.options.filters()),
        onRestarted: () => void this.reopen(),
        onGone: () => void this.gone(),
      });
    } catch (error) {
      output.error(error instanceof Error ? error : String(error));
      void showError(
        vscode.l10n.t("{0} could not be started: {1}", command.program, explain(error) ?? ""),
        this.showLog(),
        this.setPath(),
      );
      throw new NoDaemon("profd could not be started");
    }
    this.connection = connection;
    connection.on(ProfileChangedNotification, (params) => void this.profileChanged(params));
    connection.on(SelectionChangedNotification, (params) => this.selected.fire(params));
    connection.on(ProjectNotification, () => this.changed.fire());
    connection.on(RecordedNotification, ({ recording }) => this.ended.fire(recording));
    connection.on(StatusNotification, (params) => {
      this.status = params;
      this.statusChanged.fire();
    });
    this.tellSkew(connection);
    await this.list();
    return connection;
  }

  private async profileChanged({ profile, reason, message, previous }: ProfileChangedParams): Promise<void> {
    if (reason === "reloadFailed" && message !== undefined)
      void showWarning(message, { title: vscode.l10n.t("Read Again"), run: () => this.reloadShown() });
    await this.list().catch(() => undefined);
    const entry = this.profiles.find((candidate) => candidate.profile === profile);
    if (previous === true && entry?.mine === true) this.recorded.fire(entry);
  }

  private async reloadShown(): Promise<void> {
    if (this.shown !== undefined) await this.reload(this.shown);
  }

  private async reopen(): Promise<void> {
    // What a page opened that is behind another editor, too; the one that the code shows comes last and is meant again.
    const shown = this.shown?.uri;
    const uris = new Set([
      ...this.opened.keys(),
      ...this.profiles.filter((entry) => entry.mine).map((entry) => entry.uri),
    ]);
    if (shown !== undefined && uris.delete(shown)) uris.add(shown);
    for (const uri of uris) {
      const metric = this.opened.get(uri);
      try {
        await this.open(uri, metric === undefined ? {} : { metric });
      } catch (error) {
        const text = explain(error);
        if (text !== undefined) void showError(text, this.showLog());
      }
    }
    await this.list();
  }

  /** Nothing is open any more. */
  private async forget(): Promise<void> {
    this.profiles = [];
    this.status = undefined;
    await vscode.commands.executeCommand("setContext", CONTEXT.active, false);
    this.changed.fire();
  }

  private async gone(): Promise<void> {
    this.connection = undefined;
    this.connecting = undefined;
    await this.forget();
    await showError(
      vscode.l10n.t("The profd daemon ended twice within three minutes and was not started again."),
      { title: vscode.l10n.t("Start Again"), run: () => this.restart() },
      this.showLog(),
    );
  }

  private tellSkew(connection: Connection): void {
    const theirs = connection.version ?? "?";
    const speaks = connection.server?.protocolVersion ?? 0;
    const skew = speaks < PROTOCOL_VERSION ? "daemon is older" : skewOf(this.version, connection.version);
    if (skew === undefined) return;
    void showWarning(
      skew === "daemon is older"
        ? vscode.l10n.t("profd {0} is older than this extension ({1}): update profd.", theirs, this.version)
        : vscode.l10n.t("This extension ({1}) is older than profd {0}: update the extension.", theirs, this.version),
      skew === "daemon is older"
        ? this.setPath()
        : {
            title: vscode.l10n.t("Check for Updates"),
            run: () => vscode.commands.executeCommand("workbench.extensions.action.checkForUpdates"),
          },
    );
  }

  /** Why there is no program to be started. */
  missing(): string {
    const set = config().get("path", "").trim();
    return set === ""
      ? vscode.l10n.t("There is no profd on PATH, and none came with this extension: install it, or name it.")
      : vscode.l10n.t("{0}, which the setting profd.path names, is not a program.", set);
  }

  private async tellMissing(): Promise<void> {
    await showError(this.missing(), this.setPath(), {
      title: vscode.l10n.t("How to Install"),
      run: () => vscode.commands.executeCommand("profd.walkthrough"),
    });
  }

  private setPath() {
    return { title: vscode.l10n.t("Set Path…"), run: () => vscode.commands.executeCommand("profd.setPath") };
  }

  private showLog() {
    return { title: vscode.l10n.t("Show Log"), run: () => this.options.output.show() };
  }
}
