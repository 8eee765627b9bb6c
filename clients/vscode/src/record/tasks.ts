// Recordings as tasks: `profd record` in a terminal of the editor, without a shell between.
import * as vscode from "vscode";
import { findDaemon, isProgram } from "../daemon.js";
import { RECORDED_KEY } from "../ids.js";
import { config } from "../settings.js";
import { typed } from "./words.js";

/** What tasks.json has of such a task. */
export interface RecordDefinition extends vscode.TaskDefinition {
  readonly command: readonly string[];
  readonly with?: string;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

const MAX = 10;

/** What was recorded here, the newest first: only what a person chose comes in. */
export function remembered(memento: vscode.Memento): readonly RecordDefinition[] {
  return memento.get<readonly RecordDefinition[]>(RECORDED_KEY, []);
}

export async function remember(memento: vscode.Memento, definition: RecordDefinition): Promise<void> {
  const text = JSON.stringify(definition);
  const others = remembered(memento).filter((other) => JSON.stringify(other) !== text);
  await memento.update(RECORDED_KEY, [definition, ...others].slice(0, MAX));
}

/** The program that the editor uses as a daemon, which records, too. */
export function recorderProgram(extension: vscode.Uri): string | undefined {
  return findDaemon({
    setting: config().get("path", "").trim(),
    path: process.env.PATH ?? "",
    bundled: vscode.Uri.joinPath(extension, "bin", "profd").fsPath,
    isProgram,
  })?.program;
}

export function recordArguments(definition: RecordDefinition, folder: vscode.WorkspaceFolder): string[] {
  const tool = definition.with === undefined ? [] : ["--with", definition.with];
  return ["record", "--project", folder.uri.fsPath, ...tool, "--", ...definition.command];
}

/** The one before again, in its folder, by its tool. */
export function againArguments(folder: vscode.WorkspaceFolder): string[] {
  return ["record", "--project", folder.uri.fsPath, "--again"];
}

export function recordTask(
  program: string,
  definition: RecordDefinition,
  folder: vscode.WorkspaceFolder,
  args: string[] = recordArguments(definition, folder),
  name = typed(definition.command),
): vscode.Task {
  const cwd = definition.cwd ?? folder.uri.fsPath;
  const env = definition.env === undefined ? {} : { env: { ...definition.env } };
  const task = new vscode.Task(
    definition,
    folder,
    name,
    "profd",
    new vscode.ProcessExecution(program, args, { cwd, ...env }),
    [],
  );
  task.presentationOptions = { reveal: vscode.TaskRevealKind.Always, panel: vscode.TaskPanelKind.Dedicated };
  return task;
}

/** Of tasks.json, and what was recorded here before. In a folder that is not trusted there are none. */
export class RecordTasks implements vscode.TaskProvider {
  constructor(private readonly context: vscode.ExtensionContext) {}

  provideTasks(): vscode.Task[] {
    const program = this.program();
    const folder = vscode.workspace.workspaceFolders?.[0];
    if (program === undefined || folder === undefined) return [];
    return remembered(this.context.workspaceState).map((definition) => recordTask(program, definition, folder));
  }

  resolveTask(task: vscode.Task): vscode.Task | undefined {
    const program = this.program();
    const { command } = task.definition;
    const folder = typeof task.scope === "object" ? task.scope : vscode.workspace.workspaceFolders?.[0];
    if (program === undefined || folder === undefined || !isCommand(command)) return undefined;
    const definition = task.definition as RecordDefinition;
    return recordTask(program, definition, folder, recordArguments(definition, folder), task.name);
  }

  private program(): string | undefined {
    return vscode.workspace.isTrusted ? recorderProgram(this.context.extensionUri) : undefined;
  }
}

function isCommand(command: unknown): boolean {
  return Array.isArray(command) && command.length > 0 && command.every((word) => typeof word === "string");
}
