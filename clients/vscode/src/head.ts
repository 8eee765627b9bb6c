// What a file was in the commit that is checked out, by the editor's Git extension.
import * as vscode from "vscode";
import { baseName } from "./opening.js";

/** Of its API, what is asked here. */
interface Repository {
  getCommit(ref: string): Promise<{ readonly hash: string }>;
  buffer(ref: string, path: string): Promise<Uint8Array>;
}
interface GitApi {
  readonly state: "uninitialized" | "initialized";
  readonly onDidChangeState: vscode.Event<unknown>;
  getRepository(uri: vscode.Uri): Repository | null;
  openRepository?(root: vscode.Uri): Promise<Repository | null>;
}
interface GitExtension {
  readonly enabled: boolean;
  getAPI(version: 1): GitApi;
}

const LOOKS_MS = 10_000;
/** A diff that comes back with its window reads its file again. */
const MAX_KEPT = 20;

/** The file as it is at HEAD, as a file in `storage`. Throws a sentence. */
export async function fileAtHead(uri: vscode.Uri, storage: vscode.Uri): Promise<vscode.Uri> {
  const name = baseName(uri);
  const repository = await repositoryOf(uri);
  if (repository === undefined) throw new Error(vscode.l10n.t("{0} is in no Git repository.", name));
  // Asked for now: what the extension remembers may be older than the last commit.
  const commit = await repository.getCommit("HEAD").then(
    ({ hash }) => hash,
    () => {
      throw new Error(vscode.l10n.t("Nothing is committed yet where {0} is.", name));
    },
  );
  const content = await repository.buffer(commit, uri.fsPath).catch(() => {
    throw new Error(vscode.l10n.t("{0} is not in the commit that is checked out, {1}.", name, commit.slice(0, 8)));
  });
  const folder = vscode.Uri.joinPath(storage, "head");
  await vscode.workspace.fs.createDirectory(folder);
  await removeOldest(folder);
  const file = vscode.Uri.joinPath(folder, `HEAD-${commit.slice(0, 8)}-${name}`);
  await vscode.workspace.fs.writeFile(file, content);
  return file;
}

async function repositoryOf(uri: vscode.Uri): Promise<Repository | undefined> {
  const extension = vscode.extensions.getExtension<GitExtension>("vscode.git");
  const git = extension === undefined ? undefined : await extension.activate();
  if (git?.enabled !== true) throw new Error(vscode.l10n.t("The editor's Git extension is off."));
  const api = git.getAPI(1);
  await hasLooked(api);
  const found = api.getRepository(uri) ?? (await api.openRepository?.(vscode.Uri.joinPath(uri, "..")));
  return found ?? undefined;
}

/** It looks for repositories when the window comes. */
async function hasLooked(api: GitApi): Promise<void> {
  if (api.state === "initialized") return;
  await new Promise<void>((resolve) => {
    const done = () => {
      listening.dispose();
      clearTimeout(timer);
      resolve();
    };
    const listening = api.onDidChangeState(done);
    const timer = setTimeout(done, LOOKS_MS);
  });
}

async function removeOldest(folder: vscode.Uri): Promise<void> {
  const files = await Promise.all(
    (await vscode.workspace.fs.readDirectory(folder)).map(async ([name]) => {
      const uri = vscode.Uri.joinPath(folder, name);
      return { uri, written: (await vscode.workspace.fs.stat(uri)).mtime };
    }),
  );
  files.sort((a, b) => b.written - a.written);
  for (const { uri } of files.slice(MAX_KEPT - 1)) await vscode.workspace.fs.delete(uri);
}
