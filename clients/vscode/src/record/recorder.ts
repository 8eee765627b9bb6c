// Records what a person asks for, in a terminal, and shows what came of it: the costs in the code, one message, the diff.
import { execFile } from "node:child_process";
import * as vscode from "vscode";
import {
  RecordedAgainRequest,
  RecordingListRequest,
  type RecordedAgainResult,
  type Recording,
} from "../../../shared/ts/psp.js";
import { CONTEXT, TASK_TYPE } from "../ids.js";
import { plain } from "../plain.js";
import { explain, showWarning } from "../problems.js";
import { testsOf } from "../recording.js";
import type { Session } from "../session.js";
import { config } from "../settings.js";
import { launchOf } from "./launch.js";
import {
  againArguments,
  recordArguments,
  recorderProgram,
  recordTask,
  remember,
  remembered,
  type RecordDefinition,
} from "./tasks.js";
import { testAt } from "./tests.js";
import { typed, wordsOf } from "./words.js";

/** How recordings of this workspace are shown when they end. */
type How = "code" | "page" | "never";

interface Choice extends vscode.QuickPickItem {
  readonly definition?: RecordDefinition;
}

export class Recorder implements vscode.Disposable {
  /** Folders of recordings that were told. */
  private readonly told = new Set<string>();
  /** Profiles that this opened: the older ones go when there is a newer one and nobody looks at their pages. */
  private readonly opened = new Set<string>();

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly session: Session,
    private readonly showPage: (uri: string) => Promise<void>,
    private readonly showDiff: (again: RecordedAgainResult) => Promise<void>,
    /** URIs of profiles whose pages are open. */
    private readonly pages: () => readonly string[],
  ) {}

  dispose(): void {
    this.told.clear();
  }

  /** Asks what to record. */
  async ask(): Promise<void> {
    const folder = this.folder();
    if (folder === undefined) return;
    const choices = this.choices(folder);
    if (choices.length === 0) {
      await this.askLine(folder);
      return;
    }
    const type = `$(edit) ${vscode.l10n.t("Type a Command…")}`;
    const chosen = await vscode.window.showQuickPick<Choice>([...choices, { label: type }], {
      title: vscode.l10n.t("Record"),
      placeHolder: vscode.l10n.t("What runs under a profiler"),
      matchOnDescription: true,
    });
    if (chosen === undefined) return;
    if (chosen.definition !== undefined) await this.run(chosen.definition, folder);
    else if (chosen.label === type) await this.askLine(folder);
    else await showWarning(chosen.detail ?? "");
  }

  /** The newest recording that this user made in the project, in whichever terminal, once more. */
  async again(): Promise<void> {
    const folder = this.folder();
    if (folder === undefined) return;
    const { recordings } = await this.session.request(RecordingListRequest, {});
    const last = recordings.find(({ own }) => own);
    if (last === undefined) {
      void vscode.window.showInformationMessage(vscode.l10n.t("You have recorded nothing in this project yet."));
      return;
    }
    await this.start({ type: TASK_TYPE, command: ["--again"] }, folder, againArguments(folder), last.command);
  }

  /** Of a lens; without a name the test that the cursor is in. */
  async test(uri: vscode.Uri | undefined, name: string | undefined): Promise<void> {
    const document =
      uri === undefined ? vscode.window.activeTextEditor?.document : await vscode.workspace.openTextDocument(uri);
    const folder = document && (vscode.workspace.getWorkspaceFolder(document.uri) ?? this.folder());
    if (document === undefined || folder === undefined) return;
    await document.save();
    const tests = testsOf(document);
    const line = vscode.window.activeTextEditor?.selection.active.line ?? 0;
    const test = name === undefined ? testAt(tests, line) : tests.find((one) => one.name === name);
    if (test === undefined) {
      void vscode.window.showInformationMessage(
        vscode.l10n.t("There is no test here that profd can record: it knows those of Go, pytest and node:test."),
      );
      return;
    }
    const cwd = test.cwd === undefined ? {} : { cwd: test.cwd };
    await this.run({ type: TASK_TYPE, command: test.command, ...cwd }, folder);
  }

  /** Recordings of this project, to be opened. */
  async list(): Promise<void> {
    const { recordings, left } = await this.session.request(RecordingListRequest, {});
    const items = recordings.map((recording) => ({
      label: recording.command,
      description: recording.started,
      detail: recording.text,
      recording,
    }));
    if (items.length === 0) {
      void vscode.window.showInformationMessage(vscode.l10n.t("Nothing was recorded in this project yet."));
      return;
    }
    const chosen = await vscode.window.showQuickPick(items, {
      title:
        left === 0
          ? vscode.l10n.t("Open Recording")
          : vscode.l10n.t("Open Recording ({0} older ones are not listed)", left),
      matchOnDescription: true,
    });
    if (chosen?.recording.uri !== undefined) await this.showPage(chosen.recording.uri);
    else if (chosen !== undefined) await showWarning(chosen.recording.text);
  }

  /** Another terminal recorded, before this window had a daemon to hear it from. */
  async found(meta: vscode.Uri): Promise<void> {
    const folder = vscode.Uri.joinPath(meta, "..").toString();
    const { recordings } = await this.session.request(RecordingListRequest, {});
    const one = recordings.find((recording) => vscode.Uri.parse(recording.folder).toString() === folder);
    if (one !== undefined) await this.tell(one);
  }

  /** A recording has ended. What is not this user's own came with somebody's files, and opens nothing. */
  async tell(recording: Recording): Promise<void> {
    if (!vscode.workspace.isTrusted || !recording.own || this.told.has(recording.folder)) return;
    this.told.add(recording.folder);
    await vscode.commands.executeCommand("setContext", CONTEXT.recorded, true);
    const { uri, failed, before, text } = recording;
    if (failed || uri === undefined) {
      await showWarning(text);
      return;
    }
    const how = config().get<How>("openRecordings", "code");
    if (how === "never") return;
    const { profile } = await this.session.open(uri);
    this.opened.add(uri);
    if (how === "page") await this.showPage(uri);
    const again =
      before === undefined
        ? undefined
        : await this.session.ask(RecordedAgainRequest, { profile, before }).catch(() => undefined);
    await this.closeOlder(uri);
    await this.say(recording, uri, again);
  }

  private async say(recording: Recording, uri: string, again: RecordedAgainResult | undefined): Promise<void> {
    const diff = vscode.l10n.t("Show the Diff");
    const page = vscode.l10n.t("Show the Profile");
    const once = vscode.l10n.t("Record Again");
    const chosen = await vscode.window.showInformationMessage(
      plain(again?.text ?? recording.text),
      ...(again === undefined ? [] : [diff]),
      page,
      once,
    );
    if (chosen === diff && again !== undefined) await this.showDiff(again);
    else if (chosen === page) await this.showPage(uri);
    else if (chosen === once) await this.again();
  }

  private async closeOlder(newest: string): Promise<void> {
    const shown = this.pages();
    for (const uri of this.opened) {
      if (uri === newest || shown.includes(uri)) continue;
      this.opened.delete(uri);
      const entry = this.session.profiles.find((profile) => profile.uri === uri && profile.mine);
      if (entry !== undefined) await this.session.close(entry);
    }
  }

  private choices(folder: vscode.WorkspaceFolder): Choice[] {
    const before = remembered(this.context.workspaceState).map((definition) => ({
      label: `$(history) ${typed(definition.command)}`,
      description: definition.cwd === undefined ? "" : vscode.workspace.asRelativePath(definition.cwd),
      definition,
    }));
    const configurations = vscode.workspace
      .getConfiguration("launch", folder)
      .get<readonly Readonly<Record<string, unknown>>[]>("configurations", []);
    const launches = configurations.map((configuration): Choice => {
      const label = `$(debug-start) ${String(configuration.name)}`;
      const launch = launchOf(configuration, variablesIn(folder));
      if (!("cannot" in launch))
        return { label, description: typed(launch.command), definition: { type: TASK_TYPE, ...launch } };
      const why = {
        attaches: vscode.l10n.t("It attaches to a program: profd record --attach does, in a terminal."),
        "unknown type": vscode.l10n.t("profd cannot tell what a configuration of type {0} runs.", launch.what),
        variable: vscode.l10n.t("profd does not know the variable {0}.", launch.what),
      };
      return { label, detail: why[launch.cannot] };
    });
    return [...before, ...launches];
  }

  private async askLine(folder: vscode.WorkspaceFolder): Promise<void> {
    const problem = (line: string) => {
      const parsed = wordsOf(line);
      if ("needsShell" in parsed)
        return vscode.l10n.t("No shell is between: quote {0}, or record sh -c '…'", parsed.needsShell);
      return undefined;
    };
    const last = remembered(this.context.workspaceState)[0];
    const line = await vscode.window.showInputBox({
      title: vscode.l10n.t("Record"),
      prompt: vscode.l10n.t("A command and its arguments; it runs in {0}", folder.name),
      placeHolder: "./app --size 100",
      value: last === undefined ? "" : typed(last.command),
      validateInput: problem,
    });
    const parsed = line === undefined ? undefined : wordsOf(line);
    if (parsed === undefined || !("words" in parsed) || parsed.words.length === 0) return;
    await this.run({ type: TASK_TYPE, command: parsed.words }, folder);
  }

  private async run(definition: RecordDefinition, folder: vscode.WorkspaceFolder): Promise<void> {
    await remember(this.context.workspaceState, definition);
    await vscode.commands.executeCommand("setContext", CONTEXT.recorded, true);
    await this.start(definition, folder, recordArguments(definition, folder), typed(definition.command));
  }

  private async start(
    definition: RecordDefinition,
    folder: vscode.WorkspaceFolder,
    args: string[],
    name: string,
  ): Promise<void> {
    if (!vscode.workspace.isTrusted) return;
    await this.session.watch();
    const program = recorderProgram(this.context.extensionUri);
    if (program === undefined) return;
    const before = await this.folders();
    const task = recordTask(program, definition, folder, args, name);
    const execution = await vscode.tasks.executeTask(task);
    const code = await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Window, title: vscode.l10n.t("Recording {0}", name) },
      () => endOf(execution),
    );
    const { recordings } = await this.session.request(RecordingListRequest, {});
    const made = recordings.find((recording) => recording.own && !before.has(recording.folder));
    if (made !== undefined) await this.tell(made);
    else if (code !== 0) await showWarning(await this.cause(program, args, definition.cwd ?? folder.uri.fsPath));
  }

  private async folders(): Promise<Set<string>> {
    const { recordings } = await this.session.request(RecordingListRequest, {});
    return new Set(recordings.map(({ folder }) => folder));
  }

  /** Why nothing was recorded at all: what the recorder says to the same words when it is to run nothing. */
  private async cause(program: string, args: readonly string[], cwd: string): Promise<string> {
    const dry = [args[0] ?? "", "--dry-run", ...args.slice(1)];
    const said = await new Promise<string>((resolve) => {
      execFile(program, dry, { cwd, timeout: 30_000 }, (error, _output, errors) => {
        resolve(error === null ? "" : (errors.trim().split("\n").at(-1) ?? explain(error) ?? ""));
      });
    });
    return said === ""
      ? vscode.l10n.t("Nothing was recorded: the terminal says why.")
      : vscode.l10n.t("Nothing was recorded: {0}", said.replace(/^profd: /, ""));
  }

  private folder(): vscode.WorkspaceFolder | undefined {
    const document = vscode.window.activeTextEditor?.document;
    const of = document === undefined ? undefined : vscode.workspace.getWorkspaceFolder(document.uri);
    const folder = of ?? vscode.workspace.workspaceFolders?.[0];
    if (folder?.uri.scheme !== "file") {
      void vscode.window.showInformationMessage(
        vscode.l10n.t("Open a folder first: recordings are kept in the project."),
      );
      return undefined;
    }
    if (vscode.workspace.isTrusted) return folder;
    void vscode.window.showInformationMessage(
      vscode.l10n.t("Nothing is recorded in a folder that is not trusted: recording runs its programs."),
    );
    return undefined;
  }
}

/** Its exit code; undefined where it was ended without one. */
function endOf(execution: vscode.TaskExecution): Promise<number | undefined> {
  return new Promise((resolve) => {
    const listening = [
      vscode.tasks.onDidEndTaskProcess((ended) => {
        if (ended.execution === execution) done(ended.exitCode);
      }),
      vscode.tasks.onDidEndTask((ended) => {
        if (ended.execution === execution) done(undefined);
      }),
    ];
    const done = (code: number | undefined) => {
      for (const one of listening) one.dispose();
      resolve(code);
    };
  });
}

function variablesIn(folder: vscode.WorkspaceFolder): Record<string, string> {
  const file = vscode.window.activeTextEditor?.document.uri;
  const home = process.env.HOME;
  return {
    workspaceFolder: folder.uri.fsPath,
    workspaceRoot: folder.uri.fsPath,
    workspaceFolderBasename: folder.name,
    ...(home === undefined ? {} : { userHome: home }),
    ...(file?.scheme === "file" ? { file: file.fsPath, fileDirname: vscode.Uri.joinPath(file, "..").fsPath } : {}),
  };
}
